//! docs/reference/prompts.md: where templates lie, what they must hold, the placeholders and the built-in texts.
//! A test writes and compares it; `UPDATE_DOCS=1` writes.

use crate::prompt::{TEMPLATES, check_template};

/// What each placeholder becomes.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("{MARK}", "the mark of the session, used to find its prompt in the agent's own transcript; needed"),
    ("{TASK_DIR}", "the path of the task directory, with `task_list.md` and `progress.md`; needed"),
    (
        "{NOTICE}",
        "messages from the supervisor and from people to this session: guidance, refused plans, a handover; needed",
    ),
    (
        "{ROLE}",
        "`Initializer Agent` in a planning session, else `Executor Agent`; you can also write the words themselves",
    ),
    (
        "{LONGHAUL}",
        "the command by which the agent's shell finds Longhaul: `longhaul` if that is on PATH, else its path",
    ),
    ("{GOAL}", "the goal, as it was submitted"),
    ("{PROGRESS}", "steps done and all steps, such as `2/6`"),
    (
        "{BRIEF}",
        "criteria, constraints, files to start from, expected files and checks, each under its heading; may be empty",
    ),
    ("{EVIDENCE}", "the checks that failed, with the end of their output; only in fixing sessions"),
];

/// When each template is used.
const USES: &[(&str, &str)] = &[
    ("plan", "A planning session."),
    ("work", "A working session."),
    ("fix", "A session after failed checks."),
    ("continue", "A session that continues a conversation which already has its prompt."),
];

fn page() -> String {
    let mut page = include_str!("page_intro.md").to_owned();
    for (name, meaning) in PLACEHOLDERS {
        page.push_str(&format!("| `{name}` | {meaning} |\n"));
    }
    page.push_str("\n## The built-in templates\n");
    for (name, text) in TEMPLATES {
        let when = USES.iter().find(|(known, _)| known == name).map_or("", |(_, when)| when);
        page.push_str(&format!("\n### `{name}.md`\n\n{when}\n\n````markdown\n{}\n````\n", text.trim_end()));
    }
    page
}

/// Every `{NAME}` in capitals that a text has.
fn placeholders(text: &str) -> Vec<String> {
    let inside = text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    inside.filter(is_name).map(|name| format!("{{{name}}}")).collect()
}

#[test]
fn the_reference_page_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/prompts.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, page()).expect("docs/reference exists");
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), page());
}

#[test]
fn every_placeholder_of_a_template_is_described_and_every_described_one_is_used() {
    let used: Vec<String> = TEMPLATES.iter().flat_map(|(_, text)| placeholders(text)).collect();
    for name in &used {
        assert!(PLACEHOLDERS.iter().any(|(known, _)| known == name), "{name} is not described");
    }
    for (name, _) in PLACEHOLDERS {
        assert!(used.iter().any(|known| known == name), "{name} is in no template");
    }
    assert_eq!(placeholders("a {MARK} {} {x} {TASK_DIR}"), ["{MARK}", "{TASK_DIR}"]);
    assert!(TEMPLATES.iter().all(|(name, _)| USES.iter().any(|(known, _)| known == name)));
}

#[test]
fn what_is_called_needed_is_needed() {
    let (_, work) = TEMPLATES.iter().find(|(name, _)| *name == "work").expect("there is one");
    for (name, meaning) in PLACEHOLDERS {
        let refused = check_template("work", &work.replace(name, "x")).is_err();
        assert_eq!(refused, meaning.ends_with("; needed"), "{name}");
    }
}
