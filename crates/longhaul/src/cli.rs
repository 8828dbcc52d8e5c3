//! The command line as data: every verb and flag, from which help and completions grow. Nothing here acts.
//! Parsed by `commands::main`; clap answers usage errors by itself, with exit code 2.

mod care;
mod reading;
mod runner;
mod setup;
mod task;

use clap::{Args, Parser, Subcommand};
use longhaul_core::task::Action;

pub(crate) use care::{
    Agents, Completions, Config, ConfigVerb, Demo, Doctor, Gc, Man, Store, StoreVerb, Trust, Worker,
};
pub(crate) use reading::{Diff, Events, List, Logs, Read, Report};
pub(crate) use runner::RunSession;
pub(crate) use setup::{Service, ServiceKind, ServiceVerb, Skill, SkillClient, SkillPlace, SkillVerb};
pub(crate) use task::{Attach, Cancel, Changes, Edit, Pause, Plan, Resume, Retry, Run, Takeover, Tell, Wait};

use crate::exit;

const FIRST_STEP: &str = "Start with `longhaul demo`: no agent and no key needed.";

/// Runs coding agents to the finish line: plans, works session after session, survives crashes and reboots.
#[derive(Debug, Parser)]
#[command(name = "longhaul", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = FIRST_STEP, after_long_help = format!("{FIRST_STEP}\n\n{}", exit::help()))]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show what Longhaul does, in a scratch directory, with the built-in agent
    Demo(Demo),
    /// Start a task and follow it
    Run(Run),
    /// List the tasks of this project, newest first, finished ones too
    List(List),
    /// Show everything about one task
    Show(Read),
    /// Print what the agent printed
    Logs(Logs),
    /// Print what happened to a task
    Events(Events),
    /// Say in one sentence why a task is where it is
    Why(Read),
    /// Stop the session and wait for a person
    Pause(Pause),
    /// Let a paused, blocked or stuck task go on
    Resume(Resume),
    /// Work in the agent's conversation yourself, in the agent's own program
    Takeover(Takeover),
    /// Give a task up
    Cancel(Cancel),
    /// Wait until a task is done or needs someone
    Wait(Wait),
    /// Serve the tasks of this home
    Worker(Worker),
    /// Change limits, checks, agents, modes or priority of a task that is not finished
    Edit(Edit),
    /// Say something to the next session
    Tell(Tell),
    /// Show the configuration and where each value comes from
    Config(Config),
    /// Trust a project's longhaul.toml as it is now
    Trust(Trust),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write those of every verb into a directory
    Man(Man),
    /// Tell everything about a task on one page, from stored facts
    Report(Report),
    /// Show what a task changed since it began
    Diff(Diff),
    /// Show a task's plan, or accept a list of yours in its place
    Plan(Plan),
    /// Follow a task, as `run` does
    Attach(Attach),
    /// Try a finished task anew, as a new task
    Retry(Retry),
    /// Take away finished tasks beyond what is to be kept, and what crashes left behind
    Gc(Gc),
    /// Check or back up the store
    Store(Store),
    /// Say what is well here and what is not, and what to do about it
    Doctor(Doctor),
    /// Carry a task out in place with codex, as the autonomous-skill runner does
    RunSession(RunSession),
    /// List the agents there are: found, version, logged in, and what to do
    Agents(Agents),
    /// Let a worker start with the machine or the login, so that tasks go on after a reboot
    Service(Service),
    /// Give agents the skills to use Longhaul
    Skill(Skill),
}

impl Verb {
    /// What the verb is about to do, for the permission check.
    pub(crate) fn action(&self) -> Action<'static> {
        match self {
            Verb::Run(_) => Action::Submit("run"),
            Verb::Pause(_) => Action::Command("pause"),
            Verb::Resume(_) => Action::Command("resume"),
            Verb::Takeover(_) => Action::Command("take over"),
            Verb::Cancel(_) => Action::Command("cancel"),
            Verb::Edit(_) => Action::Command("edit"),
            Verb::Tell(_) => Action::Command("tell"),
            Verb::Plan(args) if args.accept.is_some() => Action::Command("accept a plan"),
            Verb::Demo(_) => Action::Manage("run the demo"),
            Verb::Worker(_) => Action::Manage("start a worker"),
            Verb::Trust(args) if args.path.is_some() || args.remove.is_some() => Action::Manage("trust"),
            Verb::Retry(_) => Action::Manage("retry"),
            Verb::Gc(args) if args.dry_run => Action::ReadAll("gc"),
            Verb::Gc(_) => Action::Manage("gc"),
            Verb::RunSession(args) if args.list => Action::Read,
            // Its own errors all end with code 1, so it asks again by itself.
            Verb::RunSession(_) => Action::Command("run-session"),
            Verb::Service(Service { verb: ServiceVerb::Status { .. } }) => Action::Read,
            Verb::Service(_) => Action::Manage("change the service"),
            Verb::Skill(Skill { verb: SkillVerb::List { .. } }) => Action::Read,
            Verb::Skill(_) => Action::Manage("change skills"),
            Verb::Store(_) => Action::ReadAll("check or copy the store"),
            Verb::Trust(_) => Action::ReadAll("list what is trusted"),
            Verb::Doctor(args) if args.bundle.is_some() => Action::ReadAll("make a bundle"),
            Verb::Doctor(_)
            | Verb::Plan(_)
            | Verb::List(_)
            | Verb::Show(_)
            | Verb::Logs(_)
            | Verb::Events(_)
            | Verb::Why(_)
            | Verb::Wait(_)
            | Verb::Config(_)
            | Verb::Completions(_)
            | Verb::Man(_)
            | Verb::Report(_)
            | Verb::Diff(_)
            | Verb::Attach(_)
            | Verb::Agents(_) => Action::Read,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The task's name or id; without it the only unfinished task of this project
    pub(crate) task: Option<String>,
}
