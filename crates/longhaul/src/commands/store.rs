//! `longhaul store`: checks everything that is stored, and copies it to a file while workers go on.
//! It repairs nothing and overwrites nothing. Refused below an agent session: it tells of every task.

use std::collections::HashSet;
use std::path::Path;

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::{Exit, SessionRecord};
use longhaul_core::units;
use longhaul_store::{Damaged, Filter, StoreError, TaskSummary};
use serde_json::json;

use super::show::sessions_of;
use crate::cli::{Store, StoreVerb};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::Call;
use longhaul_app::session::on_disk::survey;
use longhaul_app::{AppError, ErrorKind};

pub(crate) async fn store(line: &CommandLine, args: &Store) -> Result<Code, AppError> {
    match &args.verb {
        StoreVerb::Check { json } => check(line, *json).await,
        StoreVerb::Backup { file } => backup(line, file).await,
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

async fn check(line: &CommandLine, json: bool) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let mut findings = Findings { damaged: call.store()?.check().await?, ..Findings::default() };
    let tasks = call.store()?.summaries(Filter::default()).await?.tasks;
    findings.tasks = tasks.len();
    compare(&call, &tasks, &mut findings).await?;
    if json {
        print_json(&findings);
    } else {
        print(&findings);
    }
    Ok(findings.code())
}

/// Holds the sessions that events tell of against the directories that are there.
async fn compare(call: &Call, tasks: &[TaskSummary], findings: &mut Findings) -> Result<(), AppError> {
    let failed = |error: std::io::Error| {
        AppError::new(ErrorKind::Failure, "cannot look at the session directories").because(&error)
    };
    let on_disk = survey(call.home()).map_err(failed)?;
    let there: HashSet<SessionId> = on_disk.sessions.iter().map(|session| session.id).collect();
    let mut told = HashSet::new();
    for outline in tasks {
        let records = match call.store()?.events(outline.task, 0, u32::MAX).await {
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

async fn backup(line: &CommandLine, file: &Path) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let target = std::path::absolute(file)
        .map_err(|error| AppError::new(ErrorKind::Usage, format!("cannot use `{}`", file.display())).because(&error))?;
    if target.symlink_metadata().is_ok() {
        return Err(AppError::new(ErrorKind::Conflict, format!("`{}` exists already", target.display()))
            .hint("name a new file; a backup overwrites nothing"));
    }
    call.store()?.backup(&target).await.map_err(|error| cannot_back_up(&target, error))?;
    let bytes = target.symlink_metadata().map_or(0, |meta| meta.len());
    out::data(&out::safe(&target.display().to_string()));
    out::note(&format!("backed up and checked: {}; session logs are not part of it", units::bytes(bytes)));
    Ok(Code::Done)
}

/// What is wrong with the place of the copy is not wrong with the home.
fn cannot_back_up(target: &Path, error: StoreError) -> AppError {
    let kind = match &error {
        StoreError::Unfit { .. } => ErrorKind::Usage,
        StoreError::Failed { .. } | StoreError::Full { .. } => ErrorKind::Failure,
        _ => return error.into(),
    };
    AppError::new(kind, format!("cannot back up to `{}`", target.display()))
        .because(&error)
        .hint("name a new file in a directory that is there, that you may write to, and that has room")
}
