//! One file per verb. `main` parses the line, opens what the verb needs, and turns the outcome into an exit code.
//! The verbs decide nothing: they load, ask the core through the store, and print.

pub(crate) mod act;
mod cancel;
mod demo;
mod events;
mod list;
mod logs;
mod pause;
mod resume;
mod run;
mod show;
mod wait;
mod why;
mod worker;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use longhaul_keeper::fail_point;
use longhaul_store::Store;
use longhaul_store::sqlite::SqliteStore;
use longhaul_worker::Home;

pub(crate) use why::next_command;

use crate::cli::{Cli, Verb};
use crate::error::CliError;
use crate::exit::Code;
use crate::{out, place};

/// Parses the command line and does what it says.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&CliError::new(Code::Failure, "cannot start").because(&error)),
    };
    let outcome = runtime.block_on(dispatch(cli.verb));
    // Effects of a leaving worker may still block on files; sessions do not depend on them.
    runtime.shutdown_background();
    match outcome {
        Ok(code) => code.into(),
        Err(error) => failed(&error),
    }
}

async fn dispatch(verb: Verb) -> Result<Code, CliError> {
    match verb {
        Verb::Demo(args) => demo::demo(&args).await,
        Verb::Run(args) => run::run(&args).await,
        Verb::List(args) => list::list(&args).await,
        Verb::Show(args) => show::show(&args).await,
        Verb::Logs(args) => logs::logs(&args).await,
        Verb::Events(args) => events::events(&args).await,
        Verb::Why(args) => why::why(&args).await,
        Verb::Pause(args) => pause::pause(&args).await,
        Verb::Resume(args) => resume::resume(&args).await,
        Verb::Cancel(args) => cancel::cancel(&args).await,
        Verb::Wait(args) => wait::wait(&args).await,
        Verb::Worker(args) => worker::worker(&args).await,
    }
}

fn failed(error: &CliError) -> ExitCode {
    out::note(&error.text());
    error.code.into()
}

/// The home and its store.
pub(crate) struct Opened {
    pub(crate) home: Home,
    pub(crate) store: Arc<dyn Store>,
    /// Added to this shell's environment for workers that this process starts.
    pub(crate) worker_env: Vec<(&'static str, String)>,
}

/// Opens the store, making home and database if they are missing.
pub(crate) fn open() -> Result<Opened, CliError> {
    open_at(&place::home()?)
}

/// The same at a given place.
pub(crate) fn open_at(root: &std::path::Path) -> Result<Opened, CliError> {
    let home = Home::create(root)?;
    let store = SqliteStore::open_with_probe(home.root(), fail_point::reach)?;
    Ok(Opened { home, store: Arc::new(store), worker_env: Vec::new() })
}

/// Opens the store for a verb that needs a task. Makes nothing: without a database there is no task.
pub(crate) fn open_existing() -> Result<Opened, CliError> {
    let root = place::home()?;
    let store = match root.symlink_metadata() {
        Ok(_) => SqliteStore::open_existing(&root)?,
        Err(_) => None,
    };
    match store {
        Some(store) => Ok(Opened { home: Home::at(&root), store: Arc::new(store), worker_env: Vec::new() }),
        None => {
            Err(CliError::new(Code::NotFound, "there are no tasks yet").hint("start one with `longhaul run \"goal\"`"))
        }
    }
}
