//! The message of the commit that lands a task: what becomes its subject, its body and its trailer.
//! The operation `land` masks secrets in it; that is tested there.

use super::super::{Trailer, commit_message};
use super::fixture::{asked, new_task, working};

fn message(goal: &str) -> String {
    let mut task = new_task();
    asked(&mut task).goal = goal.to_owned();
    commit_message(&task, None, Trailer::Task).replace(&task.id.to_string(), "ID")
}

#[test]
fn the_goal_is_subject_and_body() {
    assert_eq!(message("port the parser"), "port the parser\n\nLonghaul-Task: ID\n");
    assert_eq!(message("port it\n\nkeep\nthe API"), "port it\n\nkeep\nthe API\n\nLonghaul-Task: ID\n");
    let long = "port the whole parser of the project to winnow and keep the public interface as it is now";
    let wanted = "port the whole parser of the project to winnow and keep the public\n\ninterface as it is now";
    assert_eq!(message(long), format!("{wanted}\n\nLonghaul-Task: ID\n"));
    let word = "x".repeat(80);
    assert_eq!(message(&word), format!("{}\n\nxxxxxxxx\n\nLonghaul-Task: ID\n", "x".repeat(72)));
    assert!(message("bell\u{7} and\u{1b}[31m colour").starts_with("bell and[31m colour\n"));
}

#[test]
fn every_line_fits_and_steps_are_a_list() {
    let mut task = working();
    asked(&mut task).goal = "word ".repeat(60);
    let text = commit_message(&task, None, Trailer::Task);
    assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
    assert!(text.contains("\n- "), "{text}");
}

#[test]
fn a_persons_own_words_are_kept() {
    let task = working();
    assert_eq!(
        commit_message(&task, Some("  mine \n"), Trailer::Task),
        format!("mine\n\nLonghaul-Task: {}\n", task.id)
    );
}
