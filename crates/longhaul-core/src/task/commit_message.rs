//! The message of the commit that lands a task: its goal as the subject, the rest of the goal and the steps below, and the task's id.
//! Called by the operation `land`, which masks secrets first.

use super::Task;

/// The longest subject, in characters.
const SUBJECT: usize = 72;
/// Lines of the body are wrapped at so many characters.
const WIDTH: usize = 72;
/// The trailer that names the task.
const TRAILER: &str = "Longhaul-Task";

/// What the message ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trailer {
    /// The id of the task.
    Task,
    /// Nothing.
    None,
}

/// The message for a task's work: the person's own words if there are any.
pub fn commit_message(task: &Task, own: Option<&str>, trailer: Trailer) -> String {
    let text = own.map_or_else(|| of_goal(task), |own| plain(own).trim().to_owned());
    match trailer {
        // Edited words may have it already.
        Trailer::Task if text.lines().next_back().is_some_and(|line| line.starts_with(TRAILER)) => format!("{text}\n"),
        Trailer::Task => format!("{text}\n\n{TRAILER}: {}\n", task.id),
        Trailer::None => format!("{text}\n"),
    }
}

fn of_goal(task: &Task) -> String {
    let goal = plain(&task.submission.goal);
    let goal = goal.trim();
    let (first, rest) = goal.split_once('\n').unwrap_or((goal, ""));
    let (subject, cut) = cut_at_word(first.trim(), SUBJECT);
    let rest = [cut, rest.trim_end()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    let body = rest.lines().map(|line| wrap(line, "", "")).collect::<Vec<_>>().join("\n");
    let steps = task.plan.iter().flat_map(|accepted| &accepted.plan.steps);
    let steps = steps.map(|step| wrap(plain(&step.text).lines().next().unwrap_or_default(), "- ", "  "));
    let steps = steps.collect::<Vec<_>>().join("\n");
    let parts = [subject, body.trim_matches('\n'), &steps];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Text without control characters, which a terminal would obey.
fn plain(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}

/// A line up to the last word that fits, and the rest. A word that is longer than that is cut.
fn cut_at_word(line: &str, most: usize) -> (&str, &str) {
    let Some((end, _)) = line.char_indices().nth(most) else { return (line, "") };
    let at =
        if line[end..].starts_with(' ') { end } else { line[..end].rfind(' ').filter(|at| *at > 0).unwrap_or(end) };
    (line[..at].trim_end(), line[at..].trim_start())
}

/// A line in pieces that fit, the first behind one prefix and the others behind another.
fn wrap(line: &str, first: &str, others: &str) -> String {
    let mut pieces = Vec::new();
    let mut rest = line.trim_end();
    let mut prefix = first;
    loop {
        let (piece, more) = cut_at_word(rest, WIDTH - prefix.len());
        pieces.push(format!("{prefix}{piece}"));
        if more.is_empty() {
            return pieces.join("\n");
        }
        (rest, prefix) = (more, others);
    }
}
