//! `import_openchrome`: takes over the runs of an OpenChrome home as tracked runs of the caller's tenant, with their times.
//!
//! A run's id follows from its old one, so that importing again finds it: a run that is complete is left alone, one whose import was
//! interrupted is completed. What the files say goes through the same decisions as what a program reports, and is masked before that.

use std::path::PathBuf;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{
    Action, Actor, Command, Event, Links, Report, RunCall, RunStatus, Submission, Task, decide, submit,
};
use longhaul_core::time::Time;
use longhaul_store::{Change, CommitError, Guard, Stored};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Said;
use super::openchrome::{Found, Record, Skips, directories, read};
use super::start::candidates;
use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::intake::blocking_here;
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};
use crate::text;

/// The operation `import_openchrome`.
pub struct ImportOpenchrome;

/// What `import_openchrome` takes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ImportOpenchromeInput {
    /// OpenChrome's home, or the directory of its runs.
    pub directory: PathBuf,
    /// Only count.
    #[serde(default)]
    pub dry_run: bool,
}

/// What was imported.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Imported {
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Runs that were imported, or would be.
    pub imported: u64,
    /// Runs that were imported before; they were left alone.
    pub known: u64,
    /// What could not be used, by its kind.
    pub skipped: Vec<Skipped>,
}

/// A kind of thing that could not be used.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Skipped {
    /// What it is.
    pub what: String,
    /// How often it was found.
    pub count: u64,
    /// The file of the first one.
    pub first: String,
}

impl View for Imported {
    const KIND: &'static str = "imported";
}

impl Operation for ImportOpenchrome {
    const ABOUT: About = About::new(
        "import_openchrome",
        "Import the task runs of an OpenChrome home",
        Action::Manage("import runs"),
        COMMAND_LINE,
    )
    .by_hand("import openchrome DIR");
    type Input = ImportOpenchromeInput;
    type Output = Imported;

    async fn run(call: &Call, _: Permit, input: ImportOpenchromeInput) -> Result<Answer<Imported>, AppError> {
        let directory = call.caller.resolve(&input.directory)?;
        let unreadable = |error| {
            let what = format!("cannot read the directory `{}`", text::safe(&directory.display().to_string()));
            AppError::new(ErrorKind::Usage, what).because(&error).hint("name the directory that contains `task-runs`")
        };
        let found = blocking_here(|| directories(&directory)).map_err(unreadable)?;
        let (mut skips, mut view) = (Skips::default(), Imported { dry_run: input.dry_run, ..Imported::default() });
        for directory in found {
            let Some(found) = blocking_here(|| read(&directory, &mut skips)) else { continue };
            match import(call, found, input.dry_run, &mut skips).await? {
                Outcome::Imported => view.imported += 1,
                Outcome::Known => view.known += 1,
                Outcome::Unusable => {}
            }
        }
        let skipped = skips.0.into_iter().map(|(what, (count, first))| Skipped { what, count, first });
        view.skipped = skipped.collect();
        Ok(Answer::new(view))
    }
}

enum Outcome {
    Imported,
    Known,
    Unusable,
}

async fn import(call: &Call, found: Found, dry_run: bool, skips: &mut Skips) -> Result<Outcome, AppError> {
    let task = TaskId::of_alias(call.caller.tenant.name(), &found.alias);
    let stored = match call.load(task).await {
        Err(error) if error.kind == ErrorKind::NotFound => None,
        stored => stored?,
    };
    let said = Said::new(call.app.system.environment.secrets(&[]));
    let Some(mut story) = Story::of(task, found, said, &call.caller.actor, skips) else { return Ok(Outcome::Unusable) };
    match stored {
        Some(stored) if !story.begins_like(&stored) => Ok(Outcome::Known),
        _ if dry_run => Ok(Outcome::Imported),
        stored => {
            call.app.create()?;
            story.write(call, stored).await?;
            Ok(Outcome::Imported)
        }
    }
}

/// What happens to a run while it is imported: events with their times, in order, and the task after each of them.
struct Story {
    submission: Submission,
    moments: Vec<(Time, Vec<Event>, Task)>,
}

impl Story {
    fn of(task: TaskId, mut found: Found, mut said: Said, actor: &Actor, skips: &mut Skips) -> Option<Story> {
        let (meta, path) = (&mut found.meta, found.alias.clone());
        let created = meta.time("created_at", skips)?;
        let links = Links {
            session_id: said.optional(meta.text("session_id", skips).as_ref()),
            workflow_id: None,
            ledger_task_ids: Vec::new(),
        };
        let goal = said.text(&meta.text("goal", skips).unwrap_or_default());
        let criteria = said.texts(Some(&meta.texts("success_criteria", skips)));
        let name = candidates(&goal, task).next()?;
        let submission = Submission::tracked(&goal, name, String::new(), &criteria, links);
        let begun = submit(&submission)
            .ok()
            .and_then(|events| Some((Task::begin(task, events.first()?, created).ok()?, events)));
        let Some((begun, events)) = begun else {
            skips.count("run without a goal", path.as_ref());
            return None;
        };
        let mut story = Story { submission, moments: vec![(created, events, begun)] };
        for (at, call) in calls(&mut found, &mut said, created, skips) {
            if !story.tell(at, call, actor) {
                skips.count("event that the run's status does not allow", path.as_ref());
            }
        }
        Some(story)
    }

    fn task(&self) -> &Task {
        let (.., task) = self.moments.last().expect("a story begins with a submission");
        task
    }

    /// Adds what follows from a call; no, if it is refused.
    fn tell(&mut self, at: Time, call: RunCall, actor: &Actor) -> bool {
        let command = Command::Track { call: Box::new(call) };
        let decided = decide(self.task(), &command.into(), actor, at).ok();
        let after = decided.and_then(|events| Some((self.task().after(&events, at).ok()?, events)));
        let Some((task, events)) = after else { return false };
        self.moments.push((at, events, task));
        true
    }

    /// Whether this task is the beginning of the story and not all of it.
    fn begins_like(&self, stored: &Stored) -> bool {
        let is_it = |task: &Task| task.version == stored.task.version && task.state == stored.task.state;
        let beginning = &self.moments[..self.moments.len() - 1];
        beginning.iter().any(|(.., task)| is_it(task) && task.updated == stored.task.updated)
    }

    /// Commits the rest of the story, one commit for each moment, so that each keeps its time.
    async fn write(&mut self, call: &Call, stored: Option<Stored>) -> Result<(), AppError> {
        let version = stored.map_or(0, |stored| stored.task.version);
        for (at, events, after) in &self.moments {
            if after.version <= version {
                continue;
            }
            let before = after.version - events.len() as u64;
            let guard = if before == 0 { Guard::New } else { Guard::Version(before) };
            let change = |events| {
                let (task, actor, at) = (after.id, call.caller.actor.clone(), *at);
                Change { task, guard, events, actor, at, key: None, claim: None, session_cap: None }
            };
            if before > 0 {
                call.store()?.commit(change(events.clone())).await?;
                continue;
            }
            begin(call, &self.submission, after.id, change).await?;
        }
        Ok(())
    }
}

/// Commits the submission under the first name that is free.
async fn begin(
    call: &Call,
    submission: &Submission,
    task: TaskId,
    change: impl Fn(Vec<Event>) -> Change,
) -> Result<(), AppError> {
    let mut refused = AppError::new(ErrorKind::Conflict, "no free name was found; try again");
    for name in candidates(&submission.goal, task) {
        let events = submit(&Submission { name, ..submission.clone() })?;
        match call.store()?.commit(change(events)).await {
            Err(error @ CommitError::NameTaken { .. }) => refused = error.into(),
            committed => return Ok(committed.map(drop)?),
        }
    }
    Err(refused)
}

/// The calls that would have made the run what its files say, in the order of their times. The record has the last word.
fn calls(found: &mut Found, said: &mut Said, created: Time, skips: &mut Skips) -> Vec<(Time, RunCall)> {
    let mut calls: Vec<(Time, RunCall)> = Vec::new();
    for mut happened in std::mem::take(&mut found.events) {
        let (at, data) = (happened.at, &mut happened.data);
        match happened.kind.as_str() {
            "updated" => {
                let reason = said.optional(data.text("resume_reason", skips).as_ref());
                let status = reason.is_some().then_some(RunStatus::Running);
                calls.push((at, RunCall::Update { report: Report::default(), status, resume_reason: reason }));
            }
            "needs_help" => calls.push((at, help(data, said, skips))),
            // Checkpoints have their own files; the record says how the run ended.
            "started" | "checkpointed" | "completed" | "failed" | "cancelled" => {}
            kind => skips.count(format!("event of unknown kind `{}`", text::safe(kind)), found.alias.as_ref()),
        }
    }
    for mut record in std::mem::take(&mut found.checkpoints) {
        let at = record.time("created_at", skips).unwrap_or(created);
        let report = Report {
            summary: said.optional(record.text("summary", skips).as_ref()),
            cursor: said.optional(record.text("current_cursor", skips).as_ref()),
            references: references(&mut record, "evidence", said, skips),
            ..Report::default()
        };
        record.text("checkpoint_id", skips);
        record.finish("a checkpoint", skips);
        calls.push((at, RunCall::Checkpoint { report }));
    }
    calls.sort_by_key(|(at, _)| *at);
    let waits = calls.iter().rev().find_map(|(_, call)| match call {
        RunCall::NeedsHelp { .. } => Some(true),
        RunCall::Update { status: Some(_), .. } => Some(false),
        RunCall::Update { .. } | RunCall::Checkpoint { .. } | RunCall::Complete { .. } => None,
    });
    calls.extend(last_word(&mut found.meta, said, created, waits == Some(true), skips));
    calls
}

/// What the record says in the end: its report, its request for help, or how it ended.
fn last_word(
    meta: &mut Record,
    said: &mut Said,
    created: Time,
    waits: bool,
    skips: &mut Skips,
) -> Vec<(Time, RunCall)> {
    let report = Report {
        summary: said.optional(meta.text("progress_summary", skips).as_ref()),
        completed: said.texts(Some(&meta.texts("completed_items", skips))),
        failed: said.failed(Some(&meta.failed("failed_items", skips))),
        cursor: said.optional(meta.text("current_cursor", skips).as_ref()),
        references: references(meta, "last_evidence", said, skips),
        links: Links {
            session_id: None,
            workflow_id: said.optional(meta.text("workflow_id", skips).as_ref()),
            ledger_task_ids: said.texts(Some(&meta.texts("ledger_task_ids", skips))),
        },
        completed_dropped: meta.number("completed_items_truncated", skips),
        failed_dropped: meta.number("failed_items_truncated", skips),
    };
    let name = meta.text("status", skips).unwrap_or_default();
    let status = RunStatus::from_word(&name);
    let updated = meta.time("updated_at", skips).unwrap_or(created);
    let ended = meta.time("completed_at", skips).unwrap_or(updated);
    let asked = meta.within("needs_help", skips);
    let resumed = |report| {
        let reason = waits.then(|| "OpenChrome had it as running".to_owned());
        (updated, RunCall::Update { report, status: Some(RunStatus::Running), resume_reason: reason })
    };
    let calls = match (status, asked) {
        (Some(status @ (RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled)), _) => {
            vec![(ended, RunCall::Complete { status, report })]
        }
        (Some(RunStatus::NeedsHelp), Some(mut asked)) if !waits => {
            let at = asked.time("requested_at", skips).unwrap_or(updated);
            let asked = help(&mut asked, said, skips);
            vec![(at, asked), (updated, RunCall::Update { report, status: None, resume_reason: None })]
        }
        (Some(RunStatus::NeedsHelp), _) => {
            vec![(updated, RunCall::Update { report, status: None, resume_reason: None })]
        }
        (Some(RunStatus::Pending | RunStatus::Running), _) => vec![resumed(report)],
        (None, _) => {
            skips.count(format!("record with unknown status `{}`", text::safe(&name)), "meta.json".as_ref());
            vec![resumed(report)]
        }
    };
    meta.finish("a record", skips);
    calls
}

fn help(record: &mut Record, said: &mut Said, skips: &mut Skips) -> RunCall {
    let reason = record.text("reason", skips).unwrap_or_else(|| "no reason was stored".to_owned());
    let hint = record.text("resume_hint", skips);
    RunCall::NeedsHelp { reason: said.text(&reason), hint: said.optional(hint.as_ref()), report: Report::default() }
}

fn references(
    record: &mut Record,
    field: &str,
    said: &mut Said,
    skips: &mut Skips,
) -> Vec<longhaul_core::task::Reference> {
    let mut evidence = record.evidence(field, skips);
    evidence.retain(|item| !item.target.trim().is_empty());
    said.references(Some(&evidence)).unwrap_or_default()
}
