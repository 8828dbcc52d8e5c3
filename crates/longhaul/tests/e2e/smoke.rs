//! The shortest way through everything: a goal becomes a finished task, and every reading verb tells of it.

use crate::env::TestEnv;

#[test]
fn a_goal_becomes_a_finished_task() {
    let env = TestEnv::new();
    let done = env.run(&["run", "Make a small thing"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("done, unverified"), "{}", done.stderr);
    assert_eq!(env.state("make-a-small-thing"), "done");
    let list = std::fs::read_to_string(env.task_dir("make-a-small-thing").join("task_list.md")).unwrap();
    assert!(!list.contains("- [ ]"), "every box is ticked: {list}");
}
