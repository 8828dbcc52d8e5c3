//! What ends an open round of checks: every state but preparing and verifying, another boot, and a checkout that is not clean any more.
//! A worker's death alone does not.

use super::super::*;
use super::fixture::*;
use crate::time::Time;

const TICKED: &[bool] = &[true, true];

fn worker() -> Actor {
    Actor::worker()
}

/// Prepares the next session under this boot.
fn next(task: &Task, boot: &str) -> Task {
    next_on(task, Basis { boot: Some(boot.to_owned()), ..Basis::default() })
}

/// Prepares the next session on this basis.
fn next_on(task: &Task, basis: Basis) -> Task {
    let session = session_id(u8::try_from(task.tally.sessions + 1).expect("few sessions"));
    let Observation::Prepared { plan, tree, phase, files, opens, saved, .. } = prepared(session, sight(TICKED)) else {
        unreachable!()
    };
    let basis = Box::new(basis);
    feed(task, Observation::Prepared { session, plan, tree, phase, files, opens, saved, basis }, &worker())
}

/// Runs the next check to its end, both observed under this boot.
fn check(task: &Task, boot: &str) -> Task {
    passed(&next(task, boot), boot)
}

/// The live check passes, observed under this boot.
fn passed(task: &Task, boot: &str) -> Task {
    let end = Ended { boot: Some(boot.to_owned()), ..completed() };
    feed(task, end_of(task, end, sight(TICKED)), &worker())
}

/// A task with two checks, the first of which has passed under boot `a`; the second runs.
fn halfway() -> Task {
    let mut task = working();
    asked(&mut task).checks = vec!["one".into(), "two".into()];
    let task = feed(&task, end_of(&task, completed(), sight(TICKED)), &worker());
    let task = next(&check(&task, "a"), "a");
    assert_eq!(round(&task), (1, 1, true), "the control: the round is open");
    task
}

/// Number of the round, pieces of evidence, and whether it is open.
fn round(task: &Task) -> (u32, usize, bool) {
    let round = task.round.as_ref().expect("a round");
    (round.number, round.evidence.len(), round.is_open())
}

/// The live session ends in this way.
fn end(task: &Task, ended: Ended) -> Task {
    feed(task, end_of(task, ended, sight(TICKED)), &worker())
}

fn stopped() -> Ended {
    Ended { stopped_by: StoppedBy::Shutdown, ..ended(Exit::Signal(15), Outcome::Failed(Failure::Crashed)) }
}

/// Exit unknown.
fn unseen() -> Ended {
    ended(Exit::Unknown, Outcome::Failed(Failure::Crashed))
}

#[test]
fn a_stop_ends_the_round_at_once_also_when_it_is_taken_back() {
    for command in [Command::Pause { mode: StopMode::Graceful }, Command::TakeOver] {
        let task = feed(&halfway(), command, &Actor::person("ann"));
        assert!(matches!(task.state, State::Stopping { .. }) && task.round.is_none(), "{:?}", task.state);
    }
    let task = feed(&halfway(), Command::Pause { mode: StopMode::Graceful }, &Actor::person("ann"));
    let resume = Command::Resume { reason: None, settings: Vec::new() };
    let task = end(&feed(&task, resume, &Actor::person("ann")), stopped());
    let task = next(&task, "a");
    assert_eq!(
        (round(&task), task.state.session().and_then(|run| run.command.clone())),
        ((2, 0, true), Some("one".into()))
    );
}

#[test]
fn disk_that_ran_out_and_a_wait_end_the_round() {
    let starved = Ended { starved: Some(Cause::Disk { path: "/".into(), free: 1, floor: 2 }), ..completed() };
    let blocked = end(&halfway(), starved);
    assert!(matches!(blocked.state, State::Blocked { .. }) && blocked.round.is_none());
    let once = end(&halfway(), unseen());
    assert_eq!(round(&once), (1, 1, true), "a check whose end nobody saw runs again in the same round");
    let twice = end(&next(&once, "a"), unseen());
    assert!(matches!(twice.state, State::Waiting { .. }) && twice.round.is_none());
}

#[test]
fn a_workers_death_alone_ends_no_round() {
    let task = passed(&fold(halfway(), &[claimed()]), "a");
    assert!(matches!(task.state, State::Done { .. }), "{:?}", task.state);
    assert_eq!(round(&task), (1, 2, false));
}

#[test]
fn another_boot_starts_a_new_round() {
    let task = next(&end(&halfway(), unseen()), "b");
    assert_eq!(
        (round(&task), task.round.as_ref().and_then(|round| round.basis.boot.clone())),
        ((2, 0, true), Some("b".into()))
    );
    let task = check(&passed(&task, "b"), "b");
    assert!(matches!(task.state, State::Done { .. }), "{:?}", task.state);
}

#[test]
fn a_last_check_that_passed_before_a_reboot_judges_nothing_after_it() {
    let task = passed(&halfway(), "b");
    assert!(matches!(task.state, State::Preparing), "{:?}", task.state);
    assert_eq!(round(&next(&task, "b")), (2, 0, true));
}

#[test]
fn a_check_that_is_always_interrupted_asks_a_person_although_the_one_before_it_passes() {
    let mut task = halfway();
    let mut ends = 0;
    while !matches!(task.state, State::NeedsHelp { .. }) {
        assert!(ends < 20, "it would be tried for ever");
        let is_second = task.state.session().is_some_and(|run| run.command.as_deref() == Some("two"));
        task = if is_second { end(&task, unseen()) } else { passed(&task, "a") };
        ends += usize::from(is_second);
        if let State::Waiting { until, .. } = task.state {
            task = at(&task, Observation::Woke, until.expect("a backoff ends by the clock"));
        }
        task = if matches!(task.state, State::Preparing) { next(&task, "a") } else { task };
    }
    assert_eq!(ends, 10);
}

fn at(task: &Task, seen: Observation, now: Time) -> Task {
    let events = decide(task, &seen.into(), &worker(), now).expect("nothing refuses an observation");
    fold(task.clone(), &events)
}

/// A task with a setup and one check; its round has this basis.
fn clean(task: &Task, root: &str) -> Task {
    let checkout = Some(Checkout { root: root.into(), cwd: root.into() });
    next_on(task, Basis { boot: Some("a".into()), checkout, ..Basis::default() })
}

fn with_setup() -> Task {
    let mut task = working();
    asked(&mut task).checks = vec!["one".into()];
    asked(&mut task).setup = Some("prepare".into());
    feed(&task, end_of(&task, completed(), sight(TICKED)), &worker())
}

fn command(task: &Task) -> Option<&str> {
    task.state.session().and_then(|run| run.command.as_deref())
}

#[test]
fn setup_is_the_first_step_of_a_round_in_a_checkout_and_of_no_other() {
    assert_eq!(command(&next(&with_setup(), "a")), Some("one"), "in the workspace there is nothing to set up");
    let task = clean(&with_setup(), "/c");
    assert_eq!((command(&task), task.check_cwd()), (Some("prepare"), "/c"));
    let task = clean(&passed(&task, "a"), "/c");
    assert_eq!(command(&task), Some("one"));
    let task = passed(&task, "a");
    assert!(matches!(task.state, State::Done { .. }), "{:?}", task.state);
    assert_eq!(task.checkout(), None, "the round is over");
}

#[test]
fn a_setup_that_fails_ends_the_round() {
    let task = clean(&with_setup(), "/c");
    let task = end(&task, Ended { boot: Some("a".into()), ..ended(Exit::Code(1), Outcome::Completed) });
    let Some(RoundOutcome::Failed { why }) = task.round.as_ref().and_then(|round| round.outcome.clone()) else {
        panic!("{:?}", task.round)
    };
    assert_eq!((why.as_str(), round(&task)), ("setup `prepare`: exit code 1", (1, 1, false)));
}

#[test]
fn a_checkout_in_which_something_was_cut_off_is_not_used_again() {
    let task = end(&clean(&with_setup(), "/c"), unseen());
    assert_eq!(task.round, None);
    let task = clean(&task, "/d");
    assert_eq!((round(&task), command(&task)), ((2, 0, true), Some("prepare")));
}

#[test]
fn a_checkout_that_is_gone_starts_another_round() {
    let task = passed(&clean(&with_setup(), "/c"), "a");
    assert_eq!(round(&task), (1, 1, true));
    let task = clean(&task, "/d");
    assert_eq!((round(&task), command(&task)), ((2, 0, true), Some("prepare")));
}

#[test]
fn expected_files_count_as_they_are_after_the_last_check_in_a_checkout() {
    let mut task = with_setup();
    asked(&mut task).expects = vec!["out".into()];
    let file = |sha256: Option<&str>| vec![FileHash { path: "out".into(), sha256: sha256.map(str::to_owned) }];
    let checked = |task: &Task, sha256: Option<&str>| {
        end(&clean(task, "/c"), Ended { boot: Some("a".into()), expected: file(sha256), ..completed() })
    };
    let built = checked(&checked(&task, None), Some("ab"));
    assert!(matches!(built.state, State::Done { .. }), "{:?}", built.state);
    assert!(checked(&checked(&task, Some("ab")), None).needs_fix());
}
