//! The `longhaul` binary: picks the program to be. A keeper and the demo agent are this binary too, and start without a runtime.
//! Everything else begins in `commands`.

mod agent_flags;
mod agent_name;
#[cfg(test)]
mod agent_reference;
mod cli;
mod command_line;
mod commands;
mod exit;
mod foreground;
mod out;
mod start;
mod task_flags;
mod viewer;
mod worker_log;

use std::process::ExitCode;

use rustix::fs::Mode;
use rustix::process::umask;

fn main() -> ExitCode {
    keep_own_access();
    let mut args = std::env::args_os();
    args.next();
    match args.next().as_deref().and_then(|verb| verb.to_str()) {
        // Dispatched before anything else is set up: a keeper is to start fast and stay small.
        Some("keep") => keep(args.next()),
        Some("demo-agent") => demo_agent::main(args),
        Some("worker") => worker(),
        _ => commands::main(),
    }
}

/// What we make is always ours to read and write: a umask that denies its own user access would leave a home that nobody can use.
/// What it denies to others stays denied, here and in what we start.
fn keep_own_access() {
    let denied = umask(Mode::RWXG | Mode::RWXO);
    umask(denied - Mode::RWXU);
}

/// A worker holds nothing open of whoever started it, who may wait for that.
fn worker() -> ExitCode {
    // Where this cannot be done nothing was handed on either.
    longhaul_keeper::close_inherited().ok();
    commands::main()
}

fn keep(directory: Option<std::ffi::OsString>) -> ExitCode {
    match directory {
        Some(directory) => longhaul_keeper::keep(directory.as_ref()),
        None => exit::Code::Usage.into(),
    }
}
