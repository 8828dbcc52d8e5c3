//! The rules of `run-session`: what an invocation takes up, what ends it, and how a person gets the task from it.
//! Pure: every rule is shown by the events that `decide` answers with.

use super::super::*;
use super::fixture::*;

fn run(left: Option<u32>, resume: Resume) -> RunnerOptions {
    RunnerOptions::new(left, resume, "/p/below".into())
}

fn drive(task: &Task, run: RunnerOptions) -> Task {
    feed(task, Command::Drive { run, settings: Vec::new() }, &Actor::person("ann"))
}

/// A task that an invocation has just taken up.
pub(super) fn driven(left: Option<u32>, resume: Resume) -> Task {
    let mut task = new_task();
    asked(&mut task).driver = Driver::Runner;
    asked(&mut task).patience.delay_ms = 3000;
    fold(drive(&task, run(left, resume)), &[claimed()])
}

fn saved(plan: PlanFiles, id: Option<&str>) -> Observation {
    let Observation::Prepared { session, plan, tree, phase, files, basis, opens, .. } = prepared(session_id(5), plan)
    else {
        unreachable!("the fixture makes this one")
    };
    Observation::Prepared { session, plan, tree, phase, files, basis, opens, saved: id.map(str::to_owned) }
}

fn look(task: &Task, plan: PlanFiles) -> Task {
    feed(task, saved(plan, Some("old-id")), &Actor::workspace())
}

fn end(task: &Task, exit: Exit, plan: PlanFiles) -> Task {
    // Whatever the stream said: only the exit status counts.
    let outcome = if exit == Exit::Code(0) { Outcome::Failed(Failure::Crashed) } else { Outcome::Completed };
    feed(task, end_of(task, ended(exit, outcome), plan), &Actor::worker())
}

fn left(task: &Task) -> Option<u32> {
    task.run.as_ref().expect("driven").left
}

#[test]
fn sessions_follow_each_other_until_the_list_is_complete() {
    let task = look(&driven(None, Resume::Never), nothing_there());
    assert!(matches!(&task.state, State::Planning { session } if session.resumes.is_none()), "{:?}", task.state);
    assert_eq!(task.cwd(), "/p/below", "where the runner was started");
    let task = end(&task, Exit::Code(0), sight(&[false, false]));
    assert!(matches!(task.state, State::Waiting { why: Wait::Delay, .. }), "{:?}", task.state);
    let task = feed(&task, Observation::Woke, &Actor::worker());
    let task = look(&task, sight(&[false, false]));
    assert_eq!(task.state.name(), "working");
    let task = end(&task, Exit::Code(0), sight(&[true, true]));
    assert!(matches!(task.state, State::Done { verdict: Verdict::NoChecks }), "{:?}", task.state);
}

#[test]
fn the_sessions_of_an_invocation_are_counted_and_its_end_is_a_pause() {
    let task = look(&driven(Some(2), Resume::Never), sight(&[false, false, false]));
    let task = end(&task, Exit::Code(0), sight(&[true, false, false]));
    assert_eq!((task.state.name(), left(&task)), ("waiting", Some(1)));
    let task = look(&feed(&task, Observation::Woke, &Actor::worker()), sight(&[true, false, false]));
    let task = end(&task, Exit::Code(0), sight(&[true, false, false]));
    assert_eq!((task.state.name(), left(&task)), ("paused", Some(0)), "no tick is no reason to stop, the limit is");
    let task = fold(drive(&task, run(Some(1), Resume::Never)), &[claimed()]);
    assert_eq!((task.state.name(), left(&task)), ("preparing", Some(1)), "the next invocation counts from the start");
}

#[test]
fn a_failed_session_ends_the_invocation_without_another_try() {
    for exit in [Exit::Code(3), Exit::Signal(9), Exit::Unknown, Exit::NotExecutable("gone".into())] {
        let task = look(&driven(None, Resume::Never), sight(&[false]));
        let task = end(&task, exit.clone(), sight(&[true]));
        assert_eq!(task.state.name(), "paused", "{exit}");
        assert_eq!(task.plan.expect("taken as it is").plan.progress().to_string(), "1/1");
    }
}

#[test]
fn a_resume_that_fails_is_followed_by_a_fresh_session_that_alone_counts() {
    let task = look(&driven(Some(1), Resume::Saved), sight(&[false, false]));
    assert_eq!(task.state.session().and_then(|session| session.resumes.as_deref()), Some("old-id"));
    let task = end(&task, Exit::Code(1), sight(&[false, false]));
    assert_eq!((task.state.name(), left(&task)), ("preparing", Some(1)));
    let task = look(&task, sight(&[false, false]));
    assert_eq!(task.state.session().expect("at once").resumes, None);
    let task = end(&task, Exit::Code(0), sight(&[true, false]));
    assert_eq!((task.state.name(), left(&task)), ("paused", Some(0)));
}

#[test]
fn a_usage_limit_keeps_the_saved_conversation_and_is_waited_for_once_the_task_is_supervised() {
    let until = NOW.after(std::time::Duration::from_secs(600));
    let task = look(&driven(None, Resume::Saved), sight(&[false, false]));
    let limited = ended(Exit::Code(1), Outcome::Failed(Failure::Limited(Some(until))));
    let seen = end_of(&task, limited, sight(&[false, false]));
    let events = decide(&task, &seen.into(), &Actor::worker(), NOW).unwrap();
    assert!(
        matches!(&events[..], [.., Event::AgentLimited { .. }, Event::Paused { why: Some(why), .. }] if why.contains("usage limit")),
        "{events:?}"
    );
    let paused = fold(task, &events);
    let resume = Command::Resume { reason: None, settings: Vec::new() };
    let supervised = fold(feed(&paused, resume, &Actor::person("ann")), &[claimed()]);
    let waits = feed(&supervised, prepared(session_id(6), sight(&[false, false])), &Actor::worker());
    assert!(matches!(waits.state, State::Waiting { why: Wait::Limit, .. }), "{:?}", waits.state);
}

#[test]
fn only_a_conversation_that_cannot_be_resumed_is_given_up() {
    let task = look(&driven(None, Resume::Saved), sight(&[false]));
    let session = task.state.session().unwrap();
    let found = SessionRun { conversation: session.resumes.clone(), ..session.clone() };
    let failed = |failure| ended(Exit::Code(1), Outcome::Failed(failure));
    assert!(session.resume_failed(&failed(Failure::Crashed)) && !found.resume_failed(&failed(Failure::Crashed)));
    assert!(found.resume_failed(&failed(Failure::ContextFull)), "there is no room left in it");
    assert!(!session.resume_failed(&failed(Failure::Auth("401".into()))), "it is not the conversation's fault");
}

#[test]
fn counters_of_the_saved_conversation_outlast_an_invocation() {
    let carry = serde_json::json!({ "input": 7 });
    let task = look(&driven(Some(1), Resume::Saved), sight(&[false, false]));
    let seen = end_of(&task, Ended { carry: carry.clone(), ..completed() }, sight(&[true, false]));
    let driven = drive(&feed(&task, seen, &Actor::worker()), run(None, Resume::Saved));
    let again = look(&fold(driven, &[claimed()]), sight(&[true, false]));
    assert_eq!(again.state.session().expect("the next session").carry, carry);
}

#[test]
fn every_session_of_a_resuming_invocation_resumes_as_long_as_an_id_is_saved() {
    let task = look(&driven(None, Resume::Saved), sight(&[false, false]));
    let task = end(&task, Exit::Code(0), sight(&[true, false]));
    let task = feed(&task, Observation::Woke, &Actor::worker());
    let again = look(&task, sight(&[true, false]));
    assert_eq!(again.state.session().and_then(|session| session.resumes.as_deref()), Some("old-id"));
    let without = feed(&task, saved(sight(&[true, false]), None), &Actor::workspace());
    assert_eq!(without.state.session().expect("fresh").resumes, None);
}

#[test]
fn a_list_that_cannot_be_read_ends_the_invocation_and_is_left_alone() {
    let bad = PlanFiles {
        list: TaskListFile::Text { hash: "h".into(), text: "## Tasks\n- [?] Task 1: a\n".into() },
        progress_exists: true,
    };
    let no_progress = PlanFiles { progress_exists: false, ..sight(&[false]) };
    for sight_after in [bad, no_progress, nothing_there()] {
        let task = look(&driven(None, Resume::Never), sight(&[false, false]));
        let task = end(&task, Exit::Code(0), sight_after);
        assert_eq!((task.state.name(), &task.restore), ("paused", &None));
    }
}

#[test]
fn removed_renamed_and_unticked_steps_are_taken_as_they_are() {
    let task = look(&driven(None, Resume::Never), sight(&[true, false, false]));
    let task = end(&task, Exit::Code(0), sight(&[false, false]));
    assert_eq!(task.state.name(), "waiting");
    assert_eq!(task.progress(), "0/2");
}

#[test]
fn what_was_complete_before_is_done_without_a_session() {
    let task = look(&driven(None, Resume::Never), sight(&[true, true]));
    assert!(task.state.is_final());
    assert_eq!(task.tally.sessions, 0);
}

#[test]
fn a_live_session_is_adopted_as_the_first_of_the_next_invocation() {
    let task = look(&driven(None, Resume::Never), sight(&[false, false]));
    let adopted = drive(&task, run(Some(1), Resume::Saved));
    assert_eq!(adopted.state, task.state);
    let task = end(&adopted, Exit::Code(0), sight(&[true, false]));
    assert_eq!((task.state.name(), left(&task)), ("paused", Some(0)));
}

#[test]
fn an_adopter_that_finds_nothing_executed_starts_anew_once() {
    let task = look(&driven(Some(1), Resume::Never), sight(&[false]));
    let task = end(&task, Exit::NeverStarted, sight(&[false]));
    assert_eq!((task.state.name(), left(&task)), ("preparing", Some(1)));
    let task = look(&task, sight(&[false]));
    assert_eq!(end(&task, Exit::NeverStarted, sight(&[false])).state.name(), "paused");
}

#[test]
fn resume_makes_it_supervised_wherever_it_stands() {
    let resume = Command::Resume { reason: None, settings: Vec::new() };
    let working = look(&driven(None, Resume::Never), sight(&[false]));
    let paused = end(&working, Exit::Code(1), sight(&[false]));
    for (task, state) in [(&working, "working"), (&paused, "queued")] {
        let after = feed(task, resume.clone(), &Actor::person("ann"));
        assert_eq!((after.state.name(), after.submission.driver, &after.run), (state, Driver::Supervised, &None));
        let driven = Command::Drive { run: run(None, Resume::Never), settings: Vec::new() };
        assert!(decide(&after, &driven.into(), &Actor::person("ann"), NOW).is_err(), "no way back");
    }
}

#[test]
fn a_pause_ends_the_invocation_and_the_next_takes_it_up() {
    let task = look(&driven(None, Resume::Never), sight(&[false]));
    let task = feed(&task, Command::Pause { mode: StopMode::Graceful }, &Actor::person("ann"));
    let again = drive(&task, run(None, Resume::Never));
    assert!(matches!(again.state, State::Stopping { then: Then::GoOn, .. }), "the dying session is waited for");
    let task = feed(&task, end_of(&task, crashed(), sight(&[false])), &Actor::worker());
    assert_eq!(task.state.name(), "paused");
}

#[test]
fn a_worker_may_leave_a_runners_task_to_the_next_invocation_and_pause_no_other() {
    let pause = Input::from(Command::Pause { mode: StopMode::Graceful });
    let runners = feed(&driven(None, Resume::Never), Command::Pause { mode: StopMode::Graceful }, &Actor::worker());
    assert_eq!(runners.state.name(), "paused");
    let refused = decide(&fold(new_task(), &[claimed()]), &pause, &Actor::worker(), NOW);
    assert!(matches!(refused, Err(Refusal::Scope { .. })), "{refused:?}");
}

#[test]
fn a_task_that_its_dead_runner_left_without_disk_space_is_prepared_by_the_next() {
    let task = driven(None, Resume::Never);
    let cause = Cause::Disk { path: "/p".into(), free: 1, floor: 2 };
    let blocked = Task { state: State::Blocked { cause }, ..task };
    let run = RunnerOptions::new(None, Resume::Never, "/p".into());
    let taken_up = feed(&blocked, Command::Drive { run, settings: Vec::new() }, &Actor::person("ann"));
    assert_eq!((taken_up.state.name(), due(&taken_up)), ("preparing", vec![Effect::Prepare]));
}
