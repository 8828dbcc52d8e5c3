//! Running the checks: one round is every check once, on one tree. Called by `decide` only; the judging is in `core/verdict.rs`.
//!
//! A check whose exit nobody saw is run again, never assumed. A round that changed the tree is run once more, and no third time.

use super::super::{
    Basis, CheckRole, Ended, Event, Evidence, Exit, HelpReason, PlanFiles, Remarks, Round, RoundOutcome, SessionRun,
    Task, TaskListFile, Verdict, Wait,
};
use super::after_end::wait;
use super::follow_up;
use super::start::{Preparation, Wanted, start};
use crate::recovery::{self, Facts, Next};
use crate::time::Time;
use crate::verdict;

/// The next check of the round, or the first of a new one. Where the files are unfit no check runs, and the round has failed.
pub(super) fn next_check(task: &Task, found: &Preparation<'_>, now: Time) -> Vec<Event> {
    let open = task.round.as_ref().filter(|round| round.is_open() && found.basis.continues(&round.basis));
    let run = open.map_or(0, |round| round.evidence.len());
    let mut events: Vec<Event> = open.is_none().then(|| round_started(task, found)).into_iter().collect();
    match steps(task, found.basis).get(run) {
        Some((_, command)) if found.basis.problem.is_none() => {
            events.push(start(task, found, &Wanted::Check(command), now));
        }
        Some(_) | None => events.extend(end_round(task, &events, now)),
    }
    events
}

/// What a round on this basis runs, in order.
fn steps<'a>(task: &'a Task, basis: &Basis) -> Vec<(CheckRole, &'a str)> {
    if task.order().is_some_and(|order| order.unverified) {
        return Vec::new();
    }
    let setup = task.submission.setup.as_deref().filter(|_| basis.checkout.is_some());
    let checks = task.submission.commands().into_iter().map(|command| (CheckRole::Check, command));
    setup.map(|command| (CheckRole::Setup, command)).into_iter().chain(checks).collect()
}

fn round_started(task: &Task, found: &Preparation<'_>) -> Event {
    Event::RoundStarted {
        number: task.tally.rounds + 1,
        again: matches!(&task.round, Some(Round { outcome: Some(RoundOutcome::TreeChanged), .. })),
        files: found.files.to_vec(),
        tree: found.tree.cloned(),
        basis: found.basis.clone(),
    }
}

/// What comes after a check that ended without being asked to.
pub(super) fn after_check(
    task: &Task,
    session: &SessionRun,
    ended: &Ended,
    sight: &PlanFiles,
    now: Time,
) -> Vec<Event> {
    let mut events = match observed_end(task, session, ended, now) {
        Ok(end) => vec![end],
        Err(events) => return events,
    };
    let (run, steps) =
        task.round.as_ref().map_or_else(Default::default, |round| (round.evidence.len(), steps(task, &round.basis)));
    let role = steps.get(run).map_or(CheckRole::Check, |(role, _)| *role);
    let evidence = Evidence { role, ..evidence(session, ended, now) };
    let is_last = run + 1 >= steps.len() || (role == CheckRole::Setup && evidence.failure.is_some());
    events.push(Event::Checked { evidence });
    let Some(round) = &task.round else { return events };
    // A list that changed meanwhile may have an open step: it is looked at first. After a reboot a new round starts.
    if is_last && round.basis.boot == ended.boot && is_as_accepted(task, sight) {
        events.extend(end_round(task, &events, now));
    }
    events
}

/// What comes after the setup command ended in the task's worktree. If it failed, no agent starts: a person is asked.
pub(super) fn after_setup(task: &Task, session: &SessionRun, ended: &Ended, now: Time) -> Vec<Event> {
    let end = match observed_end(task, session, ended, now) {
        Ok(end) => end,
        Err(events) => return events,
    };
    let evidence = Evidence { role: CheckRole::Setup, ..evidence(session, ended, now) };
    let failed = verdict::failed(&evidence).map(|why| Event::HelpNeeded { reason: HelpReason::SetupFailed { why } });
    [end, Event::Checked { evidence }].into_iter().chain(failed).collect()
}

/// The end of a command of ours, if it says something about the files; else what follows.
fn observed_end(task: &Task, session: &SessionRun, ended: &Ended, now: Time) -> Result<Event, Vec<Event>> {
    let end = Event::SessionEnded { session: session.id, ended: ended.clone(), progress: false };
    if let Some(cause) = &ended.starved {
        // Nothing is said about the work: the command runs again when there is enough.
        return Err(vec![end, Event::Blocked { cause: cause.clone() }]);
    }
    if ended.says_nothing(session) {
        let next = interrupted(task, std::slice::from_ref(&end), session, ended, now);
        return Err(std::iter::once(end).chain(next).collect());
    }
    Ok(end)
}

fn is_as_accepted(task: &Task, sight: &PlanFiles) -> bool {
    match (&task.plan, &sight.list) {
        (Some(accepted), TaskListFile::Text { hash, .. }) => accepted.hash == *hash,
        (Some(_) | None, _) => false,
    }
}

fn evidence(session: &SessionRun, ended: &Ended, now: Time) -> Evidence {
    let output = ended.printed.clone().unwrap_or_default();
    Evidence {
        command: session.command.clone().unwrap_or_default(),
        role: CheckRole::Check,
        session: session.id,
        number: session.number,
        exit: ended.exit.clone(),
        failure: verdict::failure(&ended.exit, ended.stopped_by, &output),
        lasted_ms: ended.lasted_ms,
        output,
        tree_before: session.tree.clone(),
        tree_after: ended.tree.clone(),
        files: ended.files.clone(),
        at: now,
    }
}

/// Once is nothing; again and again something is wrong outside.
fn interrupted(task: &Task, events: &[Event], session: &SessionRun, ended: &Ended, now: Time) -> Option<Event> {
    let after = task.after(events, now).ok()?;
    let patience = &after.submission.patience;
    let probe = after.probe_after();
    let at_least = std::time::Duration::ZERO;
    let facts =
        Facts { session: session.id, ended, bad_plan: None, tally: &after.tally, patience, probe, at_least, now };
    match recovery::interrupted(&facts) {
        Next::WaitUntil(why @ Wait::Backoff, until) => Some(wait(why, until, now)),
        Next::Ask(reason) => Some(Event::HelpNeeded { reason }),
        Next::GoOn | Next::WaitUntil(..) | Next::Limited { .. } | Next::Exhausted(_) | Next::Block(_) => None,
    }
}

/// Judges the round that these events complete.
fn end_round(task: &Task, events: &[Event], now: Time) -> Vec<Event> {
    let folded = task.after(events, now);
    let Some(round) = folded.ok().and_then(|task| task.round) else { return Vec::new() };
    let outcome = verdict::judge(&round);
    let fixes = task.tally.fixes;
    let help = |why: String| {
        let missing = command_missing(&round);
        Event::HelpNeeded { reason: missing.unwrap_or(HelpReason::VerificationFailed { why, fixes }) }
    };
    let is_hopeless = fixes >= task.submission.patience.fix_attempts || command_missing(&round).is_some();
    let next = match &outcome {
        RoundOutcome::Failed { why } if is_hopeless && !round.basis.on_target => Some(help(why.clone())),
        _ if task.merging.is_some() => follow_up::after_round(task, &round, &outcome),
        RoundOutcome::Passed { tree } => {
            let doubts = verdict::doubts(&round);
            let remarks = Remarks { check_edits: task.check_edits.clone(), ..round.basis.remarks };
            let verdict = Verdict::of_passed(tree.clone(), doubts, remarks);
            Some(Event::Finished { verdict })
        }
        RoundOutcome::TreeChanged if round.again => Some(help(verdict::changes_what_it_judges(&round))),
        RoundOutcome::TreeChanged => None,
        RoundOutcome::Failed { .. } => None,
    };
    std::iter::once(Event::RoundEnded { outcome }).chain(next).collect()
}

/// A check that the shell could not run: a fixing session would cost money and change nothing.
fn command_missing(round: &Round) -> Option<HelpReason> {
    round.evidence.iter().find_map(|check| match check.exit {
        Exit::Code(code @ (126 | 127)) => Some(HelpReason::CheckCannotRun { check: check.title(), code }),
        Exit::Code(_) | Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown => None,
    })
}
