//! Arguments of the verbs that do something with the work of finished tasks.
//! Parsed with the rest of the command line; the files of the same names in `commands/` carry them out.

use clap::Args;

use super::task::Request;

#[derive(Debug, Args)]
pub(crate) struct Land {
    /// Names or ids of the finished tasks, or beginnings of names
    #[arg(required = true, value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// Branch to land on; by default the one that was checked out when the task was submitted
    #[arg(long, value_name = "BRANCH")]
    pub(crate) onto: Option<String>,
    /// Land it as one commit (the default)
    #[arg(long, conflicts_with = "merge")]
    pub(crate) squash: bool,
    /// Land it as a merge commit, with the commits of the task's branch
    #[arg(long)]
    pub(crate) merge: bool,
    /// Push the commit and open a pull request with gh or glab; the branch here does not move
    #[arg(long)]
    pub(crate) pr: bool,
    /// Do not sign the commit, even if your git is configured to
    #[arg(long)]
    pub(crate) no_sign: bool,
    /// Message of the commit; by default the goal and the steps
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Keep worktree and branch of the task
    #[arg(long)]
    pub(crate) keep: bool,
    /// Change nothing, only show what would land
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Land the work although it is not verified
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Start no fixing session if merging with the branch fails
    #[arg(long)]
    pub(crate) no_fix: bool,
    /// Reason, kept in the history
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// Do not ask for confirmation, and land what a fixing session changed
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) request: Request,
}

#[derive(Debug, Args)]
pub(crate) struct Discard {
    /// Names or ids of the finished tasks, or beginnings of names
    #[arg(required = true, value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// Bring worktree and branch back
    #[arg(long)]
    pub(crate) undo: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) request: Request,
}
