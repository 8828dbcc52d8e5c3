//! The seven operations of a TaskRun: an outside program starts a run, reports on it, and reads it back, also after a restart. The agent of
//! a live session reports on its own task with the same operations.
//!
//! Field names and times are those of existing TaskRun clients (unix milliseconds), not those of our other views. `get` and `list` show
//! supervised tasks too. What the calls lead to, and who may make them, is decided by the core.

mod checkpoint;
mod complete;
mod get;
mod import;
#[cfg(test)]
mod import_tests;
mod list;
mod needs_help;
mod openchrome;
mod start;
#[cfg(test)]
mod tests;
mod update;
mod wire;

pub use checkpoint::{CheckpointAnswer, TaskRunCheckpoint, TaskRunCheckpointInput};
pub use complete::{TaskRunComplete, TaskRunCompleteInput};
pub use get::{RunEvent, TaskRunDetails, TaskRunGet, TaskRunGetInput};
pub use import::{ImportOpenchrome, ImportOpenchromeInput, Imported, Skipped};
pub use list::{TaskRunList, TaskRunListInput, TaskRuns};
pub use needs_help::{TaskRunNeedsHelp, TaskRunNeedsHelpInput};
pub use start::{TaskRunStart, TaskRunStartInput};
pub use update::{TaskRunUpdate, TaskRunUpdateInput};
pub use wire::{Evidence, FailedItem, HelpView, RunCheckpoint, TaskRun, TaskRunAnswer};

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Command, MOST_REFERENCES, Reference, Refusal, RunCall};
use longhaul_redact::{Secrets, redact_text};
use longhaul_store::{Committed, Key, Stored};

use crate::app::Call;
use crate::change::{ChangeError, change};
use crate::error::{AppError, ErrorKind};
use crate::lookup;
use crate::operation::Answer;

/// The run that a caller means. A foreign one looks exactly like none.
async fn find(call: &Call, run_id: &str) -> Result<Stored, AppError> {
    let unknown = || AppError::new(ErrorKind::NotFound, "there is no run with this run_id").coded("task_run_not_found");
    match call.read(parse(call, run_id)?).await {
        Ok(stored) => stored.ok_or_else(unknown),
        // Without a home there are no runs either.
        Err(error) if error.kind == ErrorKind::NotFound => Err(unknown()),
        Err(error) => Err(error),
    }
}

/// One spelling only, and that of an imported run; a text that is no id is not repeated in the answer.
fn parse(call: &Call, run_id: &str) -> Result<TaskId, AppError> {
    run_id.parse().or_else(|_| lookup::alias(call, run_id).ok_or(())).map_err(|()| {
        AppError::new(ErrorKind::Usage, "run_id is not an id")
            .hint("pass the run_id that task_run_start returned: a UUID in lower case")
    })
}

/// Sends a program's call to its run.
async fn send(call: &Call, stored: &Stored, run_call: RunCall, key: Option<Key>) -> Result<Committed, AppError> {
    let command = Command::Track { call: Box::new(run_call) };
    let (clock, task) = (call.app.system.clock, stored.task.id);
    change(call.store()?, clock, task, command, &call.caller.actor, key, None).await.map_err(|error| match error {
        ChangeError::Refused(refusal @ Refusal::WrongState { .. }) => {
            AppError::from(refusal).coded("invalid_task_run_transition")
        }
        error => error.into(),
    })
}

/// The task whose session the caller runs below.
pub async fn own_task(call: &Call) -> Result<Stored, AppError> {
    let own = match call.own_task() {
        Some(own) => call.load(own).await?,
        None => None,
    };
    own.ok_or_else(|| {
        AppError::new(ErrorKind::Forbidden, "only the agent of a session of this home can report on its task")
            .hint("to leave the next session a message, use `longhaul tell`")
    })
}

/// The run after a call.
fn answer(committed: &Committed, said: Said) -> Answer<TaskRunAnswer> {
    let answer = TaskRunAnswer::of(&committed.stored.task);
    Answer { repeated: committed.repeated, ..answer }.warn(said.warnings())
}

/// What a caller said, with secrets masked before anything is cut or stored.
struct Said {
    secrets: Secrets,
    masked: usize,
    references_dropped: usize,
}

impl Said {
    fn new(secrets: Secrets) -> Said {
        Said { secrets, masked: 0, references_dropped: 0 }
    }

    /// For a run that exists.
    fn to(call: &Call, stored: &Stored) -> Said {
        Said::new(call.app.system.environment.secrets(&stored.task.submission.secret_names))
    }

    fn text(&mut self, text: &str) -> String {
        let (masked, hits) = redact_text(&self.secrets, text);
        self.masked += hits;
        masked
    }

    fn optional(&mut self, text: Option<&String>) -> Option<String> {
        text.map(|text| self.text(text))
    }

    fn texts(&mut self, texts: Option<&Vec<String>>) -> Vec<String> {
        texts.into_iter().flatten().map(|text| self.text(text)).collect()
    }

    fn failed(&mut self, items: Option<&Vec<FailedItem>>) -> Vec<longhaul_core::task::FailedItem> {
        let masked = |failed: &FailedItem| longhaul_core::task::FailedItem {
            item: self.text(&failed.item),
            reason: self.text(&failed.reason),
        };
        items.into_iter().flatten().map(masked).collect()
    }

    fn references(&mut self, evidence: Option<&Vec<Evidence>>) -> Result<Vec<Reference>, AppError> {
        let evidence = evidence.map(Vec::as_slice).unwrap_or_default();
        if evidence.iter().any(|item| item.target.trim().is_empty()) {
            return Err(AppError::new(ErrorKind::Usage, "a piece of evidence has an empty ref"));
        }
        self.references_dropped += evidence.len().saturating_sub(MOST_REFERENCES);
        let masked = |item: &Evidence| Reference {
            kind: item.kind,
            target: self.text(&item.target),
            summary: self.optional(item.summary.as_ref()),
        };
        Ok(evidence.iter().map(masked).collect())
    }

    fn warnings(self) -> Vec<String> {
        let masked = (self.masked > 0).then(|| format!("{} secret value(s) were masked", self.masked));
        let dropped = self.references_dropped;
        let dropped = (dropped > 0).then(|| format!("only the last {MOST_REFERENCES} pieces of evidence are kept"));
        masked.into_iter().chain(dropped).collect()
    }
}
