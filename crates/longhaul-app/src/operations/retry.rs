//! `retry`: a new task with what was asked of a finished one, linked to it. The old task, its worktree and its files stay.
//! Inputs are read again and the worktree starts at the commit that the project is at now.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use longhaul_core::names::{self, STATE_DIR, TaskName};
use longhaul_core::task::{Action, Driver, Need, Place, Refusal, Right, Setting, Submission, Task};
use longhaul_store::{Filter, Key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::copied_files;
use crate::error::{AppError, ErrorKind};
use crate::handover::Request;
use crate::lookup;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::request_key::answer;
use crate::submit::{self, Changes, Submitted, files, need_of_terms, send};
use crate::views::TaskView;

/// How many names are tried when others take them at the same time.
const MOST_NAMES: usize = 20;
/// The last number that a name gets.
const HIGHEST: u32 = 10_000;

/// The operation `retry`.
pub struct Retry;

/// What `retry` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RetryInput {
    /// Name or id of the finished task; by default the only finished task of this project.
    pub task: Option<String>,
    /// Name of the new task; by default the old name with a number.
    pub name: Option<String>,
    /// What is different from the old task.
    #[serde(flatten)]
    pub changes: Changes,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Retry {
    const ABOUT: About = About::new(
        "retry",
        "Start a new task with the goal and settings of a finished one",
        Action::Manage("retry"),
        VERB_AND_TOOL,
    )
    .route("/tasks/{task}/retry")
    .needs(Right::Run)
    .runs_agents()
    .by_hand("retry TASK");
    type Input = RetryInput;
    type Output = TaskView;

    fn need(input: &RetryInput) -> Need {
        need_of_terms::<Retry>(&input.changes.settings, input.changes.checks.is_some())
    }

    fn key(input: &RetryInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: RetryInput) -> Result<Answer<TaskView>, AppError> {
        let mut settings = input.changes.read()?;
        let old = lookup::find_finished(call, input.task.as_deref()).await?.task;
        if old.submission.driver == Driver::External {
            let why = "an outside program executes it, and that program can start another run";
            return Err(Refusal::WrongState { verb: "retry", from: old.state.name(), why }.into());
        }
        if !old.state.is_final() {
            let why = "it is not finished; `longhaul resume` continues it, `longhaul cancel` ends it";
            return Err(Refusal::WrongState { verb: "retry", from: old.state.name(), why }.into());
        }
        // The worker that takes the submission warns of its modes.
        input.changes.resolve(call, &old.submission, &mut settings)?;
        let mut submission = submission(call, &old, &settings)?;
        let mut notes = news(&old, &submission, &settings);
        if matches!(old.submission.place, Place::Worktree { .. }) {
            // Its own worktree, from the commit that its branch is at now; without the branch, from what is checked out.
            let project = Path::new(&submission.project);
            let base = submit::workspace_choice::existing(call, project, old.submission.destination.branch.as_deref());
            let (chosen, warnings) = submit::workspace_choice::choose(call, project, base)?;
            submission.place = chosen;
            submission.destination = submit::workspace_choice::destination(call, project, base);
            notes.extend(warnings);
            notes.extend(copied_files::preview(call, &submission)?);
        }
        let sent = submit_named(call, input.name, permit.key(), &old, &submission).await?;
        let answer = answer(call, sent.task, sent.repeated).await?;
        Ok(answer.note(notes).warn(sent.warnings))
    }
}

/// What was asked for then, with the files to start from as they are now.
fn submission(call: &Call, old: &Task, settings: &[Setting]) -> Result<Submission, AppError> {
    let mut submission = Submission::clone(&old.submission);
    for directory in [&submission.workspace, &submission.project] {
        call.project_at(Path::new(directory))?;
    }
    let paths: Vec<PathBuf> = submission.inputs.iter().map(|file| PathBuf::from(&file.path)).collect();
    submission.inputs = files::inputs(call, &paths)?;
    submission.retry_of = Some(old.id);
    (submission.conversations, submission.files_name) = (Vec::new(), None);
    settings.iter().for_each(|setting| submission.set(setting));
    submission.declared = submit::declared::refreshed(&call.app.system.environment, &call.caller, &submission)?;
    Ok(submission)
}

pub(super) async fn submit_named(
    call: &Call,
    name: Option<String>,
    key: Option<Key>,
    old: &Task,
    submission: &Submission,
) -> Result<Submitted, AppError> {
    let request = |name: String| Request { key: key.clone(), ..Request::new(call, Some(name), submission.clone()) };
    if let Some(name) = name {
        return send(call, request(name)).await;
    }
    let mut refused = AppError::new(ErrorKind::Conflict, "no free name was found").hint("give one with --name");
    for name in free_names(call, old).await? {
        match send(call, request(name)).await {
            // Somebody took the name meanwhile.
            Err(error) if error.kind == ErrorKind::Conflict => refused = error,
            outcome => return outcome,
        }
    }
    Err(refused)
}

/// Names after the old one that no task of the project and no directory has.
async fn free_names(call: &Call, old: &Task) -> Result<Vec<String>, AppError> {
    let (project, base) = (&old.submission.project, base(old));
    // The highest number leaves the least of a long name.
    let name_prefix = names::numbered(&base, HIGHEST).rsplit_once('-').map(|(kept, _)| kept.to_owned());
    let listed = call.summaries(Filter { project: Some(project.clone()), name_prefix, ..Filter::default() }).await?;
    let taken: HashSet<String> = listed.tasks.into_iter().map(|task| task.name).collect();
    let is_free = |name: &String| {
        TaskName::new(name).is_ok()
            && !taken.contains(name)
            && Path::new(project).join(STATE_DIR).join(name).symlink_metadata().is_err()
    };
    let numbered = (2..=HIGHEST).map(|number| names::numbered(&base, number));
    Ok(numbered.filter(is_free).take(MOST_NAMES).collect())
}

/// The first task's name: a retry of `x-2`, itself a retry of `x`, is `x-3`.
fn base(old: &Task) -> String {
    let name = old.submission.name.as_ref();
    let numbered = name.rsplit_once('-').filter(|(_, number)| number.bytes().all(|digit| digit.is_ascii_digit()));
    match (old.submission.retry_of, numbered) {
        (Some(_), Some((base, _))) => base.to_owned(),
        (Some(_) | None, _) => name.to_owned(),
    }
}

/// What is retried, and what is different now.
fn news(old: &Task, submission: &Submission, settings: &[Setting]) -> Vec<String> {
    let changed: Vec<String> = settings.iter().map(ToString::to_string).collect();
    let changed = if changed.is_empty() { "nothing".to_owned() } else { changed.join(", ") };
    let inputs = old.submission.inputs.iter().zip(&submission.inputs).filter(|(then, now)| then.sha256 != now.sha256);
    let inputs = inputs.map(|(_, now)| format!("input {} has changed since the first run", now.path));
    let retried = format!("retrying {} ({}) as a new task", old.submission.name, old.id);
    [retried, format!("changed: {changed}")].into_iter().chain(inputs).collect()
}
