//! The stored task behind a task directory: found, made, taken over from the dead, or cleared away when the directory was.
//! Called once per invocation. The lease it ends with is the runner's lock.

use longhaul_app::{
    Answer, AppError, Call, ErrorKind, Project, RefusalKind, Request, change, ownership, prompt_files,
    submit::notify_targets,
};
use longhaul_core::ids::TaskId;
use longhaul_core::task::{
    Command, Driver, Patience, Place as Where, Resume, RunnerOptions, Sandbox, Setting, Submission,
};
use longhaul_store::{Filter, Stored, Which};
use longhaul_worker::{RunnerError, RunnerProcess, TakenUp};

use super::directory::Directories;
use super::name::Name;
use crate::cli::RunSession;
use crate::command_line::CommandLine;
use crate::out;
use longhaul_app::config::{Overrides, Sources};
use longhaul_app::submit::files::utf8;

/// An unfinished task that is stored under a name.
pub(super) struct Record {
    stored: Stored,
}

impl Record {
    /// The unfinished task of this name in the project, if there is one.
    async fn find(line: &CommandLine, place: &Project, name: &Name) -> Result<Option<Record>, AppError> {
        match line.open_existing() {
            Ok(call) => Record::find_in(&call, place, name).await,
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn find_in(call: &Call, place: &Project, name: &Name) -> Result<Option<Record>, AppError> {
        let (project, name) = (Some(utf8(&place.root)?), Some(name.as_str().to_owned()));
        let filter = Filter { project, name, which: Which::Unfinished, ..Filter::default() };
        Ok(call.list(filter).await?.tasks.into_iter().next().map(|stored| Record { stored }))
    }

    /// The stored task of a name. A name that was made up for a new task gives way to one that somebody has just taken.
    pub(super) async fn settle(
        line: &CommandLine,
        mut name: Name,
        place: &Project,
        directories: &Directories,
    ) -> Result<(Name, Option<Record>), AppError> {
        loop {
            let record = Record::find(line, place, &name).await?;
            let taken = record.as_ref().is_some_and(|record| !record.is_removed(directories));
            match name.next(directories).filter(|_| taken) {
                Some(next) => name = next,
                None => return Ok((name, record)),
            }
        }
    }

    pub(super) fn goal(&self) -> String {
        self.stored.task.submission.goal.clone()
    }

    /// Whether somebody may be writing in its directory: a session of a runner that lives, or that died.
    pub(super) fn is_in_session(&self) -> bool {
        self.stored.task.state.session().is_some()
    }

    /// Whether it is for `run-session` at all.
    fn check(&self) -> Result<(), AppError> {
        let task = &self.stored.task;
        if task.submission.driver.is_runner() {
            return Ok(());
        }
        let name = &task.submission.name;
        Err(AppError::new(ErrorKind::Conflict, format!("task `{name}` is supervised by Longhaul"))
            .hint(format!("go on with it: longhaul resume {name}")))
    }

    /// Whether it had a directory, which is gone.
    fn is_removed(&self, directories: &Directories) -> bool {
        let task = &self.stored.task;
        task.tally.sessions > 0 && !directories.task(task.submission.name.as_str()).exists()
    }
}

/// What an invocation stands on.
pub(super) struct Ground<'a> {
    pub(super) line: &'a CommandLine,
    pub(super) args: &'a RunSession,
    pub(super) place: &'a Project,
    pub(super) directories: &'a Directories,
    pub(super) driving: &'a RunnerProcess,
    pub(super) call: &'a Call,
}

/// What one invocation wants.
pub(super) struct Invocation {
    pub(super) name: Name,
    pub(super) goal: String,
    pub(super) record: Option<Record>,
}

impl Invocation {
    /// Makes the task this invocation's, whatever has to be done for that.
    pub(super) async fn take_up(mut self, ground: &Ground<'_>) -> Result<Stored, AppError> {
        let run = run(ground)?;
        let wanted = [Setting::Sandbox(sandbox(ground.args))];
        loop {
            let Some(task) = self.obtain(ground).await? else { continue };
            let settings = if self.record.is_some() { &wanted[..] } else { &[] };
            match ground
                .driving
                .take_up(task, &run, settings, &ground.call.caller.actor)
                .await
                .map_err(|error| failed(&error))?
            {
                TakenUp::Ours(stored) if self.is_removed(ground) => {
                    clear_away(ground, *stored, "directory removed").await?;
                }
                TakenUp::Ours(stored) if self.is_another(ground) => {
                    clear_away(ground, *stored, "begun anew with another description").await?;
                }
                TakenUp::Ours(stored) => return Ok(*stored),
                TakenUp::Finished => {}
                TakenUp::Busy => return Err(self.busy(ground).await),
            }
            self.record = None;
        }
    }

    /// The stored task of the name, or a new one; none when the name was taken between the look and the submission.
    async fn obtain(&mut self, ground: &Ground<'_>) -> Result<Option<TaskId>, AppError> {
        if let Some(record) = &self.record {
            record.check()?;
            return Ok(Some(record.stored.task.id));
        }
        match ground.driving.submit(self.request(ground)?).await {
            Answer::Accepted { task, warnings, .. } => {
                warnings.iter().for_each(|warning| out::note(&format!("warning: {}", out::safe(warning))));
                Ok(Some(task))
            }
            Answer::Refused { kind: RefusalKind::Conflict, .. } => self.look_again(ground).await.map(|()| None),
            Answer::Refused { message, .. } => Err(AppError::new(ErrorKind::Usage, out::safe(&message))),
        }
    }

    /// Another name where one was made, else the very task that has it.
    async fn look_again(&mut self, ground: &Ground<'_>) -> Result<(), AppError> {
        match self.name.next(ground.directories) {
            Some(next) => {
                self.name = next;
                self.name.announce();
            }
            None => self.record = Record::find_in(ground.call, ground.place, &self.name).await?,
        }
        Ok(())
    }

    fn is_removed(&self, ground: &Ground<'_>) -> bool {
        self.record.as_ref().is_some_and(|record| record.is_removed(ground.directories))
    }

    /// Until there is a list, a task is what its description says.
    fn is_another(&self, ground: &Ground<'_>) -> bool {
        let planned = ground.directories.task(self.name.as_str()).has_list();
        !planned && self.record.as_ref().is_some_and(|record| record.goal() != self.goal)
    }

    async fn busy(&self, ground: &Ground<'_>) -> AppError {
        let record = Record::find_in(ground.call, ground.place, &self.name).await.ok().flatten();
        let process = record.and_then(|record| ownership::process(ground.call.home(), &record.stored));
        let who = process.map(|process| format!(" (pid {})", process.pid)).unwrap_or_default();
        let name = self.name.as_str();
        AppError::new(ErrorKind::Conflict, format!("task `{name}` is already running{who}"))
            .hint(format!("follow it: longhaul attach {name}"))
    }

    fn request(&self, ground: &Ground<'_>) -> Result<Request, AppError> {
        let (args, place) = (ground.args, ground.place);
        let settings = ground.line.load(&place.root, &Overrides::default())?.settings;
        let prompts = prompt_files::read(
            &Sources::of(&ground.line.system.environment, &ground.line.caller, &place.root)?,
            &settings,
        )?
        .templates;
        let bare =
            Submission::new(self.goal.clone(), self.name.name().clone(), utf8(&place.directory)?, "codex".into());
        let submission = Submission {
            project: utf8(&place.root)?,
            driver: Driver::Runner,
            place: Where::InPlace,
            sandbox: sandbox(args),
            patience: patience(&settings.patience),
            prompts,
            notify: notify_targets::notify(&settings.notify),
            secret_names: settings.redact.extra,
            env_only: settings.env.only,
            ..bare
        };
        let name = Some(self.name.as_str().to_owned());
        Ok(Request::new(name, submission, ground.call.caller.actor.clone()))
    }
}

/// Without a network of its own, codex opens everything at once.
fn sandbox(args: &RunSession) -> Sandbox {
    if args.network { Sandbox::Full } else { Sandbox::Workspace }
}

fn run(ground: &Ground<'_>) -> Result<RunnerOptions, AppError> {
    let resume = if ground.args.resume_last { Resume::Saved } else { Resume::Never };
    Ok(RunnerOptions::new(ground.args.sessions(), resume, utf8(&ground.place.directory)?))
}

/// Nothing but the person ends a session of the runner, and nothing keeps it from starting.
fn patience(settings: &Patience) -> Patience {
    let Patience { delay_ms, keep_awake, scopes, .. } = *settings;
    let free = Patience { silence_ms: None, wall_ms: None, max_time_ms: None, ..Patience::default() };
    Patience { delay_ms, keep_awake, scopes, memory_floor: 0, disk_floor: 0, ..free }
}

/// The stored task is given up for another of its name. What still runs for it is ended first.
async fn clear_away(ground: &Ground<'_>, stored: Stored, why: &str) -> Result<(), AppError> {
    let cancel = Command::Cancel { reason: Some(why.to_owned()) };
    let changed = change(ground.call.store()?, stored.task.id, cancel, &ground.call.caller.actor, None, None).await?;
    ground.driving.finish(changed.stored).await.map_err(|error| failed(&error))?;
    Ok(())
}

/// An invocation that could not go on.
pub(super) fn failed(error: &RunnerError) -> AppError {
    AppError::new(ErrorKind::Failure, "the task cannot be carried out").because(error)
}
