//! `longhaul prompt`: counts of a few characters that never disturb a prompt.

use crate::env::TestEnv;

#[test]
fn counts_follow_the_groups_of_the_list() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang");
    env.make_repository();
    assert_eq!(env.ok(&["prompt"]), "", "no task");
    assert!(!env.home().exists(), "nothing is made");
    let running = env.submit("Run", &[]);
    env.live(&running, 1);
    env.submit("Need me", &["--hours", "00:00-00:01"]);
    env.ok(&["pause", "need-me"]);
    assert_eq!(env.ok(&["prompt"]), "1● 1!\n");
    let before = env.processes().len();
    let elsewhere = env.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let there = |args: &[&str]| env.command(args).current_dir(&elsewhere).output().unwrap().stdout;
    assert_eq!((there(&["prompt"]), there(&["prompt", "--all"])), (Vec::new(), "1● 1!\n".as_bytes().to_vec()));
    assert_eq!(env.processes().len(), before, "it starts nothing");
}

#[test]
fn finished_work_counts_until_it_is_landed_or_discarded() {
    let env = TestEnv::new();
    env.make_repository();
    assert_eq!(env.run(&["run", "Done", "--check", "true"]).code, 0);
    assert_eq!(env.ok(&["prompt"]), "1✓\n");
    env.ok(&["rm", "-y", "done"]);
    assert_eq!(env.ok(&["prompt"]), "");
}

#[test]
fn a_broken_home_prints_nothing_into_a_prompt() {
    let env = TestEnv::new();
    std::fs::create_dir(env.home()).unwrap();
    std::fs::write(env.home().join("longhaul.db"), "not a database").unwrap();
    let done = env.run(&["prompt"]);
    assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (1, "", ""));
    assert_ne!(env.run(&["list"]).stderr, "", "the list says what is wrong");
}
