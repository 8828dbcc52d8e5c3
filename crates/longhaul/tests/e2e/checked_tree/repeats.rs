//! Checks that touch files: what they leave behind is named and never work; what they change is checked once more.

use super::{LFS, MADE, REPOSITORY, WORK, is_verified, run, world};

#[test]
fn what_a_check_leaves_behind_is_named_and_never_committed() {
    // The first round fails after it left a file; the fixing session and the second round must not commit that file.
    let env = world(REPOSITORY, WORK, "echo fixed >fixed.txt");
    let check = "echo built >built.txt; mkdir -p out; echo x >out/x; test -s fixed.txt";
    is_verified(&env, check, &[]);
    let left = env.evidence("t")[0]["files"]["left"].clone();
    assert_eq!(left["first"], serde_json::json!(["built.txt", "out/x"]), "{left}");
    assert_eq!(env.git(&["diff", "--name-only", "main", "longhaul/t"]), "fixed.txt\nhello.txt");
}

#[test]
fn what_a_check_of_an_earlier_round_left_behind_is_still_shown() {
    let env = world(REPOSITORY, WORK, "echo fixed >fixed.txt");
    is_verified(&env, "test -s fixed.txt || { echo built >built.txt; exit 1; }", &[]);
    for facts in [&env.json(&["show", "t"])["verification"], &env.json(&["report", "t"])["verification"]] {
        let files = facts["checks"][0]["evidence"]["files"].as_object().unwrap();
        assert!(
            files.len() == 5 && files.values().all(|names| names["total"] == 0),
            "the last round left nothing: {files:?}"
        );
        let earlier = &facts["earlier_rounds"][0];
        assert_eq!((&earlier["number"], &earlier["checks"][0]["result"]), (&1.into(), &"fail".into()), "{earlier}");
        assert_eq!(earlier["checks"][0]["evidence"]["files"]["left"]["first"], serde_json::json!(["built.txt"]));
    }
    let (report, shown) = (env.ok(&["report", "t"]), env.ok(&["show", "t"]));
    assert!(report.contains(", left behind: `built.txt`"), "{report}");
    assert!(shown.contains("earlier  round 1: `") && shown.contains("`, left behind: built.txt"), "{shown}");
}

#[test]
fn a_file_that_a_check_left_and_the_agent_then_wrote_is_work() {
    let env = world(REPOSITORY, WORK, "echo mine >built.txt");
    is_verified(&env, "test -s built.txt || { echo built >built.txt; exit 1; }", &[]);
    assert_eq!(env.git(&["show", "longhaul/t:built.txt"]), "mine");
}

/// The first session's script fails and leaves a file; the fixing session writes a script that needs that file.
const LEAVE: &str = "echo 'echo 42 >answer.tmp; exit 1' >t.sh";
const USE: &str = "echo 'test \"$(cat answer.tmp)\" = 42' >t.sh";

#[test]
fn what_an_earlier_round_left_behind_is_removed_before_the_next() {
    let env = world(REPOSITORY, LEAVE, USE);
    let (code, headline) = run(&env, "sh t.sh", &["--fix-attempts", "1"]);
    assert!(code == 3 && headline.contains("`sh t.sh`: "), "{code} {headline}");
    assert!(!env.worktrees()[0].join("answer.tmp").exists());
}

#[test]
fn what_an_earlier_round_left_behind_in_place_is_a_doubt() {
    let env = world(REPOSITORY, LEAVE, USE);
    let (code, headline) = run(&env, "sh t.sh", &["--in-place"]);
    assert!(
        code == 10 && headline.contains("earlier checks left behind") && headline.contains("answer.tmp"),
        "{headline}"
    );
    assert!(env.workspace().join("answer.tmp").exists(), "nothing of the user's directory is removed");
}

#[test]
fn a_file_that_a_check_left_and_the_agent_then_staged_is_work() {
    for place in [&[][..], &["--in-place"]] {
        let env = world(REPOSITORY, WORK, "git add built.txt");
        is_verified(&env, "test -s built.txt || { echo built >built.txt; exit 1; }", place);
    }
}

#[test]
fn a_repository_that_a_check_left_is_named_and_a_problem_of_the_next_round() {
    let env = world(REPOSITORY, "echo 'git init -q n; exit 1' >t.sh", "echo 42 >n/a; echo 'test -s n/a' >t.sh");
    let (code, headline) = run(&env, "sh t.sh", &["--fix-attempts", "1"]);
    assert!(code == 3 && headline.contains("`n/` is a separate git repository"), "{code} {headline}");
    assert_eq!(env.evidence("t")[0]["files"]["left"]["first"], serde_json::json!(["n/"]));
}

#[test]
fn a_change_that_a_check_makes_is_committed_and_checked_once_more() {
    let env = world(REPOSITORY, WORK, "");
    is_verified(&env, "echo new >new.txt; grep -q more README || echo more >>README", &[]);
    assert_eq!(env.evidence("t").len(), 2);
    assert_eq!(env.git(&["diff", "--name-only", "main", "longhaul/t"]), "README\nhello.txt", "but not what it left");
}

#[test]
fn a_check_that_changes_a_file_under_a_filter_is_noticed() {
    for place in [&[][..], &["--in-place"]] {
        let env = world(&format!("{REPOSITORY} && {LFS}"), WORK, "");
        let more = ["--check", "test \"$(cat l.png)\" = changed"];
        let (code, headline) = run(&env, "echo changed >l.png", &[&more[..], place].concat());
        assert!(code == 10 && headline.contains("git filter") && headline.contains("l.png"), "{code} {headline}");
    }
}

#[test]
fn a_check_that_changes_a_file_of_a_submodule_is_noticed() {
    let setup = format!(
        "git init -q -b main ../sub; echo s >../sub/s; git -C ../sub add s; git -C ../sub commit -qm s; {REPOSITORY}; \
         git submodule -q add ../sub m; git commit -qm m"
    );
    let work = "command git -c protocol.file.allow=always submodule -q update --init; echo hello >hello.txt";
    let env = world(&setup, work, "");
    let (code, headline) = run(&env, "echo 2 >m/s", &["--check", "test \"$(cat m/s)\" = 2"]);
    assert!(code == 10 && headline.contains("submodules changed") && headline.contains(": m ("), "{code} {headline}");
}

#[test]
fn a_check_that_changes_its_files_every_time_needs_a_person_and_the_files_are_named() {
    for place in [&[][..], &["--in-place"]] {
        let env = world(REPOSITORY, WORK, "");
        let (code, headline) = run(&env, "echo more >>README; chmod +x hello.txt", place);
        assert_eq!(code, 3, "{headline}");
        assert!(headline.contains("a check changes the files that it checks"), "{headline}");
        assert!(headline.contains("README"), "{headline}");
    }
}

#[test]
fn an_agent_that_removes_git_in_place_satisfies_no_task_that_waits() {
    let env = world(REPOSITORY, "echo hello >hello.txt; rm -rf .git", "");
    let (code, headline) = run(&env, MADE, &["--in-place"]);
    assert!(code == 10 && headline.contains("git repository is gone or was replaced"), "{code} {headline}");
    let next = env.run(&["run", "Then", "--name", "u", "--after", "t", "--in-place", "--check", MADE]);
    assert_eq!(next.code, 5, "{}", next.stderr);
}

#[test]
fn a_task_that_waits_for_another_starts_only_when_that_one_is_verified() {
    let env = world("git init -q -b main .", "true", "");
    let (code, _) = run(&env, "true", &[]);
    assert_eq!(code, 10, "the empty tree");
    let next = env.run(&["run", "Then", "--name", "u", "--after", "t", "--check", MADE]);
    assert_eq!(next.code, 5, "{}", next.stderr);
}
