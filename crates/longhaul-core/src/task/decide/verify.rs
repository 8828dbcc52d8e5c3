//! Running the checks: one round is every check once, on one tree. Called by `decide` only; the judging is in `core/verdict.rs`.
//!
//! A check whose exit nobody saw is run again, never assumed. A round that changed the tree is run once more, and no third time.

use super::super::{
    BackTo, Ended, Event, Evidence, HelpReason, ListSight, PlanSight, Purpose, Round, RoundOutcome, SessionRun, Task,
    Verdict, Wait,
};
use super::prepared::{Found, session};
use crate::recovery::{self, Facts, Next};
use crate::time::Time;
use crate::verdict;

/// The next check of the round, or the first of a new one.
pub(super) fn next_check(task: &Task, found: &Found<'_>, now: Time) -> Vec<Event> {
    let mut events = Vec::new();
    let mut run = 0;
    match &task.round {
        Some(round) if round.outcome.is_none() => run = round.evidence.len(),
        earlier => {
            let again = matches!(earlier, Some(Round { outcome: Some(RoundOutcome::TreeChanged), .. }));
            let (number, files, tree) = (task.tally.rounds + 1, found.files.to_vec(), found.tree.cloned());
            events.push(Event::RoundStarted { number, again, files, tree });
        }
    }
    match task.submission.commands().get(run) {
        Some(command) => events.push(Event::SessionStarted {
            session: SessionRun { command: Some((*command).to_owned()), ..session(task, found, Purpose::Check, now) },
        }),
        None => events.extend(end_round(task, &events, now)),
    }
    events
}

/// What comes after a check that ended without being asked to.
pub(super) fn after_check(
    task: &Task,
    session: &SessionRun,
    ended: &Ended,
    sight: &PlanSight,
    now: Time,
) -> Vec<Event> {
    let mut events = vec![Event::SessionEnded { session: session.id, ended: ended.clone(), progress: false }];
    if let Some(cause) = &ended.starved {
        // Nothing is said about the work: the check runs again when there is enough.
        events.push(Event::Blocked { cause: cause.clone(), back_to: BackTo::phase(task.phase()) });
        return events;
    }
    if ended.says_nothing(session.purpose) {
        events.extend(interrupted(task, &events, session, ended, now));
        return events;
    }
    events.push(Event::Checked { evidence: evidence(session, ended, now) });
    let done = task.round.as_ref().map_or(0, |round| round.evidence.len()) + 1;
    // A list that changed meanwhile may have an open step: it is looked at first, and the round is judged after that.
    if done >= task.submission.commands().len() && is_as_accepted(task, sight) {
        events.extend(end_round(task, &events, now));
    }
    events
}

fn is_as_accepted(task: &Task, sight: &PlanSight) -> bool {
    match (&task.plan, &sight.list) {
        (Some(accepted), ListSight::Text { hash, .. }) => accepted.hash == *hash,
        (Some(_) | None, _) => false,
    }
}

fn evidence(session: &SessionRun, ended: &Ended, now: Time) -> Evidence {
    let output = ended.printed.clone().unwrap_or_default();
    Evidence {
        command: session.command.clone().unwrap_or_default(),
        session: session.id,
        number: session.number,
        exit: ended.exit.clone(),
        failure: verdict::failure(&ended.exit, ended.stopped_by, &output),
        lasted_ms: ended.lasted_ms,
        output,
        tree_before: session.tree.clone(),
        tree_after: ended.tree.clone(),
        at: now,
    }
}

/// Once is nothing; again and again something is wrong outside.
fn interrupted(task: &Task, events: &[Event], session: &SessionRun, ended: &Ended, now: Time) -> Option<Event> {
    let after = events.iter().try_fold(task.clone(), |task, event| task.apply(event, now)).ok()?;
    let back_to = BackTo::phase(after.phase());
    let policy = &after.submission.policy;
    let probe = after.probe_after();
    let at_least = std::time::Duration::ZERO;
    let facts = Facts { session: session.id, ended, bad_plan: None, tally: &after.tally, policy, probe, at_least, now };
    match recovery::interrupted(&facts) {
        Next::WaitUntil(why @ Wait::Backoff, until) => Some(Event::WaitStarted { why, until: Some(until), back_to }),
        Next::Ask(reason) => Some(Event::HelpNeeded { reason, back_to }),
        Next::GoOn | Next::WaitUntil(..) | Next::Limited { .. } | Next::Exhausted(_) | Next::Block(_) => None,
    }
}

/// Judges the round that these events complete.
fn end_round(task: &Task, events: &[Event], now: Time) -> Vec<Event> {
    let folded = events.iter().try_fold(task.clone(), |task, event| task.apply(event, now));
    let Some(round) = folded.ok().and_then(|task| task.round) else { return Vec::new() };
    let outcome = verdict::judge(&round);
    let fixes = task.tally.fixes;
    let back_to = BackTo::phase(task.phase());
    let help = |why: String| Event::HelpNeeded { reason: HelpReason::VerificationFailed { why, fixes }, back_to };
    let next = match &outcome {
        RoundOutcome::Passed { tree } => Some(Event::Finished { verdict: Verdict::Verified { tree: tree.clone() } }),
        RoundOutcome::TreeChanged if round.again => Some(help("a check changes the tree it is to judge".into())),
        RoundOutcome::TreeChanged => None,
        RoundOutcome::Failed { why } if fixes >= task.submission.policy.fix_attempts => Some(help(why.clone())),
        RoundOutcome::Failed { .. } => None,
    };
    std::iter::once(Event::RoundEnded { outcome }).chain(next).collect()
}
