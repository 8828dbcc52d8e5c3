//! `show`: everything about one task, from its snapshot, the newest part of its history and the files of its sessions.
//! Commits nothing: a held task whose person is gone is shown as such, and stays held.

use longhaul_core::task::{Action, State};
use longhaul_store::{Stored, StoredEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::why::next_step;
use crate::app::Call;
use crate::describe::{self, ResultFacts, Waiting};
use crate::error::AppError;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::report::{checks, limits, notices, rows};
use crate::session::history;
use crate::session::live::live;
use crate::views::{
    Attempts, Choices, ConversationView, OwnerView, Page, PageInput, PlanView, RunView, ShowView, TaskView,
    WorkspaceView,
};
use crate::{in_conversation, lookup, mode_warnings, ownership, slot_wait};

/// The operation `show`.
pub struct Show;

/// Which task an operation is about.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TaskInput {
    /// Name or id of the task; by default the only unfinished task of this project, else its newest.
    pub task: Option<String>,
}

/// Which task an operation is about, and which part of its lists it answers with.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TaskPageInput {
    /// Name or id of the task; by default the only unfinished task of this project, else its newest.
    pub task: Option<String>,
    /// The part of the lists.
    #[serde(flatten)]
    pub page: PageInput,
}

impl Operation for Show {
    const ABOUT: About =
        About::new("show", "Show one task in detail", Action::Read, VERB_AND_TOOL).route("/tasks/{task}");
    type Input = TaskPageInput;
    type Output = ShowView;

    async fn run(call: &Call, _: Permit, input: TaskPageInput) -> Result<Answer<ShowView>, AppError> {
        let stored = lookup::find_to_read(call, input.task.as_deref()).await?;
        let events = history::recent(call, stored.task.id).await?;
        Ok(Answer::new(view(call, &stored, &events, &mut Page::new(input.page)).await?))
    }
}

/// Everything about one task. The report continues the page.
pub(super) async fn view(
    call: &Call,
    stored: &Stored,
    events: &[StoredEvent],
    page: &mut Page,
) -> Result<ShowView, AppError> {
    let task = &stored.task;
    let records = history::sessions_of(events);
    let in_line = slot_wait::wait_of(call, stored).await?;
    let used = describe::tokens(task.tally.usage.total(), &records);
    let sessions = rows(call.home(), events);
    let listed = TaskView::of(call, task.id).await?;
    let since = listed.followed_up.as_ref().map_or_else(String::new, |came_to| format!("; {}", came_to.words));
    let mut view = ShowView {
        task: listed,
        goal: task.submission.goal.clone(),
        status: status(call, stored, in_line.as_ref()) + &since,
        result: task.state.verdict().map(ResultFacts::new),
        next_step: next_step(call, stored, in_line.as_ref()).await?,
        owner: owner(call, stored),
        owner_status: owner_status(call, stored).await?,
        live: live(call, task),
        held_by: held_by(stored),
        choices: Choices::new(&task.submission),
        conversation: ConversationView::of(task),
        agent_limits: describe::unavailable(task, call.now()),
        handover: task.handover(call.now()).map(|why| why.to_string()),
        warnings: mode_warnings(&task.submission),
        workspace: WorkspaceView::of(task),
        after: task.submission.after.map(|task| task.to_string()),
        retry_of: task.submission.retry_of.map(|task| task.to_string()),
        idle_ms: u64::try_from(call.now().since(task.updated).as_millis()).unwrap_or(u64::MAX),
        used: format!("{}, {} of work, {used}", describe::count(task.tally.sessions, "session"), worked(stored)),
        attempts: Attempts { failed: task.tally.failures, allowed: task.submission.patience.attempts },
        limits: limits(task, &records),
        guidance: task.guidance.clone(),
        verification: checks(call.home(), task, events),
        plan: PlanView::of(task),
        run: RunView::of(task),
        degraded: sessions.iter().filter(|row| row.degraded).count(),
        sessions,
        notices: notices(task, &call.store()?.notices(task.id).await?),
        next: None,
    };
    page.cut(&mut view.guidance);
    page.cut(&mut view.sessions);
    page.cut(&mut view.verification.earlier_rounds);
    page.cut(&mut view.notices);
    view.next = page.next();
    Ok(view)
}

fn worked(stored: &Stored) -> String {
    longhaul_core::units::span(std::time::Duration::from_millis(stored.task.tally.worked_ms))
}

fn status(call: &Call, stored: &Stored, in_line: Option<&Waiting>) -> String {
    match (&stored.task.state, in_line) {
        (_, Some(in_line)) => in_line.in_line(),
        (State::Held { person, .. }, None) if call.is_abandoned(stored) => {
            describe::abandoned(person, stored.task.submission.name.as_str())
        }
        (State::Tracked { help: None, reported }, None) => describe::last_report(*reported, call.now()),
        (_, None) => describe::state(&stored.task),
    }
}

fn owner(call: &Call, stored: &Stored) -> Option<OwnerView> {
    let owner = stored.owner.as_ref()?;
    Some(OwnerView {
        worker: owner.worker.to_string(),
        host: owner.host.clone(),
        since: owner.since.rfc3339(),
        alive: !ownership::is_dead(call.home(), stored),
        stopped: ownership::is_stopped(call.home(), stored),
    })
}

async fn owner_status(call: &Call, stored: &Stored) -> Result<String, AppError> {
    if ownership::is_left_by_runner(call, stored).await? {
        return Ok(format!("its run-session is dead; {}", describe::continue_after_runner(stored)));
    }
    let missing = ownership::is_missing(call, stored).await?;
    Ok(match &stored.owner {
        None if missing => "no worker; start one with `longhaul worker -d`".into(),
        None => "none".into(),
        Some(_) if missing => "its worker is dead; start another with `longhaul worker -d`".into(),
        Some(_) if ownership::is_stopped(call.home(), stored) => format!(
            "its worker is stopped and does not answer; `longhaul pause --force {}` ends it",
            stored.task.submission.name
        ),
        Some(owner) => format!("alive on {}, since {}", owner.host, owner.since.rfc3339()),
    })
}

/// The processes of a person's own work in the agent's conversation.
fn held_by(stored: &Stored) -> Option<Vec<u32>> {
    let found = || in_conversation(stored.task.id).unwrap_or_default();
    stored.task.state.is_held().then(|| found().into_iter().map(|process| process.pid).collect())
}
