//! `longhaul service`: what is written, told and taken away, with stand-ins for the programs of the system. The unit is looked at by the
//! real systemd-analyze, and cron's line is run by a real shell.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::env::{TestEnv, done};

const BINARY: &str = env!("CARGO_BIN_EXE_longhaul");
const UNIT: &str = "longhaul.service";

const SYSTEMCTL: &str = r#"case "$*" in
    "--user is-system-running") echo running ;;
    "--user daemon-reload" | "--user enable longhaul.service" | "--user restart longhaul.service") ;;
    "--user enable --now longhaul.service" | "--user disable --now longhaul.service") ;;
    "--user is-enabled longhaul.service") echo enabled ;;
    "--user is-active longhaul.service") echo active ;;
    *) refuse "$@" ;;
esac"#;

/// Keeps its table in a file; says what the real one says when there is none.
const CRONTAB: &str = r#"case "$*" in
    -l) if [ -f "$CRON_TABLE" ]; then cat "$CRON_TABLE"; else echo "no crontab for me" >&2; exit 1; fi ;;
    -) cat > "$CRON_TABLE" ;;
    -r) rm "$CRON_TABLE" ;;
    *) refuse "$@" ;;
esac"#;

const LAUNCHCTL: &str = r#"loaded="$HOME/loaded"
me="gui/$(id -u)"
case "$*" in
    "print $me/dev.longhaul.worker") [ -f "$loaded" ] || exit 113; echo "	state = running" ;;
    "bootstrap $me $HOME/Library/LaunchAgents/dev.longhaul.worker.plist") [ ! -f "$loaded" ] || exit 5; touch "$loaded" ;;
    "bootout $me/dev.longhaul.worker") rm "$loaded" ;;
    *) refuse "$@" ;;
esac"#;

fn world() -> TestEnv {
    let env = TestEnv::new().with_stand_ins();
    env.stand_in("systemctl", SYSTEMCTL);
    env.stand_in("crontab", CRONTAB);
    env.stand_in("launchctl", LAUNCHCTL);
    let table = env.path().join("table").display().to_string();
    env.var("CRON_TABLE", &table)
}

fn unit(env: &TestEnv) -> PathBuf {
    env.path().join("config/systemd/user").join(UNIT)
}

fn status(env: &TestEnv, kind: &str) -> Value {
    env.json(&["service", "status", "--kind", kind])["services"][0].clone()
}

/// What the real systemd says about a unit; nothing is good.
fn verified(path: &std::path::Path) -> (bool, String) {
    let runtime = tempfile::tempdir().unwrap();
    let mut analyze = Command::new("systemd-analyze");
    analyze.args(["--user", "verify"]).arg(path).env("XDG_RUNTIME_DIR", runtime.path()).env("HOME", runtime.path());
    let output = done(&analyze.output().expect("systemd-analyze is there: `cargo xtask test` installs it"));
    (output.code == 0, output.stderr)
}

#[test]
fn the_unit_is_written_enabled_told_and_taken_away() {
    let env = world();
    assert!(env.ok(&["service", "status"]).contains("no service is installed"));
    let said = env.ok(&["service", "install"]);
    assert!(said.contains(&format!("wrote `{}`", unit(&env).display())), "{said}");
    let asked = ["--user is-system-running", "--user daemon-reload", "--user enable longhaul.service"];
    assert_eq!(env.calls("systemctl"), [&asked[..], &["--user restart longhaul.service"]].concat());
    let text = std::fs::read_to_string(unit(&env)).unwrap();
    for line in [
        &format!("ExecStart=\"{BINARY}\" worker --stay"),
        &format!("Environment=\"LONGHAUL_HOME={}\"", env.home().display()),
        "KillMode=process",
        "Delegate=yes",
        "Restart=on-failure",
        "WantedBy=default.target",
    ] {
        assert!(text.lines().any(|have| have == line), "`{line}` is missing in\n{text}");
    }
    assert_eq!(verified(&unit(&env)), (true, String::new()), "{text}");
    let standing = status(&env, "systemd");
    assert_eq!(
        (&standing["installed"], &standing["enabled"], &standing["running"]),
        (&"yes".into(), &true.into(), &true.into())
    );
    assert!(env.ok(&["service", "status"]).contains("enabled, running"));
    env.forget_calls("systemctl");
    env.ok(&["service", "install", "--kind", "systemd"]);
    assert_eq!(env.calls("systemctl"), ["--user enable --now longhaul.service"], "nothing is written twice");
    assert_eq!(std::fs::read_to_string(unit(&env)).unwrap(), text);
    env.ok(&["service", "uninstall"]);
    assert!(!unit(&env).exists());
    assert_eq!(status(&env, "systemd")["installed"], "no");
    assert!(env.run(&["service", "uninstall"]).stderr.contains("no service is installed"));
}

/// With `--serve` each kind starts the server, and `status` knows that as what was installed.
#[test]
fn the_service_can_serve_http() {
    let env = world();
    for kind in ["systemd", "cron", "launchd"] {
        env.ok(&["service", "install", "--kind", kind, "--serve"]);
        assert_eq!(status(&env, kind)["installed"], "yes", "{kind}");
        let plan = env.ok(&["service", "install", "--kind", kind, "--dry-run"]);
        assert!(plan.contains("--stay"), "{kind}: without the flag it becomes a worker again: {plan}");
        env.ok(&["service", "install", "--kind", kind]);
        assert_eq!(status(&env, kind)["installed"], "yes", "{kind}");
        let plan = env.ok(&["service", "install", "--kind", kind, "--serve", "--dry-run"]);
        assert!(plan.contains("serve") && !plan.contains("--stay"), "{kind}: {plan}");
    }
    assert!(verified(&unit(&env)).0);
}

#[test]
fn the_control_systemd_finds_what_is_wrong_with_a_unit() {
    let env = world();
    env.ok(&["service", "install", "--kind", "systemd"]);
    let text = std::fs::read_to_string(unit(&env)).unwrap();
    for (right, wrong) in
        [("KillMode=process", "KillMode=everything"), (BINARY, "/nowhere/longhaul"), ("[Unit]", "[Unit")]
    {
        let broken = env.path().join(UNIT);
        std::fs::write(&broken, text.replace(right, wrong)).unwrap();
        assert_ne!(verified(&broken), (true, String::new()), "{wrong}");
    }
}

#[test]
fn hard_paths_stand_in_a_unit_as_they_are() {
    let mut env = world();
    let home = env.path().join("a \"b\" 100%h $HOME \\ c");
    env.set("LONGHAUL_HOME", home.to_str().unwrap());
    env.ok(&["service", "install", "--kind", "systemd"]);
    assert_eq!(verified(&unit(&env)), (true, String::new()), "{}", std::fs::read_to_string(unit(&env)).unwrap());
    env.set("LONGHAUL_HOME", "/a\nExecStartPre=/bin/false");
    let refused = env.run(&["service", "install", "--kind", "systemd"]);
    assert!(refused.code == 2 && refused.stderr.contains("control characters"), "{}", refused.stderr);
}

#[test]
fn a_dry_run_only_tells_and_a_changed_home_renews() {
    let mut env = world();
    for kind in ["systemd", "launchd", "cron"] {
        let told = env.ok(&["service", "install", "--kind", kind, "--dry-run"]);
        assert!(told.contains(BINARY) && told.contains("would "), "{kind}: {told}");
    }
    assert!(!unit(&env).exists() && !env.path().join("table").exists());
    assert_eq!(std::fs::read_dir(env.user_home()).unwrap().count(), 0);
    env.ok(&["service", "install", "--kind", "systemd"]);
    let other = env.path().join("other").display().to_string();
    env.set("LONGHAUL_HOME", &other);
    assert_eq!(status(&env, "systemd")["installed"], "different");
    env.ok(&["service", "install", "--kind", "systemd"]);
    assert_eq!(status(&env, "systemd")["installed"], "yes");
    assert!(std::fs::read_to_string(unit(&env)).unwrap().contains(&other));
    let told = env.ok(&["service", "uninstall", "--dry-run"]);
    assert!(told.contains("would remove") && unit(&env).exists(), "{told}");
}

#[test]
fn a_file_that_is_not_ours_is_neither_written_nor_removed() {
    let env = world();
    let launch_agent = env.user_home().join("Library/LaunchAgents/dev.longhaul.worker.plist");
    for (path, kind) in [(unit(&env), "systemd"), (launch_agent, "launchd")] {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "mine\n").unwrap();
        for verb in ["install", "uninstall"] {
            let refused = env.run(&["service", verb, "--kind", kind]);
            assert!(refused.code == 8 && refused.stderr.contains("not ours"), "{verb} {kind}: {}", refused.stderr);
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine\n");
        assert_eq!(status(&env, kind)["installed"], "foreign");
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        assert_eq!(env.run(&["service", "install", "--kind", kind]).code, 8, "a masked one is left alone");
        assert!(path.is_symlink());
    }
}

#[test]
fn a_manager_that_refuses_is_told_and_the_next_try_goes_on() {
    let env = world();
    env.stand_in("systemctl", "echo no bus >&2; exit 1");
    let refused = env.run(&["service", "install", "--kind", "systemd"]);
    assert!(refused.code == 1 && refused.stderr.contains("no bus"), "{}", refused.stderr);
    let standing = status(&env, "systemd");
    assert_eq!(
        (&standing["installed"], &standing["enabled"], &standing["running"]),
        (&"yes".into(), &Value::Null, &Value::Null)
    );
    env.stand_in("systemctl", SYSTEMCTL);
    env.ok(&["service", "install", "--kind", "systemd"]);
    let wants = unit(&env).with_file_name("default.target.wants");
    std::fs::create_dir_all(&wants).unwrap();
    let (ours, theirs) = (wants.join("longhaul.service"), wants.join("other.service"));
    std::os::unix::fs::symlink(unit(&env), &ours).unwrap();
    std::os::unix::fs::symlink(unit(&env), &theirs).unwrap();
    env.stand_in("systemctl", "exit 1");
    env.ok(&["service", "uninstall", "--kind", "systemd"]);
    assert!(!unit(&env).exists());
    assert!(!ours.is_symlink() && theirs.is_symlink(), "what enables our unit goes with it, and nothing else");
}

#[test]
fn without_a_user_manager_cron_is_chosen_and_without_both_nothing() {
    let mut env = world();
    env.stand_in("systemctl", "echo offline; exit 1");
    env.ok(&["service", "install"]);
    assert!(env.path().join("table").exists() && !unit(&env).exists());
    std::fs::remove_file(env.stand_ins().join("crontab")).unwrap();
    let only = env.stand_ins().display().to_string();
    env.set("PATH", &only);
    let refused = env.run(&["service", "install"]);
    assert!(refused.code == 1 && refused.stderr.contains("--kind"), "{}", refused.stderr);
}

#[test]
fn cron_gets_one_line_and_every_other_one_stays_as_it_is() {
    let env = world();
    let table = env.path().join("table");
    let mine = "MAILTO=\"\"\n\n# 100% mine\n\t0 4 * * * longhaul gc \n";
    std::fs::write(&table, mine).unwrap();
    env.ok(&["service", "install", "--kind", "cron"]);
    let text = std::fs::read_to_string(&table).unwrap();
    let ours = text.strip_prefix(mine).unwrap();
    assert!(ours.lines().count() == 3 && ours.contains("@reboot "), "{ours}");
    env.ok(&["service", "install", "--kind", "cron"]);
    assert_eq!(std::fs::read_to_string(&table).unwrap(), text, "the second time nothing changes");
    assert_eq!(status(&env, "cron")["installed"], "yes");
    env.ok(&["service", "uninstall"]);
    assert_eq!(std::fs::read_to_string(&table).unwrap(), mine);
    std::fs::remove_file(&table).unwrap();
    env.ok(&["service", "install", "--kind", "cron"]);
    env.ok(&["service", "uninstall"]);
    assert!(!table.exists(), "as it was before");
}

#[test]
fn a_crontab_that_cannot_be_read_is_not_overwritten() {
    let env = world();
    env.stand_in("crontab", r#"[ "$*" = -l ] || exit 64; echo "you are not allowed to use this program" >&2; exit 1"#);
    let refused = env.run(&["service", "install", "--kind", "cron"]);
    assert!(refused.code == 1 && refused.stderr.contains("not allowed"), "{}", refused.stderr);
    assert_eq!(env.calls("crontab"), ["-l"]);
}

#[test]
fn a_crontab_that_cannot_be_read_keeps_nobody_from_the_other_kinds() {
    let env = world();
    env.ok(&["service", "install", "--kind", "systemd"]);
    env.stand_in("crontab", "echo you are not allowed >&2; exit 1");
    let told = env.run(&["service", "status"]);
    assert!(told.code == 0 && told.stdout.contains("systemd: installed"), "{} {}", told.stdout, told.stderr);
    assert!(told.stderr.contains("not allowed"), "{}", told.stderr);
    assert_eq!(env.run(&["service", "status", "--kind", "cron"]).code, 1, "what is asked for alone is not only a note");
    let removed = env.run(&["service", "uninstall"]);
    assert!(removed.code == 0 && removed.stderr.contains("not allowed"), "{}", removed.stderr);
    assert!(!unit(&env).exists());
    let nothing = env.run(&["service", "status"]);
    assert!(nothing.code == 0 && !nothing.stdout.contains("no service is installed"), "{}", nothing.stdout);
}

#[test]
fn without_crontab_a_dry_run_still_shows_its_line() {
    let mut env = world();
    std::fs::remove_file(env.stand_ins().join("crontab")).unwrap();
    let only = env.stand_ins().display().to_string();
    env.set("PATH", &only);
    let told = env.ok(&["service", "install", "--kind", "cron", "--dry-run"]);
    assert!(told.contains("@reboot ") && told.contains(BINARY), "{told}");
    let refused = env.run(&["service", "install", "--kind", "cron"]);
    assert!(refused.code == 1 && refused.stderr.contains("on PATH"), "{}", refused.stderr);
}

#[test]
fn the_line_of_cron_starts_a_worker_that_stays() {
    let mut env = world();
    let home = env.path().join("it's a home, 100%");
    env.set("LONGHAUL_HOME", home.to_str().unwrap());
    env.ok(&["service", "install", "--kind", "cron"]);
    let table = std::fs::read_to_string(env.path().join("table")).unwrap();
    let line = table.lines().find_map(|line| line.strip_prefix("@reboot ")).unwrap();
    // Cron takes the backslash off an escaped percent sign and gives the rest to a shell.
    let mut shell = Command::new("/bin/sh");
    let ran = shell.args(["-c", &line.replace("\\%", "%")]).env_clear().current_dir(env.path()).output().unwrap();
    let ran = done(&ran);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "cron mails what is printed: {}", ran.stderr);
    let workers = || std::fs::read_dir(home.join("workers")).into_iter().flatten().flatten().map(|entry| entry.path());
    // A worker takes its lock before it writes who it is.
    let holder = |lock: PathBuf| serde_json::from_str::<Value>(&std::fs::read_to_string(lock).ok()?).ok();
    let held = || workers().find(|path| !crate::processes::is_free(path));
    let process = crate::env::wait_for("the worker", || holder(held()?));
    crate::sight::kill_9(i32::try_from(process["pid"].as_i64().unwrap()).unwrap());
}

#[test]
fn launchd_is_told_once_and_again_when_something_changed() {
    let mut env = world();
    let path = env.user_home().join("Library/LaunchAgents/dev.longhaul.worker.plist");
    env.ok(&["service", "install", "--kind", "launchd"]);
    let read = plist::Value::from_file(&path).unwrap();
    let read = read.as_dictionary().unwrap();
    assert_eq!(read["ProgramArguments"].as_array().unwrap()[0].as_string(), Some(BINARY));
    let standing = status(&env, "launchd");
    assert_eq!((&standing["installed"], &standing["running"]), (&"yes".into(), &true.into()));
    env.ok(&["service", "install", "--kind", "launchd"]);
    let other = env.path().join("other").display().to_string();
    env.set("LONGHAUL_HOME", &other);
    env.ok(&["service", "install", "--kind", "launchd"]);
    let verbs: Vec<String> =
        env.calls("launchctl").iter().map(|call| call.split(' ').next().unwrap().to_owned()).collect();
    let count = |verb: &str| verbs.iter().filter(|have| *have == verb).count();
    assert_eq!((count("bootstrap"), count("bootout")), (2, 1), "{verbs:?}");
    env.ok(&["service", "uninstall"]);
    assert!(!path.exists());
}

#[test]
fn below_an_agent_session_only_looking_is_allowed() {
    let env = world();
    let session = "0190c5a4-7d4e-7c3a-8f00-000000000001";
    let below = |args: &[&str]| done(&env.command(args).env("LONGHAUL_SESSION", session).output().unwrap());
    for args in [&["service", "install"][..], &["service", "uninstall"], &["skill", "install", "--client", "codex"]] {
        let refused = below(args);
        assert!(
            refused.code == 8 && refused.stderr.contains("an agent session may only"),
            "{args:?}: {}",
            refused.stderr
        );
    }
    assert_eq!(below(&["service", "status"]).code, 0);
    assert_eq!(below(&["skill", "list"]).code, 0);
    assert!(!unit(&env).exists() && std::fs::read_dir(env.user_home()).unwrap().count() == 0);
}
