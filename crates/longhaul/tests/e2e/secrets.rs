//! Secrets of the environment reach no file of ours, no goal reaches a command line, and nothing harmless is masked.

use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::env::{TestEnv, done};
use crate::sight::listing;

/// So many random letters and digits.
fn random(length: usize) -> String {
    let mut bytes = vec![0; length];
    std::fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes.into_iter().map(|byte| char::from(b"abcdefghijklmnopqrstuvwxyz0123456789"[usize::from(byte) % 36])).collect()
}

/// The spellings of a value that a file must not contain.
fn spellings(value: &str) -> Vec<String> {
    let mut hex = String::new();
    for byte in value.bytes() {
        write!(hex, "{byte:02x}").unwrap();
    }
    vec![value.to_owned(), base64(value.as_bytes()), hex.to_uppercase(), hex]
}

/// Whole groups only; the secrets here have none but whole ones.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        [18, 12, 6, 0].map(|shift| char::from(LETTERS[(bits >> shift & 63) as usize]))
    };
    bytes.chunks_exact(3).flat_map(group).collect()
}

/// The files below home and workspace that contain a text.
fn files_with(env: &TestEnv, text: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = listing(&env.home()).into_keys().chain(listing(&env.workspace()).into_keys()).collect();
    all.retain(|path| path.is_file());
    all.retain(|path| std::fs::read(path).unwrap().windows(text.len()).any(|bytes| bytes == text.as_bytes()));
    all
}

fn lines_of(env: &TestEnv, task: &str) -> Vec<String> {
    env.ok(&["logs", task, "--raw"]).lines().map(str::to_owned).collect()
}

#[test]
fn no_file_holds_a_secret_that_the_agent_printed() {
    let secrets = ["MY_API_KEY", "GITHUB_TOKEN", "DB_URL"].map(|name| (name, random(33)));
    let harmless = random(32);
    let encoded = base64(secrets[0].1.as_bytes());
    let mut env = TestEnv::new().var("FOO", &harmless);
    for (name, value) in &secrets {
        let value = if *name == "DB_URL" { format!("postgres://user:{value}@host/db") } else { value.clone() };
        env.set(name, &value);
    }
    env.set("DEMO_FAULT", &format!("env-dump,says:it is {encoded} again"));
    let run = env.run(&["run", &format!("Log in with {}", secrets[1].1)]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("warning: the goal contained 1 secret value"), "{}", run.stderr);
    let name = env.json(&["list"])["tasks"][0]["name"].as_str().unwrap().to_owned();
    assert_eq!(env.task(&name)["submission"]["goal"], "Log in with [redacted:GITHUB_TOKEN]");
    env.deserted();
    let everything = [run.stdout, run.stderr, env.ok(&["logs", &name]), env.ok(&["events", &name, "--json"])].concat();
    for (secret, value) in &secrets {
        for spelling in spellings(value) {
            assert_eq!(files_with(&env, &spelling), Vec::<PathBuf>::new(), "{secret} as {spelling}");
            assert!(!everything.contains(&spelling), "{secret} as {spelling}");
        }
    }
    let found = files_with(&env, &harmless);
    assert!(found.iter().any(|path| path.ends_with("out.log")), "the scan can find: {found:?}");
    assert!(found.iter().any(|path| path.ends_with("session.log")), "the scan can find: {found:?}");
    for line in lines_of(&env, &name) {
        serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("JSON stays JSON: {error}: {line}"));
    }
}

#[test]
fn an_agent_sees_nothing_of_ours_but_marker_and_home() {
    let env = TestEnv::new().var("DEMO_FAULT", "env-dump@1").var("LONGHAUL_STORE", "somewhere").var("KEEP_ME", "yes");
    assert_eq!(env.run(&["run", "Look around"]).code, 0);
    let mut names: Vec<String> = Vec::new();
    for line in lines_of(&env, "look-around") {
        let line: Value = serde_json::from_str(&line).unwrap();
        names.extend(line["text"].as_str().and_then(|text| text.split_once('=')).map(|(name, _)| name.to_owned()));
    }
    let mut ours: Vec<&String> = names.iter().filter(|name| name.starts_with("LONGHAUL_")).collect();
    ours.sort();
    assert_eq!(ours, ["LONGHAUL_HOME", "LONGHAUL_SESSION"]);
    assert!(names.iter().any(|name| name == "KEEP_ME"), "the rest of the shell's environment is there");
}

#[test]
fn ids_and_digests_stay_byte_for_byte() {
    let texts = [
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "id 0190c5a4-7d4e-7c3a-8f00-0123456789ab",
        "the token and the key of a plain sentence",
    ];
    let env = TestEnv::new()
        .var("DEMO_FAULT", &texts.map(|text| format!("says:{text}")).join(","))
        .var("MY_API_KEY", &random(32))
        .var("SHORT_KEY", "e3b0");
    assert_eq!(env.run(&["run", "Quote"]).code, 0);
    let logs = env.ok(&["logs", "quote", "--session", "1"]);
    for text in texts {
        assert!(logs.lines().any(|line| line == text), "`{text}` is missing in {logs}");
    }
}

#[test]
fn everything_in_the_home_is_private() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2,crash@3");
    let name = env.submit("Keep private", &["--backoff", "30ms"]);
    env.live(&name, 2);
    let check = || {
        let files = listing(&env.home());
        assert!(files.len() > 10, "there is something to look at: {files:?}");
        for path in files.keys().cloned().chain([env.home()]) {
            let Ok(meta) = path.symlink_metadata() else { continue };
            let expected = if meta.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(meta.permissions().mode() & 0o777, expected, "{}", path.display());
        }
        let dir = env.task_dir(&name).symlink_metadata().unwrap();
        assert_eq!(dir.permissions().mode() & 0o777, 0o700);
    };
    check();
    env.ok(&["pause", &name]);
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "done");
    check();
}

/// Processes whose command line contains a text.
fn command_lines_with(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).filter(|line| line.contains(text)).collect()
}

#[test]
fn a_goal_is_on_no_command_line() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let secret = random(24);
    let submitted = env.feed(&["run", "-d", "-", "--name", "quiet"], format!("Whisper {secret}").as_bytes());
    assert_eq!(submitted.code, 0, "{}", submitted.stderr);
    let live = env.live("quiet", 2);
    assert_eq!(command_lines_with(&secret), Vec::<String>::new());
    assert!(!command_lines_with(&live.session).is_empty(), "the scan can find: a keeper is named by its session");
    let prompt = std::fs::read_to_string(env.home().join("sessions").join(&live.session).join("prompt")).unwrap();
    assert!(prompt.contains(&secret), "the agent got it by its standard input");
}

#[test]
fn a_plan_a_name_and_a_model_bring_no_secret_into_the_store() {
    let secret = random(32);
    let mut env = TestEnv::new().var("MY_API_TOKEN", &secret).var("DEMO_FAULT", "hang@2").var("DEMO_STEPS", "1");
    for flag in ["--name", "--model"] {
        let refused = env.run(&["run", "-d", "Keep it", flag, &secret]);
        assert_eq!(refused.code, 2, "{flag}: {}", refused.stderr);
        assert!(!refused.stderr.contains(&secret), "{flag}: {}", refused.stderr);
    }
    let task = env.submit("Keep it", &[]);
    let list = env.task_dir(&task).join("task_list.md");
    crate::env::wait_for("the work session", || (env.state(&task) == "working").then_some(()));
    env.known_conversation(&task);
    let plan = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, format!("{}\n- [ ] Task 99: call it with {secret}\n", plan.trim_end())).unwrap();
    env.ok(&["pause", "--now", &task]);
    env.unset("DEMO_FAULT");
    let shown = env.ok(&["show", &task]);
    assert!(shown.contains("Task 99: call it with [redacted:MY_API_TOKEN]"), "{shown}");
    env.ok(&["cancel", &task]);
    env.deserted();
    let found: Vec<PathBuf> =
        files_with(&env, &secret).into_iter().filter(|path| path.starts_with(env.home())).collect();
    assert_eq!(found, Vec::<PathBuf>::new());
    assert_eq!(files_with(&env, &secret), [list], "the control: it is in the person's own file");
}

#[test]
fn a_umask_that_denies_its_own_user_makes_a_home_that_can_be_used() {
    for mask in ["0277", "0477", "0777"] {
        let env = TestEnv::new();
        let run = env.command(&["run", "Make it"]);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "umask $0; exec \"$@\"", mask]).arg(run.get_program()).args(run.get_args());
        shell.current_dir(env.workspace()).envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let done = done(&shell.output().unwrap());
        assert_eq!(done.code, 0, "{mask}: {}", done.stderr);
        for path in listing(&env.home()).keys().cloned().chain([env.home()]) {
            let Ok(meta) = path.symlink_metadata() else { continue };
            let expected = if meta.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(meta.permissions().mode() & 0o777, expected, "{mask}: {}", path.display());
        }
    }
}
