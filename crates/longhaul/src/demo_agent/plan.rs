//! The plan role: writes `task_list.md` and `progress.md` into the task directory.
//!
//! Called by `session.rs`. An existing list is kept, so that planning again after a crash loses nothing.

use std::path::Path;

use super::files::{self, Access};
use super::session::{Outcome, Session};
use super::{task_list, todo_app};

/// Plans the goal.
pub(super) fn run(session: &mut Session<'_>, task_directory: &Path) -> Outcome {
    std::thread::sleep(session.settings.pace);
    files::make_directory(task_directory, Access::Shared)?;
    let list_path = task_directory.join("task_list.md");
    let kept = files::read_text(&list_path)?.filter(|list| !task_list::parse(list).is_empty());
    let list = match kept {
        Some(list) => {
            session.speaker.text("A task list already exists; I keep it.")?;
            list
        }
        None => {
            let list = write_list(session.goal.as_deref(), session.settings.steps, task_directory);
            files::replace(&list_path, &list, Access::Shared)?;
            session.speaker.tool("write", &list_path.display().to_string())?;
            list
        }
    };
    session.speaker.usage(session.prompt_length / 4 + 1, list.len() / 4 + 1)?;
    let progress_path = task_directory.join("progress.md");
    if files::read_text(&progress_path)?.is_none() {
        files::replace(&progress_path, &write_progress(session.goal.as_deref(), task_directory), Access::Shared)?;
        session.speaker.tool("write", &progress_path.display().to_string())?;
    }
    Ok(session.speaker.text(&format!("Planned {} steps.", task_list::parse(&list).len()))?)
}

/// The task list for a goal: the todo app if the goal mentions one or is missing, plain notes otherwise.
fn write_list(goal: Option<&str>, steps: u32, task_directory: &Path) -> String {
    let phases: Vec<(&str, Vec<String>)> = match goal.filter(|goal| !goal.to_lowercase().contains("todo")) {
        Some(goal) => vec![("Notes", todo_app::generic_steps(goal, steps))],
        None => todo_app::PHASES.map(|(name, steps)| (name, steps.iter().map(ToString::to_string).collect())).into(),
    };
    let total: usize = phases.iter().map(|(_, steps)| steps.len()).sum();
    let mut list = format!(
        "# Task List: {}\n\n## Meta\n- Created by: the demo agent\n- Task Directory: {}\n- Total: {total}\n\
         - Completed: as ticked below\n\n## Progress Notes\nSee progress.md.\n\n## Tasks\n",
        goal.unwrap_or("a todo app"),
        task_directory.display(),
    );
    let mut number = 0;
    for (phase, (name, steps)) in (1..).zip(&phases) {
        list.push_str(&format!("\n### Phase {phase}: {name}\n"));
        for step in steps {
            number += 1;
            list.push_str(&format!("- [ ] Task {number}: {step}\n"));
        }
    }
    list
}

fn write_progress(goal: Option<&str>, task_directory: &Path) -> String {
    format!(
        "# Progress Log\n\n## Task Info\n- Goal: {}\n- Task Directory: {}\n",
        goal.unwrap_or("a todo app"),
        task_directory.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(goal: Option<&str>, steps: u32) -> Vec<String> {
        task_list::parse(&write_list(goal, steps, Path::new("/t"))).into_iter().map(|step| step.text).collect()
    }

    #[test]
    fn a_todo_goal_or_none_gets_the_todo_app() {
        assert_eq!(texts(None, 9).len(), 6);
        assert_eq!(texts(Some("A TODO app please"), 9), texts(None, 9));
    }

    #[test]
    fn another_goal_gets_notes() {
        assert_eq!(texts(Some("port it"), 3), todo_app::generic_steps("port it", 3));
        assert!(texts(Some("port it"), 0).is_empty());
    }
}
