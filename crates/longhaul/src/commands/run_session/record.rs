//! Finds the stored task of a task directory, creates it, takes it over from a dead process, or cancels it if its directory is gone.
//! Called once per invocation. The lease it obtains is the runner's lock.

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

    /// The stored task of a name. If a generated name was taken in the meantime, another one is generated.
    pub(super) async fn resolve(
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

    /// Whether a session may be writing in its directory, even if its runner died.
    pub(super) fn is_in_session(&self) -> bool {
        self.stored.task.state.session().is_some()
    }

    /// Refuses a task that `run-session` did not create.
    fn check(&self) -> Result<(), AppError> {
        let task = &self.stored.task;
        if task.submission.driver.is_runner() {
            return Ok(());
        }
        let name = &task.submission.name;
        let refused = |what: &str| AppError::new(ErrorKind::Conflict, format!("task `{name}` is {what}"));
        Err(match task.submission.driver {
            Driver::External => refused("executed by an outside program").hint("choose another name"),
            Driver::Supervised | Driver::Runner => {
                refused("supervised by Longhaul").hint(format!("continue it with `longhaul resume {name}`"))
            }
        })
    }

    /// Whether its directory existed and is gone.
    fn is_removed(&self, directories: &Directories) -> bool {
        let task = &self.stored.task;
        task.tally.sessions > 0 && !directories.task(task.submission.name.as_str()).exists()
    }
}

/// What the steps of an invocation share.
pub(super) struct InvocationContext<'a> {
    pub(super) line: &'a CommandLine,
    pub(super) args: &'a RunSession,
    pub(super) place: &'a Project,
    pub(super) directories: &'a Directories,
    pub(super) process: &'a RunnerProcess,
    pub(super) call: &'a Call,
}

/// What one invocation wants.
pub(super) struct Invocation {
    pub(super) name: Name,
    pub(super) goal: String,
    pub(super) record: Option<Record>,
}

impl Invocation {
    /// Takes ownership of the task for this invocation.
    pub(super) async fn take_up(mut self, context: &InvocationContext<'_>) -> Result<Stored, AppError> {
        let run = run(context)?;
        let wanted = [Setting::Sandbox(sandbox(context.args))];
        loop {
            let Some(task) = self.obtain(context).await? else { continue };
            let settings = if self.record.is_some() { &wanted[..] } else { &[] };
            match context
                .process
                .take_up(task, &run, settings, &context.call.caller.actor)
                .await
                .map_err(|error| failed(&error))?
            {
                TakenUp::Ours(stored) if self.is_removed(context) => {
                    cancel_stored(context, *stored, "directory removed").await?;
                }
                TakenUp::Ours(stored) if self.is_another(context) => {
                    cancel_stored(context, *stored, "started over with another description").await?;
                }
                TakenUp::Ours(stored) => return Ok(*stored),
                TakenUp::Finished => {}
                TakenUp::Busy => return Err(self.busy(context).await),
            }
            self.record = None;
        }
    }

    /// The stored task of the name, or a new one; none if the name was taken just before the submission.
    async fn obtain(&mut self, context: &InvocationContext<'_>) -> Result<Option<TaskId>, AppError> {
        if let Some(record) = &self.record {
            record.check()?;
            return Ok(Some(record.stored.task.id));
        }
        match context.process.submit(self.request(context)?).await {
            Answer::Accepted { task, warnings, .. } => {
                warnings.iter().for_each(|warning| out::note(&format!("warning: {}", out::safe(warning))));
                Ok(Some(task))
            }
            Answer::Refused { kind: RefusalKind::Conflict, .. } => self.resolve_conflict(context).await.map(|()| None),
            Answer::Refused { message, .. } => Err(AppError::new(ErrorKind::Usage, out::safe(&message))),
        }
    }

    /// Chooses another generated name, or else finds the task that has the given one.
    async fn resolve_conflict(&mut self, context: &InvocationContext<'_>) -> Result<(), AppError> {
        match self.name.next(context.directories) {
            Some(next) => {
                self.name = next;
                self.name.announce();
            }
            None => self.record = Record::find_in(context.call, context.place, &self.name).await?,
        }
        Ok(())
    }

    fn is_removed(&self, context: &InvocationContext<'_>) -> bool {
        self.record.as_ref().is_some_and(|record| record.is_removed(context.directories))
    }

    /// Until a list exists, another description means another task.
    fn is_another(&self, context: &InvocationContext<'_>) -> bool {
        let planned = context.directories.task(self.name.as_str()).has_list();
        !planned && self.record.as_ref().is_some_and(|record| record.goal() != self.goal)
    }

    async fn busy(&self, context: &InvocationContext<'_>) -> AppError {
        let record = Record::find_in(context.call, context.place, &self.name).await.ok().flatten();
        let process = record.and_then(|record| ownership::process(context.call.home(), &record.stored));
        let who = process.map(|process| format!(" (pid {})", process.pid)).unwrap_or_default();
        let name = self.name.as_str();
        AppError::new(ErrorKind::Conflict, format!("task `{name}` is already running{who}"))
            .hint(format!("follow it with `longhaul attach {name}`"))
    }

    fn request(&self, context: &InvocationContext<'_>) -> Result<Request, AppError> {
        let (args, place) = (context.args, context.place);
        let settings = context.line.load(&place.root, &Overrides::default())?.settings;
        let prompts = prompt_files::read(
            &Sources::of(&context.line.system.environment, &context.line.caller, &place.root)?,
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
            notify: notify_targets::notify(&settings.notify, &context.line.system.environment),
            secret_names: settings.redact.extra,
            env_only: settings.env.only,
            ..bare
        };
        let name = Some(self.name.as_str().to_owned());
        Ok(Request::new(context.call, name, submission))
    }
}

/// `--network` means no sandbox, as in the shell runner.
fn sandbox(args: &RunSession) -> Sandbox {
    if args.network { Sandbox::Full } else { Sandbox::Workspace }
}

fn run(context: &InvocationContext<'_>) -> Result<RunnerOptions, AppError> {
    let resume = if context.args.resume_last { Resume::Saved } else { Resume::Never };
    Ok(RunnerOptions::new(context.args.sessions(), resume, utf8(&context.place.directory)?))
}

/// Only the person ends a session of the runner, and nothing keeps it from starting.
fn patience(settings: &Patience) -> Patience {
    let Patience { delay_ms, keep_awake, scopes, .. } = *settings;
    let free = Patience { silence_ms: None, wall_ms: None, max_time_ms: None, ..Patience::default() };
    Patience { delay_ms, keep_awake, scopes, memory_floor: 0, disk_floor: 0, ..free }
}

/// Cancels the stored task to make room for another of its name, and ends its processes first.
async fn cancel_stored(context: &InvocationContext<'_>, stored: Stored, why: &str) -> Result<(), AppError> {
    let cancel = Command::Cancel { reason: Some(why.to_owned()) };
    let (call, task) = (context.call, stored.task.id);
    let changed = change(call.store()?, call.app.system.clock, task, cancel, &call.caller.actor, None, None).await?;
    context.process.finish(changed.stored).await.map_err(|error| failed(&error))?;
    Ok(())
}

/// The error of an invocation that could not continue.
pub(super) fn failed(error: &RunnerError) -> AppError {
    AppError::new(ErrorKind::Failure, "cannot run the task").because(error)
}
