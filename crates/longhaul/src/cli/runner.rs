//! The options of `run-session`: exactly those of the existing shell runner, in any order; of a repeated one the last counts. Nothing here acts.
//! Every usage error of this verb ends with exit code 1, as the runner's do.

use clap::Args;
use longhaul_core::names;

/// Run a task in place with codex, session after session, like the autonomous-skill runner
#[derive(Debug, Args)]
#[command(args_override_self = true, after_help = format!("Names: {}.", names::RULE))]
pub(crate) struct RunSession {
    /// The goal of a new task
    pub(crate) description: Option<String>,
    /// Name of the task; by default made from the description
    #[arg(short = 'n', long, value_name = "NAME", allow_hyphen_values = true, value_parser = given)]
    pub(crate) task_name: Option<String>,
    /// Continue a task: the named one, else the most recent one
    #[arg(short = 'c', long = "continue")]
    pub(crate) go_on: bool,
    /// Stop after one session
    #[arg(long)]
    pub(crate) no_auto_continue: bool,
    /// Number of sessions to run; 0 for as many as it takes
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true, value_parser = digits)]
    pub(crate) max_sessions: u32,
    /// List the tasks of this project
    #[arg(short = 'l', long)]
    pub(crate) list: bool,
    /// Resume the saved conversation; implies --continue
    #[arg(long)]
    pub(crate) resume_last: bool,
    /// Run codex with network access and without a sandbox, as the shell runner does; `longhaul run --network` opens only the network
    #[arg(long)]
    pub(crate) network: bool,
}

/// A name's own rules are told later, in the runner's words; what looks like the next option is no value.
fn given(value: &str) -> Result<String, &'static str> {
    if value.is_empty() || value.starts_with("--") { Err("a value is missing") } else { Ok(value.to_owned()) }
}

fn digits(value: &str) -> Result<u32, &'static str> {
    let plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|_| plain).ok_or("digits are wanted, at most 4294967295; 0 is as many as it needs")
}

impl RunSession {
    /// Sessions this invocation may take.
    pub(crate) fn sessions(&self) -> Option<u32> {
        let most = (self.max_sessions > 0).then_some(self.max_sessions);
        if self.no_auto_continue { Some(1) } else { most }
    }

    /// Whether an existing task is meant.
    pub(crate) fn continues(&self) -> bool {
        self.go_on || self.resume_last
    }
}
