//! Waits and clocks: what is due never depends on the time of asking, a clock that is set back keeps nobody waiting, and a reset
//! time that makes no sense is a question to a person.

use std::time::Duration;

use proptest::prelude::*;

use super::super::*;
use super::fixture::*;
use super::table::states;
use crate::time::Time;

const HOUR: Duration = Duration::from_secs(3600);

/// Everything that may happen to a waiting task without ending its wait.
fn pokes() -> Vec<Event> {
    let seen = Observation::PlanRestored;
    vec![
        Event::Told { text: "hello".into() },
        Event::Edited { settings: vec![Setting::Delay(60_000), Setting::Attempts(9)], by: None },
        Event::Noted { observation: Box::new(seen) },
        claimed(),
    ]
}

proptest! {
    /// An effect that changes with the time would be stopped and started again at every look, and never end.
    #[test]
    fn what_is_due_stays_the_same_at_any_time(at: i64, poke in 0usize..4) {
        for (name, task) in states() {
            let starts_anew = matches!(task.state, State::Queued);
            if let Ok(poked) = task.apply(&pokes()[poke], Time(at)) && !starts_anew {
                prop_assert_eq!(due(&poked), due(&task), "{}", name);
            }
        }
    }
}

fn alarm(task: &Task) -> Alarm {
    match due(task)[..] {
        [Effect::Wake(alarm)] => alarm,
        _ => panic!("{:?}", task.state),
    }
}

fn limited(until: Time) -> Task {
    let ended = ended(Exit::Code(1), Outcome::Failed(Failure::Limited(Some(until))));
    let task = working();
    feed(&task, end_of(&task, ended, sight(&[false, false])), &Actor::worker())
}

#[test]
fn a_wait_has_an_end_and_a_span_and_hours_have_only_an_end() {
    let task = working();
    let backoff = feed(&task, end_of(&task, crashed(), sight(&[false, false])), &Actor::worker());
    let span = Duration::from_millis(Patience::default().backoff_ms);
    assert_eq!(alarm(&backoff), Alarm { at: NOW.after(span), span: Some(span) });

    let limit = alarm(&limited(NOW.after(HOUR)));
    assert_eq!(limit.span.map(|span| NOW.after(span).millis()), Some(limit.at.millis()));

    let opens = NOW.after(HOUR);
    let preparing = fold(new_task(), &[claimed()]);
    let Observation::Prepared { session, plan, tree, phase, files, saved, basis, .. } =
        prepared(session_id(1), nothing_there())
    else {
        panic!("it is prepared")
    };
    let closed = Observation::Prepared { session, plan, tree, phase, files, opens: Some(opens), saved, basis };
    let hours = feed(&preparing, closed, &Actor::workspace());
    assert_eq!(alarm(&hours), Alarm { at: opens, span: None });
}

#[test]
fn a_wait_stored_without_a_span_follows_the_wall_clock() {
    let stored = r#"{"state":"waiting","why":"backoff","until":5,"back_to":{"phase":"work"}}"#;
    let task = Task { state: serde_json::from_str(stored).expect("it is readable"), ..working() };
    assert_eq!(alarm(&task), Alarm { at: Time(5), span: None });
}

/// The span has passed, but the wall clock was set back by a day: the agent is tried, not waited for again.
#[test]
fn a_limit_that_was_waited_out_is_over_whatever_the_wall_clock_says() {
    let waiting = limited(NOW.after(HOUR));
    let back = Time(NOW.0 - 24 * 3_600_000_000);
    let at = |task: &Task, seen: Observation| {
        let events = decide(task, &seen.into(), &Actor::worker(), back).expect("observed");
        events.iter().fold(task.clone(), |task, event| task.apply(event, back).expect("legal"))
    };
    let woken = at(&waiting, Observation::Woke);
    let started = at(&woken, prepared(session_id(7), sight(&[false, false])));
    assert!(matches!(started.state, State::Working { .. }), "{:?}", started.state);
    assert!(started.limited.contains_key(&started.submission.agent), "it is believed less the next time");
}

#[test]
fn a_wait_that_another_agent_ends_early_leaves_the_limit_as_it_is() {
    let waiting = limited(NOW.after(HOUR));
    let settings = vec![Setting::Fallbacks(vec!["other".into()]), Setting::OnLimit(OnLimit::Switch)];
    let edited = feed(&waiting, Command::Edit { settings }, &Actor::person("ann"));
    assert!(matches!(edited.state, State::Preparing), "{:?}", edited.state);
    assert_eq!(edited.next_agent(NOW), "other");
    assert_eq!(edited.limited, waiting.limited);
}

#[test]
fn a_limit_beyond_the_longest_wait_is_a_question_to_a_person() {
    let longest = Duration::from_millis(Patience::default().longest_wait_ms);
    let week = limited(NOW.after(Duration::from_secs(7 * 24 * 3600)));
    assert!(matches!(week.state, State::Waiting { why: Wait::Limit, .. }), "{:?}", week.state);
    for until in [NOW.after(longest + HOUR), Time(9_999_999_999_000_000), Time(i64::MAX)] {
        let asked = limited(until);
        let State::NeedsHelp { reason: reason @ HelpReason::LimitTooLong { .. }, .. } = &asked.state else {
            panic!("{:?}", asked.state)
        };
        assert!(reason.to_string().contains("limits.longest_wait"), "{reason}");
        let resumed = feed(
            &asked,
            Command::Resume { reason: Some("waited".into()), settings: Vec::new() },
            &Actor::person("ann"),
        );
        assert!(resumed.limited.is_empty(), "the agent is tried at once");
    }
}

#[test]
fn another_agent_stands_in_for_one_whose_limit_is_too_long() {
    let mut task = working();
    asked(&mut task).fallbacks = vec!["other".into()];
    asked(&mut task).on_limit = OnLimit::Switch;
    let ended = ended(Exit::Code(1), Outcome::Failed(Failure::Limited(Some(Time(9_999_999_999_000_000)))));
    let task = feed(&task, end_of(&task, ended, sight(&[false, false])), &Actor::worker());
    assert!(matches!(task.state, State::Preparing), "{:?}", task.state);
    assert_eq!(task.next_agent(NOW), "other");
}
