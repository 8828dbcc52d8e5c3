//! Parents and children: what a child may have, and what a family has used together.
//! Pure, as everything here; where the tasks of a family come from is tested with the store.

use std::time::Duration;

use super::super::*;
use super::fixture::*;
use crate::ids::TaskId;
use crate::time::Time;

fn parent() -> Submission {
    let mut parent = Submission::clone(&new_task().submission);
    (parent.patience.max_sessions, parent.patience.attempts, parent.patience.max_tokens) = (Some(5), 4, None);
    parent.checks = vec!["make test".into()];
    parent.constraints = vec!["be kind".into()];
    parent
}

#[test]
fn a_child_has_everything_from_its_parent_but_what_it_may_choose() {
    let parent = parent();
    let id = new_task().id;
    let mut wanted = Submission { goal: "a part".into(), sandbox: Sandbox::Full, network: true, ..parent.clone() };
    (wanted.agent, wanted.priority, wanted.after, wanted.model) = ("other".into(), 9, Some(id), Some("m".into()));
    (wanted.patience.max_sessions, wanted.patience.attempts, wanted.patience.max_tokens) = (None, 9, Some(100));
    (wanted.patience.delay_ms, wanted.patience.max_children) = (7, 1_000);
    (wanted.checks, wanted.constraints) = (Vec::new(), vec!["be brief".into()]);
    let child = parent.child(id, &wanted);
    let mut expected = Submission { goal: "a part".into(), model: Some("m".into()), parent: Some(id), ..parent };
    expected.patience.max_tokens = Some(100);
    (expected.checks, expected.constraints) = (Vec::new(), vec!["be kind".into(), "be brief".into()]);
    assert_eq!(child, expected);
}

#[test]
fn a_child_may_lower_limits_and_repeat_what_its_parent_has() {
    let parent = parent();
    let allowed = |setting| parent.allows_child(&setting);
    assert!(allowed(Setting::Limit(Limit::Sessions, Some(5))) && allowed(Setting::Limit(Limit::Tokens, Some(9))));
    assert!(allowed(Setting::Attempts(1)) && allowed(Setting::Agent("demo".into())));
    assert!(!allowed(Setting::Limit(Limit::Sessions, Some(6))) && !allowed(Setting::Limit(Limit::Sessions, None)));
    assert!(!allowed(Setting::Attempts(5)) && !allowed(Setting::Agent("other".into())));
    assert!(!allowed(Setting::Sandbox(Sandbox::Full)) && !allowed(Setting::Network(true)));
    assert!(!allowed(Setting::Delay(99)) && !allowed(Setting::Once(true)));
}

#[test]
fn a_check_of_a_child_is_literally_one_of_its_parents() {
    let parent = parent();
    let child = |check: &str| Submission { checks: vec![check.into()], ..parent.clone() };
    assert_eq!(parent.strange_check(&child("make test")), None);
    assert_eq!(parent.strange_check(&child("make  test")), Some("make  test"));
    let shown = Criterion { text: "it holds".into(), check: Some("id".into()) };
    let by_criterion = Submission { checks: Vec::new(), criteria: vec![shown], ..parent.clone() };
    assert_eq!(parent.strange_check(&by_criterion), Some("id"));
}

/// A working task with one session behind it, below another one or not.
fn member(number: u8, above: Option<&Task>) -> Task {
    let mut task = working();
    task.id = TaskId::mint(NOW, [number; 10]);
    let asked = asked(&mut task);
    asked.parent = above.map(|above| above.id);
    (asked.patience.max_sessions, asked.patience.max_time_ms) = (None, None);
    task
}

#[test]
fn a_limit_counts_everybody_below_it_and_live_sessions_too() {
    let mut top = member(1, None);
    let (one, two) = (member(2, Some(&top)), member(3, Some(&top)));
    let below = member(4, Some(&one));
    asked(&mut top).patience.max_sessions = Some(8);
    let reached = |tasks: &[&Task], task: &Task| Family::new(tasks.iter().copied(), NOW).limit_reached(task.id);
    assert_eq!(reached(&[&top, &one, &two], &below), None, "a stranger");
    assert_eq!(reached(&[&top, &one, &two], &two), None, "6 of 8");
    let all = [&top, &one, &two, &below];
    let family_name = Some(top.submission.name.clone());
    let expected = Reached { limit: Limit::Sessions, used: 8, cap: 8, family: Some(top.id), family_name };
    for task in all {
        assert_eq!(reached(&all, task), Some(expected.clone()), "each has one session behind it, and one alive");
    }
    let mut one = one.clone();
    asked(&mut one).patience.max_sessions = Some(4);
    asked(&mut top).patience.max_sessions = None;
    let all = [&top, &one, &two, &below];
    assert_eq!(reached(&all, &below).and_then(|reached| reached.family), Some(one.id), "the one between");
    assert_eq!((reached(&all, &two), reached(&all, &top)), (None, None), "not below it");
}

/// Nobody can edit a finished task, so without this its children could never continue.
#[test]
fn a_limit_of_a_finished_task_ends_where_a_person_sets_one_below_it() {
    let mut top = member(1, None);
    asked(&mut top).patience.max_sessions = Some(4);
    let edit = |task: &Task, cap| {
        let settings = vec![Setting::Limit(Limit::Sessions, cap)];
        fold(task.clone(), &[Event::Edited { settings, by: Some("ann".into()) }])
    };
    let (one, two) = (member(2, Some(&top)), member(3, Some(&top)));
    let below = member(4, Some(&one));
    let raised = edit(&one, None);
    let of = |top: &Task, one: &Task, task: &Task| {
        let family = Family::new([top, one, &two, &below], NOW);
        (family.limit_reached(task.id).and_then(|reached| reached.family), family.left(task.id, Limit::Sessions))
    };
    let bound = (Some(top.id), Some(0));
    assert_eq!(of(&top, &raised, &raised), bound, "the task above can still be edited");
    let finished = Task { state: State::Cancelled { by: "ann".into(), reason: None }, ..top.clone() };
    assert_eq!(of(&finished, &one, &one), bound, "no person decided");
    assert_eq!(of(&finished, &raised, &raised), (None, None));
    assert_eq!(of(&finished, &raised, &below), (None, None), "nor for those below it");
    assert_eq!(of(&finished, &raised, &two), bound, "its sibling");
    let own = edit(&one, Some(3));
    assert_eq!(of(&finished, &own, &below), (Some(own.id), Some(0)), "what the person set counts");
}

#[test]
fn what_is_left_is_the_least_of_all_above() {
    let mut top = member(1, None);
    let mut one = member(2, Some(&top));
    asked(&mut top).patience.max_time_ms = Some(10_000);
    asked(&mut one).patience.max_time_ms = Some(9_000);
    let later = Time(NOW.0).after(Duration::from_secs(2));
    let family = Family::new([&top, &one], later);
    let (ended, live) = (10, 2_000);
    assert_eq!(family.left(one.id, Limit::Time), Some(10_000 - 2 * (ended + live)));
    assert_eq!(family.left(top.id, Limit::Time), Some(10_000 - 2 * (ended + live)));
    assert_eq!(family.left(one.id, Limit::Sessions), None, "unlimited");
}

#[test]
fn a_family_limit_stops_a_task_before_its_next_session() {
    let task = fold(new_task(), &[claimed()]);
    let (family, family_name) = (Some(TaskId::mint(NOW, [7; 10])), Some(task.submission.name.clone()));
    let reached = Reached { limit: Limit::Cost, used: 3, cap: 2, family, family_name };
    let stopped = feed(&task, Observation::FamilyLimit { reached: reached.clone() }, &Actor::worker());
    assert!(matches!(&stopped.state, State::Stopped { reached: stored, .. } if *stored == reached), "{stopped:?}");
    let words = format!(" used by task {} and its children", task.submission.name);
    assert!(reached.to_string().ends_with(&words), "{reached}");
}
