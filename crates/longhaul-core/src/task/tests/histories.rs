//! Whole histories: every prefix replays to a task with a sane `due`, and recovery ends in a named state.
//! Recorded by running `decide`; cutting them anywhere is what a crash does.

use std::collections::HashSet;

use super::super::*;
use super::fixture::*;
use crate::time::Time;

/// An input that may depend on the task it meets.
type Step = fn(&Task) -> Input;

/// Runs inputs through `decide` and keeps every event.
fn record(inputs: &[(Step, Actor)]) -> Vec<Event> {
    let mut events = vec![submitted(), claimed()];
    let mut task = fold(new_task(), &events[1..]);
    for (input, actor) in inputs {
        let made = decide(&task, &input(&task), actor, NOW).expect("the history is legal");
        task = fold(task, &made);
        events.extend(made);
    }
    events
}

fn histories() -> Vec<Vec<Event>> {
    let worker = Actor::worker();
    let person = Actor::person("ann");
    let prepared: Step = |task| {
        let accepted = task.plan.as_ref().map(|accepted| accepted.plan.steps.iter().map(|step| step.ticked));
        let plan = accepted.map_or_else(nothing_there, |ticks| sight(&ticks.collect::<Vec<bool>>()));
        super::fixture::prepared(session_id(task.tally.sessions.try_into().unwrap_or(0)), plan).into()
    };
    let planned: Step = |task| end_of(task, completed(), sight(&[false, false])).into();
    let first: Step = |task| end_of(task, completed(), sight(&[true, false])).into();
    let all: Step = |task| end_of(task, completed(), sight(&[true, true])).into();
    let crash: Step = |task| end_of(task, crashed(), sight(&[false, false])).into();
    let limit: Step = |task| {
        let limited = ended(Exit::Code(1), Outcome::Failed(Failure::Limited(None)));
        end_of(task, limited, sight(&[false, false])).into()
    };
    let cut: Step = |task| end_of(task, completed(), sight(&[true])).into();
    let restored: Step = |_| Observation::PlanRestored.into();
    let pause: Step = |_| Command::Pause { mode: StopMode::Graceful }.into();
    let resume: Step = |_| Command::Resume { reason: Some("go".into()), settings: Vec::new() }.into();
    let cancel: Step = |_| Command::Cancel { reason: None }.into();
    let w = |f: Step| (f, worker.clone());
    let p = |f: Step| (f, person.clone());
    vec![
        record(&[w(prepared), w(planned), w(prepared), w(first), w(prepared), w(all)]),
        record(&[w(prepared), w(planned), w(prepared), w(crash)]),
        record(&[w(prepared), w(planned), w(prepared), w(limit), p(pause), p(resume)]),
        record(&[w(prepared), w(planned), w(prepared), w(cut), w(restored), w(prepared), w(all)]),
        record(&[w(prepared), p(pause), w(planned), p(resume)]),
        record(&[w(prepared), w(planned), w(prepared), p(pause), p(resume), w(first)]),
        record(&[w(prepared), w(planned), w(prepared), p(cancel), w(crash)]),
    ]
}

#[test]
fn every_prefix_replays_to_a_sane_due() {
    for events in histories() {
        for cut in 1..=events.len() {
            let task = fold(new_task(), &events[1..cut]);
            let effects = due(&task);
            let distinct: HashSet<Effect> = effects.iter().copied().collect();
            assert_eq!(distinct.len(), effects.len(), "an effect is due twice");
            let queued = matches!(task.state, State::Queued);
            assert_eq!(effects.is_empty(), !task.state.wants_owner() || queued, "{}", task.state.name());
            for effect in effects {
                if let Effect::Attend(id) | Effect::Stop(id, _) = effect {
                    assert!(task.state.live(id).is_some(), "an effect for a session that is not live");
                }
            }
        }
    }
}

#[test]
fn events_survive_their_stored_form() {
    for event in histories().concat() {
        let text = serde_json::to_string(&event).expect("events are JSON");
        assert_eq!(serde_json::from_str::<Event>(&text).expect("and come back"), event);
        assert!(text.contains(&format!("\"kind\":\"{}\"", event.kind())), "{text}");
    }
}

#[test]
fn two_steps_end_done_unverified_without_a_further_session() {
    let task = fold(new_task(), &histories()[0][1..]);
    assert_eq!(task.state, State::Done { verdict: Verdict::NoChecks });
    assert_eq!(task.tally.sessions, 3);
}

#[test]
fn a_complete_plan_finishes_without_an_agent() {
    let mut task = working();
    task.state = State::Preparing;
    let task = feed(&task, super::fixture::prepared(session_id(5), sight(&[true, true])), &Actor::workspace());
    assert_eq!(task.state, State::Done { verdict: Verdict::NoChecks });
}

fn end_again(task: &Task, how: &Ended, ticks: &[bool]) -> Task {
    let mut task = feed(task, end_of(task, how.clone(), sight(ticks)), &Actor::worker());
    if let State::Waiting { .. } = task.state {
        task = feed(&task, Observation::Woke, &Actor::worker());
    }
    if !matches!(task.state, State::Preparing) {
        return task;
    }
    let session = session_id(u8::try_from(task.tally.sessions).unwrap_or(99));
    feed(&task, super::fixture::prepared(session, sight(ticks)), &Actor::worker())
}

#[test]
fn crashes_back_off_doubling_and_then_ask_for_help() {
    let mut task = working();
    let mut waits = Vec::new();
    for _ in 0..Patience::default().attempts {
        let after = feed(&task, end_of(&task, crashed(), sight(&[false, false])), &Actor::worker());
        if let State::Waiting { until: Some(until), .. } = after.state {
            waits.push(until.since(NOW).as_millis());
        }
        task = end_again(&task, &crashed(), &[false, false]);
    }
    assert_eq!(waits, [2000, 4000, 8000, 16000]);
    assert!(matches!(task.state, State::NeedsHelp { reason: HelpReason::KeepsFailing { sessions: 5, .. }, .. }));
}

#[test]
fn a_lie_about_success_ends_in_needs_help_after_three_sessions() {
    let mut task = working();
    for _ in 0..3 {
        task = end_again(&task, &completed(), &[false, false]);
    }
    assert!(matches!(task.state, State::NeedsHelp { reason: HelpReason::NoProgress { sessions: 3 }, .. }));
    let person = Actor::person("ann");
    let blank = Command::Resume { reason: Some("  ".into()), settings: Vec::new() };
    assert_eq!(decide(&task, &blank.into(), &person, NOW), Err(Refusal::ReasonMissing));
    let again =
        feed(&task, Command::Resume { reason: Some("changed the model".into()), settings: Vec::new() }, &person);
    assert_eq!(again.tally.idle, 0, "the breaker starts anew");
}

#[test]
fn a_limit_burns_no_attempt_and_holds_over_pause() {
    let task = working();
    let limited = ended(Exit::Code(1), Outcome::Failed(Failure::Limited(Some(Time(NOW.0 + 3_600_000_000)))));
    let task = feed(&task, end_of(&task, limited, sight(&[false, false])), &Actor::worker());
    assert_eq!(task.tally.failures, 0);
    let person = Actor::person("ann");
    let paused = feed(&task, Command::Pause { mode: StopMode::Graceful }, &person);
    let resumed = fold(feed(&paused, Command::Resume { reason: None, settings: Vec::new() }, &person), &[claimed()]);
    let prepared = super::fixture::prepared(session_id(4), sight(&[false, false]));
    let task = feed(&resumed, prepared, &Actor::worker());
    assert!(matches!(task.state, State::Waiting { why: Wait::Limit, .. }), "{:?}", task.state);
}

#[test]
fn an_interrupted_session_is_resumed_by_its_own_id_and_a_completed_one_is_not() {
    let task = working();
    let session = task.state.session().expect("live").id;
    let said = Said { conversation: Some("c-1".into()), usage: Usage { input: Some(5), ..Usage::default() } };
    let read = Observation::SessionRead { session, read: ReadTo::default(), said };
    let task = feed(&task, read, &Actor::worker());
    let crashed_task = feed(&task, end_of(&task, crashed(), sight(&[false, false])), &Actor::worker());
    assert_eq!(crashed_task.conversation_id(), Some("c-1"));
    assert_eq!(crashed_task.tally.usage, Usage { input: Some(5), ..Usage::default() });
    let completed_task = feed(&task, end_of(&task, completed(), sight(&[true, false])), &Actor::worker());
    assert_eq!(completed_task.conversation_id(), None);
    let bad = ended(Exit::Code(1), Outcome::Failed(Failure::BadConversation));
    let fresh = feed(&task, end_of(&task, bad, sight(&[false, false])), &Actor::worker());
    assert_eq!(fresh.conversation_id(), None, "an unknown conversation is not tried for ever");
}

#[test]
fn a_removed_step_is_put_back_and_its_neighbours_tick_is_kept() {
    let task = working();
    let task = feed(&task, end_of(&task, completed(), sight(&[true])), &Actor::worker());
    let accepted = task.plan.as_ref().expect("a plan");
    assert_eq!(accepted.plan.progress(), "1/2");
    let restore = task.restore.as_ref().expect("a plan to put back");
    assert_eq!(crate::plan::parse(&restore.text).expect("parses").progress(), "1/2");
    assert!(task.plan_notice.as_ref().is_some_and(|note| note.contains("rejected-1")), "the next prompt says so");
}

#[test]
fn an_emptied_list_is_never_all_done() {
    let task = working();
    let empty =
        PlanFiles { list: TaskListFile::Text { hash: "e".into(), text: "## Tasks\n".into() }, progress_exists: true };
    let task = feed(&task, end_of(&task, completed(), empty), &Actor::worker());
    assert!(!task.state.is_final());
    assert!(task.restore.is_some());
}

#[test]
fn a_first_plan_needs_both_files_and_a_finished_session() {
    let task = planning();
    let without_progress = PlanFiles { progress_exists: false, ..sight(&[false]) };
    let after = feed(&task, end_of(&task, completed(), without_progress), &Actor::worker());
    assert_eq!(after.plan, None);
    let after = feed(&task, end_of(&task, crashed(), sight(&[false])), &Actor::worker());
    assert_eq!(after.plan, None);
}

#[test]
fn goals_that_are_no_goals_are_refused() {
    let Event::Submitted { submission } = submitted() else { panic!("a submission") };
    for goal in ["", "  \n", "a\0b", &"x".repeat(1 << 20)] {
        let submission = Submission { goal: goal.to_owned(), ..Submission::clone(&submission) };
        assert!(matches!(submit(&submission), Err(Refusal::BadGoal { .. })));
    }
}

/// An event stores a list whole, and `show` shows it whole.
#[test]
fn lists_of_a_submission_are_bounded() {
    let Event::Submitted { submission } = submitted() else { panic!("a submission") };
    let with = |constraints: Vec<String>| submit(&Submission { constraints, ..Submission::clone(&submission) });
    assert!(with(vec!["x".repeat(500); 500]).is_ok(), "the control");
    for too_much in [vec!["x".to_owned(); 501], vec!["x".repeat(300 << 10)]] {
        assert!(matches!(with(too_much), Err(Refusal::BadInput { why }) if why.contains("500 constraint entries")));
    }
    let checks = vec![Setting::Checks(vec!["true".to_owned(); 501])];
    let task = new_task();
    assert!(matches!(
        decide(&task, &Command::Edit { settings: checks }.into(), &Actor::person("ann"), NOW),
        Err(Refusal::BadInput { .. })
    ));
}

#[test]
fn sessions_that_come_to_nothing_burn_no_attempt_and_are_not_tried_for_ever() {
    let nothing = ended(Exit::NeverStarted, Outcome::Failed(Failure::Crashed));
    let mut task = working();
    let mut waits = 0;
    for _ in 0..20 {
        let after = feed(&task, end_of(&task, nothing.clone(), sight(&[false, false])), &Actor::worker());
        waits += usize::from(matches!(after.state, State::Waiting { .. }));
        task = end_again(&task, &nothing, &[false, false]);
        if task.state.waits_for_person() {
            break;
        }
    }
    assert_eq!((waits, task.tally.failures), (8, 0), "the first goes on at once, then it backs off");
    assert!(matches!(task.state, State::NeedsHelp { reason: HelpReason::KeepsFailing { sessions: 10, .. }, .. }));
}

#[test]
fn one_interruption_goes_on_at_once_with_the_same_conversation() {
    let task = working();
    let session = task.state.session().expect("live").id;
    let said = Said { conversation: Some("c-1".into()), usage: Usage::default() };
    let task = feed(&task, Observation::SessionRead { session, read: ReadTo::default(), said }, &Actor::worker());
    let shutdown = Ended { stopped_by: StoppedBy::Shutdown, ..crashed() };
    let task = feed(&task, end_of(&task, shutdown, sight(&[false, false])), &Actor::worker());
    assert!(matches!(task.state, State::Preparing));
    assert_eq!((task.tally.failures, task.conversation_id()), (0, Some("c-1")));
}
