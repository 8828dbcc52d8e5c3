//! One file per verb. `main` parses the command line, runs the verb, and turns the result into an exit code.
//! Verbs decide nothing: they call operations and print their views.

mod agents;
mod attach;
mod cancel;
mod choose;
mod completions;
mod config;
mod demo;
pub(crate) mod diff;
mod discard;
mod doctor;
mod dry_run;
mod edit;
mod events;
mod gc;
mod goal;
mod import;
mod keys;
pub(crate) mod land;
pub(crate) mod list;
mod logs;
mod man;
mod mcp;
mod notify;
mod path;
mod pause;
mod plan;
mod rename;
mod reopen;
mod report;
mod resume;
mod retry;
mod run;
mod run_session;
mod serve;
pub(crate) mod service;
mod session;
mod setup;
mod several;
mod shell;
mod show;
mod skill;
mod step;
mod store;
pub(crate) mod takeover;
mod tell;
mod tmux_view;
mod trust;
mod wait;
mod why;
mod worker;

use std::process::ExitCode;

use longhaul_core::ids::TaskId;
use longhaul_core::task::permit;

use crate::board;
use crate::cli::{Cli, Verb};
use crate::command_line::CommandLine;
use crate::complete;
use crate::exit::Code;
use crate::out;
use crate::pager;
use crate::paint::{Colour, Paint};
use longhaul_app::views::TaskView;
use longhaul_app::{AppError, ErrorKind, Missing};

/// Parses the command line and runs the verb.
pub(crate) fn main() -> ExitCode {
    if complete::answered() {
        return Code::Done.into();
    }
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return usage_error(error),
    };
    out::choose_colours(cli.color);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&AppError::new(ErrorKind::Failure, "cannot start").because(&error)),
    };
    if cli.verb.as_ref().is_some_and(Verb::is_paged) && !cli.no_pager {
        pager::want();
    }
    let outcome = runtime.block_on(dispatch(CommandLine::of_process(), cli.verb));
    // A worker's effects may still block on files when it exits; sessions do not depend on them.
    runtime.shutdown_background();
    pager::finish();
    match (outcome, out::write_error()) {
        (Err(error), _) => failed(&error),
        (Ok(Code::Done), Some(cause)) => {
            failed(&AppError::new(ErrorKind::Failure, "cannot write to standard output").because(cause))
        }
        (Ok(code), _) => code.into(),
    }
}

/// Without a verb, a terminal shows the board; anything else gets the help.
async fn bare(line: &CommandLine) -> Result<Code, AppError> {
    if board::is_usable() {
        return board::board(line).await;
    }
    out::data(Cli::help().trim_end());
    Ok(Code::Done)
}

/// Carries out the verb. Where all it lacks is which task is meant, a person on a terminal is asked, and it is carried out again.
async fn dispatch(mut line: CommandLine, verb: Option<Verb>) -> Result<Code, AppError> {
    let Some(verb) = verb else { return bare(&line).await };
    permit(&line.caller.actor, &verb.action())?;
    loop {
        let error = match carry_out(&line, &verb).await {
            Err(error) => error,
            ended => return ended,
        };
        let missing = error.choices.as_ref().map(|choices| choices.missing.clone());
        let Some(Missing::Task(wanted)) = missing else { return Err(error) };
        let chosen = choose::choose(error, wants_json(), None).await?;
        let task = chosen.parse().map_err(|_| AppError::new(ErrorKind::Damaged, "a task has a bad id"))?;
        line.caller = line.caller.meaning(wanted, task);
    }
}

async fn carry_out(line: &CommandLine, verb: &Verb) -> Result<Code, AppError> {
    match verb {
        Verb::Demo(args) => demo::demo(line, args).await,
        Verb::Run(args) => run::run(line, args).await,
        Verb::List(args) => list::list(line, args).await,
        Verb::Prompt(args) => list::prompt(line, args).await,
        Verb::Show(args) => show::show(line, args).await,
        Verb::Logs(args) => logs::logs(line, args).await,
        Verb::Events(args) => events::events(line, args).await,
        Verb::Why(args) => why::why(line, args).await,
        Verb::Pause(args) => pause::pause(line, args).await,
        Verb::Resume(args) => resume::resume(line, args).await,
        Verb::Takeover(args) => takeover::takeover(line, args).await,
        Verb::Cancel(args) => cancel::cancel(line, args).await,
        Verb::Wait(args) => wait::wait(line, args).await,
        Verb::Worker(args) => worker::worker(line, args).await,
        Verb::Edit(args) => edit::edit(line, args).await,
        Verb::Tell(args) => tell::tell(line, args).await,
        Verb::Setup(args) => setup::setup(line, args).await,
        Verb::Config(args) => config::config(line, args).await,
        Verb::Notify(args) => notify::notify(line, args).await,
        Verb::Trust(args) => trust::trust(line, args).await,
        Verb::Completions(args) => completions::completions(args),
        Verb::Man(args) => man::man(args),
        Verb::Report(args) => report::report(line, args).await,
        Verb::Diff(args) => diff::diff(line, args).await,
        Verb::Plan(args) => plan::plan(line, args).await,
        Verb::Attach(args) => attach::attach(line, args).await,
        Verb::Land(args) => land::land(line, args).await,
        Verb::Discard(args) => discard::discard(line, args).await,
        Verb::Retry(args) => retry::retry(line, args).await,
        Verb::Reopen(args) => reopen::reopen(line, args).await,
        Verb::Rename(args) => rename::rename(line, args).await,
        Verb::Path(args) => path::path(line, args).await,
        Verb::Shell(args) => shell::shell(line, args).await,
        Verb::Gc(args) => gc::gc(line, args).await,
        Verb::Store(args) => store::store(line, args).await,
        Verb::Doctor(args) => doctor::doctor(line, args).await,
        Verb::Agents(args) => agents::agents(line, args).await,
        Verb::Service(args) => service::service(line, args),
        Verb::Skill(args) => skill::skill(line, args),
        Verb::Import(args) => import::import(line, args).await,
        Verb::Keys(args) => keys::keys(line, args).await,
        Verb::Session(args) => session::session(line, args).await,
        Verb::Mcp(args) => mcp::mcp(line, args).await,
        Verb::Serve(args) => serve::serve(line, args).await,
        Verb::RunSession(args) => run_session::run_session(line, args).await,
    }
}

/// The id of a task that an operation answered with.
fn id_of(task: &TaskView) -> Result<TaskId, AppError> {
    task.id.parse().map_err(|error| AppError::new(ErrorKind::Damaged, "the task has a bad id").because(&error))
}

/// Prints clap's message. The shell runner that `run-session` replaces exits with 1 for every error.
fn usage_error(error: clap::Error) -> ExitCode {
    let is_runner = std::env::args_os().nth(1).is_some_and(|verb| verb == "run-session");
    let error = if is_runner && !error.use_stderr() { error_before_help(error) } else { error };
    error.print().ok();
    if error.use_stderr() && wants_json() {
        let text = error.to_string();
        let problem = text.trim_start_matches("error: ").lines().take_while(|line| !line.trim().is_empty());
        let what: Vec<&str> = problem.map(str::trim).collect();
        out::data(
            &AppError::new(ErrorKind::Usage, what.join(" "))
                .hint("add `--help` to see what the command takes")
                .document(),
        );
    }
    match (error.use_stderr(), is_runner) {
        (false, _) => Code::Done.into(),
        (true, true) => Code::Failure.into(),
        (true, false) => Code::Usage.into(),
    }
}

/// The shell runner reads all arguments before it prints help, so an error among them comes first.
fn error_before_help(help: clap::Error) -> clap::Error {
    let others = std::env::args_os().filter(|word| word != "--help" && word != "-h");
    Cli::read(others).err().unwrap_or(help)
}

fn wants_json() -> bool {
    std::env::args_os().any(|word| word == "--json")
}

fn failed(error: &AppError) -> ExitCode {
    show_error(error);
    Code::from(error.kind).into()
}

/// A program that asked for JSON gets the error as JSON too.
fn show_error(error: &AppError) {
    if wants_json() {
        out::data(&error.document());
    } else {
        let text = out::safe_lines(&error.text());
        let head = Paint(out::coloured_stderr()).in_colour(Colour::Red, "error:");
        out::note(&text.replacen("error:", &head, 1));
    }
}
