//! The prompts: short, pointing at files, from templates. Placeholders are replaced literally and once, whatever a path contains.
//! Called when a session's directory is written. Never inlines state files: agents read them.

use longhaul_core::task::{Evidence, Opening, Purpose, Round, SessionRun, Submission, Task};

use crate::task_dir::task_dir_of;

/// The templates by name; a person can put others in their place.
pub const TEMPLATES: &[(&str, &str)] = &[
    ("plan", include_str!("../prompts/plan.md")),
    ("work", include_str!("../prompts/work.md")),
    ("fix", include_str!("../prompts/fix.md")),
    ("continue", include_str!("../prompts/continue.md")),
];

/// Without these an agent does not know where it is, what it is, or what changed, and its prompt cannot be found again.
const NEEDED: &[&str] = &["Session: {MARK}\n", "Task Directory: {TASK_DIR}\n", "{NOTICE}"];

/// A template longer than this is no prompt that points at files.
const TEMPLATE_CAP: usize = 64 * 1024;

/// A template that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    /// Something that every prompt needs is not in it.
    #[error("it lacks a line with `{}`", needed.trim_end())]
    Lacks {
        /// What.
        needed: &'static str,
    },
    /// It does not say whose prompt it is.
    #[error("it lacks the words `{role}` or `{{ROLE}}`")]
    NoRole {
        /// The role.
        role: &'static str,
    },
    /// It begins like a command of the agent's own.
    #[error("it begins with `/`, which agents would run as a command")]
    Slash,
    /// It is too long.
    #[error("it is longer than 64 KiB")]
    TooLong,
}

/// Whether a text can stand in place of the template of this name.
pub fn check_template(name: &str, text: &str) -> Result<(), BadTemplate> {
    let role = role(if name == "plan" { Purpose::Plan } else { Purpose::Work });
    if let Some(needed) = NEEDED.iter().find(|needed| !text.contains(*needed)) {
        return Err(BadTemplate::Lacks { needed });
    }
    match text {
        text if text.len() > TEMPLATE_CAP => Err(BadTemplate::TooLong),
        text if text.trim_start().starts_with('/') => Err(BadTemplate::Slash),
        text if text.contains(role) || text.contains("{ROLE}") => Ok(()),
        _ => Err(BadTemplate::NoRole { role }),
    }
}

/// The prompt of one session; a check has none. `longhaul` is the command by which the agent's shell finds this program.
pub fn prompt(task: &Task, session: &SessionRun, task_dir: &str, longhaul: &str) -> String {
    let Some(template) = template(task, session) else { return String::new() };
    fill(
        template,
        &[
            ("{ROLE}", role(session.purpose)),
            ("{MARK}", &session.mark(task.id)),
            ("{TASK_DIR}", task_dir),
            ("{LONGHAUL}", longhaul),
            ("{GOAL}", goal(task)),
            ("{PROGRESS}", &task.progress()),
            ("{BRIEF}", &brief(&task.submission)),
            ("{EVIDENCE}", &task.round.as_ref().map(evidence).unwrap_or_default()),
            ("{NOTICE}", &(opening(&session.opening) + &checkpoint(task, &session.opening) + &notice(task))),
        ],
    )
}

/// A fixing session of a landing works for the goal of the task that lands.
fn goal(task: &Task) -> &str {
    task.order().map_or(&task.submission.goal, |order| &order.goal)
}

/// A short prompt for a program that is handed it as an argument: who it is, where the task is, and the file with the whole prompt.
pub fn pointer(task: &Task, session: &SessionRun, prompt_file: &str) -> String {
    format!(
        "You are the {} of this task.\nTask Directory: {}\nSession: {}\nYour instructions are in the file {prompt_file}: read it \
         first, then follow it.",
        role(session.purpose),
        task_dir_of(task),
        session.mark(task.id),
    )
}

fn template<'a>(task: &'a Task, session: &SessionRun) -> Option<&'a str> {
    let name = match (session.purpose, &session.opening) {
        (Purpose::Check | Purpose::Setup, _) => return None,
        (Purpose::Plan | Purpose::Work | Purpose::Fix, Opening::Continue) => "continue",
        (Purpose::Plan, _) => "plan",
        (Purpose::Work, _) => "work",
        (Purpose::Fix, _) => "fix",
    };
    let own = task.submission.prompts.get(name).map(String::as_str);
    own.or_else(|| TEMPLATES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text))
}

fn role(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Plan => "Initializer Agent",
        Purpose::Work | Purpose::Fix | Purpose::Check | Purpose::Setup => "Executor Agent",
    }
}

/// What the session has to know about the one before it.
fn opening(how: &Opening) -> String {
    match how {
        Opening::Fresh | Opening::Continue | Opening::Again => String::new(),
        Opening::Unsure => {
            "\nNote from the supervisor: you may have read this before. If so, continue where you were instead of \
             starting over, and check what happened before you repeat a command.\n"
                .into()
        }
        Opening::Handover { why } => taking_over(why),
        Opening::TakeOver { from } => taking_over(&format!("the last session was {from}'s")),
    }
}

fn taking_over(why: &str) -> String {
    format!(
        "\nNote from the supervisor: you take over work in progress ({why}). Read the task directory and inspect the \
         workspace first: a step may be half done.\n"
    )
}

/// The newest checkpoint, for a session that continues work without its conversation. Fenced as data: an agent wrote it.
fn checkpoint(task: &Task, how: &Opening) -> String {
    let is_lost = match how {
        Opening::Handover { .. } | Opening::TakeOver { .. } => true,
        Opening::Fresh | Opening::Continue | Opening::Again | Opening::Unsure => false,
    };
    let checkpoint = task.tracked.as_deref().and_then(|said| said.checkpoint.as_ref()).filter(|_| is_lost);
    let Some((checkpoint, session)) = checkpoint.and_then(|left| Some((left, left.session?))) else {
        return String::new();
    };
    let cursor = checkpoint.cursor.as_ref().map_or_else(String::new, |cursor| format!("\nWhere it was: {cursor}"));
    format!(
        "\nNote from the supervisor: session {session} left this checkpoint. Compare it with the workspace before you rely on it.\n\n{}\n",
        fenced(&format!("{}{cursor}", checkpoint.summary))
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
        section("What must be true in the end", criteria),
        section("Rules to follow", submission.constraints.iter().cloned()),
        section("Files to start from", inputs),
        section("Files that must exist in the end", expects),
        section("Commands the supervisor runs once every step is ticked; all must succeed", commands),
    ]
    .concat()
}

fn section(heading: &str, items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("- {item}\n")).collect();
    if items.is_empty() { items } else { format!("\n{heading}:\n{items}") }
}

/// Why no check could run, and the failed checks with the last they printed. Fenced as data: it is output of programs, not
/// instructions.
fn evidence(round: &Round) -> String {
    let problem = round.basis.problem.iter().map(|why| format!("\n- no check ran: {why}\n"));
    let files = round.files.iter().filter(|file| file.sha256.is_none());
    let missing: String = files.map(|file| format!("\n- expected file `{}` is missing\n", file.path)).collect();
    let failed: String = round.evidence.iter().filter_map(failed_check).collect();
    problem.collect::<String>() + &missing + &failed
}

fn failed_check(check: &Evidence) -> Option<String> {
    let why = check.failure.as_ref()?;
    Some(format!("\n- {}: {why}; the end of its output:\n\n{}\n", check.title(), fenced(&check.output.tail)))
}

fn fenced(text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|other| other != of).map(str::len).max().unwrap_or(0)
}

/// What the supervisor and people have to say to this session.
fn notice(task: &Task) -> String {
    let plan = task.plan_notice.as_ref().map(|note| {
        format!("\nNote from the supervisor about your task list: {note}. The last valid list was restored.\n")
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
    use super::{BadTemplate, TEMPLATES, check_template, fill, longest_run, section};

    #[test]
    fn the_built_in_templates_pass_their_own_rules() {
        for (name, text) in TEMPLATES {
            assert_eq!(check_template(name, text), Ok(()), "{name}");
            assert!(!text.contains("commit"), "{name}: a sandboxed agent cannot commit");
        }
    }

    #[test]
    fn a_template_that_would_lose_the_agent_is_refused() {
        let good = "Executor Agent\nSession: {MARK}\nTask Directory: {TASK_DIR}\n{NOTICE}";
        assert_eq!(check_template("work", good), Ok(()));
        assert_eq!(check_template("plan", good), Err(BadTemplate::NoRole { role: "Initializer Agent" }));
        assert!(matches!(check_template("work", &good.replace("{MARK}", "")), Err(BadTemplate::Lacks { .. })));
        assert_eq!(check_template("work", &format!("/{good}")), Err(BadTemplate::Slash));
        let long = format!("{good}{}", "x".repeat(70_000));
        assert_eq!(check_template("work", &long), Err(BadTemplate::TooLong));
    }

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
