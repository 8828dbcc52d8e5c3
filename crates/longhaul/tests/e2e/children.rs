//! Child tasks that an agent submits: what they bring and what they have from their parent, where they work, and what bounds them.

use serde_json::{Value, json};

use crate::bot::bot;
use crate::checker;
use crate::env::{Done, TestEnv, done};
use crate::repository::git_in;
use crate::sight::{Live, alive};

/// A repository with a live session of a parent task that stands still, and the parent's name.
fn parent(env: &TestEnv, flags: &[&str]) -> (String, Live) {
    env.make_repository();
    let name = env.submit("Parent", &[&["--agent", "demo", "--name", "parent"], flags].concat());
    let live = env.live(&name, 2);
    (name, live)
}

/// A world whose demo agent stands still in its first working session.
fn standing_still() -> TestEnv {
    TestEnv::new().var("DEMO_FAULT", "hang@2").var("DEMO_STEPS", "1")
}

/// Runs a verb as if an agent of this session did.
fn below(env: &TestEnv, session: &str, args: &[&str]) -> Done {
    done(&env.command(args).env("LONGHAUL_SESSION", session).output().unwrap())
}

fn submission(env: &TestEnv, task: &str) -> Value {
    env.task(task)["submission"].clone()
}

#[test]
fn a_check_that_is_not_the_parents_is_refused_and_nothing_runs_outside_the_sandbox() {
    let env = bot(r#"work() {
            case $task in dad)
                for more in '--check "id >$SCRATCH_DIR/outside"' '--criterion "it holds = id >$SCRATCH_DIR/outside"' \
                    '--max-sessions none' '--max-cost none' '--sandbox full' '--network' '--agent demo'; do
                    eval "longhaul run -d --name kid $more c" >>"$SCRATCH_DIR/said" 2>&1
                    echo "exit $?" >>"$SCRATCH_DIR/said"
                done
                longhaul run -d --name kid --check 'test -e ok' --criterion 'in words' c >>"$SCRATCH_DIR/said" 2>&1
                echo "exit $?" >>"$SCRATCH_DIR/said";;
            esac
            touch ok; tick
        }"#);
    env.make_repository();
    let flags = ["--sandbox", "read-only", "--max-sessions", "9", "--max-cost", "1", "--check", "test -e ok"];
    let run = env.run(&[&["run", "g", "--name", "dad"][..], &flags].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said = env.noted("said");
    let codes: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("exit ")).collect();
    assert_eq!(codes, ["2", "2", "8", "8", "8", "8", "8", "0"], "{said}");
    assert!(
        said.contains("is not a check of the parent task `dad`") && said.contains("use one of: test -e ok"),
        "{said}"
    );
    for refused in ["no max-sessions", "no max-cost", "sandbox full", "network open", "agent demo"] {
        assert!(said.contains(&format!("a child task cannot set `{refused}`")), "{refused}: {said}");
    }
    assert_eq!(env.settle("kid"), "done");
    assert_eq!(env.noted("outside"), "", "no command of the agent's ran outside of its sandbox");
    let kid = submission(&env, "kid");
    assert_eq!((&kid["checks"], &kid["sandbox"]), (&json!(["test -e ok"]), &json!("read-only")), "{kid}");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_child_brings_its_goal_and_lower_limits_and_has_the_rest_from_its_parent() {
    let env = standing_still();
    let flags =
        ["--network", "--max-sessions", "7", "--max-tokens", "900000", "--constraint", "be kind", "--check", "true"];
    let (_, live) = parent(&env, &[&flags[..], &["--attempts", "4", "--priority", "3", "--model", "m1"]].concat());
    // What an agent writes down for itself does not count.
    let mut command = env.command(&["run", "-d", "A child", "--name", "kid", "--constraint", "be brief"]);
    command.args(["--criterion", "it is short", "--expect", "out.txt", "--max-sessions", "2", "--model", "m2"]);
    command.env("LONGHAUL_SESSION", &live.session).env("LONGHAUL_SANDBOX", "full").env("LONGHAUL_AGENT", "codex");
    command.env("LONGHAUL_VERIFY_COMMANDS", "id").env("LONGHAUL_LIMITS_MAX_TOKENS", "none");
    let run = done(&command.output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (kid, dad) = (submission(&env, "kid"), submission(&env, "parent"));
    for same in ["agent", "sandbox", "network", "priority", "project", "workspace", "needs_env"] {
        assert_eq!(kid[same], dad[same], "{same}");
    }
    assert_eq!((&kid["model"], &kid["checks"]), (&json!("m2"), &json!([])));
    assert_eq!((&kid["constraints"], &kid["expects"]), (&json!(["be kind", "be brief"]), &json!(["out.txt"])));
    let policy = &kid["policy"];
    assert_eq!((&policy["max_sessions"], &policy["attempts"]), (&json!(2), &json!(4)));
    assert_eq!(kid["parent"], env.task("parent")["id"]);
    for (flags, what) in [
        (&["--attempts", "5"][..], "attempts 5"),
        (&["--max-sessions", "8"], "max-sessions 8"),
        (&["--hours", "22:00-07:00"], "hours 22:00-07:00"),
        (&["--delay", "1h"], "delay 1h 00m"),
        (&["--in-place"], "--in-place"),
        (&["--after", "parent"], "--after"),
        (&["--priority", "9"], "--priority"),
        (&["--workspace", ".."], "--workspace"),
    ] {
        let refused = below(&env, &live.session, &[&["run", "-d", "Another"], flags].concat());
        assert_eq!(refused.code, 8, "{flags:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(what) && refused.stderr.contains("from its parent"), "{}", refused.stderr);
        assert!(refused.stderr.contains("hint: drop it"), "{}", refused.stderr);
    }
    assert_eq!(env.json(&["list"])["tasks"].as_array().unwrap().len(), 2, "nothing else was made");
}

#[test]
fn a_child_works_in_its_own_worktree_from_the_tip_of_its_parent_which_merges_it() {
    let env = bot(r#"commit() { git add -A && git -c user.name=B -c user.email=b@c.example commit -qm "$1"; }
        work() {
            case $task in
            dad)
                echo first >dad.txt; commit first
                echo loose >loose.txt
                longhaul run -d --name kid c 2>"$SCRATCH_DIR/said"
                longhaul wait kid >/dev/null
                rm loose.txt
                git -c user.name=B -c user.email=b@c.example merge -q --no-edit longhaul/kid;;
            kid) cat dad.txt >kid.txt; ls >>kid.txt;;
            esac
            tick
        }"#);
    env.make_repository();
    let before = env.checkout();
    let run = env.run(&["run", "g", "--name", "dad", "--check", "test -s kid.txt"]);
    assert_eq!(run.code, 0, "{}{}", run.stderr, env.noted("said"));
    let said = env.noted("said");
    assert!(said.contains("1 uncommitted file(s) are not in the child's worktree"), "{said}");
    assert!(said.contains("merge the branch that `longhaul show kid` names"), "{said}");
    let kid = env.root_of("kid");
    assert_ne!(kid, env.root_of("dad"));
    let base = env.task("kid")["workspace"]["base"].as_str().unwrap().to_owned();
    assert_eq!(git_in(&kid, &["log", "-1", "--format=%s", &base]), "first");
    let seen = git_in(&kid, &["show", "longhaul/kid:kid.txt"]);
    assert!(seen.starts_with("first\n") && !seen.contains("loose.txt"), "{seen}");
    assert!(env.git(&["ls-tree", "--name-only", "longhaul/dad"]).contains("kid.txt"), "the parent's agent merged it");
    assert_eq!(env.checkout(), before);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn the_limits_of_a_parent_bound_its_whole_family() {
    let env = bot(r#"work() {
            case $task in dad)
                for kid in one two three; do
                    longhaul run -d --name "$kid" c >/dev/null 2>>"$SCRATCH_DIR/said"; echo "exit $?" >>"$SCRATCH_DIR/said"
                done;;
            esac
            tick
        }"#);
    env.make_repository();
    let run = env.run(&["run", "g", "--name", "dad", "--max-sessions", "4"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(env.noted("said").matches("exit 0").count(), 3, "{}", env.noted("said"));
    let ends: Vec<i32> = ["one", "two", "three"].map(|kid| env.run(&["wait", kid]).code).to_vec();
    let sessions: usize = ["dad", "one", "two", "three"].map(|task| env.sessions(task).len()).iter().sum();
    assert_eq!(sessions, 4, "{ends:?}");
    let stopped = ["one", "two", "three"].into_iter().find(|kid| env.state(kid) == "stopped").unwrap();
    let reached = env.task(stopped)["state"]["reached"].clone();
    assert_eq!((&reached["used"], &reached["family"]), (&json!(4), &env.task("dad")["id"]), "{reached}");
    let why = env.ok(&["why", stopped]);
    assert!(why.contains("max-sessions 4 of 4 used by task dad and its children"), "{why}");
    assert!(why.contains("`longhaul edit dad --max-sessions MORE`, then continue with"), "{why}");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_child_that_a_finished_parents_limit_stopped_continues_with_a_limit_of_its_own() {
    let env = bot(r#"work() {
            case $task in dad) longhaul run -d --name kid c >/dev/null 2>&1;; esac
            tick
        }"#);
    env.make_repository();
    assert_eq!(env.run(&["run", "g", "--name", "dad", "--max-sessions", "3"]).code, 0);
    assert_eq!(env.settle("kid"), "stopped");
    env.ok(&["resume", "kid", "--max-sessions", "2"]);
    assert_eq!(env.settle("kid"), "done", "{}", env.ok(&["why", "kid"]));
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_family_with_nothing_left_gets_no_more_children() {
    let env = standing_still();
    let (_, live) = parent(&env, &["--max-sessions", "2"]);
    let refused = below(&env, &live.session, &["run", "-d", "A child"]);
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert!(refused.stderr.contains("max-sessions 2 of 2 used"), "{}", refused.stderr);
    assert!(refused.stderr.contains("longhaul edit parent --max-sessions MORE"), "{}", refused.stderr);
    env.ok(&["edit", "parent", "--max-sessions", "3"]);
    let run = below(&env, &live.session, &["run", "-d", "A child", "--name", "kid"]);
    assert_eq!(run.code, 0, "the control: {}", run.stderr);
    assert_eq!(submission(&env, "kid")["policy"]["max_sessions"], 1, "what is left");
}

#[test]
pub(crate) fn a_family_is_neither_larger_nor_deeper_than_configured() {
    // Each child's first session stands still too: what carries the marker of an ended session is ended.
    let env = standing_still().var("DEMO_FAULT", "hang@2,hang@3,hang@4,hang@5");
    let env = env.var("LONGHAUL_CHILDREN_MAX", "3").var("LONGHAUL_CHILDREN_DEPTH", "1");
    let (_, live) = parent(&env, &[]);
    // The agent's own environment does not count.
    let run = |name: &str| {
        let mut command = env.command(&["run", "-d", "A child", "--name", name]);
        command.env("LONGHAUL_SESSION", &live.session).env("LONGHAUL_CHILDREN_MAX", "1000");
        done(&command.output().unwrap())
    };
    let started: Vec<_> = (0..6).map(|number| format!("kid-{number}")).collect();
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let runs: Vec<_> = started.iter().map(|name| scope.spawn(|| run(name))).collect();
        runs.into_iter().map(|run| run.join().unwrap().code).collect()
    });
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 3, "{codes:?}");
    let refused = run("more");
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("3 unfinished child tasks") && refused.stderr.contains("children.max"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("longhaul wait"), "{}", refused.stderr);
    let kid = started.iter().zip(&codes).find(|(_, code)| **code == 0).unwrap().0;
    let grandchild = below(&env, &env.live(kid, 1).session, &["run", "-d", "A grandchild"]);
    assert_eq!(grandchild.code, 8, "{}", grandchild.stderr);
    assert!(grandchild.stderr.contains("`children.depth` allows at most 1 level(s)"), "{}", grandchild.stderr);
    assert!(alive(live.agent));
}
