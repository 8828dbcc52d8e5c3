//! `longhaul store`: checks everything that is stored, and copies it to a file while workers go on.
//! It repairs nothing and overwrites nothing. Refused below an agent session: it tells of every task.

use std::collections::HashSet;
use std::path::Path;

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::{Exit, SessionRecord};
use longhaul_store::{Damaged, Filter, StoreError, TaskSummary};
use serde_json::json;

use super::show::sessions_of;
use super::{Opened, open_existing};
use crate::cli::{Store, StoreVerb};
use crate::error::CliError;
use crate::exit::Code;
use crate::session_dirs::survey;
use crate::{amount, out, place};

pub(crate) async fn store(args: &Store) -> Result<Code, CliError> {
    if place::actor().session.is_some() {
        return Err(CliError::new(Code::Conflict, "below an agent session the store is neither checked nor copied")
            .hint("ask a person to run `longhaul store`"));
    }
    match &args.verb {
        StoreVerb::Check { json } => check(*json).await,
        StoreVerb::Backup { file } => backup(file).await,
    }
}

/// What a look at everything found.
#[derive(Debug, Default)]
struct Findings {
    tasks: usize,
    damaged: Vec<Damaged>,
    /// Sessions that ran and whose directory is gone.
    missing: Vec<Missing>,
    /// Session directories of no task.
    strays: Vec<String>,
}

#[derive(Debug)]
struct Missing {
    task: String,
    number: u32,
    session: SessionId,
    /// Of a finished task: a sweep was cut off, and the next one finishes it.
    is_swept: bool,
}

impl Findings {
    /// A half-swept task and a stray directory are no damage.
    fn code(&self) -> Code {
        let lost = self.missing.iter().any(|missing| !missing.is_swept);
        if self.damaged.is_empty() && !lost { Code::Done } else { Code::Damaged }
    }
}

async fn check(json: bool) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let mut findings = Findings { damaged: opened.store.check().await?, ..Findings::default() };
    let tasks = opened.store.summaries(Filter::default()).await?.tasks;
    findings.tasks = tasks.len();
    compare(&opened, &tasks, &mut findings).await?;
    if json {
        print_json(&findings);
    } else {
        print(&findings);
    }
    Ok(findings.code())
}

/// Holds the sessions that events tell of against the directories that are there.
async fn compare(opened: &Opened, tasks: &[TaskSummary], findings: &mut Findings) -> Result<(), CliError> {
    let failed =
        |error: std::io::Error| CliError::new(Code::Failure, "cannot look at the session directories").because(&error);
    let on_disk = survey(&opened.home).map_err(failed)?;
    let there: HashSet<SessionId> = on_disk.sessions.iter().map(|session| session.id).collect();
    let mut told = HashSet::new();
    for outline in tasks {
        let records = match opened.store.events(outline.task, 0, u32::MAX).await {
            Ok(events) => sessions_of(&events),
            // Named already as damaged.
            Err(StoreError::Damaged { .. }) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        told.extend(records.iter().map(|record| record.run.id));
        let lost = records.iter().filter(|record| ran(record) && !there.contains(&record.run.id));
        findings.missing.extend(lost.map(|record| Missing {
            task: outline.name.clone(),
            number: record.run.number,
            session: record.run.id,
            is_swept: outline.is_final,
        }));
    }
    let known: HashSet<TaskId> = tasks.iter().map(|outline| outline.task).collect();
    let is_stray =
        |task: Option<TaskId>, id: SessionId| !told.contains(&id) && task.is_none_or(|task| !known.contains(&task));
    let strays = on_disk.sessions.iter().filter(|session| is_stray(session.task, session.id));
    findings.strays = strays.map(|session| session.id.to_string()).chain(on_disk.strange.iter().cloned()).collect();
    Ok(())
}

/// Whether the session has ended and must have left a directory.
fn ran(record: &SessionRecord) -> bool {
    let exit = record.ended.as_ref().map(|ended| &ended.exit);
    matches!(exit, Some(Exit::Code(_) | Exit::Signal(_) | Exit::Unknown))
}

fn print(findings: &Findings) {
    for damaged in &findings.damaged {
        out::data(&out::safe(&format!("damaged   {}: {}", damaged.row, damaged.what)));
    }
    for missing in &findings.missing {
        let Missing { task, number, session, is_swept } = missing;
        let why = if *is_swept { " (half swept; `longhaul gc` finishes it)" } else { "" };
        out::data(&out::safe(&format!(
            "missing   directory of session {number} of task {task}: sessions/{session}{why}"
        )));
    }
    for stray in &findings.strays {
        out::data(&out::safe(&format!(
            "stray     sessions/{stray} belongs to no task; `longhaul gc` takes old ones away"
        )));
    }
    if findings.code() == Code::Done {
        out::note(&format!("the store is sound: {} task(s), every chain and every state checked", findings.tasks));
    } else {
        out::note(
            "the store is damaged; nothing was changed. Keep the file; a backup is put in place as the guide says",
        );
    }
}

fn print_json(findings: &Findings) {
    let damaged: Vec<_> =
        findings.damaged.iter().map(|damaged| json!({ "row": damaged.row, "what": damaged.what })).collect();
    let missing: Vec<_> = findings
        .missing
        .iter()
        .map(|missing| {
            json!({
                "task": missing.task,
                "number": missing.number,
                "session": missing.session,
                "half_swept": missing.is_swept,
            })
        })
        .collect();
    let sound = findings.code() == Code::Done;
    out::json(
        "store_check",
        &json!({ "sound": sound, "tasks": findings.tasks, "damaged": damaged, "missing": missing, "strays": findings.strays }),
    );
}

async fn backup(file: &Path) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let target = std::path::absolute(file)
        .map_err(|error| CliError::new(Code::Usage, format!("cannot use `{}`", file.display())).because(&error))?;
    if target.symlink_metadata().is_ok() {
        return Err(CliError::new(Code::Conflict, format!("`{}` exists already", target.display()))
            .hint("name a new file; a backup overwrites nothing"));
    }
    opened.store.backup(&target).await.map_err(|error| cannot_back_up(&target, error))?;
    let bytes = target.symlink_metadata().map_or(0, |meta| meta.len());
    out::data(&out::safe(&target.display().to_string()));
    out::note(&format!("backed up and checked: {}; session logs are not part of it", amount::bytes(bytes)));
    Ok(Code::Done)
}

/// What is wrong with the place of the copy is not wrong with the home.
fn cannot_back_up(target: &Path, error: StoreError) -> CliError {
    let code = match &error {
        StoreError::Unfit { .. } => Code::Usage,
        StoreError::Failed { .. } | StoreError::Full { .. } => Code::Failure,
        _ => return error.into(),
    };
    CliError::new(code, format!("cannot back up to `{}`", target.display()))
        .because(&error)
        .hint("name a new file in a directory that is there, that you may write to, and that has room")
}
