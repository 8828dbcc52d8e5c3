//! Reads the role, the task directory and the goal from the demo agent's prompt.
//!
//! Called by `session.rs` with all of standard input. It looks for a few fixed words and ignores the rest of the prompt.

use std::path::{Path, PathBuf};

/// The role a prompt asks for; all but the last have a task directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Write the task list.
    Plan(PathBuf),
    /// Work on the next steps.
    Work(PathBuf),
    /// Fix what the checks found.
    Fix(PathBuf),
    /// No role was found.
    Answer,
}

/// A parsed prompt.
#[derive(Debug)]
pub struct Prompt {
    /// The role it asks for.
    pub role: Role,
    pub(super) goal: Option<String>,
    /// The whole prompt.
    pub text: String,
}

impl Prompt {
    /// Parses a prompt, or says why it cannot be worked on; a relative task directory is below the workspace.
    pub(super) fn parse(workspace: &Path, bytes: &[u8]) -> Result<Self, &'static str> {
        let text = String::from_utf8_lossy(bytes);
        if text.trim().is_empty() {
            return Err("the prompt on standard input is empty");
        }
        Ok(Self { role: role(workspace, &text)?, goal: after_label(&text, "Goal:"), text: text.into_owned() })
    }
}

/// The first role word outside the goal decides: a template may mention the other role further down.
fn role(workspace: &Path, text: &str) -> Result<Role, &'static str> {
    for line in text.lines().filter(|line| !line.starts_with("Goal:")) {
        let plan = line.find("Initializer Agent").unwrap_or(usize::MAX);
        let work = line.find("Executor Agent").unwrap_or(usize::MAX);
        if plan == work {
            continue;
        }
        let directory = after_label(text, "Task Directory:");
        let directory = directory.ok_or("the prompt names a role but has no `Task Directory:` line")?;
        let task_directory = workspace.join(directory.trim_matches('`'));
        return Ok(match (plan < work, text.lines().any(|line| line.starts_with("Checks that failed"))) {
            (true, _) => Role::Plan(task_directory),
            (false, true) => Role::Fix(task_directory),
            (false, false) => Role::Work(task_directory),
        });
    }
    Ok(Role::Answer)
}

/// The rest of the first line that starts with the label, or the next line with text when nothing follows the label.
fn after_label(text: &str, label: &str) -> Option<String> {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(label))?;
    let value = std::iter::once(rest).chain(lines).map(str::trim).find(|value| !value.is_empty())?;
    Some(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Prompt, &'static str> {
        Prompt::parse(Path::new("/w"), text.as_bytes())
    }

    #[test]
    fn finds_role_directory_and_goal() {
        let text = "Goal: a todo app\nTask Directory: .autonomous/x\nSession: s-7\nYou are the Initializer Agent.\n";
        let prompt = parse(text).unwrap();
        assert_eq!(prompt.role, Role::Plan("/w/.autonomous/x".into()));
        assert_eq!(prompt.goal.as_deref(), Some("a todo app"));
    }

    #[test]
    fn the_first_role_outside_the_goal_wins() {
        let text = "Goal: tame the Initializer Agent\nTask Directory: `/t`\nYou are the Executor Agent.\nThe Initializer Agent planned.";
        assert_eq!(parse(text).unwrap().role, Role::Work("/t".into()));
    }

    #[test]
    fn failed_checks_ask_for_a_fix_unless_the_goal_only_speaks_of_them() {
        let fix = "You are the Executor Agent.\nTask Directory: /t\n\nChecks that failed, as they ran:\n- `make`";
        assert_eq!(parse(fix).unwrap().role, Role::Fix("/t".into()));
        let work = "You are the Executor Agent.\nTask Directory: /t\nGoal: Checks that failed\n";
        assert_eq!(parse(work).unwrap().role, Role::Work("/t".into()));
    }

    #[test]
    fn a_goal_may_start_on_the_next_line() {
        assert_eq!(parse("Goal:\n\n  port it\n").unwrap().goal.as_deref(), Some("port it"));
    }

    #[test]
    fn no_role_is_a_plain_question() {
        let prompt = parse("What is up?").unwrap();
        assert_eq!((prompt.role, prompt.goal), (Role::Answer, None));
    }

    #[test]
    fn refuses_nothing_and_a_role_without_directory() {
        assert_eq!(parse(" \n").unwrap_err(), "the prompt on standard input is empty");
        let no_directory = parse("You are the Executor Agent.").unwrap_err();
        assert_eq!(no_directory, "the prompt names a role but has no `Task Directory:` line");
    }
}
