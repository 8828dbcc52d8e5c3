//! The accounts that a task's agents work with: whose limit a session reached, and which limits other tasks have reached on them.
//! Used before a session starts and when it has ended. Reads the environment and the store; never a key.

use longhaul_agents::{Chosen, account, choose};
use longhaul_core::task::{AccountLimit, Observation, Phase};

use super::Job;
use longhaul_app::{as_seen, now, passed};

/// The account that this agent works with for the task.
pub(super) fn account_of(job: &Job, agent: &Chosen) -> String {
    let submission = &job.task.submission;
    let passed = passed(submission, Some(agent));
    account(agent, submission.model.as_deref(), &|name| as_seen(&job.environment, name, passed.as_deref()))
}

/// The limits that other tasks have reached and this one does not know; none when the next session may start as far as they go. A
/// limit that cannot be read now is met by the session.
pub(super) async fn limits_of_others(job: &Job) -> Option<Observation> {
    let task = &job.task;
    let waits_for_another = task.submission.after.is_some() && !task.after_met;
    if task.phase() == Phase::Verify || waits_for_another {
        return None;
    }
    let shared = job.context.store.account_limits().await.ok()?;
    let of_accounts: Vec<AccountLimit> = shared.into_iter().filter(|limit| is_of_account(job, limit)).collect();
    let limits = task.unknown_limits(&of_accounts, now());
    (!limits.is_empty()).then_some(Observation::AccountsLimited { limits })
}

fn is_of_account(job: &Job, limit: &AccountLimit) -> bool {
    let declared = &job.task.submission.declared;
    choose(&limit.agent, declared).is_ok_and(|agent| account_of(job, &agent) == limit.account)
}
