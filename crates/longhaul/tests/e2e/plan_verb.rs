//! `longhaul plan`: what the plan is, what was refused of it, and how a person's own list is taken.

use serde_json::Value;

use crate::env::TestEnv;

/// A paused task with an accepted plan of four steps.
fn paused() -> (TestEnv, String) {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Plan it", &[]);
    env.live(&name, 2);
    env.ok(&["pause", &name]);
    (env, name)
}

#[test]
fn the_plan_is_shown_with_its_current_step() {
    let (env, name) = paused();
    let shown = env.ok(&["plan", &name]);
    assert!(shown.contains("plan revision 1, 0/4 (0%)") && shown.contains("[ ] Task 1:"), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.ends_with("<- current")).count(), 1, "{shown}");
    let plan = env.json(&["plan", &name]);
    let accepted = &plan["plan"];
    assert_eq!((&accepted["revision"], &accepted["total"], &accepted["current"]), (&1.into(), &4.into(), &1.into()));
    assert_eq!((&plan["file"], &plan["refused"]), (&"as accepted".into(), &Value::Array(Vec::new())));
}

#[test]
fn the_edited_list_is_taken_as_it_is() {
    let (mut env, name) = paused();
    let list = env.task_dir(&name).join("task_list.md");
    let text = std::fs::read_to_string(&list).unwrap();
    let edited: String =
        text.lines().filter(|line| !line.contains("Task 4:")).map(|line| format!("{line}\n")).collect();
    std::fs::write(&list, &edited).unwrap();
    let shown = env.run(&["plan", &name]);
    assert!(shown.stderr.contains("--accept"), "the change is seen: {}", shown.stderr);
    assert_eq!(env.json(&["plan", &name])["file"], "changed");
    let accepted = env.run(&["plan", &name, "--accept"]);
    assert_eq!(accepted.code, 0, "{}", accepted.stderr);
    assert!(accepted.stderr.contains("plan revision 2 accepted, 0/3"), "{}", accepted.stderr);
    assert_eq!(std::fs::read_to_string(&list).unwrap(), edited, "the person's file stays");
    let again = env.run(&["plan", &name, "--accept"]);
    assert!(again.stderr.contains("already"), "{}", again.stderr);
    assert_eq!(env.kinds(&name).iter().filter(|kind| *kind == "plan_accepted").count(), 1);
    env.set("DEMO_FAULT", "");
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "done");
    assert!(env.json(&["plan", &name])["refused"].as_array().unwrap().is_empty(), "nothing was put back");
}

#[test]
fn a_file_replaces_the_list_and_the_old_one_is_kept() {
    let (mut env, name) = paused();
    let file = env.path().join("mine.md");
    std::fs::write(&file, "## Tasks\n\n- [ ] Task 1: Write a note\n- [ ] Task 2: Write another note\n").unwrap();
    let old = std::fs::read_to_string(env.task_dir(&name).join("task_list.md")).unwrap();
    env.ok(&["plan", &name, "--accept", file.to_str().unwrap()]);
    assert_eq!(env.json(&["plan", &name])["plan"]["total"], 2);
    env.set("DEMO_FAULT", "");
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "done");
    let kept = std::fs::read_to_string(env.task_dir(&name).join("task_list.rejected-1.md")).unwrap();
    assert_eq!(kept, old);
    let list = std::fs::read_to_string(env.task_dir(&name).join("task_list.md")).unwrap();
    assert!(list.contains("[x] Task 2: Write another note"), "{list}");
}

#[test]
fn a_running_session_and_nonsense_are_refused_and_write_nothing() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Busy", &[]);
    env.live(&name, 2);
    let before = env.events(&name);
    let running = env.run(&["plan", &name, "--accept"]);
    assert_eq!(running.code, 8, "{}", running.stderr);
    assert!(running.stderr.contains("pause the task first"), "{}", running.stderr);
    assert!(running.stderr.contains("longhaul pause busy"), "{}", running.stderr);
    env.ok(&["pause", &name]);
    let paused = env.events(&name);
    assert_ne!(before, paused);
    std::fs::write(env.path().join("bad.md"), "no steps at all\n").unwrap();
    for (args, code) in
        [(&["--accept", "../bad.md"][..], 2), (&["--accept", "../missing.md"], 2), (&["--accept", "."], 2)]
    {
        let done = env.run(&[&["plan", &name], args].concat());
        assert_eq!(done.code, code, "{args:?}: {}", done.stderr);
        assert!(done.stderr.starts_with("error: "), "{}", done.stderr);
    }
    std::fs::remove_file(env.task_dir(&name).join("task_list.md")).unwrap();
    let missing = env.run(&["plan", &name, "--accept"]);
    assert_eq!(missing.code, 2, "{}", missing.stderr);
    assert!(missing.stderr.contains("it does not exist"), "{}", missing.stderr);
    assert_eq!(env.events(&name), paused, "a refused command writes nothing");
    env.ok(&["cancel", &name]);
    assert_eq!(env.run(&["plan", &name, "--accept", "../bad.md"]).code, 8, "finished");
}

#[test]
fn refused_changes_of_an_agent_are_listed() {
    let env = TestEnv::new().var("DEMO_FAULT", "lie-delete@3");
    let name = env.submit("Cheat", &[]);
    assert_eq!(env.settle(&name), "done");
    let refused = env.json(&["plan", &name])["refused"].as_array().unwrap().clone();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0]["kept_as"], "task_list.rejected-1.md");
    assert!(env.ok(&["plan", &name]).contains("was removed"));
}

#[test]
fn a_stuck_task_takes_a_plan_of_a_person_and_goes_on_with_it() {
    let mut env = TestEnv::new().var("DEMO_FAULT", "no-plan");
    let name = env.submit("Stuck", &["--attempts", "1", "--idle-sessions", "1", "--backoff", "1ms"]);
    assert_eq!(env.settle(&name), "needs_help");
    let shown = env.run(&["plan", &name]);
    assert_eq!((shown.code, shown.stdout.as_str(), shown.stderr.trim()), (0, "", "no plan has been accepted yet"));
    let file = env.path().join("mine.md");
    std::fs::write(&file, "## Tasks\n\n- [ ] Task 1: Write a note\n").unwrap();
    env.ok(&["plan", &name, "--accept", file.to_str().unwrap()]);
    assert_eq!(env.state(&name), "needs_help", "a plan alone moves nothing");
    assert_eq!(env.json(&["plan", &name])["plan"]["revision"], 1);
    env.set("DEMO_FAULT", "");
    env.ok(&["resume", &name, "--reason", "there is a plan now"]);
    assert_eq!(env.settle(&name), "done");
}
