//! `task_run_list`: runs and supervised tasks, newest first, page by page. Damaged records are counted and hide no others.
//! It changes and creates nothing; a home that does not exist has no runs.

use longhaul_core::task::{Action, Driver, RunStatus};
use longhaul_core::time::Time;
use longhaul_store::{Cursor, Filter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TaskRun;
use super::wire::driver;
use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, Operation, Permit, TOOL, View};

/// How many runs an answer has unless asked otherwise, and at most.
const USUAL: u32 = 50;
const MOST: f64 = 200.0;
/// So many are read at once, because some are large.
const BATCH: u32 = 20;
/// An answer ends after the run that makes it larger than this.
const MOST_BYTES: usize = 1024 * 1024;

/// The operation `task_run_list`.
pub struct TaskRunList;

/// What `task_run_list` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TaskRunListInput {
    /// Only runs with this status.
    #[schemars(with = "Option<String>", extend("enum" = ["PENDING", "RUNNING", "NEEDS_HELP", "COMPLETED", "FAILED", "CANCELLED", null]))]
    pub status: Option<RunStatus>,
    /// At most this many runs, from 1 to 200; 50 by default. Large records make a page shorter.
    pub limit: Option<f64>,
    /// Only runs started at or after this time, in unix milliseconds; 0 means all.
    pub since: Option<f64>,
    /// Only what is executed so: `external`, `supervised` or `runner`.
    #[schemars(extend("enum" = ["external", "supervised", "runner", null]))]
    pub driver: Option<String>,
    /// Where the last answer ended: its `next`.
    pub after: Option<String>,
}

/// A page of runs.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct TaskRuns {
    /// Newest first.
    pub task_runs: Vec<TaskRun>,
    /// Pass it as `after` to get the next page; null at the end.
    pub next: Option<String>,
    /// How many damaged records were left out.
    pub skipped: usize,
}

impl View for TaskRuns {
    const KIND: &'static str = "task_runs";
}

impl Operation for TaskRunList {
    const ABOUT: About = About::new("task_run_list", "List runs, newest first", Action::Read, TOOL).route("/runs");
    type Input = TaskRunListInput;
    type Output = TaskRuns;

    async fn run(call: &Call, _: Permit, input: TaskRunListInput) -> Result<Answer<TaskRuns>, AppError> {
        let filter = filter(&input)?;
        match page(call, filter, wanted(input.limit)).await {
            Err(error) if error.kind == ErrorKind::NotFound => Ok(Answer::new(TaskRuns::default())),
            page => Ok(Answer::new(page?)),
        }
    }
}

/// Reads until there are enough runs or bytes; one run more than that tells whether there are more.
async fn page(call: &Call, mut filter: Filter, wanted: usize) -> Result<TaskRuns, AppError> {
    let (mut runs, mut bytes) = (TaskRuns::default(), 0);
    let mut last: Option<Cursor> = None;
    loop {
        let listed = call.list(filter.clone()).await?;
        runs.skipped += listed.damaged.len();
        let is_end = listed.tasks.len() < BATCH as usize;
        for stored in listed.tasks {
            if runs.task_runs.len() >= wanted || bytes > MOST_BYTES {
                runs.next = last.map(|cursor| cursor.to_string());
                return Ok(runs);
            }
            let run = TaskRun::of(&stored.task);
            bytes += serde_json::to_string(&run).map_or(0, |text| text.len());
            runs.task_runs.push(run);
            last = Some(Cursor { created: stored.task.created, task: stored.task.id });
        }
        if is_end {
            return Ok(runs);
        }
        filter.after = last;
    }
}

fn filter(input: &TaskRunListInput) -> Result<Filter, AppError> {
    let created_since = input.since.filter(|since| *since > 0.0).map(since);
    Ok(Filter {
        status: input.status,
        driver: input.driver.as_deref().map(driver_named).transpose()?,
        created_since,
        after: input.after.as_deref().map(cursor).transpose()?,
        limit: Some(BATCH),
        ..Filter::default()
    })
}

#[expect(clippy::cast_possible_truncation, reason = "the conversion saturates, and no run is that old or young")]
fn since(millis: f64) -> Time {
    Time((millis as i64).saturating_mul(1000))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 200")]
fn wanted(limit: Option<f64>) -> usize {
    limit.unwrap_or(f64::from(USUAL)).floor().clamp(1.0, MOST) as usize
}

fn driver_named(name: &str) -> Result<Driver, AppError> {
    driver(name).ok_or_else(|| {
        let names = Driver::ALL.map(Driver::word).join(", ");
        AppError::new(ErrorKind::Usage, "there is no such driver").hint(format!("use one of: {names}"))
    })
}

fn cursor(text: &str) -> Result<Cursor, AppError> {
    text.parse().map_err(|_| {
        AppError::new(ErrorKind::Usage, "`after` is not a list position").hint("pass the `next` of the last answer")
    })
}
