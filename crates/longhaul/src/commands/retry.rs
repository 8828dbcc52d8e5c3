//! `longhaul retry`: a new task with what was asked of a finished one, linked to it. The old task, its worktree and its files stay.
//! What a person changes with flags is told; everything else is as it was submitted.

use std::path::{Path, PathBuf};

use longhaul_app::{Request, mint_task};
use longhaul_core::names::STATE_DIR;
use longhaul_core::names::{self, TaskName};
use longhaul_core::task::{Place, Refusal, Setting, Submission, Task};
use longhaul_store::Filter;

use super::edit;
use super::run::{submit, told};
use crate::cli::Retry;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::{self, Signals, Viewing};
use longhaul_app::lookup;
use longhaul_app::{AppError, ErrorKind};
use longhaul_app::{Call, submit::declared, submit::files, submit::workspace_choice};

/// So many names are tried when others take them at the same time.
const MOST_NAMES: usize = 20;

pub(crate) async fn retry(line: &CommandLine, args: &Retry) -> Result<Code, AppError> {
    let mut settings = edit::settings(&args.changes)?;
    let call = line.open_existing()?;
    let old = lookup::find_to_read(&call, args.which.task.as_deref()).await?.task;
    if !old.state.is_final() {
        let why = "it is not finished; `longhaul resume` lets it go on, `longhaul cancel` ends it";
        return Err(Refusal::WrongState { verb: "retry", from: old.state.name(), why }.into());
    }
    // Modes are warned of by the worker, which takes the submission in.
    edit::weigh(line, &args.changes.flags, &old.submission, &mut settings)?;
    let mut submission = submission(line, &old, &settings)?;
    if matches!(old.submission.place, Place::Worktree { .. }) {
        // A worktree of its own, from the commit the project stands on now.
        let (chosen, notes) = workspace_choice::choose(Path::new(&submission.project), call.home())?;
        notes.iter().for_each(|note| out::note(note));
        submission.place = chosen;
    }
    let signals = if args.detach { None } else { Some(Signals::listen()?) };
    let task = submit_named(&call, args, &old, &submission).await?;
    tell_news(&old, &submission, &settings);
    match signals {
        Some(signals) => viewer::follow(&call, task, signals, Viewing::whole(args.json)).await,
        None => told(&call, task, args.json).await,
    }
}

/// What was asked for then, with the files to start from as they are now.
fn submission(line: &CommandLine, old: &Task, settings: &[Setting]) -> Result<Submission, AppError> {
    let mut submission = Submission::clone(&old.submission);
    longhaul_app::Project::of(Path::new(&submission.workspace))?;
    let paths: Vec<PathBuf> = submission.inputs.iter().map(|file| PathBuf::from(&file.path)).collect();
    submission.inputs = files::inputs(&paths)?;
    submission.retry_of = Some(old.id);
    settings.iter().for_each(|setting| submission.set(setting));
    submission.declared = declared::refreshed(&line.system.environment, &line.caller, &submission)?;
    Ok(submission)
}

async fn submit_named(
    call: &Call,
    args: &Retry,
    old: &Task,
    submission: &Submission,
) -> Result<longhaul_core::ids::TaskId, AppError> {
    let request = |name: String| Request {
        id: mint_task(),
        name: Some(name),
        submission: submission.clone(),
        actor: call.caller.actor.clone(),
    };
    if let Some(name) = &args.name {
        return submit(call, request(name.clone())).await;
    }
    let mut refused = AppError::new(ErrorKind::Conflict, "found no free name").hint("give one with --name");
    for name in free_names(call, old).await? {
        match submit(call, request(name)).await {
            // Somebody took the name meanwhile.
            Err(error) if error.kind == ErrorKind::Conflict => refused = error,
            outcome => return outcome,
        }
    }
    Err(refused)
}

/// Names after the old one that no task of the project and no directory has.
async fn free_names(call: &Call, old: &Task) -> Result<Vec<String>, AppError> {
    let project = &old.submission.project;
    let listed = call.list(Filter { project: Some(project.clone()), ..Filter::default() }).await?;
    let is_free = |name: &String| {
        TaskName::new(name).is_ok()
            && !listed.tasks.iter().any(|stored| stored.task.submission.name.as_ref() == name)
            && Path::new(project).join(STATE_DIR).join(name).symlink_metadata().is_err()
    };
    let after = names::candidates(base(old)).skip(1).take(10_000);
    Ok(after.filter(is_free).take(MOST_NAMES).collect())
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

fn tell_news(old: &Task, submission: &Submission, settings: &[Setting]) {
    let name = &old.submission.name;
    out::note(&format!("tries {name} ({}) anew; that one stays as it is", old.id));
    let said: Vec<String> = settings.iter().map(ToString::to_string).collect();
    out::note(&format!("new: {}", if said.is_empty() { "nothing".to_owned() } else { out::safe(&said.join(", ")) }));
    for (then, now) in old.submission.inputs.iter().zip(&submission.inputs) {
        if then.sha256 != now.sha256 {
            out::note(&format!("new: the input {} has other content than then", out::safe(&now.path)));
        }
    }
}
