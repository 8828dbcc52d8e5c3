//! Scopes of a systemd user manager: workers and keepers are started through systemd-run where one answers and the person lingers,
//! and exactly as ever where not. The stand-in executes the program itself, as the real one does with `--scope`.

use std::os::unix::net::UnixListener;

use crate::env::TestEnv;
use crate::processes::Process;
use crate::sight::{alive, kill_9};

const LINGERS: &str = r#"case "$*" in "show-user "*" --property=Linger") echo Linger=yes ;; *) refuse "$@" ;; esac"#;

/// Takes the arguments that real scopes are asked for with, records under which process id, and executes the program.
const SCOPE: &str = r#"[ "$1 $2 $3 $4 $5 $7" = "--user --scope --quiet --collect --property=Delegate=yes --" ] || refuse "$@"
case "$6" in --unit=longhaul-worker-* | --unit=longhaul-keeper-*) ;; *) refuse "$@" ;; esac
echo "$$ ${6#--unit=}" >> "UNITS"
shift 7
exec "$@""#;

/// A world with a user manager's socket, a person who lingers, and this systemd-run.
fn world(systemd_run: &str) -> TestEnv {
    let env = TestEnv::new().with_stand_ins().var("LONGHAUL_SESSION_SCOPES", "true");
    let runtime = env.path().join("runtime");
    std::fs::create_dir(&runtime).unwrap();
    // The file stays when the listener goes, and nobody connects to it.
    drop(UnixListener::bind(runtime.join("bus")).unwrap());
    env.stand_in("loginctl", LINGERS);
    env.stand_in("systemd-run", &systemd_run.replace("UNITS", &env.path().join("units").display().to_string()));
    let runtime = runtime.display().to_string();
    env.var("XDG_RUNTIME_DIR", &runtime)
}

/// Process id and name of each scope that was made.
fn units(env: &TestEnv) -> Vec<(i32, String)> {
    let text = std::fs::read_to_string(env.path().join("units")).unwrap_or_default();
    let unit = |line: &str| line.split_once(' ').map(|(pid, unit)| (pid.parse().unwrap(), unit.to_owned()));
    text.lines().filter_map(unit).collect()
}

#[test]
pub(crate) fn a_scope_is_made_only_where_it_is_wanted() {
    let mut env = world(SCOPE);
    assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 0);
    let sessions = env.ledger_of("start").len().max(2);
    let made = units(&env);
    let of = |kind: &str| made.iter().filter(|(_, unit)| unit.starts_with(&format!("longhaul-{kind}-"))).count();
    assert_eq!(of("worker"), 1, "{made:?}");
    assert!(of("keeper") >= sessions, "{made:?} for {sessions} sessions");
    env.wait_until_empty();
    env.set("LONGHAUL_SESSION_SCOPES", "false");
    assert_eq!(env.run(&["run", "Do it", "--name", "u"]).code, 0);
    assert_eq!(units(&env), made, "nothing more");
}

#[test]
fn the_process_in_the_scope_is_the_child_that_was_started_and_is_adopted_like_any_other() {
    let env = world(SCOPE).var("DEMO_FAULT", "stop@2");
    env.submit("Do it", &["--name", "t"]);
    let live = env.live("t", 2);
    let worker = env.worker_pid("t");
    let made = units(&env);
    assert!(
        made.iter().any(|(pid, unit)| *pid == worker && unit.starts_with("longhaul-worker-")),
        "{worker}: {made:?}"
    );
    let keeper = format!("longhaul-keeper-{}", live.session);
    assert!(made.contains(&(live.keeper, keeper)), "{}: {made:?}", live.keeper);
    let agent = Process::now(live.agent).unwrap();
    kill_9(worker);
    assert!(alive(live.keeper) && alive(live.agent), "only the worker died");
    env.ok(&["worker", "--only", "--detach"]);
    crate::env::wait_for("the adopter", || env.owner("t").filter(|owner| owner.pid != worker));
    assert_eq!(env.live("t", 2).agent, live.agent, "the same agent");
    agent.release();
    assert_eq!(env.settle("t"), "done");
    env.deserted();
}

#[test]
fn a_systemd_run_that_fails_hangs_or_loses_the_program_changes_nothing() {
    for trouble in ["exit 1", "exec sleep 600", r#"shift 7; "$@" & wait"#, "exec true"] {
        let env = world(trouble);
        let done = env.run(&["run", "Do it", "--name", "t"]);
        assert_eq!(done.code, 0, "{trouble}: {}", done.stderr);
        assert!(!done.stderr.contains("systemd"), "{trouble}: it is not spoken of: {}", done.stderr);
        let calls = env.calls("systemd-run");
        let [worker, keeper] = ["--unit=longhaul-worker-", "--unit=longhaul-keeper-"]
            .map(|unit| calls.iter().filter(|call| call.contains(unit)).count());
        assert_eq!(
            (worker, keeper),
            (1, 1),
            "{trouble}: a process that was refused once does not ask again: {calls:?}"
        );
        env.deserted();
    }
}

#[test]
fn nothing_is_asked_without_a_manager_and_no_scope_is_made_without_lingering_or_program() {
    let mut env = world(SCOPE);
    env.stand_in("loginctl", &LINGERS.replace("yes", "no"));
    assert_eq!(env.run(&["run", "Do it", "--name", "no-linger"]).code, 0);
    assert!(!env.calls("loginctl").is_empty(), "the control: lingering was asked for");
    env.forget_calls("loginctl");
    env.stand_in("loginctl", LINGERS);
    std::fs::remove_file(env.stand_ins().join("systemd-run")).unwrap();
    let only = env.stand_ins().display().to_string();
    env.set("PATH", &only);
    assert_eq!(env.run(&["run", "Do it", "--name", "no-program"]).code, 0);
    env.stand_in("systemd-run", "exit 1");
    env.forget_calls("loginctl");
    std::fs::remove_file(env.path().join("runtime/bus")).unwrap();
    assert_eq!(env.run(&["run", "Do it", "--name", "no-manager"]).code, 0);
    assert!(env.calls("loginctl").is_empty() && env.calls("systemd-run").is_empty());
    assert!(units(&env).is_empty());
}
