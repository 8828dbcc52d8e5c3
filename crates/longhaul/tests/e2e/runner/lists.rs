//! `--list`: glyphs, floor percents, short ids; and colours only where they belong.

use super::Runner;

#[test]
fn tasks_are_listed_by_name_with_what_is_known() {
    let runner = Runner::new();
    let none = runner.run(&["--list"]);
    assert!(none.code == 0 && none.stderr.contains("No tasks found"), "{}", none.stderr);
    runner.legacy("c-done", 2, 2);
    runner.legacy("b-half", 1, 3);
    runner.write("b-half", "session.id", "0123456789abcdef\n");
    runner.write("a-none", "session.log", "");
    runner.write("d-bad", "task_list.md", "nothing\n");
    std::fs::write(runner.env.workspace().join(".autonomous/stray"), "").unwrap();
    for list in ["--list", "-l"] {
        let out = runner.ok(&[list]);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], "=".repeat(42));
        assert!(lines[1].starts_with("  "), "{out}");
        assert_eq!(
            lines[3..],
            [
                "? a-none (no task_list.md)",
                "○ b-half (1/3 - 33%) [session: 0123456789abc...]",
                "✓ c-done (2/2 - 100% complete)",
                "○ d-bad (0/0 - 0%)",
            ]
        );
    }
    assert!(!runner.env.home().exists(), "listing makes nothing");
}
