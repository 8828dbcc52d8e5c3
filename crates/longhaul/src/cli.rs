//! Defines the command line: every verb and flag. Help, completions and manual pages are generated from it.
//! Parsed by `commands::main`; clap reports usage errors with exit code 2. Nothing here acts.

mod care;
mod examples;
mod finish;
mod keys;
mod mcp;
mod notify;
mod reading;
mod runner;
mod serve;
mod session;
mod setup;
mod task;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use longhaul_core::task::Action;

pub(crate) use care::{
    Agents, Completions, Config, ConfigPlace, ConfigVerb, Demo, Doctor, Gc, Import, ImportFrom, Man, Store, StoreVerb,
    Trust, Worker,
};
pub(crate) use finish::{Discard, Land};
pub(crate) use keys::{Keys, KeysVerb};
pub(crate) use mcp::{Mcp, McpClient, McpInstall, McpVerb, Offer, Transport};
pub(crate) use notify::{Notify, NotifyVerb};
pub(crate) use reading::{Diff, Events, List, Logs, Page, Prompt, Read, Report, Show};
pub(crate) use runner::RunSession;
pub(crate) use serve::Serve;
pub(crate) use session::{Session, SessionVerb};
pub(crate) use setup::{Service, ServiceKind, ServiceVerb, Setup, Skill, SkillClient, SkillPlace, SkillVerb};
pub(crate) use task::{
    Attach, Cancel, Edit, Pause, Plan, Rename, Reopen, Request, Resume, Retry, Run, Shell, Takeover, Tell, Wait,
};

use crate::exit;

const FIRST_STEP: &str = "Without a command, `longhaul` opens the board of this project's tasks.\n\
     New here? `longhaul demo` needs no agent and no key. `longhaul help COMMAND` has examples.";

/// Runs coding agents until the work is done and checked, through crashes, reboots and usage limits
#[derive(Debug, Parser)]
#[command(name = "longhaul", version)]
#[command(after_help = FIRST_STEP, after_long_help = format!("{FIRST_STEP}\n\n{}", exit::help()))]
pub(crate) struct Cli {
    /// Use colours: `auto`, `always` or `never`
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        display_order = 998
    )]
    pub(crate) color: ColorChoice,
    /// Print long output without a pager
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_pager: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// The verbs in the order in which people need them. A test compares it with the existing verbs.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["run", "retry", "reopen", "demo", "run-session"]),
    ("Watch", &["list", "show", "why", "logs", "events", "attach", "wait", "plan", "diff", "report", "path", "prompt"]),
    ("Steer", &["pause", "resume", "tell", "edit", "rename", "takeover", "shell", "cancel"]),
    ("Finish", &["land", "discard"]),
    (
        "Set up",
        &[
            "setup",
            "agents",
            "config",
            "notify",
            "trust",
            "mcp",
            "serve",
            "keys",
            "import",
            "service",
            "skill",
            "completions",
            "man",
        ],
    ),
    ("Maintain", &["doctor", "worker", "gc", "store"]),
    ("For agents", &["session"]),
];

impl Cli {
    /// Reads the arguments of this process.
    pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let matches = grouped(colour_of(&arguments)).try_get_matches_from(arguments);
        Cli::from_arg_matches(&matches.map_err(with_suggestion)?)
    }

    /// What `-h` prints.
    pub(crate) fn help() -> String {
        grouped(ColorChoice::Auto).render_help().to_string()
    }
}

/// The command line with its verbs in groups.
fn grouped(colour: ColorChoice) -> clap::Command {
    let mut command = command().color(colour);
    command.build();
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\nCommands:\n{}\nOptions:\n{{options}}{{after-help}}",
        groups(&command)
    );
    command.help_template(template)
}

/// What other programs call it.
const ELSEWHERE: &[(&str, &[&str])] = &[
    ("run", &["start", "new", "submit", "add", "exec"]),
    ("discard", &["remove", "delete", "clean", "drop"]),
    ("land", &["merge", "apply", "finish", "push"]),
    ("resume", &["continue", "unpause"]),
    ("cancel", &["abort", "end", "terminate"]),
    ("attach", &["follow", "tail", "open", "view"]),
    ("takeover", &["take-over", "join"]),
    ("tell", &["message", "say", "steer"]),
    ("show", &["info", "inspect", "describe", "st"]),
    ("events", &["history"]),
];

/// Names the verb that was probably meant, where only its meaning is near.
fn with_suggestion(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    if let Some((verb, _)) = ELSEWHERE.iter().find(|(_, words)| words.contains(&word.as_str())) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![(*verb).to_owned()]));
    }
    error
}

/// What `--color` asks for: help and usage errors are printed before the line is parsed.
fn colour_of(arguments: &[OsString]) -> ColorChoice {
    let words = || arguments.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    let attached = words().find_map(|word| word.strip_prefix("--color=").map(str::to_owned));
    let word = attached.or_else(|| words().skip_while(|word| word != "--color").nth(1).map(Into::into));
    word.and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// The whole command line with its examples, for parsing, manual pages and completions.
pub(crate) fn command() -> clap::Command {
    examples::EXAMPLES.iter().fold(Cli::command(), |command, (verb, _)| {
        command.mut_subcommand(*verb, |verb| {
            let notes = verb.get_after_help().map(ToString::to_string);
            let parts: Vec<String> = examples::text(verb.get_name()).into_iter().chain(notes).collect();
            verb.after_help(parts.join("\n\n"))
        })
    })
}

fn groups(command: &clap::Command) -> String {
    let line = |verb: &&str| {
        let about = command.find_subcommand(verb).and_then(|found| found.get_about()).map(ToString::to_string);
        format!("  {verb:12} {}\n", about.unwrap_or_default())
    };
    GROUPS.iter().map(|(group, verbs)| format!("\n{group}\n{}", verbs.iter().map(line).collect::<String>())).collect()
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a short demonstration in a scratch directory
    Demo(Demo),
    /// Start a task and follow it
    Run(Box<Run>),
    /// List the tasks of this project, those that need you first
    #[command(visible_aliases = ["ls", "ps", "status"])]
    List(List),
    /// Show one task in detail
    Show(Show),
    /// Print what the agent printed
    #[command(visible_alias = "log")]
    Logs(Logs),
    /// Print the history of a task
    Events(Events),
    /// Count the tasks here, for a shell prompt or a status line
    Prompt(Prompt),
    /// Explain in a few lines why a task is in its current state
    Why(Read),
    /// Stop the session and keep the task until you resume it
    #[command(visible_alias = "stop")]
    Pause(Pause),
    /// Continue a task that is paused, blocked, stopped or needs you
    Resume(Resume),
    /// Continue the agent's conversation yourself, in its own program
    Takeover(Takeover),
    /// Cancel a task for good; its files and history are kept
    #[command(visible_alias = "kill")]
    Cancel(Cancel),
    /// Bring finished work onto your branch, one commit per task
    Land(Land),
    /// Remove worktrees and branches of finished tasks without landing
    #[command(visible_alias = "rm")]
    Discard(Discard),
    /// Wait until a task is done or needs you
    Wait(Wait),
    /// Run a worker, which carries out tasks
    Worker(Worker),
    /// Change limits, checks, agents, modes or priority of a task
    Edit(Edit),
    /// Give the next session a message
    Tell(Tell),
    /// Choose agent, checks and notifications
    Setup(Setup),
    /// Show and change the configuration
    Config(Config),
    /// Trust a project's longhaul.toml in its current form
    Trust(Trust),
    /// Test who is notified when a task ends or needs you
    Notify(Notify),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write all pages into a directory
    Man(Man),
    /// Write a one-page report of a task from stored facts
    Report(Report),
    /// Show what a task has changed
    Diff(Diff),
    /// Show a task's plan, or replace it with your own list
    Plan(Plan),
    /// Follow a running task, as `run` does
    Attach(Attach),
    /// Start a new task with the goal and settings of a finished one
    Retry(Retry),
    /// Continue a finished task with something more to do
    Reopen(Reopen),
    /// Give an unfinished task another name
    Rename(Rename),
    /// Print the directory that a task works in
    Path(Read),
    /// Open your shell in the directory that a task works in
    Shell(Shell),
    /// Remove old finished tasks and what crashes left behind
    Gc(Gc),
    /// Check or back up the store
    Store(Store),
    /// Check this machine and Longhaul's home, and suggest fixes
    Doctor(Doctor),
    /// Run a task in place with codex, like the autonomous-skill runner
    RunSession(RunSession),
    /// List all agents: installed, version, logged in, and what to do
    Agents(Agents),
    /// Start a worker at boot or login, so tasks outlive a reboot
    Service(Service),
    /// Install skills that teach agents to use Longhaul
    Skill(Skill),
    /// Serve Longhaul's tools to an assistant over MCP
    Mcp(Mcp),
    /// Serve Longhaul to programs over HTTP, and carry out tasks
    Serve(Serve),
    /// Import the runs of another program
    Import(Import),
    /// Create, list and revoke API keys for the HTTP server
    Keys(Keys),
    /// Report progress or ask for help from inside an agent session
    Session(Session),
}

impl Verb {
    /// Whether what it prints may be long, and is all there is to do.
    pub(crate) fn is_paged(&self) -> bool {
        match self {
            Verb::Diff(args) => !args.json,
            Verb::Logs(args) => !args.json && !args.follow,
            Verb::Events(args) => !args.json && !args.follow,
            Verb::Report(args) => !args.json,
            Verb::Show(args) => !args.read.json,
            Verb::Plan(args) => !args.json && args.accept.is_none(),
            _ => false,
        }
    }

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
            Verb::Serve(_) => Action::Manage("serve"),
            Verb::Retry(_) => Action::Manage("retry"),
            Verb::Reopen(_) => Action::Manage("reopen"),
            Verb::Rename(_) => Action::Command("rename"),
            Verb::Land(_) => Action::Manage("land"),
            Verb::Discard(_) => Action::Manage("discard"),
            Verb::Session(_) => Action::Report("report on a session"),
            Verb::RunSession(args) if args.list => Action::Read,
            // All its errors must end with code 1, so it checks permissions again itself.
            Verb::RunSession(_) => Action::Submit("run-session"),
            Verb::Service(Service { verb: ServiceVerb::Status { .. } }) => Action::Read,
            Verb::Service(_) => Action::Manage("change the service"),
            Verb::Skill(Skill { verb: SkillVerb::List { .. } }) => Action::Read,
            Verb::Skill(_) => Action::Manage("change skills"),
            Verb::Setup(args) if !args.json => Action::Manage("change the configuration"),
            Verb::Mcp(Mcp { verb: Some(McpVerb::Install(_)), .. }) => Action::Manage("connect a client"),
            Verb::List(args) if args.tenant.is_some() => Action::ReadAll("list the tasks of another tenant"),
            // Their operations check the rights they need.
            Verb::Doctor(_)
            | Verb::Gc(_)
            | Verb::Import(_)
            | Verb::Keys(_)
            | Verb::Store(_)
            | Verb::Trust(_)
            | Verb::Plan(_)
            | Verb::List(_)
            | Verb::Prompt(_)
            | Verb::Show(_)
            | Verb::Logs(_)
            | Verb::Events(_)
            | Verb::Why(_)
            | Verb::Wait(_)
            | Verb::Config(_)
            | Verb::Notify(_)
            | Verb::Setup(_)
            | Verb::Completions(_)
            | Verb::Man(_)
            | Verb::Report(_)
            | Verb::Diff(_)
            | Verb::Path(_)
            | Verb::Shell(_)
            | Verb::Attach(_)
            | Verb::Mcp(_)
            | Verb::Agents(_) => Action::Read,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Name or id of the task, or the beginning of its name; by default the only unfinished task of this project
    pub(crate) task: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WhichToRead {
    /// Name or id of the task, or the beginning of its name; by default the only unfinished task of this project, or else the newest
    pub(crate) task: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_one_group_and_has_a_sentence() {
        let mut command = Cli::command();
        command.build();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        grouped.sort_unstable();
        let verbs = command.get_subcommands().map(clap::Command::get_name).filter(|verb| *verb != "help");
        let mut verbs: Vec<&str> = verbs.collect();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
        assert!(command.get_subcommands().all(|verb| verb.get_about().is_some()));
        let groups = groups(&command);
        assert_eq!(groups.lines().find(|line| line.len() > 80), None, "a terminal would break it");
        let mut shown: Vec<&str> = examples::EXAMPLES.iter().map(|(verb, _)| *verb).collect();
        shown.sort_unstable();
        assert_eq!(shown, verbs, "every verb has examples");
    }

    /// Shell syntax in the examples is cut off.
    #[test]
    fn every_example_parses() {
        for line in examples::EXAMPLES.iter().flat_map(|(_, lines)| lines.iter()) {
            let from = line.find("longhaul").unwrap_or_default();
            let plain =
                line[from..].split(['|', '<', '>', '#', ')']).next().unwrap_or_default().replace(" && echo done", "");
            let mut words: Vec<OsString> = Vec::new();
            for (at, part) in plain.split(['"', '\'']).enumerate() {
                match at % 2 {
                    0 => words.extend(part.split_whitespace().map(OsString::from)),
                    _ => words.push(part.into()),
                }
            }
            assert!(Cli::read(words).is_ok(), "{line}");
        }
    }
}
