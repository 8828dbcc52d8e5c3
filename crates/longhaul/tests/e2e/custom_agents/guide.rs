//! The guide's example is a real one: its table and its program are taken from the page and run a task to its end.

use super::{configure, file, launches, program, world};

const PAGE: &str = include_str!("../../../../../docs/guide/custom-agents.md");

/// The first block of this language on the page.
fn block(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).unwrap_or_else(|| panic!("no {language} on the page"));
    rest.split_once("```").unwrap().0
}

#[test]
fn the_example_of_the_guide_works_as_it_stands() {
    let env = world("");
    configure(&env, block("toml"));
    program(&env, "my-agent", block("sh"));
    let done = env.run(&["run", "Say hello", "--agent", "my-agent", "--check", "test -s hello.txt"]);
    assert_eq!(done.code, crate::env::PASSED, "{}\n{}", done.stdout, done.stderr);
    assert_eq!(file(&env, "hello.txt"), "hello");
    assert!(launches(&env).is_empty(), "the control: it was not the strict program of the other tests");
    let listed = env.ok(&["agents"]);
    assert!(listed.contains("my-agent 0.1"), "{listed}");
}
