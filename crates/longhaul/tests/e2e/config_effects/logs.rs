//! What the keys about an agent's choice, its kept output and its masked values do to a real task.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::keys::run;
use crate::env::TestEnv;

/// More than any segment and cap here.
const FLOOD: u64 = 60_000;

/// The sizes of the pieces that are kept of the first session's standard output.
fn pieces(env: &TestEnv) -> Vec<u64> {
    let session = env.sessions("t")[0]["run"]["id"].as_str().unwrap().to_owned();
    let directory = env.home().join("sessions").join(session);
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let is_output = |name: &str| name.starts_with("out.") && name.ends_with(".log");
    let kept = entries.filter(|entry| is_output(&entry.file_name().to_string_lossy()));
    kept.map(|entry| entry.metadata().unwrap().len()).collect()
}

fn gap(env: &TestEnv) -> Value {
    env.sessions("t")[0]["ended"]["gap"].clone()
}

/// A task whose first session prints so much, in a world with one more variable.
fn flooded(variable: (&str, &str)) -> TestEnv {
    let (env, code) = run(&[("DEMO_FAULT", &format!("flood:{FLOOD}@1")), variable], &[]);
    assert_eq!(code, 0);
    env
}

#[test]
pub(super) fn agent() {
    let env = TestEnv::new().without_agent();
    let file: PathBuf = env.path().join("config/longhaul/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "agent = \"demmo\"\n").unwrap();
    let refused = env.run(&["run", "Do it", "--name", "t"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("demmo") && refused.stderr.contains("`demo`"), "{}", refused.stderr);
    assert!(!env.home().exists(), "nothing was made");
    std::fs::write(&file, "agent = \"demo\"\n").unwrap();
    assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 0);
    assert_eq!(env.task("t")["submission"]["agent"], "demo");
}

#[test]
pub(super) fn log_segment() {
    let (whole, cut) = (flooded(("LONGHAUL_LOG_SEGMENT", "1MiB")), flooded(("LONGHAUL_LOG_SEGMENT", "8KiB")));
    assert_eq!((pieces(&whole).len(), gap(&whole)), (1, json!("none")), "the control: one piece");
    let pieces = pieces(&cut);
    assert!(pieces.len() >= 8 && pieces.iter().all(|size| *size <= 8 << 10), "{pieces:?}");
    assert!(pieces.iter().sum::<u64>() >= FLOOD && gap(&cut) == "none", "nothing is dropped: {pieces:?}");
}

#[test]
pub(super) fn log_cap() {
    const CAP: u64 = 16 << 10;
    let (whole, capped) = (flooded(("LONGHAUL_LOG_CAP", "1MiB")), flooded(("LONGHAUL_LOG_CAP", "16KiB")));
    assert_eq!(gap(&whole), "none", "the control: there is room");
    let (kept, lost) = (pieces(&capped), gap(&capped)["bytes"].as_u64().unwrap());
    assert!(kept.iter().all(|size| *size <= CAP / 4), "the cap caps the pieces too: {kept:?}");
    let sum = kept.iter().sum::<u64>();
    assert!(sum <= CAP && sum > CAP / 2, "{kept:?}");
    assert_eq!(sum + lost, pieces(&whole).iter().sum::<u64>(), "every dropped byte is counted");
    let logs = capped.ok(&["logs", "t", "--session", "1"]);
    assert!(logs.contains("bytes"), "a reader is told of the gap: {logs}");
}

#[test]
pub(super) fn redact_extra() {
    const VALUE: &str = "plain-looking-4711";
    let logs_of = |extra: &str| {
        let variables = [("LONGHAUL_REDACT_EXTRA", extra), ("MY_PLAIN", VALUE), ("DEMO_FAULT", "env-dump@1")];
        let (env, code) = run(&variables, &["--constraint", &format!("Use {VALUE}")]);
        assert_eq!(code, 0);
        let constraint = env.task("t")["submission"]["constraints"][0].as_str().unwrap().to_owned();
        (env.ok(&["logs", "t", "--session", "1"]), constraint)
    };
    let (open, masked) = (logs_of(""), logs_of("MY_OTHER,MY_PLAIN"));
    assert!(open.0.contains(&format!("MY_PLAIN={VALUE}")) && open.1.contains(VALUE), "the control: {open:?}");
    assert!(masked.0.contains("MY_PLAIN=[redacted:MY_PLAIN") && !masked.0.contains(VALUE), "{}", masked.0);
    assert_eq!(masked.1, "Use [redacted:MY_PLAIN]");
}

#[test]
fn a_value_named_as_secret_is_masked_wherever_a_person_types_it() {
    const VALUE: &str = "plain-looking-4711";
    let with = |before: &str| format!("{before} {VALUE}");
    let mut env = TestEnv::new().var("LONGHAUL_REDACT_EXTRA", "MY_PLAIN").var("MY_PLAIN", VALUE);
    env.set("DEMO_FAULT", "hang@2");
    let refused = env.run(&["run", "-d", "Do it", "--name", "t", "--check", &with("echo")]);
    assert_eq!((refused.code, refused.stderr.contains("secret value")), (2, true), "{}", refused.stderr);
    env.submit(&with("Log in with"), &["--name", "t", "--criterion", &with("no")]);
    env.live("t", 2);
    assert_eq!(env.run(&["edit", "t", "--check", &with("echo")]).code, 2);
    env.ok(&["pause", "t"]);
    let list = env.task_dir("t").join("task_list.md");
    let text = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, text.replace("Task 4: ", &format!("Task 4: {VALUE} "))).unwrap();
    env.ok(&["plan", "t", "--accept"]);
    env.ok(&["tell", "t", &with("It is")]);
    env.ok(&["resume", "t", "--reason", &with("because of")]);
    assert_eq!(env.settle("t"), "done");
    let told =
        [env.ok(&["events", "t", "--json"]), env.ok(&["show", "t", "--json"]), env.ok(&["report", "t"])].concat();
    assert!(!told.contains(VALUE), "{told}");
    for before in ["Log in with ", "no ", "It is ", "because of ", "\"text\":\""] {
        assert!(told.contains(&format!("{before}[redacted:MY_PLAIN]")), "{before}: {told}");
    }
}
