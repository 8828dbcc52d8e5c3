//! The product of the demo: a todo list as a POSIX shell script that grows step by step, and plain notes for any other goal.
//!
//! Pure text: the steps of a goal and the files of a step. Called by the plan and work roles; does not touch the disk.

use super::task_list::Step;

/// Every file of the demo agent contains this; a file without it belongs to someone else.
pub(super) const MARK: &str = "made by the longhaul demo agent";

/// A file of the workspace that belongs to a step.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Artifact {
    pub(super) name: String,
    pub(super) content: String,
}

/// The phases of the todo app, each with its steps.
pub(super) const PHASES: [(&str, &[&str]); 3] =
    [("Foundation", &[SKELETON]), ("Features", &[ADD, LIST, DONE, REMOVE]), ("Proof", &[TEST])];

const SKELETON: &str = "create the project skeleton (README.md, todo.sh)";
const ADD: &str = "add items (`sh todo.sh add TEXT`)";
const LIST: &str = "list items (`sh todo.sh list`)";
const DONE: &str = "mark items done (`sh todo.sh done NUMBER`)";
const REMOVE: &str = "remove items (`sh todo.sh rm NUMBER`)";
const TEST: &str = "write a test script (test.sh) and run it";

/// The script that tests the app.
pub(super) const TEST_SCRIPT: &str = "test.sh";

/// The steps for any other goal.
pub(super) fn generic_steps(goal: &str, count: u32) -> Vec<String> {
    let goal: String = goal.chars().take(80).collect();
    (1..=count).map(|number| format!("write step-{number}.md, part {number} of {count} of: {goal}")).collect()
}

/// The files of a step, the main one first, given all steps that are finished with it.
pub(super) fn artifacts(step: &Step, finished: &[Step]) -> Vec<Artifact> {
    let artifact = |name: &str, content| Artifact { name: name.to_owned(), content };
    match step.text.as_str() {
        SKELETON | ADD | LIST | DONE | REMOVE => {
            let features: Vec<_> =
                FEATURES.iter().filter(|feature| finished.iter().any(|s| s.text == feature.step)).collect();
            vec![artifact("todo.sh", script(&features)), artifact("README.md", readme(&features))]
        }
        TEST => vec![artifact(TEST_SCRIPT, format!("#!/bin/sh\n# Tests todo.sh; {MARK}.\n{TESTS}"))],
        text => vec![artifact(&format!("step-{}.md", step.number), note(step.number, text))],
    }
}

/// The script that must succeed before a step counts as done.
pub(super) fn proof(step: &Step) -> Option<&'static str> {
    (step.text == TEST).then_some(TEST_SCRIPT)
}

struct Feature {
    step: &'static str,
    usage: &'static str,
    function: &'static str,
    case: &'static str,
}

const FEATURES: [Feature; 4] = [
    Feature {
        step: ADD,
        usage: "add TEXT",
        function: r#"
add_item() {
    [ -n "$*" ] || fail "add needs a text"
    printf '[ ] %s\n' "$(printf '%s' "$*" | tr '\n' ' ')" >>"$todo_file"
}
"#,
        case: r#"add) shift; add_item "$@" ;;"#,
    },
    Feature {
        step: LIST,
        usage: "list",
        function: r#"
list_items() {
    [ -f "$todo_file" ] || return 0
    number=0
    while IFS= read -r line; do
        number=$((number + 1))
        printf '%d %s\n' "$number" "$line"
    done <"$todo_file"
}
"#,
        case: "list) list_items ;;",
    },
    Feature {
        step: DONE,
        usage: "done NUMBER",
        function: r#"
finish_item() {
    need_item "${1:-}"
    sed "$1s/^\[ \]/[x]/" "$todo_file" >"$todo_file.new"
    mv "$todo_file.new" "$todo_file"
}
"#,
        case: r#"done) finish_item "${2:-}" ;;"#,
    },
    Feature {
        step: REMOVE,
        usage: "rm NUMBER",
        function: r#"
remove_item() {
    need_item "${1:-}"
    sed "$1d" "$todo_file" >"$todo_file.new"
    mv "$todo_file.new" "$todo_file"
}
"#,
        case: r#"rm) remove_item "${2:-}" ;;"#,
    },
];

const START: &str = include_str!("todo_start.sh");

const TESTS: &str = include_str!("todo_tests.sh");

fn script(features: &[&Feature]) -> String {
    let functions: String = features.iter().map(|feature| feature.function).collect();
    let cases: String = features.iter().map(|feature| format!("{}\n", feature.case)).collect();
    format!(
        "#!/bin/sh\n# A todo list in one text file; {MARK}.\n{START}{functions}\n\
         case \"${{1:-}}\" in\n{cases}*) fail \"usage: todo.sh [{}]\" ;;\nesac\n",
        usage(features, " | "),
    )
}

fn readme(features: &[&Feature]) -> String {
    let commands: String = features.iter().map(|feature| format!("- `sh todo.sh {}`\n", feature.usage)).collect();
    format!(
        "# Todo\n\nA todo list for the shell, {MARK}. \
         The items are in `todo.txt`, or in the file that `TODO_FILE` names.\n\n{commands}"
    )
}

fn usage(features: &[&Feature], between: &str) -> String {
    features.iter().map(|feature| feature.usage).collect::<Vec<_>>().join(between)
}

fn note(number: u32, text: &str) -> String {
    format!("# Step {number}\n\n{text}\n\nThis note was {MARK}.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn todo_steps() -> Vec<Step> {
        let texts = PHASES.iter().flat_map(|(_, steps)| steps.iter());
        (1..).zip(texts).map(|(number, text)| Step { number, text: (*text).to_owned(), ticked: true }).collect()
    }

    #[test]
    fn features_arrive_with_their_steps_in_any_order() {
        let steps = todo_steps();
        let script = |finished: &[Step]| artifacts(&finished[0], finished).swap_remove(0).content;
        assert!(!script(&steps[..1]).contains("add_item"));
        assert!(script(&steps[..2]).contains("add_item"));
        let late = script(&[steps[4].clone(), steps[0].clone()]);
        assert!(late.contains("remove_item") && !late.contains("list_items"));
    }

    #[test]
    fn every_file_carries_the_mark() {
        let mut steps = todo_steps();
        steps.push(Step { number: 7, text: "anything else".into(), ticked: false });
        let all: Vec<_> = steps.iter().flat_map(|step| artifacts(step, &steps)).collect();
        assert!(all.iter().all(|artifact| artifact.content.contains(MARK)));
        assert_eq!(all.last().unwrap().name, "step-7.md");
        assert_eq!(steps.iter().filter_map(proof).collect::<Vec<_>>(), ["test.sh"]);
    }

    #[test]
    fn generic_steps_name_the_goal() {
        let steps = generic_steps("port the parser", 3);
        assert_eq!(steps.len(), 3);
        assert_eq!(steps[2], "write step-3.md, part 3 of 3 of: port the parser");
    }
}
