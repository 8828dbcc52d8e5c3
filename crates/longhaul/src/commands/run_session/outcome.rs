//! Prints how a `run-session` ended and gives its exit code: 0, 1, the agent's own, or 130.
//! Called once, when this invocation no longer owns the task.

use std::sync::atomic::{AtomicBool, Ordering};

use longhaul_core::task::{Cause, Exit, Purpose, RunnerOptions, State, StoppedBy, Task};

use super::directory::{Directory, DirectoryState};
use super::printer::{RunnerPrinter, success};
use crate::cli::RunSession;
use crate::exit::Code;
use crate::out;
use longhaul_app::{AppError, Call, ErrorKind, ownership};

/// What is known at the end.
pub(super) struct Outcome<'a> {
    pub(super) args: &'a RunSession,
    pub(super) task: &'a Task,
    pub(super) printer: &'a RunnerPrinter,
    pub(super) directory: Directory,
    /// Whether a signal asked for the pause.
    pub(super) asked: &'a AtomicBool,
}

impl Outcome<'_> {
    pub(super) async fn print(&self, call: &Call) -> Result<Code, AppError> {
        match &self.task.state {
            State::Done { .. } => {
                print_complete(&self.directory);
                Ok(Code::Done)
            }
            State::Cancelled { .. } => Err(AppError::new(ErrorKind::Failure, "the task was cancelled")),
            State::Blocked { cause: Cause::OtherRunner { pid }, .. } => Err(self.locked(*pid)),
            State::Blocked { cause, .. } => Err(AppError::new(ErrorKind::Failure, cause.to_string())),
            State::Paused => self.paused(),
            State::Held { person, .. } => {
                out::note(&format!("{} works in the agent's conversation.", out::safe(person)));
                Ok(self.interrupted())
            }
            State::Queued
            | State::Preparing
            | State::Landing
            | State::SettingUp { .. }
            | State::Planning { .. }
            | State::Working { .. }
            | State::Verifying { .. }
            | State::Stopping { .. }
            | State::Waiting { .. }
            | State::NeedsHelp { .. }
            | State::Stopped { .. }
            // Of outside programs only.
            | State::Tracked { .. }
            | State::Failed { .. } => self.supervised(call).await,
        }
    }

    /// A person made the task supervised: a worker continues it as soon as this process has ended.
    async fn supervised(&self, call: &Call) -> Result<Code, AppError> {
        if let Some(stored) = call.load(self.task.id).await? {
            ownership::start_for(call, &stored)?;
        }
        out::note(&format!("The task is supervised now: longhaul attach {}", self.task.submission.name));
        Ok(Code::Done)
    }

    fn paused(&self) -> Result<Code, AppError> {
        if self.asked.load(Ordering::SeqCst) {
            return Ok(self.interrupted());
        }
        match self.printer.last_end() {
            // Someone paused it from outside.
            Some((_, StoppedBy::Task)) => return Ok(self.interrupted()),
            None | Some((Exit::Code(0), _)) => {}
            Some((exit, _)) => return self.failed(&exit),
        }
        match self.directory.inspect() {
            DirectoryState::Plan(_) if self.task.run.as_ref().is_some_and(RunnerOptions::is_used_up) => {
                out::note(&self.used_up());
                Ok(Code::Done)
            }
            DirectoryState::Plan(_) => Ok(self.interrupted()),
            state => Err(self.invalid(state)),
        }
    }

    /// A failed session ends the runner with the agent's own code.
    fn failed(&self, exit: &Exit) -> Result<Code, AppError> {
        let code = match exit {
            Exit::Code(code) => u8::try_from(*code).ok(),
            Exit::Signal(number) => u8::try_from(128 + number).ok(),
            Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown => None,
        };
        let limit = self.printer.last_limit().map(|limit| out::safe(&limit));
        let what = limit.as_ref().map_or_else(|| format!("the session failed: {exit}"), Clone::clone);
        let Some(code) = code else { return Err(AppError::new(ErrorKind::Failure, what)) };
        out::note(&format!("error: {what}"));
        if limit.is_some() {
            let name = &self.task.submission.name;
            out::note(&format!("Then continue with: {} --resume-last", self.continue_command()));
            out::note(&format!("Or let Longhaul wait: longhaul resume {name}"));
        }
        Ok(Code::Agents(code))
    }

    fn locked(&self, pid: Option<u32>) -> AppError {
        let lock = self.directory.path().join(".runner.lock");
        match pid {
            Some(pid) => AppError::new(ErrorKind::Conflict, format!("the task is already running (pid {pid})")),
            None => AppError::new(ErrorKind::Conflict, "the task is already running; its lock has no pid yet")
                .hint(format!("if no runner is alive, remove the directory {}", lock.display())),
        }
    }

    fn used_up(&self) -> String {
        let command = self.continue_command();
        if self.args.no_auto_continue {
            format!("Auto-continue is off; stopping after one session. Continue with: {command}")
        } else {
            format!("Maximum sessions ({}) reached. Continue with: {command}", self.args.max_sessions)
        }
    }

    /// Leaves the list alone; the message names what a person has to fix.
    fn invalid(&self, state: DirectoryState) -> AppError {
        let first = self.printer.last_purpose() == Some(Purpose::Plan);
        let what = match state {
            DirectoryState::Invalid(why) => why,
            DirectoryState::Missing | DirectoryState::NoList { .. } | DirectoryState::Plan(_) => {
                format!("{} is missing", self.directory.path().join("task_list.md").display())
            }
        };
        if first {
            return AppError::new(ErrorKind::Failure, format!("Initializer did not create required files: {what}"))
                .hint("try again under the same name");
        }
        AppError::new(ErrorKind::Failure, what).hint("fix it by hand; nothing was changed")
    }

    fn interrupted(&self) -> Code {
        out::note(&format!("Paused. The state is in {}.", self.directory.path().display()));
        out::note(&format!("Continue with: {}", self.continue_command()));
        Code::Interrupted
    }

    fn continue_command(&self) -> String {
        format!("longhaul run-session --task-name {} --continue", self.task.submission.name)
    }
}

/// Prints the shell runner's last lines for a completed task, with the list.
pub(super) fn print_complete(directory: &Directory) {
    success("ALL TASKS COMPLETED!");
    out::data(&format!("Task directory: {}", out::safe(&directory.path().display().to_string())));
    out::data("Final task list:");
    out::data(&out::safe_lines(directory.text().unwrap_or_default().trim_end()));
}
