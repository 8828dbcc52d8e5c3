//! The ready-made scripts that play a whole task of two steps: plan it, then do one open step in each session, or all in one.
//! Used by tests of supervisors and by the program; they work for every agent that offers a shell.
//! What is done is decided by the agent's shell from the files, so a session that was cut off simply goes on.

use crate::reply::Reply;
use crate::tools::quoted;
use crate::turn::Turn;

const PLANNER: &str = "Initializer Agent";
const EXECUTOR: &str = "Executor Agent";
const DIRECTORY: &str = "Task Directory:";

/// Answers as a model that plans and does the two steps.
#[must_use]
pub fn worker(turn: &Turn) -> Reply {
    let Some(job) = Job::of(turn) else { return Reply::text("ok") };
    if turn.results_since_prompt().next().is_some() {
        return Reply::text(job.closing_words());
    }
    Reply::shell(job.command())
}

/// The same, but who plans does the two steps as well: for tests that want few sessions.
#[must_use]
pub fn sprinter(turn: &Turn) -> Reply {
    match (Job::of(turn), worker(turn)) {
        (Some(Job::Plan { directory }), Reply::Answer(answer)) if !answer.calls.is_empty() => {
            let directory = quoted(&directory);
            Reply::shell(format!("{plan} && {step} && {step}", plan = plan(&directory), step = step(&directory)))
        }
        (_, reply) => reply,
    }
}

enum Job {
    Plan { directory: String },
    Step { directory: String },
}

impl Job {
    /// A resumed conversation may end in a prompt that names no role: then the latest one that does counts.
    fn of(turn: &Turn) -> Option<Self> {
        turn.prompts().rev().find_map(|prompt| {
            let directory = task_directory(prompt)?;
            match (prompt.find(PLANNER), prompt.find(EXECUTOR)) {
                (Some(_), None) => Some(Self::Plan { directory }),
                (None, Some(_)) => Some(Self::Step { directory }),
                (Some(planner), Some(executor)) if planner < executor => Some(Self::Plan { directory }),
                (Some(_), Some(_)) => Some(Self::Step { directory }),
                (None, None) => None,
            }
        })
    }

    fn closing_words(&self) -> &'static str {
        match self {
            Self::Plan { .. } => "planned",
            Self::Step { .. } => "done",
        }
    }

    fn command(&self) -> String {
        match self {
            Self::Plan { directory } => plan(&quoted(directory)),
            Self::Step { directory } => step(&quoted(directory)),
        }
    }
}

fn task_directory(prompt: &str) -> Option<String> {
    let line = prompt.lines().find_map(|line| line.split_once(DIRECTORY)).map(|(_, rest)| rest)?;
    let path = line.trim().trim_matches(|c| c == '`' || c == '*').trim();
    (!path.is_empty()).then(|| path.to_owned())
}

fn plan(directory: &str) -> String {
    let list = r"# Plan\n\n## Tasks\n\n### Phase 1\n\n- [ ] Task 1: make one.txt\n- [ ] Task 2: make two.txt\n";
    let progress = r"# Progress\n\nPlanned two steps.\n";
    format!(
        "mkdir -p {directory} && printf '{list}' > {directory}/task_list.md && \
         printf '{progress}' > {directory}/progress.md && echo planned"
    )
}

/// The file comes before the tick, so a kill between the two does the step again and never leaves it out. There is no
/// substitution and no `exit` in it: gemini refuses the one and wraps commands in a way that the other would break.
fn step(directory: &str) -> String {
    let list = format!("{directory}/task_list.md");
    let is_open = |number: u8| format!("grep -q '^- \\[ \\] Task {number}:' {list}");
    format!(
        "if {first}; then number=1 name=one; elif {second}; then number=2 name=two; else name=; fi; \
         if [ -n \"$name\" ]; then \
         echo \"$name\" > \"$name.txt\" && \
         sed -i \"s/^- \\[ \\] Task $number:/- [x] Task $number:/\" {list} && \
         echo \"Made $name.txt.\" >> {directory}/progress.md && echo \"made $name.txt\"; \
         else echo nothing is open; fi",
        first = is_open(1),
        second = is_open(2),
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use serde_json::Value;

    use super::{sprinter, worker};
    use crate::reply::{Answer, Call, Reply};
    use crate::turn::{Delivery, Dialect, Entry, ToolResult, Turn};

    fn turn(history: Vec<Entry>) -> Turn {
        let (dialect, delivery) = (Dialect::Chat, Delivery::Stream);
        Turn { dialect, history, tools: vec![], model: String::new(), delivery, headers: vec![], body: Value::Null }
    }

    fn prompt(role: &str, directory: &Path) -> Entry {
        Entry::Prompt(format!("You are the {role}.\nTask Directory: {}\n", directory.display()))
    }

    fn returned() -> Entry {
        Entry::Returned(ToolResult { id: "1".into(), output: String::new() })
    }

    fn command(reply: Reply) -> String {
        match reply {
            Reply::Answer(Answer { calls, .. }) => match calls.as_slice() {
                [Call::Shell(command)] => command.clone(),
                other => panic!("one shell call is expected, not {other:?}"),
            },
            other => panic!("an answer is expected, not {other:?}"),
        }
    }

    fn run(command: &str, place: &Path) {
        let status = Command::new("sh").args(["-c", command]).current_dir(place).status().expect("a shell");
        assert!(status.success(), "{command}");
    }

    #[test]
    fn the_commands_plan_and_do_one_step_each() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let directory = place.path().join(".autonomous/it's one");
        run(&command(worker(&turn(vec![prompt("Initializer Agent", &directory)]))), place.path());
        let list = || fs::read_to_string(directory.join("task_list.md")).expect("the list");
        let open = "# Plan\n\n## Tasks\n\n### Phase 1\n\n- [ ] Task 1: make one.txt\n- [ ] Task 2: make two.txt\n";
        assert_eq!(list(), open);
        let next = command(worker(&turn(vec![prompt("Executor Agent", &directory)])));
        run(&next, place.path());
        assert_eq!(list(), open.replacen("[ ]", "[x]", 1));
        assert!(place.path().join("one.txt").exists() && !place.path().join("two.txt").exists());
        run(&next, place.path());
        assert_eq!(list(), open.replace("[ ]", "[x]"));
        run(&next, place.path());
        assert!(place.path().join("two.txt").exists());
        let progress = fs::read_to_string(directory.join("progress.md")).expect("the progress");
        assert_eq!(progress.matches("Made ").count(), 2);
    }

    #[test]
    fn the_sprinter_does_it_all_at_once_and_again_if_asked_again() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let directory = place.path().join(".autonomous/task");
        let asked = || vec![prompt("Initializer Agent", &directory)];
        for _ in 0..2 {
            run(&command(sprinter(&turn(asked()))), place.path());
            let list = fs::read_to_string(directory.join("task_list.md")).expect("the list");
            assert_eq!(list.matches("- [x] Task").count(), 2);
            assert!(place.path().join("one.txt").exists() && place.path().join("two.txt").exists());
        }
        assert_eq!(sprinter(&turn([asked(), vec![returned()]].concat())), Reply::text("planned"));
        let step = vec![prompt("Executor Agent", &directory)];
        assert_eq!(sprinter(&turn(step.clone())), worker(&turn(step)));
    }

    #[test]
    fn the_latest_prompt_decides_also_when_it_only_says_go_on() {
        let directory = Path::new("/d");
        let (planner, executor) = (prompt("Initializer Agent", directory), prompt("Executor Agent", directory));
        let done = turn(vec![planner.clone(), returned(), executor.clone(), returned()]);
        assert_eq!(worker(&done), Reply::text("done"));
        let again = command(worker(&turn(vec![planner.clone(), returned(), executor.clone()])));
        assert!(again.contains("sed -i"));
        let go_on = Entry::Prompt("go on".into());
        assert_eq!(command(worker(&turn(vec![planner, returned(), executor, returned(), go_on]))), again);
    }

    #[test]
    fn a_prompt_of_nobody_is_only_greeted() {
        assert_eq!(worker(&turn(vec![Entry::Prompt("hello".into())])), Reply::text("ok"));
    }
}
