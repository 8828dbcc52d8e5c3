//! `longhaul report`: a page from stored facts, the same for the same facts, and inert whatever an agent wrote.

use serde_json::Value;

use crate::env::{PASSED, TestEnv, wait_for};
use crate::sight::kill_9;

/// A finished task with everything a report can tell of.
fn rich(env: &TestEnv) -> &'static str {
    std::fs::write(env.workspace().join("notes.txt"), "start here\n").unwrap();
    let run = env.run(&[
        "run",
        "Report all of it\nwith <b>two</b> lines",
        "--name",
        "rich",
        "--check",
        "echo checked; echo aside >&2",
        "--criterion",
        "it works = true",
        "--criterion",
        "it is pretty",
        "--expect",
        "notes.txt",
        "--constraint",
        "no ![image](http://example.com/x.png)",
        "--input",
        "notes.txt",
        "--max-sessions",
        "9",
    ]);
    assert_eq!(run.code, PASSED, "{}", run.stderr);
    "rich"
}

/// Replaces what differs from run to run: ids, times, hashes, sizes of time, the scratch directory.
fn normalised(env: &TestEnv, text: &str) -> String {
    let physical = env.path().canonicalize().unwrap().display().to_string();
    let text = text.replace(&physical, "<scratch>").replace(&env.path().display().to_string(), "<scratch>");
    let user = std::env::var("USER").unwrap_or_default();
    let text = if user.is_empty() { text } else { text.replace(&format!("by `{user}`"), "by `<user>`") };
    let words = text.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || "-:.".contains(c)));
    words.map(normalised_word).collect()
}

fn normalised_word(piece: &str) -> String {
    let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let rest = &piece[word.len()..];
    let hex = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let is_time = word.len() == 20 && word.starts_with("20") && word.ends_with('Z');
    let is_span =
        word.strip_suffix('s').is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()));
    match word {
        word if word.len() == 36 && hex(word) => format!("<id>{rest}"),
        word if word.len() == 64 && hex(word) => format!("<hash>{rest}"),
        word if word.starts_with("demo-") && word.len() > 12 => format!("<conversation>{rest}"),
        word if word.len() > 2 && word.bytes().all(|c| c.is_ascii_digit()) => format!("<number>{rest}"),
        _ if is_time => format!("<time>{rest}"),
        _ if is_span => format!("<span>{rest}"),
        _ => piece.to_owned(),
    }
}

/// Compares with a file of this directory; `UPDATE_GOLDEN=1` writes it anew.
fn golden(name: &str, text: &str) {
    let path = format!("{}/tests/e2e/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default(), "{name}; UPDATE_GOLDEN=1 writes it anew");
}

/// Every path in a document with the kinds of values that stand there.
fn shape(at: &str, value: &Value, found: &mut std::collections::BTreeSet<String>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(items) => {
            items.iter().for_each(|item| shape(&format!("{at}[]"), item, found));
            "array"
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| shape(&format!("{at}.{name}"), field, found));
            "object"
        }
    };
    found.insert(format!("{at}: {kind}"));
}

#[test]
fn the_page_and_the_document_are_as_agreed() {
    let env = TestEnv::new();
    let name = rich(&env);
    let page = env.ok(&["report", name]);
    assert!(page.contains("**Done**: `checks passed, not verified, because"), "{page}");
    golden("report.md", &normalised(&env, &page));
    let document: Value = serde_json::from_str(&env.ok(&["report", name, "--json"])).unwrap();
    assert_eq!((&document["v"], &document["kind"]), (&1.into(), &"report".into()));
    let mut found = std::collections::BTreeSet::new();
    shape("", &document["data"], &mut found);
    golden("report.shape", &(found.into_iter().collect::<Vec<_>>().join("\n") + "\n"));
    let data = &document["data"];
    assert_eq!(data["result"]["kind"], "not_verified");
    let session = data["verification"]["checks"][0]["evidence"]["artifact"].as_str().unwrap();
    let log = std::fs::read_to_string(std::path::Path::new(session).join("out.log")).unwrap();
    assert_eq!(log, "checked\n", "the artifact lies where the report says");
}

#[test]
fn unverified_and_unknown_are_said_as_such() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Plain thing"]).code, 0);
    let page = env.ok(&["report", "plain-thing"]);
    let top: String = page.lines().take(3).collect::<Vec<_>>().join("\n");
    assert!(top.contains("**Done**: `unverified: no checks`"), "at the top: {top}");
    assert!(page.contains("nothing can be verified"), "{page}");
    assert!(page.contains("| unknown |"), "the demo agent tells no cost: {page}");
    let data = env.json(&["report", "plain-thing"]);
    assert_eq!((&data["result"]["kind"], &data["sessions"][0]["cost_usd"]), (&"no_checks".into(), &Value::Null));
    assert_eq!(data["changed_files"]["files"], Value::Null, "no git, so nobody knows");
    assert!(data["changed_files"]["unknown"].as_str().unwrap().contains("did not start from a commit"), "{data}");
}

#[test]
fn a_failing_check_shows_its_evidence_and_what_to_do() {
    let env = TestEnv::new();
    let check = "echo '<script>alert(1)</script>'; exit 7";
    let run = env.run(&["run", "Never good", "--check", check, "--criterion", "words only", "--fix-attempts", "0"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let page = env.ok(&["report", "never-good"]);
    for part in [
        "**Not finished**",
        "- **fail**: `echo",
        "exit code 7",
        "SHA-256",
        "- **unknown**: `words only`",
        "The end of the output of `echo",
        "\n<script>alert(1)</script>\n",
        "## Questions",
        "answer: open",
    ] {
        assert!(page.contains(part), "`{part}` is missing in\n{page}");
    }
    let data = env.json(&["report", "never-good"]);
    assert_eq!(data["verification"]["checks"][0]["result"], "fail");
    assert_eq!(data["verification"]["checks"][0]["evidence"]["exit"], "exit code 7");
    env.ok(&["tell", "never-good", "look at ![x](http://e) <img src=q>\n```\n# not a heading"]);
    env.ok(&["cancel", "never-good", "--reason", "</code> enough"]);
    let page = env.ok(&["report", "never-good"]);
    assert!(page.contains("**Not done**") && page.contains("````text\nlook at"), "{page}");
    inert(&page);
}

/// Outside of code no foreign markup is left: no HTML, no image, no link.
fn inert(page: &str) {
    let mut fence: Option<String> = None;
    for line in page.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if line == open.as_str() => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 && line.ends_with("text") => fence = Some(ticks),
            None => {
                let bare = without_spans(line);
                assert!(!bare.contains(['<', '>']) && !bare.contains("](") && !bare.contains("http"), "{line}");
            }
        }
    }
    assert_eq!(fence, None, "every block is closed");
}

/// A line without its code spans.
fn without_spans(line: &str) -> String {
    let mut bare = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        bare.push_str(&rest[..at]);
        let ticks: String = rest[at..].chars().take_while(|c| *c == '`').collect();
        let body = &rest[at + ticks.len()..];
        let mut from = 0;
        rest = loop {
            let Some(end) = body[from..].find(&ticks).map(|end| from + end) else { break body };
            let run = body[end..].chars().take_while(|c| *c == '`').count();
            if run == ticks.len() {
                break &body[end + run..];
            }
            from = end + run;
        };
    }
    bare + rest
}

#[test]
fn the_inertness_check_can_fail() {
    assert_eq!(without_spans("a `b` c ``d ` e`` f"), "a  c  f");
    assert!(std::panic::catch_unwind(|| inert("x <b>")).is_err());
    assert!(std::panic::catch_unwind(|| inert("![x](http://y)")).is_err());
    inert("`<b>` and\n```text\n<b>\n```\n");
}

#[test]
fn what_an_agent_writes_stays_inert() {
    let env = TestEnv::new().var("DEMO_FAULT", "says:<img src=x onerror=alert(1)>,hang@2");
    let name = env.submit("Make <h1>big</h1> ![p](http://e/p.png)", &["--name", "bad"]);
    env.live(&name, 2);
    env.ok(&["pause", &name]);
    let list = "## Tasks\n\n- [x] Task 1: <img src=http://e> [l](http://e) `` `x\n- [ ] Task 2: | a | b |\n";
    std::fs::write(env.path().join("list.md"), list).unwrap();
    env.ok(&["plan", &name, "--accept", env.path().join("list.md").to_str().unwrap()]);
    let page = env.ok(&["report", &name]);
    assert!(page.contains("Task 2: `| a | b |`"), "{page}");
    inert(&page);
}

#[test]
fn kills_are_told() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Die once", &["--backoff", "1ms"]);
    let live = env.live(&name, 2);
    kill_9(env.worker_pid(&name));
    env.ok(&["worker", "-d"]);
    wait_for("the adoption", || env.kinds(&name).iter().filter(|kind| *kind == "claimed").nth(1).map(|_| ()));
    kill_9(live.agent);
    assert_eq!(env.settle(&name), "done");
    let page = env.ok(&["report", &name]);
    assert!(page.contains(" died; worker "), "{page}");
    assert!(page.contains("killed by signal 9"), "{page}");
    let rows = env.json(&["report", &name])["sessions"].as_array().unwrap().clone();
    assert_eq!(rows[1]["outcome"], "crashed");
}

#[test]
fn a_file_gets_the_whole_report_or_stays_as_it_was() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "File it"]).code, 0);
    let file = env.workspace().join("report.md");
    std::fs::write(&file, "old").unwrap();
    let done = env.run(&["report", "file-it", "--output", "report.md"]);
    assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{}", done.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), env.ok(&["report", "file-it"]));
    env.ok(&["report", "file-it", "--json", "-o", "report.json"]);
    let document = std::fs::read_to_string(env.workspace().join("report.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&document).unwrap()["kind"], "report");
    for bad in ["missing/report.md", ".", "/"] {
        let done = env.run(&["report", "file-it", "--output", bad]);
        assert_eq!(done.code, 2, "{bad}: {}", done.stderr);
        assert!(done.stderr.contains("hint:"), "{}", done.stderr);
    }
    assert_eq!(env.run(&["report", "nobody"]).code, 7);
    let leftovers = std::fs::read_dir(env.workspace())
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().contains("tmp"));
    assert_eq!(leftovers.count(), 0);
}
