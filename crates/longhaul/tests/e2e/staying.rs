//! What `doctor` says about logouts and reboots, with stand-ins for loginctl, systemctl and systemd-run.

use std::os::unix::net::UnixListener;

use crate::env::TestEnv;

fn row(env: &TestEnv, subject: &str) -> (String, String) {
    let done = env.run(&["doctor", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let rows = found["data"]["findings"].as_array().unwrap();
    let row = rows.iter().find(|row| row["subject"] == subject).unwrap_or_else(|| panic!("no {subject}"));
    (row["verdict"].as_str().unwrap().to_owned(), format!("{} {}", row["facts"], row["advice"]))
}

#[track_caller]
fn expect(env: &TestEnv, subject: &str, verdict: &str, text: &str) {
    let (found, rest) = row(env, subject);
    assert!(found == verdict && rest.contains(text), "{subject}: {found}: {rest}");
}

fn logins(env: &TestEnv, linger: &str, kills: &str) {
    let script = r#"case "$*" in
    "show-user $(id -u) --property=Linger") echo Linger=LINGER ;;
    "show-user --property=KillUserProcesses") echo KillUserProcesses=KILLS ;;
    *) refuse "$@" ;;
esac"#;
    env.stand_in("loginctl", &script.replace("LINGER", linger).replace("KILLS", kills));
}

#[test]
fn what_a_logout_does_is_told_with_what_to_do() {
    let env = TestEnv::new().with_stand_ins();
    for (linger, kills, verdict, text) in [
        ("yes", "yes", "ok", "lingering is on"),
        ("no", "yes", "warning", "enable-linger"),
        ("no", "no", "ok", "keep running after a logout"),
        ("no", "", "warning", "may end sessions"),
        ("", "yes", "unknown", "does not answer"),
    ] {
        logins(&env, linger, kills);
        expect(&env, "logout", verdict, text);
    }
    env.stand_in("loginctl", "exit 1");
    expect(&env, "logout", "unknown", "does not answer");
}

#[test]
fn whether_scopes_are_used_is_told_and_why_not() {
    let mut env = TestEnv::new().with_stand_ins();
    logins(&env, "yes", "no");
    expect(&env, "scopes", "ok", "session.scopes");
    env.set("LONGHAUL_SESSION_SCOPES", "true");
    let runtime = env.path().join("runtime");
    std::fs::create_dir_all(runtime.join("systemd")).unwrap();
    env.set("XDG_RUNTIME_DIR", runtime.to_str().unwrap());
    expect(&env, "scopes", "ok", "no systemd user manager");
    drop(UnixListener::bind(runtime.join("systemd/private")).unwrap());
    env.stand_in("systemd-run", r#"case "$*" in *" --unit=longhaul-doctor-"*" -- true") ;; *) refuse "$@" ;; esac"#);
    expect(&env, "scopes", "ok", "in their own scopes");
    env.stand_in("systemd-run", "exit 1");
    expect(&env, "scopes", "warning", "fails");
    logins(&env, "no", "no");
    expect(&env, "scopes", "ok", "lingering is off");
}

#[test]
fn whether_a_service_is_installed_enabled_and_running_is_told() {
    let env = TestEnv::new().with_stand_ins();
    logins(&env, "yes", "no");
    let manager = |enabled: &str, active: &str| {
        let script = format!(
            r#"case "$*" in *is-enabled*) echo {enabled} ;; *is-active*) echo {active} ;; *" longhaul.service" | *daemon-reload) ;; *) refuse "$@" ;; esac"#
        );
        env.stand_in("systemctl", &script);
    };
    env.stand_in("crontab", "echo no crontab for me >&2; exit 1");
    manager("enabled", "active");
    expect(&env, "service", "ok", "service install");
    env.ok(&["service", "install", "--kind", "systemd"]);
    expect(&env, "service", "ok", "enabled, running");
    manager("disabled", "active");
    expect(&env, "service", "warning", "not enabled");
    manager("enabled", "failed");
    expect(&env, "service", "warning", "not running");
    manager("enabled", "active");
    logins(&env, "no", "no");
    expect(&env, "service", "warning", "ends with your last login");
    env.stand_in("crontab", "echo broken >&2; exit 1");
    expect(&env, "service", "warning", "ends with your last login");
    env.ok(&["service", "uninstall", "--kind", "systemd"]);
    expect(&env, "service", "unknown", "crontab -l");
}
