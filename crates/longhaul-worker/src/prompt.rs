//! The prompts: short, pointing at files, from templates. Placeholders are replaced literally and once, whatever a path contains.
//! Called when a session's directory is written. Never inlines state files: agents read them.

use longhaul_core::task::{Purpose, SessionRun, Task};

const PLAN: &str = include_str!("../prompts/plan.md");
const WORK: &str = include_str!("../prompts/work.md");

/// The prompt of one session.
pub(crate) fn prompt(task: &Task, session: &SessionRun, task_dir: &str) -> String {
    let template = match session.purpose {
        Purpose::Plan => PLAN,
        Purpose::Work => WORK,
    };
    let progress = task.plan.as_ref().map_or_else(|| "0/0".to_owned(), |accepted| accepted.plan.progress());
    let mark = format!("{}/{}", task.id, session.number);
    let notice = task.plan_notice.as_ref().map_or_else(String::new, |note| {
        format!("\nNote from the supervisor about your task list: {note}. The last good list was put back.")
    });
    fill(
        template,
        &[
            ("{MARK}", &mark),
            ("{TASK_DIR}", task_dir),
            ("{GOAL}", &task.submission.goal),
            ("{PROGRESS}", &progress),
            ("{NOTICE}", &notice),
        ],
    )
}

/// Replaces each placeholder in one pass, so that a value which looks like a placeholder stays as it is.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                out.push_str(value);
                rest = &rest[name.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn values_are_literal_whatever_they_contain() {
        let path = "/tmp/a & b|c\\d {GOAL} {}\n$HOME";
        assert_eq!(fill("{TASK_DIR}: {GOAL}{", &[("{TASK_DIR}", path), ("{GOAL}", "g")]), format!("{path}: g{{"));
    }
}
