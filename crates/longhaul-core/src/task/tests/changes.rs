//! What a person changes on the way: guidance, plans, settings, and the task that has to come first.
//! Nothing of it is lost over a session that never ran.

use super::super::*;
use super::fixture::*;
use crate::ids::TaskId;
use crate::plan::{PlanChange, PlanDifference};

fn person() -> Actor {
    Actor::person("ann")
}

#[test]
fn guidance_reaches_exactly_one_executed_session() {
    let task = feed(&working(), Command::Tell { text: "one".into() }, &person());
    let task = feed(&task, end_of(&task, completed(), sight(&[true, false])), &Actor::worker());
    assert_eq!(task.guidance, ["one"], "the session that was live when it was told did not hear it");
    let task = feed(&task, prepared(session_id(4), sight(&[true, false])), &Actor::worker());
    let task = feed(&task, Command::Tell { text: "two".into() }, &person());
    let never = ended(Exit::NeverStarted, Outcome::Failed(Failure::Crashed));
    let unheard = feed(&task, end_of(&task, never, sight(&[true, false])), &Actor::worker());
    assert_eq!(unheard.guidance, ["one", "two"]);
    let crashed = feed(&task, end_of(&task, crashed(), sight(&[true, false])), &Actor::worker());
    assert_eq!(crashed.guidance, ["one", "two"], "who crashed may not have heard it");
    let heard = feed(&task, end_of(&task, completed(), sight(&[true, true])), &Actor::worker());
    assert_eq!(heard.guidance, ["two"]);
}

#[test]
fn a_persons_plan_is_taken_whole_and_written_when_the_file_is_another() {
    let task = feed(&working(), Command::Pause { mode: StopMode::Graceful }, &person());
    let live = Command::AcceptPlan { text: list(&[false]), seen: None };
    assert!(matches!(decide(&task, &live.clone().into(), &person(), NOW), Err(Refusal::WrongState { .. })));
    let task = feed(&task, end_of(&task, completed(), sight(&[true, false])), &Actor::worker());
    let task = feed(&task, live, &person());
    let accepted = task.plan.as_ref().expect("a plan");
    assert_eq!((accepted.plan.progress().as_str(), accepted.revision), ("0/1", 3));
    assert_eq!(task.restore.as_ref().map(|restore| restore.text.as_str()), Some(list(&[false]).as_str()));
    let bad = Command::AcceptPlan { text: "nothing".into(), seen: None };
    assert!(matches!(decide(&task, &bad.into(), &person(), NOW), Err(Refusal::BadInput { .. })));
}

#[test]
fn an_edit_that_changes_nothing_writes_nothing() {
    let task = working();
    let same = Setting::Attempts(task.submission.patience.attempts);
    assert_eq!(decide(&task, &Command::Edit { settings: vec![same] }.into(), &person(), NOW), Ok(Vec::new()));
}

#[test]
fn other_checks_forget_what_was() {
    let settings = vec![Setting::Checks(vec!["true".into()])];
    let task = feed(&verifying(), Command::Edit { settings }, &person());
    assert_eq!(task.round, None);
}

#[test]
fn a_task_after_another_waits_for_its_verification() {
    let other = TaskId::mint(NOW, [7; 10]);
    let mut task = fold(new_task(), &[claimed()]);
    asked(&mut task).after = Some(other);
    let task = feed(&task, prepared(session_id(1), nothing_there()), &Actor::worker());
    assert_eq!(due(&task), [Effect::Await(other)]);
    let ended = |verified| Observation::OtherEnded { task: other, verified, how: "done, unverified".into() };
    let met = feed(&task, ended(true), &Actor::worker());
    assert!(matches!(
        feed(&met, prepared(session_id(1), nothing_there()), &Actor::worker()).state,
        State::Planning { .. }
    ));
    let asked = feed(&task, ended(false), &Actor::worker());
    assert!(matches!(asked.state, State::NeedsHelp { reason: HelpReason::AfterUnverified { .. }, .. }));
    let resume = Command::Resume { reason: Some("start anyway".into()), settings: Vec::new() };
    let anyway = fold(feed(&asked, resume, &person()), &[claimed()]);
    let anyway = feed(&anyway, prepared(session_id(1), nothing_there()), &Actor::worker());
    assert!(matches!(anyway.state, State::Planning { .. }));
}

#[test]
fn an_empty_check_is_refused_wherever_it_comes_from() {
    let blank = || vec![Setting::Checks(vec![" ".into()])];
    let task = working();
    let edit = Command::Edit { settings: blank() };
    assert!(matches!(decide(&task, &edit.into(), &person(), NOW), Err(Refusal::BadInput { .. })));
    let paused = Task { state: State::Paused, ..task };
    let resume = Command::Resume { reason: None, settings: blank() };
    assert!(matches!(decide(&paused, &resume.into(), &person(), NOW), Err(Refusal::BadInput { .. })));
}

#[test]
fn a_git_that_could_not_run_is_tried_ten_times_more_and_then_a_person_is_asked() {
    let preparing = feed(&working(), end_of(&working(), completed(), sight(&[true, false])), &Actor::worker());
    let failed = || Observation::CannotPrepare { cause: Cause::Git { why: "killed by signal 9".into() } };
    let mut task = preparing;
    for retry in 1..=10 {
        task = feed(&task, failed(), &Actor::workspace());
        assert!(matches!(task.state, State::Waiting { why: Wait::Backoff, .. }), "{retry}: {:?}", task.state);
        task = feed(&task, Observation::Woke, &Actor::worker());
    }
    let started = feed(&task, prepared(session_id(9), sight(&[true, false])), &Actor::workspace());
    assert_eq!(started.tally.git_failures, 0, "a session that starts forgets them");
    let task = feed(&task, failed(), &Actor::workspace());
    assert!(matches!(&task.state, State::Blocked { cause: Cause::Git { .. }, .. }) && task.state.waits_for_person());
    let resumed = feed(&task, Command::Resume { reason: None, settings: Vec::new() }, &Actor::person("ann"));
    assert_eq!(resumed.tally.git_failures, 0);
}

#[test]
fn a_tick_in_a_long_plan_is_stored_as_a_tick() {
    let ticks = |done| (0..10_000).map(|step| step < done).collect::<Vec<bool>>();
    let task = feed(&planning(), end_of(&planning(), completed(), sight(&ticks(0))), &Actor::worker());
    let task = feed(&task, prepared(session_id(2), sight(&ticks(0))), &Actor::workspace());
    let seen = end_of(&task, completed(), sight(&ticks(1)));
    let events = decide(&task, &seen.into(), &Actor::worker(), NOW).unwrap();
    let revised = events.iter().find(|event| event.kind() == "plan_revised");
    let Some(Event::PlanRevised { change, ticked, .. }) = revised else { panic!("{events:?}") };
    let nothing_else = PlanDifference { done: 1, total: 10_000, ..PlanDifference::default() };
    assert_eq!((change, &**ticked), (&PlanChange::Difference(nothing_else), &[1][..]));
    let after = fold(task, &events);
    assert_eq!(after.plan.unwrap().plan.progress(), "1/10000");
}

#[test]
fn a_revision_that_was_stored_with_its_whole_plan_is_still_read() {
    let stored = r#"{"kind":"plan_revised","revision":2,"plan":{"steps":[{"number":1,"text":"a","phase":null,"ticked":true}]},
        "hash":"5e","ticked":[1]}"#;
    let event: Event = serde_json::from_str(stored).unwrap();
    let task = feed(&planning(), end_of(&planning(), completed(), sight(&[false, false])), &Actor::worker());
    let after = fold(task, &[event]);
    let accepted = after.plan.unwrap();
    assert_eq!((accepted.revision, accepted.plan.progress()), (2, "1/1".to_owned()));
}
