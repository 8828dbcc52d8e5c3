//! Removes one finished task: its worktree if nothing is lost by that, its session directories, and at last its rows.
//! Called by `gc`. A kill anywhere leaves the rows, so that the next run continues from there.

use std::collections::BTreeSet;
use std::io;

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_keeper::{Discarded, discard_session, fail_point, survey_session};
use longhaul_store::{Filter, Guard, RemoveError, Stored};

use super::Mode;
use super::candidates::Candidate;
use super::worktree::{self, Fate};
use crate::app::Call;
use crate::error::AppError;
use crate::session::recorded::recorded;

/// What became of a task.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It is gone.
    Removed { sessions: usize, bytes: u64 },
    /// It stays, and that is right.
    Kept { why: String },
    /// It stays because something failed.
    Failed { why: String },
}

/// Removes a finished task, or only says what would become of it.
pub(super) async fn remove(call: &Call, candidate: &Candidate, mode: Mode) -> Result<Outcome, AppError> {
    let Some(stored) = call.store()?.load(candidate.outline.task).await? else {
        return Ok(Outcome::Kept { why: "another process removed it".to_owned() });
    };
    if !stored.task.state.is_final() || stored.owner.is_some() {
        return Ok(Outcome::Kept { why: "it is not finished".to_owned() });
    }
    let sessions = match sessions(call, candidate).await {
        Ok(sessions) => sessions,
        Err(error) => return Ok(Outcome::Failed { why: error.sentence() }),
    };
    // Looked at before anything is deleted, so that a task is kept as a whole.
    if let Some(why) = strange(call, &sessions) {
        return Ok(Outcome::Kept { why });
    }
    match worktree::remove(call.home(), &stored.task, mode) {
        Fate::Gone if mode == Mode::DryRun => {
            return Ok(Outcome::Removed { sessions: candidate.sessions.len(), bytes: candidate.bytes });
        }
        Fate::Gone => fail_point::reach("gc.worktree_removed"),
        Fate::Kept { why } => return Ok(Outcome::Kept { why }),
        Fate::Failed { why } => return Ok(Outcome::Failed { why }),
    }
    for session in &sessions {
        if let Some(outcome) = discard(call, *session) {
            return Ok(outcome);
        }
        fail_point::reach("gc.session_removed");
    }
    fail_point::reach("gc.files_removed");
    if let Some(outcome) = remove_follow_ups(call, stored.task.id).await? {
        return Ok(outcome);
    }
    match remove_rows(call, &stored).await? {
        Some(outcome) => Ok(outcome),
        None => Ok(Outcome::Removed { sessions: candidate.sessions.len(), bytes: candidate.bytes }),
    }
}

/// Removes what was done with the work of a task; the outcome if that did not succeed.
async fn remove_follow_ups(call: &Call, task: TaskId) -> Result<Option<Outcome>, AppError> {
    let filter = Filter { follows: Some(task), ..Filter::default() };
    for follow_up in call.store()?.list(filter).await?.tasks {
        for record in recorded(call, follow_up.task.id).await? {
            if let Some(outcome) = discard(call, record.run.id) {
                return Ok(Some(outcome));
            }
        }
        if let Some(outcome) = remove_rows(call, &follow_up).await? {
            return Ok(Some(outcome));
        }
    }
    Ok(None)
}

/// Those in its events, and those whose specs name it.
async fn sessions(call: &Call, candidate: &Candidate) -> Result<BTreeSet<SessionId>, AppError> {
    let named = recorded(call, candidate.outline.task).await?.into_iter().map(|record| record.run.id);
    Ok(named.chain(candidate.sessions.iter().copied()).collect())
}

fn strange(call: &Call, sessions: &BTreeSet<SessionId>) -> Option<String> {
    sessions.iter().find_map(|session| match survey_session(&call.home().sessions(), *session) {
        Ok(Some(files)) if !files.strange.is_empty() => Some(not_ours(*session, &files.strange)),
        Ok(_) => None,
        Err(error) => Some(unusable(*session, &error)),
    })
}

/// None when the directory is gone.
fn discard(call: &Call, session: SessionId) -> Option<Outcome> {
    match discard_session(&call.home().sessions(), session) {
        Ok(Discarded::Gone { .. }) => None,
        Ok(Discarded::InUse) => Some(Outcome::Kept { why: format!("session {session} is still in use") }),
        Ok(Discarded::Strange { names }) => Some(Outcome::Kept { why: not_ours(session, &names) }),
        Err(error) => Some(Outcome::Failed { why: unusable(session, &error) }),
    }
}

/// None once the rows are gone.
async fn remove_rows(call: &Call, stored: &Stored) -> Result<Option<Outcome>, AppError> {
    match call.app.whole_store()?.remove(stored.task.id, Guard::Version(stored.task.version)).await {
        Ok(()) | Err(RemoveError::NotFound) => {}
        Err(RemoveError::Store(error)) => return Err(error.into()),
        Err(error) => return Ok(Some(Outcome::Failed { why: error.to_string() })),
    }
    fail_point::reach("gc.rows_removed");
    Ok(None)
}

pub(super) fn not_ours(session: SessionId, names: &[String]) -> String {
    format!("sessions/{session} contains files that Longhaul did not create: {}", names.join(", "))
}

pub(super) fn unusable(session: SessionId, error: &io::Error) -> String {
    format!("sessions/{session} cannot be used: {error}")
}
