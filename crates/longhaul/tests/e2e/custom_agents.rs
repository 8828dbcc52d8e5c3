//! Agents that are declared in the configuration, end to end: a flag-strict program that no Rust file knows plans, works, is resumed,
//! is limited, is switched from, and leaves something behind.

mod guide;
mod session_verb;
mod trouble;
mod verb;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::env::TestEnv;

/// The dialect of the strict program, without how it is started.
const DIALECT: &str = r#"
id = "/session/id"
text = { path = "/content/*/text", when = { "/type" = "say" } }
tool = { path = "/name", when = { "/type" = "tool" } }
input_tokens = "/usage/in"
output_tokens = "/usage/out"
cost = "/usd"
error = { path = "/error", when = { "/type" = "error" } }
limit_until = "/resets"
done = { when = { "/type" = "end" } }
errors = [{ contains = "rate limit", class = "limited" }, { contains = "no such session", class = "bad_conversation" }]
version = ["--version"]
"#;

/// A world with the strict program on PATH and these tables in the user's file.
fn world(config: &str) -> TestEnv {
    let env = TestEnv::new();
    let env = if config.starts_with("agent = ") { env.without_agent() } else { env };
    let fake = env.path().join("fake");
    fs::create_dir(&fake).unwrap();
    program(&env, "strict-agent", include_str!("custom_agents/strict-agent.sh"));
    configure(&env, config);
    let path = format!("{}:{}", env.path().join("bin").display(), std::env::var("PATH").unwrap());
    let fake = fake.display().to_string();
    env.var("FAKE_DIR", &fake).var("PATH", &path).var("LONGHAUL_LIMITS_BACKOFF", "10ms")
}

/// Puts a program into the world's own directory of PATH.
pub(crate) fn program(env: &TestEnv, name: &str, text: &str) {
    let bin = env.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let file = bin.join(name);
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn configure(env: &TestEnv, config: &str) {
    let directory = env.path().join("config/longhaul");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("config.toml"), config).unwrap();
}

/// A table for the strict program under this name, resumed by its id.
fn table(name: &str) -> String {
    let argv = format!(
        "\"strict-agent\", \"--json\", \"--name\", \"{name}\", \"--cd\", \"{{cwd}}\", [\"--model\", \"{{model}}\"]"
    );
    format!("[agents.{name}]\nargv = [{argv}]\nresume = [{argv}, \"--resume\", \"{{resume}}\"]\n{DIALECT}")
}

/// Tells the strict program to do something wrong.
fn tell(env: &TestEnv, what: &str, text: &str) {
    fs::write(env.path().join("fake").join(what), text).unwrap();
}

fn launches(env: &TestEnv) -> Vec<String> {
    let text = fs::read_to_string(env.path().join("fake/launches")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn file(env: &TestEnv, name: &str) -> String {
    fs::read_to_string(env.workspace().join(Path::new(name))).unwrap_or_default().trim().to_owned()
}

/// What every started session of a task is told to be, oldest first.
fn started(env: &TestEnv, task: &str) -> Vec<Value> {
    let events = env.events(task).into_iter().map(|event| event["event"].clone());
    events.filter(|event| event["kind"] == "session_started").map(|event| event["session"].clone()).collect()
}

fn run(env: &TestEnv, more: &[&str]) -> i32 {
    let done = env.run(&[&["run", "Make files", "--name", "t"], more].concat());
    assert!(done.code == 0, "{}\n{}", done.stderr, env.run(&["events", "t"]).stdout);
    done.code
}

#[test]
fn a_declared_agent_plans_works_and_is_resumed_by_its_id() {
    let env = world(&table("mine"));
    tell(&env, "die-once", "");
    run(&env, &["--agent", "mine", "--model", "small"]);
    let launches = launches(&env);
    assert_eq!(launches.len(), 4, "{launches:?}");
    let interrupted = started(&env, "t")[2]["resumes"].as_str().unwrap().to_owned();
    assert_eq!(launches[2], format!("mine resume={interrupted}"));
    assert_eq!([&launches[0], &launches[1], &launches[3]], ["mine resume="; 3], "{launches:?}");
    assert_eq!((file(&env, "file-1"), file(&env, "file-2")), ("by mine".into(), "by mine".into()));
    assert_eq!(fs::read_to_string(env.path().join("fake/models")).unwrap(), "small\n".repeat(4));
    let logs = env.ok(&["logs", "t"]);
    assert!(logs.contains("All good.") && logs.contains("write"), "{logs}");
    let used = env.task("t")["tally"]["usage"].clone();
    assert_eq!((used["input"].as_u64(), used["cost_micros"].as_u64()), (Some(300), Some(750_000)), "{used}");
}

#[test]
fn a_worker_without_the_configuration_goes_on_with_what_the_task_stored() {
    let env = world(&table("mine"));
    let task = env.submit("Make files", &["--agent", "mine", "--once"]);
    assert_eq!(env.settle(&task), "paused");
    env.wait_until_empty();
    fs::remove_file(env.path().join("config/longhaul/config.toml")).unwrap();
    env.ok(&["edit", &task, "--delay", "0s"]);
    while env.state(&task) != "done" {
        env.ok(&["resume", &task]);
        assert!(["paused", "done"].contains(&env.settle(&task).as_str()));
    }
    assert_eq!(file(&env, "file-2"), "by mine");
}

#[test]
fn without_resume_every_session_starts_afresh_and_an_interruption_is_handed_over() {
    let text = "argv = [\"strict-agent\", \"--prompt-file\", \"{prompt_file}\"]\nprompt = \"file\"\n";
    let dialect = DIALECT.replace("id = \"/session/id\"\n", "");
    let env = world(&format!("[agents.plain]\n{text}{dialect}"));
    tell(&env, "die-once", "");
    run(&env, &["--agent", "plain"]);
    assert!(launches(&env).iter().all(|launch| launch == "strict resume="), "{:?}", launches(&env));
    let openings: Vec<Value> = started(&env, "t").iter().map(|session| session["opening"].clone()).collect();
    let handed_over =
        |opening: &Value| opening["handover"]["why"].as_str().is_some_and(|why| why.contains("no conversations"));
    assert!(handed_over(&openings[2]) && !openings[1].is_object() && !openings[3].is_object(), "{openings:?}");
}

#[test]
fn a_usage_limit_with_its_time_is_waited_out() {
    let env = world(&table("mine"));
    tell(&env, "limit-mine", "2");
    run(&env, &["--agent", "mine"]);
    let limited: Vec<Value> = env.events("t").into_iter().filter(|e| e["event"]["kind"] == "agent_limited").collect();
    assert_eq!((limited.len(), &limited[0]["event"]["told"]), (1, &Value::Bool(true)), "{limited:?}");
    assert_eq!(launches(&env).len(), 4, "one try too many, none after the limit");
}

#[test]
fn a_limited_agent_is_switched_from_and_returned_to() {
    let env = world(
        &format!("{}{}", table("first"), table("second")).replace("\"--json\"", "\"--json\", \"--steps\", \"3\""),
    );
    tell(&env, "limit-first", "3");
    tell(&env, "outlast", "");
    run(&env, &["--agents", "first,second", "--on-limit", "switch"]);
    let names: Vec<String> = launches(&env).iter().map(|launch| launch.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(names, ["first", "second", "second", "first", "first"]);
    assert_eq!((file(&env, "file-1"), file(&env, "file-3")), ("by second".into(), "by first".into()));
}
