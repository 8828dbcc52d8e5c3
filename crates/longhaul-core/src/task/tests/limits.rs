//! The limits of a task: each stops it with its own name, holds over restarts, and can be raised.
//! Waits, pauses and checks never count.

use super::super::*;
use super::fixture::*;

fn with_limit(limit: Limit, cap: u64) -> Task {
    let task = working();
    feed(&task, Command::Edit { settings: vec![Setting::Limit(limit, Some(cap))] }, &Actor::person("ann"))
}

fn reached(task: &Task) -> Limit {
    let State::Stopped { reached, .. } = &task.state else { panic!("{:?}", task.state) };
    reached.limit
}

#[test]
fn sessions_and_time_stop_after_the_session_and_can_be_raised() {
    for (limit, cap) in [(Limit::Sessions, 2), (Limit::Time, 20)] {
        let task = with_limit(limit, cap);
        let task = feed(&task, end_of(&task, completed(), sight(&[true, false])), &Actor::worker());
        assert_eq!(reached(&task), limit);
        let person = Actor::person("ann");
        let plain = Command::Resume { reason: None, settings: Vec::new() };
        assert!(matches!(decide(&task, &plain.into(), &person, NOW), Err(Refusal::LimitReached { .. })));
        let settings = vec![Setting::Limit(limit, Some(cap * 2))];
        let task = feed(&task, Command::Resume { reason: None, settings }, &person);
        assert!(matches!(task.state, State::Queued));
    }
}

#[test]
fn tokens_and_money_stop_a_session_in_the_middle_and_a_person_goes_before() {
    let usage = Usage { input: Some(90), output: Some(10), cost_micros: Some(2_000_000) };
    for (limit, cap) in [(Limit::Tokens, 100), (Limit::Cost, 2_000_000)] {
        let task = with_limit(limit, cap);
        let session = task.state.session().expect("live").id;
        let said = Said { conversation: None, usage };
        let read = Observation::SessionRead { session, read: ReadTo::default(), said };
        let stopping = feed(&task, read.clone(), &Actor::worker());
        assert!(matches!(stopping.state, State::Stopping { then: Then::Stop { .. }, .. }));
        let stopped = feed(&stopping, end_of(&stopping, crashed(), sight(&[false, false])), &Actor::worker());
        assert_eq!(reached(&stopped), limit);

        let paused = feed(&task, Command::Pause { mode: StopMode::Graceful }, &Actor::person("ann"));
        let paused = feed(&paused, read, &Actor::worker());
        assert!(matches!(paused.state, State::Stopping { then: Then::Pause, .. }), "limits never override a person");
    }
}

#[test]
fn a_limit_lowered_below_what_is_used_stops_the_live_session() {
    let task = with_limit(Limit::Time, 0);
    assert!(matches!(task.state, State::Stopping { then: Then::Stop { .. }, .. }));
}

#[test]
fn the_wall_of_a_session_is_what_is_left_of_the_task() {
    let mut task = working();
    asked(&mut task).patience.wall_ms = Some(1000);
    asked(&mut task).patience.max_time_ms = Some(300);
    task.tally.worked_ms = 100;
    assert_eq!(task.session_wall_ms(), Some(200));
    asked(&mut task).patience.max_time_ms = None;
    assert_eq!(task.session_wall_ms(), Some(1000));
}

#[test]
fn unknown_usage_is_not_zero_and_stops_nothing() {
    let task = with_limit(Limit::Tokens, 1);
    let task = feed(&task, end_of(&task, completed(), sight(&[true, false])), &Actor::worker());
    assert!(matches!(task.state, State::Preparing));
    assert_eq!(task.used(Limit::Tokens), None);
}

#[test]
fn checks_do_not_count_as_sessions() {
    let mut task = verifying();
    asked(&mut task).patience.max_sessions = Some(2);
    let task = feed(&task, check_end(&task, Exit::Code(0)), &Actor::worker());
    assert!(matches!(task.state, State::Done { .. }));
}

#[test]
fn delay_and_once_come_between_sessions() {
    let mut task = working();
    asked(&mut task).patience.delay_ms = 3000;
    let end = end_of(&task, completed(), sight(&[true, false]));
    let waiting = feed(&task, end.clone(), &Actor::worker());
    assert!(matches!(waiting.state, State::Waiting { why: Wait::Delay, .. }));

    asked(&mut task).patience.once = true;
    let paused = feed(&task, end, &Actor::worker());
    assert!(matches!(paused.state, State::Paused));
    let resume = Command::Resume { reason: None, settings: Vec::new() };
    let resumed = feed(&paused, resume, &Actor::person("ann"));
    assert!(!resumed.submission.patience.once, "a plain resume goes on to the end");
    let once = Command::Resume { reason: None, settings: vec![Setting::Once(true)] };
    assert!(feed(&paused, once, &Actor::person("ann")).submission.patience.once);
}

#[test]
fn a_tick_without_a_changed_tree_is_no_progress() {
    let mut task = working();
    let live = session_id(2);
    if let State::Working { session } = &mut task.state {
        session.tree = Some("t".into());
    }
    let end = |tree: &str| {
        let ended = Ended { tree: Some(tree.into()), ..completed() };
        let seen = Observation::SessionEnded { session: live, ended: Box::new(ended), plan: sight(&[true, false]) };
        feed(&task, seen, &Actor::worker()).tally.idle
    };
    assert_eq!((end("t"), end("u")), (1, 0));
}

#[test]
fn the_time_of_checks_does_not_count() {
    let task = verifying();
    let before = task.tally.worked_ms;
    let long = Ended { lasted_ms: 3_600_000, ..ended(Exit::Code(1), Outcome::Completed) };
    let task = feed(&task, end_of(&task, long, sight(&[true, true])), &Actor::worker());
    assert_eq!((task.tally.worked_ms, task.needs_fix()), (before, true));
}

#[test]
fn a_shortened_wall_ends_the_live_session_in_time() {
    let task = working();
    let session = task.state.session().expect("live").clone();
    assert_eq!(due(&task), [Effect::Attend(session.id)], "its keeper knows the wall");
    let edited = feed(&task, Command::Edit { settings: vec![Setting::Wall(Some(4000))] }, &Actor::person("ann"));
    let deadline = crate::time::Time(session.started.0 + 4_000_000);
    let alarm = Alarm { at: deadline, span: Some(std::time::Duration::from_millis(4000)) };
    assert_eq!(due(&edited), [Effect::Attend(session.id), Effect::Wake(alarm)]);
    assert_eq!(decide(&edited, &Observation::Woke.into(), &Actor::worker(), NOW), Ok(Vec::new()), "not yet");
    let events = decide(&edited, &Observation::Woke.into(), &Actor::worker(), deadline).expect("observed");
    assert!(matches!(events[..], [Event::StopAsked { then: Then::GoOn, .. }]), "{events:?}");
}

#[test]
fn a_limit_that_is_used_up_does_not_keep_finished_work_from_its_checks() {
    let mut task = with_limit(Limit::Tokens, 100);
    asked(&mut task).checks = vec!["true".into()];
    let session = task.state.session().expect("live").id;
    let said = Said { conversation: None, usage: Usage { input: Some(100), ..Usage::default() } };
    let read = Observation::SessionRead { session, read: ReadTo::default(), said };
    let stopping = feed(&task, read, &Actor::worker());
    let after = feed(&stopping, end_of(&stopping, crashed(), sight(&[true, true])), &Actor::worker());
    assert!(matches!(after.state, State::Preparing), "{:?}", after.state);
}

#[test]
fn a_used_up_limit_is_not_waited_out() {
    let task = with_limit(Limit::Sessions, 2);
    let limited = ended(Exit::Code(1), Outcome::Failed(Failure::Limited(None)));
    let task = feed(&task, end_of(&task, limited, sight(&[false, false])), &Actor::worker());
    assert_eq!(reached(&task), Limit::Sessions);
}
