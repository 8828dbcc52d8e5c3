//! Verification as a history: rounds, fixing sessions, trees that change, checks nobody saw end.
//! The recorded facts decide; no text of an agent appears here.

use super::super::*;
use super::fixture::*;
use crate::ids::SessionId;

const TICKED: &[bool] = &[true, true];

fn worker() -> Actor {
    Actor::worker()
}

fn passed_on(tree: Option<&str>) -> State {
    State::Done { verdict: Verdict::of_passed(tree.map(str::to_owned), Vec::new(), Remarks::default()) }
}

/// Prepares the next session, on a tree.
fn next(task: &Task, tree: Option<&str>) -> Task {
    let session = session_id(u8::try_from(task.tally.sessions + 1).expect("few sessions"));
    let tree = tree.map(str::to_owned);
    feed(
        task,
        Observation::Prepared {
            session,
            plan: sight(TICKED),
            tree,
            phase: Some(Phase::Verify),
            files: Vec::new(),
            basis: Box::default(),
            opens: None,
            saved: None,
        },
        &worker(),
    )
}

fn two_checks() -> Task {
    let mut task = working();
    asked(&mut task).checks = vec!["make lint".into(), "make test".into()];
    feed(&task, end_of(&task, completed(), sight(TICKED)), &worker())
}

/// Runs one check to its end.
fn check(task: &Task, code: i32, before: Option<&str>, after: Option<&str>) -> Task {
    let task = next(task, before);
    let printed = CheckOutput { sha256: Some("s".into()), bytes: 1, tail: "t".into(), ..CheckOutput::default() };
    let end =
        Ended { tree: after.map(str::to_owned), printed: Some(printed), ..ended(Exit::Code(code), Outcome::Completed) };
    feed(&task, end_of(&task, end, sight(TICKED)), &worker())
}

/// A fixing session that completes and changes the tree.
fn fix(task: &Task) -> Task {
    let task = next(task, Some("t1"));
    assert_eq!(task.state.session().map(|session| session.purpose), Some(Purpose::Fix));
    let end = Ended { tree: Some("t2".into()), ..completed() };
    feed(&task, end_of(&task, end, sight(TICKED)), &worker())
}

#[test]
fn all_checks_on_one_tree_verify() {
    let task = two_checks();
    assert!(matches!(task.state, State::Preparing));
    let task = check(&task, 0, Some("t1"), Some("t1"));
    let task = check(&task, 0, Some("t1"), Some("t1"));
    assert_eq!(task.state, passed_on(Some("t1")));
    assert_eq!(task.tally.agent_sessions, 2, "checks are no sessions of the agent");
    let round = task.round.expect("the evidence stays");
    assert_eq!(
        round.evidence.iter().map(|check| check.command.as_str()).collect::<Vec<_>>(),
        ["make lint", "make test"]
    );
}

#[test]
fn without_git_the_tree_is_unknown_and_said() {
    let task = check(&check(&two_checks(), 0, None, None), 0, None, None);
    assert_eq!(task.state, passed_on(None));
    let headline = task.state.verdict().expect("done").to_string();
    assert!(headline.starts_with("checks passed, not verified, because there is no git repository"), "{headline}");
}

#[test]
fn a_failed_check_is_fixed_and_the_round_run_whole() {
    let task = check(&two_checks(), 1, Some("t1"), Some("t1"));
    let task = check(&task, 0, Some("t1"), Some("t1"));
    assert!(task.needs_fix());
    let task = fix(&task);
    assert_eq!(task.tally.fixes, 1);
    let task = check(&check(&task, 0, Some("t2"), Some("t2")), 0, Some("t2"), Some("t2"));
    assert_eq!(task.state, passed_on(Some("t2")));
    assert_eq!(task.tally.rounds, 2);
}

#[test]
fn fixing_ends_after_its_attempts_and_a_person_starts_anew() {
    let mut task = two_checks();
    for _ in 0..3 {
        task = check(&check(&task, 1, Some("t"), Some("t")), 0, Some("t"), Some("t"));
        task = fix(&task);
    }
    task = check(&check(&task, 1, Some("t"), Some("t")), 0, Some("t"), Some("t"));
    let State::NeedsHelp { reason: HelpReason::VerificationFailed { why, fixes: 3 }, .. } = &task.state else {
        panic!("{:?}", task.state)
    };
    assert_eq!(why, "`make lint`: exit code 1");
    let resume = Command::Resume { reason: Some("mended by hand".into()), settings: Vec::new() };
    let task = fold(feed(&task, resume, &Actor::person("ann")), &[claimed()]);
    let task = check(&check(&task, 0, Some("t"), Some("t")), 0, Some("t"), Some("t"));
    assert_eq!(task.state, passed_on(Some("t")));
}

#[test]
fn a_check_that_the_shell_cannot_run_asks_a_person_and_starts_no_fixing_session() {
    for code in [126, 127] {
        let task = check(&check(&two_checks(), code, Some("t"), Some("t")), 1, Some("t"), Some("t"));
        let State::NeedsHelp { reason: reason @ HelpReason::CheckCannotRun { .. }, .. } = &task.state else {
            panic!("{:?}", task.state)
        };
        assert_eq!(reason.to_string(), format!("`make lint` ended with exit code {code}: the command may be missing"));
        assert_eq!(task.tally.fixes, 0);
    }
    let failed = check(&check(&two_checks(), 125, Some("t"), Some("t")), 1, Some("t"), Some("t"));
    assert!(failed.needs_fix(), "the control");
}

#[test]
fn a_check_that_changes_the_tree_is_run_once_more_and_then_refused() {
    let task = check(&check(&two_checks(), 0, Some("a"), Some("b")), 0, Some("b"), Some("b"));
    assert!(matches!(task.state, State::Preparing));
    let steady = check(&check(&task, 0, Some("b"), Some("b")), 0, Some("b"), Some("b"));
    assert_eq!(steady.state, passed_on(Some("b")));
    let again = check(&check(&task, 0, Some("b"), Some("c")), 0, Some("c"), Some("c"));
    let State::NeedsHelp { reason: HelpReason::VerificationFailed { why, .. }, .. } = again.state else {
        panic!("{:?}", again.state)
    };
    assert_eq!(why, "files changed while the checks ran, twice");
}

#[test]
fn a_check_nobody_saw_end_is_run_again() {
    let task = next(&two_checks(), Some("t"));
    let lost = ended(Exit::Unknown, Outcome::Failed(Failure::Crashed));
    let task = feed(&task, end_of(&task, lost, sight(TICKED)), &worker());
    let task = check(&check(&task, 0, Some("t"), Some("t")), 0, Some("t"), Some("t"));
    assert_eq!(task.state, passed_on(Some("t")));
    assert_eq!(task.round.expect("kept").evidence.len(), 2, "no evidence of the lost one");
}

#[test]
fn an_empty_run_and_a_deadline_are_no_pass() {
    let printed = CheckOutput { nothing_run: true, ..CheckOutput::default() };
    let fail = |end: Ended| {
        let task = verifying();
        let task = feed(&task, end_of(&task, end, sight(TICKED)), &worker());
        task.round.expect("a round").evidence[0].failure.clone().expect("no pass")
    };
    let empty = Ended { printed: Some(printed), ..completed() };
    assert!(fail(empty).contains("without running any test"));
    let late = Ended { stopped_by: StoppedBy::Wall, ..ended(Exit::Signal(9), Outcome::Completed) };
    assert!(fail(late).contains("timed out"));
}

#[test]
fn expected_files_are_evidence() {
    let mut task = working();
    asked(&mut task).expects = vec!["out.txt".into()];
    let task = feed(&task, end_of(&task, completed(), sight(TICKED)), &worker());
    let see = |sha256: Option<String>| {
        let files = vec![FileHash { path: "out.txt".into(), sha256 }];
        let session = session_id(9);
        feed(
            &task,
            Observation::Prepared {
                session,
                plan: sight(TICKED),
                tree: None,
                phase: Some(Phase::Verify),
                files,
                basis: Box::default(),
                opens: None,
                saved: None,
            },
            &worker(),
        )
    };
    assert_eq!(see(Some("ab".into())).state, passed_on(None));
    assert!(see(None).needs_fix());
}

#[test]
fn a_disk_that_ran_full_says_nothing_about_the_work() {
    let cause = Cause::Disk { path: "/w".into(), free: 0, floor: 1 };
    let end = Ended { starved: Some(cause), ..ended(Exit::Code(1), Outcome::Completed) };
    let task = verifying();
    let task = feed(&task, end_of(&task, end, sight(TICKED)), &worker());
    assert!(matches!(task.state, State::Blocked { .. }));
    let task = feed(&task, Observation::Woke, &worker());
    let task = next(&task, None);
    let task = feed(&task, check_end(&task, Exit::Code(0)), &worker());
    assert_eq!(task.state, passed_on(None));
}

#[test]
fn a_step_added_while_the_last_check_runs_is_worked_on_and_all_checks_run_again() {
    let task = check(&two_checks(), 0, None, None);
    let task = next(&task, None);
    let open = sight(&[true, true, false]);
    let task = feed(&task, end_of(&task, completed(), open.clone()), &worker());
    assert!(matches!(task.state, State::Preparing), "not judged: {:?}", task.state);
    let task = feed(&task, prepared(session_id(8), open), &worker());
    assert_eq!(task.state.session().map(|session| session.purpose), Some(Purpose::Work));
    assert_eq!(task.round, None, "what was checked before the new work says nothing");
    let ticked = sight(&[true, true, true]);
    let mut task = feed(&task, end_of(&task, completed(), ticked.clone()), &worker());
    for n in 10..12 {
        task = feed(&task, prepared(session_id(n), ticked.clone()), &worker());
        assert_eq!(task.state.name(), "verifying");
        task = feed(&task, end_of(&task, completed(), ticked.clone()), &worker());
    }
    assert_eq!(task.state, passed_on(None));
}

#[test]
fn a_list_whose_words_changed_while_the_last_check_runs_is_looked_at_and_judged() {
    let task = next(&check(&two_checks(), 0, None, None), None);
    let PlanFiles { list: TaskListFile::Text { text, .. }, .. } = sight(TICKED) else { unreachable!() };
    let list = TaskListFile::Text { hash: "another".into(), text: format!("{text}\nA note\n") };
    let noted = PlanFiles { list, progress_exists: true };
    let mut task = feed(&task, end_of(&task, completed(), noted.clone()), &worker());
    for _ in 0..2 {
        task = feed(&task, prepared(session_id(8), noted.clone()), &worker());
    }
    assert_eq!(task.state, passed_on(None));
    assert_eq!(task.tally.rounds, 1, "nothing was run again");
}

#[test]
fn expected_files_count_also_when_a_person_ticks_the_last_step() {
    let mut task = working();
    asked(&mut task).expects = vec!["out.txt".into()];
    let task = feed(&task, end_of(&task, completed(), sight(&[true, false])), &worker());
    // The look was taken while a step was open, so it had no reason to look for the file.
    let task = feed(&task, prepared(session_id(8), sight(TICKED)), &worker());
    assert!(matches!(task.state, State::Preparing), "{:?}", task.state);
    let files = vec![FileHash { path: "out.txt".into(), sha256: None }];
    let seen = Observation::Prepared {
        session: session_id(9),
        plan: sight(TICKED),
        tree: None,
        phase: Some(Phase::Verify),
        files,
        basis: Box::default(),
        opens: None,
        saved: None,
    };
    assert!(feed(&task, seen, &worker()).needs_fix());
}

#[test]
fn a_look_for_something_else_verifies_nothing() {
    let mut task = working();
    asked(&mut task).expects = vec!["out.txt".into()];
    let task = feed(&task, end_of(&task, completed(), sight(TICKED)), &worker());
    let stale = Observation::Prepared {
        session: session_id(9),
        plan: sight(TICKED),
        tree: None,
        phase: Some(Phase::Work),
        files: Vec::new(),
        basis: Box::default(),
        opens: None,
        saved: None,
    };
    assert_eq!(decide(&task, &stale.into(), &worker(), NOW), Ok(Vec::new()), "it is looked at again");
}

#[test]
fn a_check_is_run_again_when_git_could_not_tell_what_it_did() {
    let task = check(&two_checks(), 0, Some("t"), None);
    assert_eq!(task.round.as_ref().map(|round| round.evidence.len()), Some(0));
    let task = check(&check(&task, 0, Some("t"), Some("t")), 0, Some("t"), Some("t"));
    assert_eq!(task.state, passed_on(Some("t")));
}

#[test]
fn files_that_no_check_can_run_on_fail_the_round_without_a_check() {
    let basis = Basis { problem: Some("a merge is in progress".into()), ..Basis::default() };
    let task = feed(&two_checks(), on_basis(session_id(9), basis), &worker());
    assert!(task.needs_fix());
    let round = task.round.expect("kept for the fixing session");
    assert_eq!(round.outcome, Some(RoundOutcome::Failed { why: "a merge is in progress".into() }));
    assert!(round.evidence.is_empty());
}

#[test]
fn doubts_and_remarks_of_the_round_are_those_of_the_result() {
    let basis = Basis {
        doubts: vec![Doubt::EmptyTree],
        remarks: Remarks { same_as_base: true, ..Remarks::default() },
        ..Basis::default()
    };
    let mut task = two_checks();
    asked(&mut task).checks = vec!["true".into()];
    let task = feed(&task, on_basis(session_id(9), basis.clone()), &worker());
    let end = Ended { tree: Some("t".into()), ..ended(Exit::Code(0), Outcome::Completed) };
    let task = feed(&task, end_of(&task, end, sight(TICKED)), &worker());
    let verdict = Verdict::of_passed(Some("t".into()), basis.doubts, basis.remarks);
    assert_eq!(task.state, State::Done { verdict });
}

fn on_basis(session: SessionId, basis: Basis) -> Observation {
    let (plan, files, phase) = (sight(TICKED), Vec::new(), Some(Phase::Verify));
    Observation::Prepared {
        session,
        plan,
        tree: Some("t".into()),
        phase,
        files,
        basis: Box::new(basis),
        opens: None,
        saved: None,
    }
}

#[test]
fn a_check_that_was_up_to_date_passes_and_verifies_nothing() {
    let task = next(&two_checks(), Some("t"));
    let line = "make: 'lint' is up to date.".to_owned();
    let printed = CheckOutput { up_to_date: Some(line.clone()), ..CheckOutput::default() };
    let end = Ended { tree: Some("t".into()), printed: Some(printed), ..completed() };
    let task = feed(&task, end_of(&task, end, sight(TICKED)), &worker());
    assert!(task.round.as_ref().is_some_and(|round| round.evidence[0].failure.is_none()), "it is no failure");
    let task = check(&task, 0, Some("t"), Some("t"));
    let doubt = Doubt::UpToDate { check: "make lint".into(), line };
    let verdict = Verdict::of_passed(Some("t".into()), vec![doubt], Remarks::default());
    assert_eq!((task.state.verdict(), verdict.kind()), (Some(&verdict), ResultKind::NotVerified));
}

#[test]
fn checks_edited_after_the_first_session_are_named_with_who_did_it() {
    let edit = |task: &Task, checks: &[&str]| {
        let checks = checks.iter().map(ToString::to_string).collect();
        feed(task, Command::Edit { settings: vec![Setting::Checks(checks)] }, &Actor::person("ann"))
    };
    assert!(
        edit(&new_task(), &["a"]).check_edits.is_empty(),
        "before the first session a person only completes the task"
    );
    let task = edit(&two_checks(), &["make test", "true"]);
    let task = check(&check(&task, 0, Some("t"), Some("t")), 0, Some("t"), Some("t"));
    let Some(Verdict::Verified { remarks, .. }) = task.state.verdict() else { panic!("{:?}", task.state) };
    let named: Vec<String> = remarks.check_edits.iter().map(ToString::to_string).collect();
    assert_eq!(named, ["`true` added by ann", "`make lint` removed by ann"]);
}
