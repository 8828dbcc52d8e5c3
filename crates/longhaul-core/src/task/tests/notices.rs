//! What is told to people who are not looking: every occasion once, when it is entered, and nothing else.
//! Everything goes through `decide`, so that no change is judged that never happens.

use super::super::*;
use super::fixture::*;
use super::runner::driven;

/// The task after an input, and what of it is told.
fn told(task: &Task, input: impl Into<Input>, actor: &Actor) -> (Task, Option<Occasion>) {
    let events = decide(task, &input.into(), actor, NOW).unwrap_or_else(|refusal| panic!("{refusal}"));
    let after = fold(task.clone(), &events);
    let occasion = notice(task, &events, &after);
    (after, occasion)
}

fn by_worker(task: &Task, seen: Observation) -> (&'static str, Option<Occasion>) {
    let (after, occasion) = told(task, seen, &Actor::worker());
    (after.state.name(), occasion)
}

fn with(change: impl FnOnce(&mut Patience)) -> Task {
    let mut task = working();
    change(&mut asked(&mut task).patience);
    task
}

#[test]
fn a_finished_task_is_told_once() {
    let task = working();
    let (done, occasion) = told(&task, end_of(&task, completed(), sight(&[true, true])), &Actor::worker());
    assert_eq!((done.state.name(), occasion), ("done", Some(Occasion::Done)));
    let (still, again) = told(&done, Observation::Woke, &Actor::worker());
    assert_eq!((still.state.name(), again), ("done", None), "staying there is no news");
}

#[test]
fn progress_is_told_to_nobody() {
    let task = working();
    let (_, occasion) = told(&task, end_of(&task, completed(), sight(&[true, false])), &Actor::worker());
    assert_eq!(occasion, None);
    let backoff = by_worker(&task, end_of(&task, crashed(), sight(&[false, false])));
    assert_eq!(backoff, ("waiting", None), "a failed session that is tried again");
}

#[test]
fn what_is_given_up_failed_and_what_wants_a_person_needs_one() {
    let failing = with(|patience| patience.attempts = 1);
    let ended = end_of(&failing, crashed(), sight(&[false, false]));
    assert_eq!(by_worker(&failing, ended), ("needs_help", Some(Occasion::Failed)));
    let idle = with(|patience| patience.idle_sessions = 1);
    let ended = end_of(&idle, completed(), sight(&[false, false]));
    assert_eq!(by_worker(&idle, ended), ("needs_help", Some(Occasion::NeedsPerson)));
    let mut checked = verifying();
    asked(&mut checked).patience.fix_attempts = 0;
    let red = check_end(&checked, Exit::Code(1));
    assert_eq!(by_worker(&checked, red), ("needs_help", Some(Occasion::Failed)));
}

#[test]
fn blocked_is_told_where_only_a_person_can_mend_it() {
    let task = fold(new_task(), &[claimed()]);
    let missing = Cause::Variable { name: "KEY".into() };
    let told = by_worker(&task, Observation::CannotPrepare { cause: missing });
    assert_eq!(told, ("blocked", Some(Occasion::NeedsPerson)));
    let full = Cause::Disk { path: "/".into(), free: 1, floor: 2 };
    assert_eq!(by_worker(&task, Observation::CannotPrepare { cause: full }), ("blocked", None));
}

#[test]
fn limits_of_agents_and_of_the_task_are_told_apart() {
    let task = working();
    let until = NOW.after(std::time::Duration::from_secs(60));
    let limited = ended(Exit::Code(1), Outcome::Failed(Failure::Limited(Some(until))));
    let limited_again = limited.clone();
    let waits = by_worker(&task, end_of(&task, limited, sight(&[false, false])));
    assert_eq!(waits, ("waiting", Some(Occasion::Limit)));
    let mut again = task.clone();
    again.tally.limits = 1;
    assert_eq!(by_worker(&again, end_of(&again, limited_again, sight(&[false, false]))), ("waiting", None));
    let capped = with(|patience| patience.max_sessions = Some(2));
    let stopped = by_worker(&capped, end_of(&capped, completed(), sight(&[true, false])));
    assert_eq!(stopped, ("stopped", Some(Occasion::Stopped)));
}

#[test]
fn what_a_person_did_is_told_to_nobody() {
    let person = Actor::person("ann");
    let task = working();
    for command in [Command::Pause { mode: StopMode::Graceful }, Command::Cancel { reason: None }] {
        let (stopping, asked) = told(&task, command, &person);
        let seen = end_of(&stopping, crashed(), sight(&[false, false]));
        let (rests, ended) = told(&stopping, seen, &Actor::worker());
        assert_eq!((asked, ended), (None, None), "{}", rests.state.name());
    }
}

fn runner_session() -> Task {
    feed(&driven(Some(1), Resume::Never), prepared(session_id(5), sight(&[false, false])), &Actor::workspace())
}

#[test]
fn a_runners_pause_is_a_failure_after_a_failed_session_that_nobody_stopped() {
    let task = runner_session();
    for (exit, occasion) in [
        (Exit::Code(3), Some(Occasion::Failed)),
        (Exit::Signal(9), Some(Occasion::Failed)),
        (Exit::Unknown, Some(Occasion::Failed)),
        (Exit::Code(0), None),
    ] {
        let seen = end_of(&task, ended(exit.clone(), Outcome::Completed), sight(&[true, false]));
        assert_eq!(by_worker(&task, seen), ("paused", occasion), "{exit}");
    }
    let spoiled = PlanFiles { progress_exists: false, ..sight(&[true, false]) };
    let open = feed(&driven(None, Resume::Never), prepared(session_id(5), sight(&[false, false])), &Actor::workspace());
    let told_of = by_worker(&open, end_of(&open, completed(), spoiled));
    assert_eq!(told_of, ("paused", Some(Occasion::Failed)), "more sessions were allowed");
    let (stopping, _) = told(&task, Command::Pause { mode: StopMode::Graceful }, &Actor::person("ann"));
    let seen = end_of(&stopping, crashed(), sight(&[true, false]));
    assert_eq!(by_worker(&stopping, seen), ("paused", None), "a person wanted that");
}

#[test]
fn the_reason_of_every_notice_is_an_event_that_tells_why() {
    let task = runner_session();
    let seen = end_of(&task, ended(Exit::Code(3), Outcome::Completed), sight(&[true, false]));
    let events = decide(&task, &seen.into(), &Actor::worker(), NOW).expect("an end");
    let newest = events.iter().rev().find(|event| tells_why(event)).expect("a reason");
    assert!(narrate(newest).contains("exit code 3"), "{events:?}");
}
