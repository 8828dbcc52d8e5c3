//! Runs of outside programs: what their calls lead to, what is kept of their reports, and that no cap is exceeded.
//! Every state against every call is in docs/reference/states.md.

use super::super::*;
use super::fixture::*;

fn ann() -> Actor {
    Actor::person("ann")
}

fn update(report: Report) -> Command {
    track(RunCall::Update { report, status: None, resume_reason: None })
}

fn completed(items: impl Iterator<Item = u32>) -> Report {
    Report { completed: items.map(|number| format!("item {number}")).collect(), ..Report::default() }
}

fn failed(item: &str, reason: &str) -> Report {
    Report { failed: vec![FailedItem { item: item.into(), reason: reason.into() }], ..Report::default() }
}

fn kept(task: &Task) -> &Tracked {
    task.tracked.as_deref().expect("a tracked run")
}

fn fed(reports: impl IntoIterator<Item = Report>) -> Task {
    reports.into_iter().fold(tracked(), |task, report| feed(&task, update(report), &ann()))
}

#[test]
fn a_run_begins_tracked_and_nobody_of_ours_does_anything() {
    let task = tracked();
    assert_eq!(task.state, State::Tracked { reported: NOW, help: None });
    assert_eq!((task.created, task.updated, task.version), (NOW, NOW, 1));
    assert!(due(&task).is_empty() && !task.state.wants_owner() && task.submission.directory().is_none());
    assert_eq!(task.submission.agent, "");
}

#[test]
fn a_blank_goal_is_refused() {
    let name = crate::names::TaskName::new("t").expect("a name");
    let blank = Submission::tracked(" \n", name, "/p".into(), &[], Links::default());
    assert!(matches!(submit(&blank), Err(Refusal::BadGoal { .. })));
}

#[test]
fn the_newest_items_are_kept_and_the_rest_is_counted_over_all_calls() {
    let task = fed([completed(0..505), completed(505..515)]);
    assert_eq!((kept(&task).reported.completed.len(), kept(&task).reported.completed_dropped), (500, 15));
    assert_eq!(kept(&task).reported.completed.first().map(String::as_str), Some("item 15"));
    let again = feed(&task, update(completed(400..420)), &ann());
    assert_eq!(kept(&again).reported.completed, kept(&task).reported.completed, "each item once");
    let failures = (0..502).map(|number| failed(&format!("item {number}"), "no"));
    let task = fed(failures);
    assert_eq!((kept(&task).reported.failed.len(), kept(&task).reported.failed_dropped), (500, 2));
}

/// Comparing 100,000 items with each other would take minutes.
#[test]
fn the_cost_of_a_call_grows_with_its_length_only() {
    let failed = (0..100_000).map(|n| FailedItem { item: format!("item {n}"), reason: "no".into() }).collect();
    let begun = std::time::Instant::now();
    let task = fed([Report { failed, ..completed(50_000..200_000) }]);
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!((kept(&task).reported.completed_dropped, kept(&task).reported.failed_dropped), (99_500, 99_500));
}

#[test]
fn an_item_is_in_one_list_and_the_newest_report_decides() {
    let task = fed([failed("a", "first"), failed("a", "second")]);
    assert_eq!(kept(&task).reported.failed, [FailedItem { item: "a".into(), reason: "second".into() }]);
    let done = feed(&task, update(Report { completed: vec![" a ".into()], ..Report::default() }), &ann());
    assert_eq!(
        (kept(&done).reported.completed.as_slice(), kept(&done).reported.failed.len()),
        (["a".to_owned()].as_slice(), 0)
    );
    let broken = feed(&done, update(failed("a", "third")), &ann());
    assert_eq!((kept(&broken).reported.completed.len(), kept(&broken).reported.failed.len()), (0, 1));
    let both = fed([Report { completed: vec!["b".into()], ..failed("b", "no") }]);
    assert_eq!((kept(&both).reported.completed.len(), kept(&both).reported.failed.len()), (0, 1), "bad news counts");
}

#[test]
fn no_references_keep_the_last_ones() {
    let reference = |target: &str| Reference { kind: ReferenceKind::Url, target: target.into(), summary: None };
    let with = |references| Report { references, ..Report::default() };
    let task = fed([with(vec![reference("a")]), with(Vec::new())]);
    assert_eq!(kept(&task).reported.references, [reference("a")]);
    let task = fed([with(vec![reference("a")]), with((0..60).map(|n| reference(&n.to_string())).collect())]);
    assert_eq!(kept(&task).reported.references.len(), MOST_REFERENCES);
    assert_eq!(kept(&task).reported.references.last(), Some(&reference("59")));
}

/// Events and state stay small, whatever a program sends.
#[test]
fn every_text_is_cut_between_characters_with_a_mark() {
    let long = "ä".repeat(50_000);
    let report = Report {
        summary: Some(long.clone()),
        completed: vec![long.clone(); 3],
        failed: vec![FailedItem { item: format!("x{long}"), reason: long.clone() }],
        cursor: Some(long.clone()),
        references: vec![Reference { kind: ReferenceKind::File, target: long.clone(), summary: Some(long.clone()) }],
        links: Links {
            session_id: Some(long.clone()),
            workflow_id: Some(long.clone()),
            ledger_task_ids: vec![long.clone()],
        },
        ..Report::default()
    };
    let help = track(RunCall::NeedsHelp { reason: long.clone(), hint: Some(long.clone()), report });
    let events = decide(&tracked(), &help.into(), &ann(), NOW).expect("allowed");
    let stored = serde_json::to_string(&events).expect("JSON");
    assert!(stored.len() < 30_000, "{}", stored.len());
    assert!(stored.contains("… [cut]"));
    let [Event::HelpAsked { reason, hint: Some(hint), report }] = events.as_slice() else { panic!("{events:?}") };
    let summary = report.summary.as_ref().expect("a summary");
    assert!(reason.len() <= 2048 && hint.len() <= 2048 && summary.len() <= 8192 && summary.len() > 8180);
    let name = crate::names::TaskName::new("t").expect("a name");
    let criteria: Vec<String> = (0..60).map(|n| format!("{n}{long}")).chain([" ".into()]).collect();
    let submission = Submission::tracked(&long, name, "/p".into(), &criteria, Links::default());
    assert!(submission.goal.len() <= 4096 && submission.criteria.len() == 50);
    assert!(submission.criteria.iter().all(|criterion| criterion.text.len() <= 1024));
}

#[test]
fn help_is_asked_for_replaced_and_answered_once() {
    let task = asking();
    let task = feed(&task, asks_help("no network"), &ann());
    let State::Tracked { help: Some(help), .. } = &task.state else { panic!("{:?}", task.state) };
    assert_eq!(help.reason, "no network");
    let kept_waiting = feed(&task, updates(None, None), &ann());
    assert!(matches!(&kept_waiting.state, State::Tracked { help: Some(again), .. } if again == help));
    let resume = |reason: Option<&str>| Command::Resume { reason: reason.map(str::to_owned), settings: Vec::new() };
    for blank in [None, Some(" ")] {
        assert_eq!(decide(&task, &resume(blank).into(), &ann(), NOW), Err(Refusal::ReasonMissing));
    }
    let answered = feed(&task, resume(Some("plugged it in")), &Actor::person("bea"));
    assert!(matches!(answered.state, State::Tracked { help: None, .. }));
    let answer = kept(&answered).answer.as_ref().expect("an answer");
    assert_eq!((answer.reason.as_str(), answer.by.as_str()), ("plugged it in", "bea"));
    assert!(decide(&answered, &resume(Some("again")).into(), &ann(), NOW).is_err(), "nothing was asked");
    let asked_again = feed(&answered, asks_help("again"), &ann());
    assert_eq!(kept(&asked_again).answer, None, "an old answer is no answer to a new question");
}

#[test]
fn a_checkpoint_covers_the_events_since_the_last_one() {
    let task = fed([completed(0..3), failed("x", "no")]);
    let task = feed(&task, checkpoints("one"), &ann());
    let first = kept(&task).checkpoint.clone().expect("a checkpoint");
    assert_eq!((first.number, first.from, first.to, first.completed, first.failed), (4, 1, 3, 3, 1));
    let task = feed(&feed(&task, updates(None, None), &ann()), checkpoints("two"), &ann());
    let second = kept(&task).checkpoint.clone().expect("a checkpoint");
    assert_eq!((second.number, second.from, second.to, second.summary.as_str()), (6, 4, 5, "two"));
    assert_eq!(kept(&task).reported.summary.as_deref(), Some("two"));
    assert!(decide(&task, &checkpoints(" ").into(), &ann(), NOW).is_err());
}

#[test]
fn an_end_keeps_what_was_reported_and_is_never_verified() {
    let task = feed(&asking(), update(completed(0..2)), &ann());
    let report = Report { summary: Some("gave up\nfor good".into()), ..Report::default() };
    let end = |status| feed(&task, track(RunCall::Complete { status, report: report.clone() }), &ann());
    assert_eq!(end(RunStatus::Completed).state, State::Done { verdict: Verdict::NoChecks });
    assert_eq!(end(RunStatus::Failed).state, State::Failed { reason: Some("gave up".into()) });
    assert!(matches!(end(RunStatus::Cancelled).state, State::Cancelled { .. }));
    for status in [RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled] {
        let after = end(status);
        assert_eq!(RunStatus::of(&after), status);
        assert_eq!(
            (kept(&after).reported.completed.len(), kept(&after).reported.summary.as_deref()),
            (2, Some("gave up\nfor good"))
        );
        for call in [updates(None, None), checkpoints("x"), asks_help("x"), completes(RunStatus::Completed)] {
            assert!(matches!(decide(&after, &call.into(), &ann(), NOW), Err(Refusal::WrongState { .. })));
        }
    }
    for status in [RunStatus::Pending, RunStatus::Running, RunStatus::NeedsHelp] {
        assert!(decide(&task, &completes(status).into(), &ann(), NOW).is_err(), "{status:?}");
    }
}

/// What was stored is what comes back, also from the snapshot of a run that has everything.
#[test]
fn a_run_survives_its_own_storage() {
    let task = feed(&feed(&asking(), updates(Some(RunStatus::Running), Some("ok")), &ann()), checkpoints("c"), &ann());
    let text = serde_json::to_string(&task).expect("JSON");
    assert_eq!(serde_json::from_str::<Task>(&text).expect("a task"), task);
    assert_eq!(task.state, State::Tracked { reported: task.updated, help: None });
}
