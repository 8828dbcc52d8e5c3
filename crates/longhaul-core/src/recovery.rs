//! How a session ended, and so what comes next: the one table of recovery. Called by `decide` when an end was observed.
//!
//! A usage limit is not a failure, unknown is never success, and nothing is tried forever.

use std::time::Duration;

use crate::ids::SessionId;
use crate::task::{Cause, Ended, Exit, Failure, HelpReason, Outcome, Patience, StoppedBy, Tally, Wait};
use crate::time::Time;

/// What comes after a session's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// The next session at once.
    GoOn,
    /// The next session at this time.
    WaitUntil(Wait, Time),
    /// The agent's account is used up until this time.
    Limited {
        /// Until when.
        until: Time,
        /// Whether the agent reported it; else it is a guess.
        told: bool,
    },
    /// The agent's account is used up, and no time brings it back.
    Exhausted(String),
    /// A person has to help.
    Ask(HelpReason),
    /// Something outside is missing.
    Block(Cause),
}

/// The facts the table looks at; the tally already counts this end.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// Which session ended.
    pub session: SessionId,
    /// How.
    pub ended: &'a Ended,
    /// What the planning session left wrong, if it was one and did.
    pub bad_plan: Option<&'a str>,
    /// The counters with this end in them.
    pub tally: &'a Tally,
    /// How patient the task is.
    pub patience: &'a Patience,
    /// How long to wait before a usage limit of unknown length is tried.
    pub probe: Duration,
    /// The least to wait for a usage limit, whatever length was reported.
    pub at_least: Duration,
    /// When the end was observed.
    pub now: Time,
}

/// What comes next.
pub fn next(facts: &Facts<'_>) -> Next {
    let ended = facts.ended;
    if let Some(cause) = &ended.starved {
        return Next::Block(cause.clone());
    }
    if let Exit::NotExecutable(why) = &ended.exit {
        return Next::Block(Cause::Program { why: why.clone() });
    }
    if ended.came_to_nothing() {
        return interrupted(facts);
    }
    match &ended.outcome {
        Outcome::Completed => completed(facts),
        Outcome::Failed(Failure::Limited(until)) => limited(facts, *until),
        Outcome::Failed(Failure::Exhausted(why)) => Next::Exhausted(why.clone()),
        Outcome::Failed(Failure::Permission(what)) => Next::Ask(HelpReason::Permission { what: what.clone() }),
        Outcome::Failed(Failure::Auth(why)) => refused(facts, why),
        Outcome::Failed(Failure::Configuration(why)) => Next::Ask(HelpReason::AgentRefuses { why: why.clone() }),
        Outcome::Failed(Failure::Crashed) => failed(facts, how(ended)),
        Outcome::Failed(Failure::Retryable(why)) => failed(facts, why.clone()),
        Outcome::Failed(Failure::ContextFull) => failed(facts, "the conversation is full".into()),
        Outcome::Failed(Failure::BadConversation) => failed(facts, "the conversation to resume was not found".into()),
    }
}

/// How a session without a verdict ended, for the person who is asked.
fn how(ended: &Ended) -> String {
    match ended.stopped_by {
        StoppedBy::Silence => "silent for too long".to_owned(),
        StoppedBy::Wall => "ran for too long".to_owned(),
        StoppedBy::Itself | StoppedBy::Task | StoppedBy::Shutdown | StoppedBy::Lingered => ended.exit.to_string(),
    }
}

/// Burns no attempt. Once is nothing; again and again something is wrong outside.
pub fn interrupted(facts: &Facts<'_>) -> Next {
    const ENOUGH: u32 = 10;
    match facts.tally.interrupted {
        0 | 1 => Next::GoOn,
        times if times < ENOUGH => Next::WaitUntil(Wait::Backoff, facts.now.after(facts.patience.backoff(times - 1))),
        times => Next::Ask(HelpReason::KeepsFailing { sessions: times, last: facts.ended.exit.to_string() }),
    }
}

/// How long to wait after so many failures in a row of a git that could not run; none when a person has to look.
pub fn git_backoff(failures: u32, patience: &Patience) -> Option<Duration> {
    const RETRIES: u32 = 10;
    (failures <= RETRIES).then(|| patience.backoff(failures))
}

fn completed(facts: &Facts<'_>) -> Next {
    let idle = facts.tally.idle;
    // Refused and nothing done: it would be refused again.
    if let (1.., Some(what)) = (idle, facts.ended.denied.first()) {
        return Next::Ask(HelpReason::Permission { what: what.clone() });
    }
    if idle < facts.patience.idle_sessions {
        return Next::GoOn;
    }
    Next::Ask(match facts.bad_plan {
        Some(why) => HelpReason::NoPlan { why: why.to_owned() },
        None => HelpReason::NoProgress { sessions: idle },
    })
}

/// A login that worked in this task may be refused for a moment: a token is renewed, a proxy restarts. One that never worked is wrong.
fn refused(facts: &Facts<'_>, why: &str) -> Next {
    const ENOUGH: u32 = 3;
    let Tally { refusals, failures, agent_sessions, .. } = *facts.tally;
    let worked = agent_sessions > refusals;
    if worked && refusals < ENOUGH && failures < facts.patience.attempts {
        return Next::WaitUntil(Wait::Backoff, facts.now.after(facts.patience.backoff(refusals)));
    }
    Next::Ask(HelpReason::AgentRefuses { why: why.to_owned() })
}

fn failed(facts: &Facts<'_>, last: String) -> Next {
    let failures = facts.tally.failures;
    if failures >= facts.patience.attempts {
        return Next::Ask(HelpReason::KeepsFailing { sessions: failures, last });
    }
    // A failed session that made progress is followed at once: the counter is zero.
    if failures == 0 {
        return Next::GoOn;
    }
    Next::WaitUntil(Wait::Backoff, facts.now.after(facts.patience.backoff(failures)))
}

/// Without a time the limit is probed now and then; with one, a little later than reported.
fn limited(facts: &Facts<'_>, told: Option<Time>) -> Next {
    let until = told.unwrap_or_else(|| facts.now.after(facts.probe));
    Next::Limited {
        until: until.max(facts.now.after(facts.at_least)).after(jitter(facts.session)),
        told: told.is_some(),
    }
}

/// Up to a second, spread by session, so that many tasks do not wake in one instant.
fn jitter(session: SessionId) -> Duration {
    let digest = session.to_string().bytes().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    Duration::from_millis(digest % 1000)
}
