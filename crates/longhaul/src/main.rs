//! The `longhaul` binary. It also serves as the keeper and as the demo agent, which start without an async runtime.
//! Everything else starts in `commands`.

mod agent_flags;
mod agent_name;
#[cfg(test)]
mod agent_reference;
mod board;
mod cli;
mod command_line;
mod commands;
mod complete;
mod editor;
mod exit;
mod foreground;
mod housekeeping;
mod out;
mod pager;
mod paint;
mod picker;
mod start;
mod task_flags;
mod viewer;
mod when;
mod width;
mod worker_log;

use std::process::ExitCode;

use rustix::fs::Mode;
use rustix::process::umask;

fn main() -> ExitCode {
    keep_own_access();
    let mut args = std::env::args_os();
    args.next();
    match args.next().as_deref().and_then(|verb| verb.to_str()) {
        // Dispatched before anything else is set up: a keeper must start fast and stay small.
        Some("keep") => keep(args.next()),
        Some("demo-agent") => demo_agent::main(args),
        Some("worker") => worker(),
        _ => commands::main(),
    }
}

/// Lets the user read and write all files we create: with a umask that denies this, Longhaul's home would be unusable.
/// What the umask denies to others stays denied, here and in the processes we start.
fn keep_own_access() {
    let denied = umask(Mode::RWXG | Mode::RWXO);
    umask(denied - Mode::RWXU);
}

/// A worker closes inherited files: whoever started it may wait for them to close.
fn worker() -> ExitCode {
    // Where this is impossible nothing was inherited either.
    longhaul_keeper::close_inherited().ok();
    commands::main()
}

fn keep(directory: Option<std::ffi::OsString>) -> ExitCode {
    match directory {
        Some(directory) => longhaul_keeper::keep(directory.as_ref()),
        None => exit::Code::Usage.into(),
    }
}
