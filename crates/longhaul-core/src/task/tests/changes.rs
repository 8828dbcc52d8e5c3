//! What a person changes on the way: guidance, plans, settings, and the task that has to come first.
//! Nothing of it is lost over a session that never ran.

use super::super::*;
use super::fixture::*;
use crate::ids::TaskId;

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
    let task = feed(&working(), Command::Pause { haste: Haste::Recipe }, &person());
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
    let same = Setting::Attempts(task.submission.policy.attempts);
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
    assert_eq!(due(&task, NOW), [Effect::Await(other)]);
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
    let paused = Task { state: State::Paused { back_to: BackTo::phase(Phase::Work) }, ..task };
    let resume = Command::Resume { reason: None, settings: blank() };
    assert!(matches!(decide(&paused, &resume.into(), &person(), NOW), Err(Refusal::BadInput { .. })));
}
