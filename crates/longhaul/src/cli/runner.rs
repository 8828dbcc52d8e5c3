//! The options of `run-session`: exactly those of the shell runner, in any order. If one is repeated, the last counts. Nothing here acts.
//! Every usage error of this verb ends with exit code 1, as in the shell runner.

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
    /// Continue the named task, or else the most recent one
    #[arg(short = 'c', long = "continue")]
    pub(crate) continue_task: bool,
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

/// Rejects what looks like the next option. The name itself is checked later, with the shell runner's messages.
fn given(value: &str) -> Result<String, &'static str> {
    if value.is_empty() || value.starts_with("--") { Err("missing value") } else { Ok(value.to_owned()) }
}

fn digits(value: &str) -> Result<u32, &'static str> {
    let plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|_| plain).ok_or("expected a number up to 4294967295; 0 means no limit")
}

impl RunSession {
    /// How many sessions this invocation may run.
    pub(crate) fn sessions(&self) -> Option<u32> {
        let most = (self.max_sessions > 0).then_some(self.max_sessions);
        if self.no_auto_continue { Some(1) } else { most }
    }

    /// Whether an existing task is meant.
    pub(crate) fn continues(&self) -> bool {
        self.continue_task || self.resume_last
    }
}
