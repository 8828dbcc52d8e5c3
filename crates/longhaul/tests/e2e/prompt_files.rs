//! Prompt templates of the user and of the project: who wins, who may, what is refused, and that they are kept as they were.

use std::path::PathBuf;

use serde_json::Value;

use crate::env::TestEnv;
use crate::rounds::one_step;

/// A template that does all a working prompt must.
pub(crate) const WORK: &str = "House rules: two spaces.\nYou are the Executor Agent.\nSession: {MARK}\nTask Directory: {TASK_DIR}\n\
                               Goal: {GOAL}\n{NOTICE}\n";

/// Writes a template of the user.
fn mine(env: &TestEnv, name: &str, text: &str) -> PathBuf {
    let directory = env.path().join("config/longhaul/prompts");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(name), text).unwrap();
    directory.join(name)
}

fn theirs(env: &TestEnv, name: &str, text: &str) {
    std::fs::create_dir_all(env.workspace().join(".longhaul/prompts")).unwrap();
    env.put(&format!(".longhaul/prompts/{name}"), text);
}

#[test]
fn a_template_of_the_user_is_used_told_and_kept_as_it_was_at_submit() {
    let env = one_step();
    let path = mine(&env, "work.md", WORK);
    let done = env.run(&["run", "Do it", "--name", "t", "--once"]);
    assert_eq!(done.code, 5, "{}", done.stderr);
    assert!(done.stderr.contains(&format!("prompt work: {}", path.display())), "{}", done.stderr);
    std::fs::remove_file(path).unwrap();
    env.ok(&["resume", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, 0);
    assert!(env.prompt("t", 1).starts_with("# Initializer Agent"), "the others are the built-in ones");
    let prompt = env.prompt("t", 2);
    assert!(prompt.starts_with("House rules: two spaces.\n") && prompt.contains("\nGoal: Do it\n"), "{prompt}");
    assert!(env.ok(&["show", "t"]).contains("prompt     work: a custom template"));
    assert!(env.ok(&["report", "t"]).contains("- Own prompt templates: work"));
}

#[test]
fn a_template_that_would_lose_the_agent_is_refused_and_nothing_is_made() {
    let env = one_step();
    let path = mine(&env, "plan.md", WORK);
    let done = env.run(&["run", "Do it", "--name", "t"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    for word in [&path.display().to_string(), "`Initializer Agent`", "nothing was submitted", "hint: fix the file"] {
        assert!(done.stderr.contains(word), "{word}: {}", done.stderr);
    }
    assert!(!env.home().exists());
}

#[test]
fn a_secret_in_a_template_is_refused() {
    let env = one_step().var("MY_API_KEY", "s3cr3t-v4lue-of-mine");
    mine(&env, "work.md", &format!("{WORK}use s3cr3t-v4lue-of-mine\n"));
    let done = env.run(&["run", "Do it", "--name", "t"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("prompt template contains a secret"), "{}", done.stderr);
    assert_eq!(env.json(&["list"])["tasks"], Value::Array(Vec::new()));
}

#[test]
fn a_projects_templates_count_when_its_trusted_file_says_so_and_stand_over_the_users() {
    let env = one_step();
    mine(&env, "work.md", &WORK.replace("House rules", "My rules"));
    theirs(&env, "work.md", WORK);
    env.put("longhaul.toml", "prompts.project = true\n");
    let done = env.run(&["run", "Do it", "--name", "a"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("ignored: prompts.project"), "{}", done.stderr);
    assert!(env.prompt("a", 2).starts_with("My rules"));
    let trusted = env.run(&["trust", "."]);
    assert_eq!(trusted.code, 0, "{}", trusted.stderr);
    assert_eq!(env.run(&["run", "Do it", "--name", "b"]).code, 0);
    assert!(env.prompt("b", 2).starts_with("House rules"));
}
