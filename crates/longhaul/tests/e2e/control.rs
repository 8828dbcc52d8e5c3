//! The verbs that change a task, from every state a user can meet: pause, resume, cancel, wait, worker, and the signals.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::env::{TestEnv, wait_for};
use crate::sight::{alive, finish, gone, kill_9, listing, send};

/// A world whose agent hangs at its second invocation, and the task that waits for it.
fn hanging(fault: &str) -> (TestEnv, String) {
    let env = TestEnv::new().var("DEMO_FAULT", fault);
    let name = env.submit("Build it", &["--backoff", "30ms"]);
    (env, name)
}

/// Every command that must be refused, with its exit code; none of them may write.
fn refused(env: &TestEnv, name: &str, commands: &[(&[&str], i32)]) {
    let before = env.events(name);
    for (command, code) in commands {
        let done = env.run(&[command[0], name].into_iter().chain(command[1..].iter().copied()).collect::<Vec<_>>());
        assert_eq!(done.code, *code, "{command:?}: {}", done.stderr);
        assert!(done.stderr.starts_with("error: "), "{}", done.stderr);
    }
    assert_eq!(env.events(name), before, "a refused command writes nothing");
}

#[test]
fn ctrl_c_pauses_and_resume_goes_on_in_the_same_conversation() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let run = env.start(&["run", "Build it"]);
    wait_for("the task", || env.home().join("longhaul.db").exists().then_some(()));
    wait_for("the agent", || (env.ledger_of("start").len() == 2).then_some(()));
    let live = env.live("build-it", 2);
    send(i32::try_from(run.id()).unwrap(), Signal::SIGINT);
    let run = finish(run);
    assert_eq!(run.code, 130, "{}", run.stderr);
    assert!(run.stderr.contains("longhaul resume build-it"), "{}", run.stderr);
    assert_eq!(env.state("build-it"), "paused");
    assert!(!alive(live.agent) && !alive(live.keeper), "stopped cleanly, nothing left");
    env.deserted();
    env.ok(&["resume", "build-it"]);
    assert_eq!(env.settle("build-it"), "done");
    let starts = env.ledger_of("start");
    assert_eq!(starts[2]["resume"], true);
    assert_eq!(starts[2]["conversation"], live.conversation.as_str());
    assert_eq!(env.task("build-it")["tally"]["failures"], 0, "a pause burns no attempt");
}

#[test]
fn a_second_ctrl_c_ends_a_deaf_agent_at_once() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang-hard@2");
    let run = env.start(&["run", "Build it"]);
    wait_for("the agent", || (env.ledger_of("start").len() == 2).then_some(()));
    let live = env.live("build-it", 2);
    wait_for("the agent to be deaf", || {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", live.agent)).unwrap();
        (name.trim() == "sleep").then_some(())
    });
    let pid = i32::try_from(run.id()).unwrap();
    send(pid, Signal::SIGINT);
    env.reach("build-it", "stopping");
    assert!(alive(live.agent), "it does not listen to a polite request");
    send(pid, Signal::SIGINT);
    let run = finish(run);
    assert_eq!(run.code, 130, "{}", run.stderr);
    assert!(!alive(live.agent));
    let exit = std::fs::read_to_string(env.home().join("sessions").join(&live.session).join("exit")).unwrap();
    assert!(exit.contains("ended_now"), "not by the recipe's patience: {exit}");
}

#[test]
fn a_planning_task_is_paused_resumed_and_cancelled() {
    let (env, name) = hanging("hang@1,hang@2");
    let live = env.live(&name, 1);
    refused(&env, &name, &[(&["resume"], 8)]);
    env.ok(&["pause", &name]);
    gone(live.agent);
    refused(&env, &name, &[(&["pause"], 8)]);
    env.ok(&["resume", &name]);
    let again = env.live(&name, 2);
    assert_eq!(again.conversation, live.conversation);
    env.ok(&["cancel", &name, "--reason", "changed my mind"]);
    assert_eq!(env.state(&name), "cancelled");
    gone(again.agent);
    assert!(env.ok(&["why", &name]).contains("changed my mind"));
    refused(&env, &name, &[(&["pause"], 8), (&["resume", "--reason", "x"], 8), (&["cancel"], 8)]);
    env.deserted();
}

#[test]
fn a_waiting_task_is_paused_and_goes_on_at_once_when_resumed() {
    let env = TestEnv::new().var("DEMO_FAULT", "server-error@1");
    let name = env.submit("Build it", &["--backoff", "3600000ms"]);
    env.reach(&name, "waiting");
    refused(&env, &name, &[(&["resume"], 8)]);
    let waited = env.run(&["wait", &name, "--timeout", "0"]);
    assert_eq!(waited.code, 124, "the deadline passed: {}", waited.stderr);
    env.ok(&["pause", &name]);
    assert_eq!(env.state(&name), "paused");
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "done");
    refused(&env, &name, &[(&["pause"], 8), (&["pause", "--now"], 8), (&["resume"], 8), (&["cancel"], 8)]);
}

#[test]
fn a_usage_limit_is_kept_over_pause_and_resume() {
    let env = TestEnv::new().var("DEMO_FAULT", "limit@1");
    let name = env.submit("Build it", &[]);
    env.reach(&name, "waiting");
    let until = env.task(&name)["state"]["until"].clone();
    env.ok(&["pause", &name]);
    env.ok(&["resume", &name]);
    env.reach(&name, "waiting");
    assert_eq!(env.task(&name)["state"]["until"], until, "a pause does not shorten a limit");
    env.ok(&["cancel", &name]);
    assert_eq!(env.run(&["wait", &name]).code, 4);
    env.deserted();
}

#[test]
fn a_task_that_needs_help_wants_a_reason() {
    let env = TestEnv::new().var("DEMO_FAULT", "auth@1,auth@2");
    let run = env.run(&["run", "Build it"]);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stderr.contains("not logged in") && run.stderr.contains("--reason"), "{}", run.stderr);
    refused(&env, "build-it", &[(&["pause"], 8), (&["resume"], 2), (&["resume", "--reason", "  "], 2)]);
    env.ok(&["resume", "build-it", "--reason", "logged in again"]);
    assert_eq!(env.settle("build-it"), "needs_help");
    assert_eq!(env.run(&["wait", "build-it"]).code, 5);
    assert!(env.ok(&["events", "build-it"]).contains("resumed: logged in again"));
    env.ok(&["cancel", "build-it"]);
    assert_eq!(env.state("build-it"), "cancelled");
}

#[test]
fn while_stopping_cancel_overrides_and_a_pause_can_be_taken_back() {
    let (env, name) = hanging("hang-hard@2");
    let live = env.live(&name, 2);
    let pause = env.start(&["pause", &name]);
    env.reach(&name, "stopping");
    env.ok(&["resume", &name]);
    assert_eq!(env.task(&name)["state"]["then"], "go_on");
    let cancel = env.start(&["cancel", &name]);
    wait_for("the cancel", || env.task(&name)["state"]["then"]["cancel"].is_object().then_some(()));
    refused(&env, &name, &[(&["resume"], 8)]);
    let hastened = env.run(&["pause", &name, "--now"]);
    assert_eq!(env.state(&name), "cancelled", "a pause does not override a cancel, but hastens it");
    gone(live.agent);
    assert_eq!((finish(cancel).code, finish(pause).code, hastened.code), (0, 4, 4), "only a paused task was paused");
    assert!(hastened.stderr.contains("is not paused but cancelled"), "{}", hastened.stderr);
    assert!(hastened.stderr.contains("longhaul events"), "the next command of that state: {}", hastened.stderr);
    assert_eq!(env.ledger_of("start").len(), 2, "never a second agent");
}

#[test]
fn wait_gives_up_in_time_and_the_task_goes_on() {
    let (env, name) = hanging("hang@2");
    env.live(&name, 2);
    let waited = env.run(&["wait", &name, "--timeout", "0"]);
    assert_eq!(waited.code, 124, "the deadline passed: {}", waited.stderr);
    let waited = env.run(&["wait", &name, "--timeout", "1s500ms"]);
    assert!(waited.code == 124 && waited.stderr.contains("after 1s500ms"), "{}", waited.stderr);
    assert_eq!(env.state(&name), "working");
    env.ok(&["pause"]);
    assert_eq!(env.run(&["wait", &name]).code, 5, "a paused task waits for a person");
    env.ok(&["resume"]);
    let waited = env.run(&["wait", &name, "--timeout", "18446744073709551615"]);
    assert_eq!(
        (waited.code, waited.stdout.trim()),
        (0, "build-it done, unverified: no checks"),
        "longer than the clock: {}",
        waited.stderr
    );
}

#[test]
fn a_worker_leaves_on_term_and_the_session_is_adopted_later() {
    let (env, name) = hanging("hang@2");
    let live = env.live(&name, 2);
    kill_9(env.worker_pid(&name));
    let worker = env.start(&["worker", "--stay"]);
    let pid = i32::try_from(worker.id()).unwrap();
    wait_for("the adoption", || (env.json(&["show", &name])["owner"]["alive"] == true).then_some(()));
    assert_eq!(env.worker_pid(&name), pid);
    let asked = std::time::Instant::now();
    send(pid, Signal::SIGTERM);
    let worker = finish(worker);
    assert_eq!(worker.code, 0, "{}", worker.stderr);
    assert!(asked.elapsed().as_secs() < 5);
    assert!(alive(live.agent) && alive(live.keeper), "the session is not touched");
    assert_eq!(env.state(&name), "working");
    let detached: i32 = env.ok(&["worker", "-d"]).trim().parse().unwrap();
    wait_for("the second adoption", || (env.json(&["show", &name])["owner"]["alive"] == true).then_some(()));
    assert_eq!(env.worker_pid(&name), detached);
    assert!(alive(live.agent), "the same agent");
    env.ok(&["pause", &name]);
    gone(detached);
    assert_eq!(env.ledger_of("start").len(), 2);
}

#[test]
fn a_worker_ignores_the_loss_of_its_terminal() {
    let (env, name) = hanging("hang@2");
    env.live(&name, 2);
    kill_9(env.worker_pid(&name));
    let worker = env.start(&["worker"]);
    let pid = i32::try_from(worker.id()).unwrap();
    wait_for("the adoption", || (env.json(&["show", &name])["owner"]["alive"] == true).then_some(()));
    let epoch = env.column(&name, "epoch");
    send(pid, Signal::SIGHUP);
    env.ok(&["pause", &name]);
    assert_eq!(env.column(&name, "epoch"), epoch, "the same worker did it");
    assert_eq!(finish(worker).code, 0, "and left when nothing was left to do");
    let idle = env.run(&["worker"]);
    assert_eq!(idle.code, 0, "with nothing to do it leaves at once: {}", idle.stderr);
}

#[test]
fn ctrl_c_while_the_task_is_submitted_pauses_it() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang").var("LONGHAUL_FAIL_POINTS", "worker.locked=pause");
    let fails = env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    let env = env.var("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    let run = env.start(&["run", "Build it"]);
    wait_for("the worker to be asked", || fails.join("worker.locked").exists().then_some(()));
    send(i32::try_from(run.id()).unwrap(), Signal::SIGINT);
    std::fs::write(fails.join("worker.locked.go"), "").unwrap();
    let run = finish(run);
    assert_eq!(run.code, 130, "{}", run.stderr);
    assert!(run.stderr.contains("submitted"), "{}", run.stderr);
    assert_eq!(env.state("build-it"), "paused");
}

#[test]
fn a_worker_that_left_in_order_is_not_called_dead() {
    let env = TestEnv::new().var("LONGHAUL_FAIL_POINTS", "owner.look=pause");
    let fails = env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    let env = env.var("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    let run = env.start(&["run", "Build it", "--once"]);
    wait_for("the viewer to look for the worker", || fails.join("owner.look").exists().then_some(()));
    wait_for("the worker to leave", || {
        let left = env.column("build-it", "state").as_deref() == Some("paused");
        (left && listing(&env.home().join("workers")).is_empty()).then_some(())
    });
    std::fs::write(fails.join("owner.look.go"), "").unwrap();
    let run = finish(run);
    assert!(!run.stderr.contains("worker is dead"), "{}", run.stderr);
    assert!(run.stderr.contains("paused"), "{}", run.stderr);
}

/// A task whose keeper saw the agent's end and tells nobody, though it runs.
fn stuck_keeper(env: &mut TestEnv, name: &str) -> String {
    let fails = env.path().join(format!("{name}-fails"));
    std::fs::create_dir(&fails).unwrap();
    env.set("LONGHAUL_FAIL_POINTS", "keeper.waited=pause");
    env.set("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    env.set("DEMO_FAULT", "hang");
    env.submit("Build it", &["--name", name])
}

#[test]
fn a_session_that_is_slow_to_stop_is_no_silence_and_force_ends_it() {
    let mut env = TestEnv::new();
    env.make_repository();
    let names = ["slow", "forced"].map(|name| stuck_keeper(&mut env, name));
    let lives = names.each_ref().map(|name| env.live(name, 1));
    let workers = names.each_ref().map(|name| env.worker_pid(name));
    let (slow, forced) = (env.start(&["pause", &names[0]]), env.start(&["pause", &names[1], "--force"]));
    let (slow, forced) = (finish(slow), finish(forced));
    assert_eq!(slow.code, 124, "{}", slow.stderr);
    assert!(slow.stderr.contains("still stopping") && slow.stderr.contains("pause --now"), "{}", slow.stderr);
    assert!(!slow.stderr.contains("does not answer") && alive(lives[0].keeper), "{}", slow.stderr);
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    assert!(forced.stderr.contains(&format!("keeper {} was killed", lives[1].keeper)), "{}", forced.stderr);
    assert!(alive(workers[1]) || env.owner(&names[1]).is_none(), "its worker was not harmed");
    let kinds = env.kinds(&names[1]);
    assert_eq!(kinds.iter().filter(|kind| *kind == "claimed").count(), 1, "and none was started: {kinds:?}");
}

/// One test for three: each takes the ten seconds that a silent process has to answer.
#[test]
fn what_does_not_answer_is_named_and_killed_only_with_force() {
    // A home for each, because the tasks of one home have one worker.
    let [first, second, third] = [(); 3].map(|()| TestEnv::new().var("DEMO_FAULT", "hang@2"));
    let envs = [&first, &second, &third];
    let names = envs.map(|env| env.submit("Build it", &["--name", "t"]));
    let lives = [0, 1, 2].map(|at| envs[at].live(&names[at], 2));
    let workers = [0, 1].map(|at| envs[at].worker_pid(&names[at]));
    send(workers[0], Signal::SIGSTOP);
    send(workers[1], Signal::SIGSTOP);
    send(lives[2].keeper, Signal::SIGSTOP);
    let named = first.start(&["pause", &names[0]]);
    let worker = second.start(&["pause", &names[1], "--force"]);
    let keeper = third.start(&["pause", &names[2], "--force"]);
    let (named, worker, keeper) = (finish(named), finish(worker), finish(keeper));
    assert_eq!(named.code, 124, "{}", named.stderr);
    assert!(
        named.stderr.contains(&format!("worker {} is stopped and does not answer", workers[0])),
        "{}",
        named.stderr
    );
    assert!(named.stderr.contains("pause --force") && alive(workers[0]), "{}", named.stderr);
    assert_eq!(worker.code, 0, "{}", worker.stderr);
    assert_eq!(keeper.code, 0, "{}", keeper.stderr);
    assert!(!alive(workers[1]) && !alive(lives[1].agent) && !alive(lives[2].keeper) && !alive(lives[2].agent));
    for (env, name, target) in [(&second, &names[1], workers[1]), (&third, &names[2], lives[2].keeper)] {
        assert_eq!(env.state(name), "paused");
        let forced: Vec<Value> = env.events(name).into_iter().filter(|e| e["event"]["kind"] == "forced").collect();
        assert!(forced[0]["text"].as_str().unwrap().contains(&target.to_string()), "{forced:?}");
        assert_eq!(forced[0]["actor"]["scope"], "person", "it is recorded who did it");
    }
    let ended = third.sessions(&names[2])[1]["ended"].clone();
    assert_eq!(ended["exit"], "unknown", "nobody waited for it: {ended}");
    send(workers[0], Signal::SIGCONT);
    first.reach(&names[0], "paused");
}
