//! The verbs that start and read, as a user meets them: demo, run, list, show, logs, events, why, and how a task is named.

use std::process::Command;

use serde_json::{Value, json};

use crate::env::{TestEnv, done, processes_with, wait_for};
use crate::sight::{alive, finish, kill_9};

#[test]
fn the_demo_survives_both_kills_and_leaves_a_working_app() {
    let env = TestEnv::new();
    let scratch = env.path().join("scratch");
    let shown = env.run(&["demo", "--pace", "50", "--dir", scratch.to_str().unwrap()]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    for part in [
        ">>> kill -9 of the worker",
        ">>> kill -9 of the agent",
        "the worker (pid",
        "the agent (pid",
        "was killed with -9, and the task continued",
        "its worker is dead; another one was started",
        "resumed the agent's conversation",
        "hash chain is intact",
        "Files:",
        "`longhaul setup`",
    ] {
        assert!(shown.stderr.contains(part), "`{part}` is missing in\n{}", shown.stderr);
    }
    let made: Vec<_> = std::fs::read_dir(&scratch).unwrap().flatten().map(|entry| entry.path()).collect();
    let [root] = made.as_slice() else { panic!("one directory, not {made:?}") };
    let app = |args: &[&str]| {
        let mut command = Command::new("sh");
        done(&command.arg("todo.sh").args(args).current_dir(root.join("workspace")).output().unwrap())
    };
    assert_eq!(app(&["add", "milk"]).code, 0);
    assert!(app(&["list"]).stdout.contains("milk"));
    assert!(!shown.stderr.contains("shows its history"), "that would look into another home: {}", shown.stderr);
    assert!(!env.home().exists(), "the demo stays in its scratch directory");
    let home = format!("LONGHAUL_HOME={}", root.join("home").display());
    wait_for("the demo's processes to leave", || processes_with(&home).is_empty().then_some(()));
}

#[test]
fn every_reading_verb_tells_of_a_finished_task() {
    let env = TestEnv::new();
    let run = env.run(&["run", "Read all about it", "--model", "tiny"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout, "", "progress is no data");
    for part in
        ["task read-all-about-it (", "▶ plan       demo, session 1", "✓ step 4/4", "longhaul events read-all-about-it"]
    {
        assert!(run.stderr.contains(part), "`{part}` is missing in\n{}", run.stderr);
    }
    let name = "read-all-about-it";
    assert!(env.ok(&["list"]).starts_with("DONE\n✓ read-all-about-it  unverified: no checks "));
    assert!(env.ok(&["list", "--all"]).contains(env.workspace().canonicalize().unwrap().to_str().unwrap()));
    let show = env.ok(&["show", name]);
    for part in ["Read all about it", "done, unverified", "4/4 (100%)", "[x] Task 4", "exit code 0", "demo"] {
        assert!(show.contains(part), "`{part}` is missing in\n{show}");
    }
    let why = env.ok(&["why", name]);
    assert!(why.contains("is done (since ") && why.contains("done, unverified"), "{why}");
    let events = env.ok(&["events", name]);
    assert!(events.lines().next().unwrap().contains("submitted as `read-all-about-it` for agent demo"), "{events}");
    let whole = env.run(&["events", name, "--verify"]);
    assert_eq!((whole.code, whole.stdout.as_str()), (0, ""), "{}", whole.stderr);
}

#[test]
fn logs_show_what_the_agent_said() {
    let env = TestEnv::new();
    let name = env.submit("Say something", &["--model", "tiny"]);
    let follow = env.start(&["logs", "-f", &name]);
    let followed = finish(follow);
    assert_eq!(env.state(&name), "done", "logs -f ends with the task, not before");
    assert_eq!(followed.code, 0);
    let all = env.ok(&["logs", &name]);
    assert_eq!(followed.stdout, all, "following loses and repeats nothing");
    assert!(all.contains("Model tiny.") && all.contains("[tick] Task 4"), "{all}");
    let second = env.ok(&["logs", &name, "--session", "2"]);
    assert!(second.contains("[tick] Task 1") && !second.contains("Planned"), "{second}");
    let raw = env.ok(&["logs", &name, "--session", "1", "--raw"]);
    assert!(raw.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{raw}");
    for line in env.ok(&["logs", &name, "--json"]).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&line["v"], &line["kind"]), (&1.into(), &"turn".into()));
        assert!(line["data"]["session"].is_u64() && line["data"]["text"].is_string(), "{line}");
    }
    let missing = env.run(&["logs", &name, "--session", "9"]);
    assert_eq!(missing.code, 7, "{}", missing.stderr);
}

#[test]
fn logs_show_standard_error_and_a_last_line_without_an_end() {
    let mut env = TestEnv::new();
    assert_eq!(env.run(&["run", "Say something"]).code, 0);
    let whole = env.ok(&["logs", "say-something", "--raw"]);
    let last = env.json(&["show", "say-something"])["sessions"][2]["id"].as_str().unwrap().to_owned();
    let log = env.home().join("sessions").join(last).join("out.log");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.strip_suffix('\n').unwrap()).unwrap();
    assert_eq!(env.ok(&["logs", "say-something", "--raw"]), whole, "cut short in the middle of its last line");
    env.set("DEMO_FAULT", "no-such-fault");
    assert_eq!(env.run(&["run", "Complain", "--backoff", "1ms"]).code, 5);
    let complaint = "demo-agent: unknown fault `no-such-fault` in DEMO_FAULT";
    let shown = env.ok(&["logs", "complain", "--session", "1"]);
    assert!(shown.contains(&format!("  2> {complaint}")), "{shown}");
    let raw = env.run(&["logs", "complain", "--raw"]);
    assert!(raw.stderr.contains(complaint) && raw.stdout.is_empty(), "each stream on its own: {}", raw.stdout);
    let json = env.ok(&["logs", "complain", "--session", "1", "--json"]);
    let line: Value = serde_json::from_str(json.lines().nth(1).unwrap()).unwrap();
    assert_eq!((&line["data"]["role"], &line["data"]["text"]), (&"stderr".into(), &complaint.into()));
}

#[test]
fn why_finds_the_telling_event_behind_much_output_and_credits_persons_only() {
    let env = TestEnv::new().var("DEMO_STEPS", "500").var("DEMO_STEPS_PER_SESSION", "500").var("DEMO_PACE_MS", "5");
    let name = env.submit("Talk much", &[]);
    wait_for("more output than one page of events", || {
        let kinds = env.kinds(&name);
        assert!(!kinds.contains(&"finished".to_owned()), "too short: {kinds:?}");
        (kinds.iter().rev().take_while(|kind| *kind == "session_read").count() > 60).then_some(())
    });
    let why = env.ok(&["why", &name]);
    assert!(why.contains("is working (since ") && why.contains(": work session 2 started"), "{why}");
    assert!(!why.contains("(by "), "nobody asked for it: {why}");
    env.ok(&["pause", &name]);
    let why = env.ok(&["why", &name]);
    let user = std::env::var("USER").unwrap_or_else(|_| "uid".into());
    assert!(why.contains(&format!("(by {user}")), "a person paused it: {why}");
}

#[test]
fn no_escape_of_a_name_reaches_the_screen() {
    let env = TestEnv::new().var("USER", "\u{1b}[31mred").var("DEMO_FAULT", "hang");
    let name = env.submit("Colour", &[]);
    env.live(&name, 1);
    env.ok(&["pause", &name]);
    env.ok(&["cancel", &name]);
    for verb in ["events", "show", "why", "list", "wait"] {
        let shown = env.run(&[verb]);
        assert!(!(shown.stdout + &shown.stderr).contains('\u{1b}'), "{verb}");
    }
    assert!(env.ok(&["events"]).contains("\\u{1b}[31mred"), "it is shown visibly");
}

#[test]
fn json_has_one_versioned_shape_everywhere() {
    let env = TestEnv::new();
    assert_eq!(env.json(&["list"])["tasks"], Value::Array(Vec::new()), "an empty home is no error");
    let submitted: Value = serde_json::from_str(&env.ok(&["run", "-d", "--json", "Count me"])).unwrap();
    assert_eq!((&submitted["v"], &submitted["kind"]), (&1.into(), &"task".into()));
    let id = submitted["data"]["id"].as_str().unwrap();
    assert_eq!(env.settle("count-me"), "done");
    let row = env.json(&["list", "--all"])["tasks"][0].clone();
    assert_eq!((row["id"].as_str(), row["state"].as_str()), (Some(id), Some("done")));
    assert_eq!((&row["progress"], &row["sessions"]), (&json!({ "done": 4, "total": 4 }), &json!(3)));
    assert!(row["tokens"].as_u64().unwrap() > 0);
    let show = env.json(&["show", id]);
    assert_eq!(show["sessions"].as_array().unwrap().len(), 3);
    assert_eq!((&show["goal"], &show["owner"]), (&json!("Count me"), &Value::Null));
    assert_eq!(show["task"], row, "there is one task object");
    let why = env.json(&["why", id]);
    assert!(why["why"].is_string() && why["next_step"].is_string() && why["task"] == row, "{why}");
    let lines = env.ok(&["events", id, "--json"]);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = events.iter().map(|event| event["data"]["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>(), "without gaps");
    let first = &events[0]["data"];
    assert_eq!(
        (&events[0]["kind"], &first["kind"], &first["actor"]["scope"]),
        (&json!("event"), &json!("submitted"), &json!("person"))
    );
    assert!(first["at"].is_string() && first["sentence"].is_string(), "{first}");
    assert_eq!((&first["agent"], &first["session"]), (&json!("demo"), &Value::Null));
    assert!(!events[0].to_string().contains("Count me"), "what is stored is not sent: {first}");
    assert_eq!(env.json(&["events", id, "--verify"])["broken"], Value::Null);
    assert_eq!(env.json(&["wait", id]), row, "and everywhere the same");
}

#[test]
fn a_goal_comes_from_standard_input_with_all_its_lines() {
    let env = TestEnv::new();
    let done = env.feed(&["run", "-d", "-"], "Über den\nZeilenrand $(rm -rf ~) `x`\n".as_bytes());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let name = done.stdout.trim();
    assert_eq!(name, "uber-den-zeilenrand-rm-rf");
    assert_eq!(env.task(name)["submission"]["goal"], "Über den\nZeilenrand $(rm -rf ~) `x`\n");
    assert_eq!(env.settle(name), "done");
    assert_eq!(env.feed(&["run", "-d", "-"], "目标".as_bytes()).stdout, "mu-biao\n");
    let nameless = env.feed(&["run", "-d", "-"], "!?".as_bytes());
    assert!(nameless.stdout.starts_with("task-2"), "no letter and no digit gives a dated name: {}", nameless.stdout);
}

#[test]
fn a_history_changed_from_outside_is_found() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Keep the books"]).code, 0);
    assert_eq!(env.run(&["events", "keep-the-books", "--verify"]).code, 0);
    let database = rusqlite::Connection::open(env.home().join("longhaul.db")).unwrap();
    let tamper = "DROP TRIGGER events_are_not_changed;
        UPDATE events SET payload = replace(payload, 'Keep the books', 'Cook the books') WHERE seq = 1;";
    database.execute_batch(tamper).unwrap();
    drop(database);
    let found = env.run(&["events", "keep-the-books", "--verify"]);
    assert_eq!(found.code, 9, "{}", found.stderr);
    assert!(found.stderr.contains("the history was changed") && found.stderr.contains("hint:"), "{}", found.stderr);
}

#[test]
fn names_ids_and_nothing_at_all_find_the_task_that_is_meant() {
    let mut env = TestEnv::new();
    env.set("DEMO_FAULT", "hang");
    let first = env.submit("First thing", &[]);
    let id = env.task(&first)["id"].as_str().unwrap().to_owned();
    for meant in [&[][..], &["first-thing"], &[&id], &[&id[..30]]] {
        let shown = env.json(&[&["show"], meant].concat());
        assert_eq!(shown["task"]["id"], id.as_str(), "{meant:?}");
    }
    env.submit("Second thing", &[]);
    let ambiguous = env.run(&["show"]);
    assert_eq!(ambiguous.code, 2);
    assert!(ambiguous.stderr.contains("first-thing") && ambiguous.stderr.contains("second-thing"));
    let prefix = env.run(&["show", &id[..8]]);
    assert_eq!(prefix.code, 2, "both ids begin alike: {}", prefix.stdout);
    let elsewhere = env.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let there = |args: &[&str]| done(&env.command(args).current_dir(&elsewhere).output().unwrap());
    assert_eq!(there(&["show"]).code, 7, "no unfinished task in that project");
    assert!(there(&["list"]).stderr.contains("list --all"));
    assert_eq!(there(&["show", "first-thing"]).code, 0, "a name that only one project knows");
    assert_eq!(there(&["run", "-d", "First thing"]).stdout.trim(), "first-thing", "each project has its own names");
    let both = there(&["show", "first-thing", "--json"]).stdout;
    assert!(both.contains("elsewhere"), "the own project comes first: {both}");
    assert_eq!(env.task("first-thing")["id"], id.as_str());
}

#[test]
fn a_name_of_a_finished_task_is_not_used_again() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Again"]).code, 0);
    let second = env.submit("Again", &[]);
    assert_eq!(second, "again-2", "a generated name avoids the directory that is there");
    env.settle(&second);
    let third = env.run(&["run", "-d", "Again", "--name", "again"]);
    assert_eq!((third.code, third.stdout.as_str()), (0, "again-3\n"), "{}", third.stderr);
    assert!(third.stderr.contains("a finished task has the name `again`"), "{}", third.stderr);
}

#[test]
fn reading_verbs_work_without_a_worker_and_say_so() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Orphan", &[]);
    let live = env.live(&name, 2);
    assert!(!env.ok(&["why", &name]).contains("no worker"), "the control");
    kill_9(env.worker_pid(&name));
    let list = env.run(&["list"]);
    assert!(list.stdout.contains("● orphan  no worker: write step-1.md"), "{}", list.stdout);
    assert!(list.stderr.contains("longhaul worker -d"), "{}", list.stderr);
    assert!(env.ok(&["show", &name]).contains("is dead; start another with `longhaul worker -d`"));
    assert_eq!(env.json(&["list"])["tasks"][0]["has_worker"], false);
    let why = env.ok(&["why", &name]);
    assert!(why.contains("no worker is alive") && why.contains("start a worker with `longhaul worker -d`"), "{why}");
    for verb in ["events", "logs"] {
        env.ok(&[verb, &name]);
    }
    assert_eq!(env.state(&name), "working");
    assert!(alive(live.agent), "the agent goes on");
    let own = [live.agent, live.keeper];
    let busy: Vec<_> = env.processes().into_iter().filter(|process| !own.contains(&process.pid)).collect();
    assert!(busy.is_empty(), "reading starts no worker: {busy:?}");
    let cancel = env.run(&["cancel", &name]);
    assert_eq!(cancel.code, 0, "{}", cancel.stderr);
    assert_eq!(env.state(&name), "cancelled", "a changing verb starts one");
    env.deserted();
}
