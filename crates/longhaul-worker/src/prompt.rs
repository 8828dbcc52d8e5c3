//! The prompts: short, pointing at files, from templates. Placeholders are replaced literally and once, whatever a path contains.
//! Called when a session's directory is written. Never inlines state files: agents read them.

use longhaul_core::task::{Evidence, Purpose, Round, SessionRun, Submission, Task};

const PLAN: &str = include_str!("../prompts/plan.md");
const WORK: &str = include_str!("../prompts/work.md");
const FIX: &str = include_str!("../prompts/fix.md");

/// The prompt of one session; a check has none.
pub(crate) fn prompt(task: &Task, session: &SessionRun, task_dir: &str) -> String {
    let template = match session.purpose {
        Purpose::Plan => PLAN,
        Purpose::Work => WORK,
        Purpose::Fix => FIX,
        Purpose::Check => return String::new(),
    };
    let progress = task.plan.as_ref().map_or_else(|| "0/0".to_owned(), |accepted| accepted.plan.progress());
    fill(
        template,
        &[
            ("{MARK}", &format!("{}/{}", task.id, session.number)),
            ("{TASK_DIR}", task_dir),
            ("{GOAL}", &task.submission.goal),
            ("{PROGRESS}", &progress),
            ("{BRIEF}", &brief(&task.submission)),
            ("{EVIDENCE}", &task.round.as_ref().map(evidence).unwrap_or_default()),
            ("{NOTICE}", &notice(task)),
        ],
    )
}

/// What was asked for beside the goal, each kind under its heading.
fn brief(submission: &Submission) -> String {
    let criteria = submission.criteria.iter().map(|criterion| match &criterion.check {
        Some(check) => format!("{} (shown by `{check}`)", criterion.text),
        None => criterion.text.clone(),
    });
    let inputs = submission.inputs.iter().map(|file| format!("`{}`", file.path));
    let expects = submission.expects.iter().map(|path| format!("`{path}`"));
    let commands = submission.commands().into_iter().map(|command| format!("`{command}`"));
    [
        section("What must hold in the end", criteria),
        section("What to heed on the way", submission.constraints.iter().cloned()),
        section("Files to start from", inputs),
        section("Files that must be there in the end", expects),
        section("Commands the supervisor runs once every step is ticked; all must pass", commands),
    ]
    .concat()
}

fn section(heading: &str, items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("- {item}\n")).collect();
    if items.is_empty() { items } else { format!("\n{heading}:\n{items}") }
}

/// The failed checks with the last they printed. Fenced as data: it is output of programs, not instructions.
fn evidence(round: &Round) -> String {
    let files = round.files.iter().filter(|file| file.sha256.is_none());
    let missing: String = files.map(|file| format!("\n- expected file `{}` is missing\n", file.path)).collect();
    let failed: String = round.evidence.iter().filter_map(failed_check).collect();
    missing + &failed
}

fn failed_check(check: &Evidence) -> Option<String> {
    let why = check.failure.as_ref()?;
    let fence = "`".repeat(longest_run(&check.output.tail, '`').max(2) + 1);
    let tail = check.output.tail.trim_end();
    Some(format!("\n- `{}`: {why}; the last of its output:\n\n{fence}\n{tail}\n{fence}\n", check.command))
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|other| other != of).map(str::len).max().unwrap_or(0)
}

/// What the supervisor and people have to say to this session.
fn notice(task: &Task) -> String {
    let plan = task.plan_notice.as_ref().map(|note| {
        format!("\nNote from the supervisor about your task list: {note}. The last good list was put back.\n")
    });
    plan.unwrap_or_default() + &section("Guidance from a person for this session", task.guidance.iter().cloned())
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
    use super::{fill, longest_run, section};

    #[test]
    fn nothing_asked_for_is_nothing_said() {
        assert_eq!(section("Heading", std::iter::empty()), "");
        assert_eq!(section("Heading", ["a".to_owned()].into_iter()), "\nHeading:\n- a\n");
    }

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(longest_run("a ``` b ````", '`'), 4);
    }

    #[test]
    fn values_are_literal_whatever_they_contain() {
        let path = "/tmp/a & b|c\\d {GOAL} {}\n$HOME";
        assert_eq!(fill("{TASK_DIR}: {GOAL}{", &[("{TASK_DIR}", path), ("{GOAL}", "g")]), format!("{path}: g{{"));
    }
}
