//! Every channel once, for a task that is done: what exactly arrives.

use serde_json::Value;

use super::server::Server;
use super::{desk, ends, notices, settled, told, told_in};
use crate::checker;
use crate::env::{PASSED, wait_for};

#[test]
fn a_program_gets_the_facts_in_variables_and_the_whole_as_json() {
    let env = super::telling();
    let done = env.run(&["run", "Do it", "--name", "t", "--check", "true"]);
    assert_eq!(done.code, PASSED, "{}", done.stderr);
    assert_eq!(ends(&env, "t"), [("command".into(), "delivered".into())]);
    let task = env.task("t");
    let (id, project) = (task["id"].as_str().unwrap(), env.workspace().canonicalize().unwrap());
    let message: Value = serde_json::from_str(&told(&env, "done", "input")).unwrap();
    assert_eq!((&message["v"], &message["occasion"], &message["state"]), (&1.into(), &"done".into(), &"done".into()));
    assert_eq!((message["task"].as_str(), message["name"].as_str()), (Some(id), Some("t")));
    assert_eq!((message["project"].as_str(), message["progress"].as_str()), (project.to_str(), Some("1/1")));
    assert_eq!(message["report"], format!("longhaul report {id}"));
    assert_eq!(message["message"], env.json(&["why", "t"])["why"], "as `why` says it");
    let variables = told(&env, "done", "variables");
    let names: Vec<&str> = variables.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let expected = ["HOME", "MESSAGE", "OCCASION", "STATE", "TASK", "TASK_NAME"];
    assert_eq!(names, expected.map(|name| format!("LONGHAUL_{name}")), "and nothing else of ours");
    for line in [format!("LONGHAUL_TASK={id}"), "LONGHAUL_TASK_NAME=t".into(), "LONGHAUL_OCCASION=done".into()] {
        assert!(variables.lines().any(|have| have == line), "{line}: {variables}");
    }
    assert_eq!(told(&env, "done", "directory").trim(), project.to_str().unwrap());
    // The program may ask us about the task with exactly the variables it got.
    let mut asks = env.command(&["why", id]);
    asks.envs(variables.lines().filter_map(|line| line.split_once('=')));
    let asked = asks.output().unwrap();
    assert!(asked.status.success() && asked.stderr.is_empty(), "{}", String::from_utf8_lossy(&asked.stderr));
}

#[test]
fn all_channels_are_told_each_once() {
    let server = Server::answering(&[204]);
    let mut env = super::telling().var("LONGHAUL_NOTIFY_DESKTOP", "true");
    let marker = env.path().join("{name}.{occasion}");
    env.set("LONGHAUL_NOTIFY_FILE", marker.to_str().unwrap());
    env.set("LONGHAUL_NOTIFY_WEBHOOK", &server.url());
    assert_eq!(env.run(&["run", "Do it", "--name", "t", "--check", "true"]).code, PASSED);
    let channels = ["command", "file", "webhook", "desktop"];
    assert_eq!(ends(&env, "t"), channels.map(|channel| (channel.to_owned(), "delivered".to_owned())));
    assert!(settled(&env, "t").iter().all(|notice| notice["tries"] == 1 && notice["error"].is_null()));
    let desktop = std::fs::read_to_string(told_in(&env).join("notify-send")).unwrap();
    assert!(desktop.starts_with("t is done\nt is done (since "), "{desktop}");
    let file = std::fs::read_to_string(env.path().join("t.done")).unwrap();
    let request = server.next();
    assert_eq!(request.body, file, "the same message everywhere");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!((request.line.as_str(), request.header("x-longhaul-signature")), ("POST /hook HTTP/1.1", None));
    // The history knows nothing of it, and everybody has left.
    assert!(!env.ok(&["events", "t", "--json"]).contains("notice"));
    env.wait_until_empty();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(&env);
    assert!(!env.ok(&["show", "t"]).contains("not delivered"));
    let report = env.ok(&["report", "t"]);
    assert!(report.contains("## Notices") && report.contains("done by webhook: delivered (1 tries)"), "{report}");
}

#[test]
fn without_a_target_nothing_is_kept_and_nobody_waits() {
    let env = desk();
    assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 0);
    env.wait_until_empty();
    assert_eq!(notices(&env, "t"), Vec::<Value>::new());
    assert!(env.task("t")["submission"].get("notify").is_none());
}

/// The stand-ins refuse what they do not know, or the tests here prove nothing.
#[test]
fn the_control_stand_ins_refuse_other_arguments() {
    let env = desk();
    for (program, arguments) in [
        ("notify-send", &["--app-name=longhaul", "one"][..]),
        ("notify-send", &["--app-name=longhaul", "one", "two", "three"]),
        ("tell", &["--quiet"]),
    ] {
        let mut command = std::process::Command::new(env.path().join("bin").join(program));
        let status = command.args(arguments).env("TOLD", told_in(&env)).stdin(std::process::Stdio::null()).status();
        assert_eq!(status.unwrap().code(), Some(64), "{program} {arguments:?}");
    }
    let nothing = std::fs::read_dir(told_in(&env)).unwrap().count();
    assert_eq!(nothing, 0);
    wait_for("nobody", || env.processes().is_empty().then_some(()));
}
