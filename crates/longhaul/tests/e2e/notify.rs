//! Notifications with the real binary: strict stand-ins on PATH for every program, a real server on 127.0.0.1 for the webhook.
//! Whatever becomes of them, the task's outcome is the same; what is told is told after the outcome is durable.

mod channels;
mod effects;
mod here;
mod occasions;
mod runner;
mod safety;
mod server;
mod trouble;
mod webhook;
mod whose;

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::env::{TestEnv, wait_for};
use crate::rounds::one_step;

pub(crate) use effects::EFFECTS;

const STAND_INS: [(&str, &str); 2] =
    [("notify-send", include_str!("notify/notify-send.sh")), ("tell", include_str!("notify/tell.sh"))];

/// A world with stand-ins on PATH that leave what they were told in a directory.
fn desk() -> TestEnv {
    let env = one_step();
    let programs = env.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    std::fs::create_dir(told_in(&env)).unwrap();
    for (name, script) in STAND_INS {
        std::fs::write(programs.join(name), script).unwrap();
        std::fs::set_permissions(programs.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let told = told_in(&env).display().to_string();
    env.var("PATH", &path).var("TOLD", &told).var("NO_PROXY", "127.0.0.1").var("LONGHAUL_LIMITS_BACKOFF", "10ms")
}

/// A desk whose tasks run the person's own program.
fn telling() -> TestEnv {
    desk().var("LONGHAUL_NOTIFY_COMMAND", "tell\n--loud")
}

fn told_in(env: &TestEnv) -> PathBuf {
    env.path().join("told")
}

/// Names of what the person's own program was told, in order: the occasions.
fn occasions(env: &TestEnv) -> Vec<String> {
    let names = std::fs::read_dir(told_in(env)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut told: Vec<String> = names.filter_map(|name| Some(name.strip_prefix("told.")?.to_owned())).collect();
    told.sort();
    told.into_iter().map(|name| name.split('.').next().unwrap().to_owned()).collect()
}

/// What the person's own program was told on an occasion: a file of it.
fn told(env: &TestEnv, occasion: &str, file: &str) -> String {
    let names = std::fs::read_dir(told_in(env)).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&format!("told.{occasion}."));
    let directory = names.into_iter().find(is_it).unwrap_or_else(|| panic!("nothing was told of `{occasion}`"));
    std::fs::read_to_string(directory.join(file)).unwrap()
}

/// The notices of a task, once none of them is pending.
fn settled(env: &TestEnv, task: &str) -> Vec<Value> {
    wait_for("every notice to be settled", || {
        let notices = notices(env, task);
        (!notices.is_empty() && notices.iter().all(|notice| notice["state"] != "pending")).then_some(notices)
    })
}

fn notices(env: &TestEnv, task: &str) -> Vec<Value> {
    env.json(&["show", task])["notices"].as_array().unwrap().clone()
}

/// How each notice of a task ended, once all have.
fn ends(env: &TestEnv, task: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    settled(env, task).iter().map(|notice| (text(&notice["channel"]), text(&notice["state"]))).collect()
}

/// Writes into the outbox what nobody but time would: every notice of this world is as much older.
fn age(env: &TestEnv, seconds: i64) {
    let connection = rusqlite::Connection::open(env.home().join("longhaul.db")).unwrap();
    connection.busy_timeout(crate::env::DEADLINE).unwrap();
    let sql = "UPDATE outbox SET next_at = next_at - ?1, created = created - ?1";
    connection.execute(sql, [seconds * 1_000_000]).unwrap();
}
