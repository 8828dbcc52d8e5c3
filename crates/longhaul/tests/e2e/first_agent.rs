//! Which agent a task gets that names none, and which agents are refused before anything is stored. The programs are stand-ins that report
//! their login as the real ones do.

use crate::custom_agents::{configure, program};
use crate::env::TestEnv;
use crate::screen::Terminal;

/// A world with only the system's programs and these stand-ins on PATH, logged in or not, and without any key.
fn world(agents: &[(&str, bool)]) -> TestEnv {
    let mut env = TestEnv::new().without_agent();
    for key in
        ["CODEX_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"]
    {
        env.set(key, "");
    }
    std::fs::create_dir(env.path().join("bin")).unwrap();
    agents.iter().for_each(|(name, is_logged_in)| install(&env, name, *is_logged_in));
    let path = format!("{}:/usr/bin:/bin", env.path().join("bin").display());
    env.var("PATH", &path)
}

/// Counts how often it was asked for its login, and works as a session that changes nothing.
fn install(env: &TestEnv, name: &str, is_logged_in: bool) {
    let (asked, code) = (env.path().join(format!("asked-{name}")), if is_logged_in { 0 } else { 1 });
    program(
        env,
        name,
        &format!("#!/bin/sh\ncase $1 in login|auth) echo >>{}; exit {code} ;; esac\nexit 1\n", asked.display()),
    );
}

fn times_asked(env: &TestEnv, name: &str) -> usize {
    std::fs::read_to_string(env.path().join(format!("asked-{name}"))).unwrap_or_default().lines().count()
}

/// Submits a task that is never started.
const LATER: [&str; 6] = ["run", "-d", "Do it", "--hours", "00:00-00:01", "--name"];

fn submit(env: &TestEnv, name: &str, more: &[&str]) -> crate::env::Done {
    env.run(&[&LATER[..], &[name], more].concat())
}

#[test]
fn the_only_agent_that_is_logged_in_is_used_and_named() {
    let env = world(&[("codex", false), ("claude", true)]);
    let done = submit(&env, "t", &[]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("using claude, the only agent that is installed and logged in"), "{}", done.stderr);
    assert_eq!(env.task("t")["submission"]["agent"], "claude");
}

#[test]
fn a_key_variable_counts_as_a_login() {
    let mut env = world(&[("codex", false)]);
    env.set("CODEX_API_KEY", "sk-0123456789abcdef");
    let done = submit(&env, "t", &[]);
    assert!(done.code == 0 && done.stderr.contains("using codex"), "{}", done.stderr);
}

#[test]
fn an_agent_whose_login_is_unknown_counts_only_if_no_other_is_usable() {
    let env = world(&[("opencode", true)]);
    let done = submit(&env, "t", &[]);
    assert!(done.stderr.contains("using opencode") && done.stderr.contains("unknown"), "{}", done.stderr);
    let env = world(&[("opencode", true), ("claude", true)]);
    assert!(submit(&env, "t", &[]).stderr.contains("using claude, the only agent"));
}

#[test]
fn of_several_the_last_one_used_here_works_and_before_that_a_script_must_choose() {
    let env = world(&[("codex", true), ("claude", true)]);
    let refused = submit(&env, "t", &[]);
    assert_eq!(refused.code, 2);
    for part in ["several agents can work here: codex, claude", "`--agent codex`", "`longhaul config set agent codex`"]
    {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert!(!env.home().exists(), "nothing was made");
    assert_eq!(submit(&env, "first", &["--agent", "claude"]).code, 0);
    let again = submit(&env, "second", &[]);
    assert!(again.stderr.contains("using claude, the agent last used in this project"), "{}", again.stderr);
}

#[test]
fn on_a_terminal_the_person_is_asked() {
    let env = world(&[("codex", true), ("claude", true)]);
    let mut terminal = Terminal::run(&env, &[&LATER[..], &["t"]].concat());
    terminal.shows("2  claude");
    terminal.press(b"7\n");
    terminal.shows("type a number from 1 to 2");
    terminal.press(b"2\n");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(env.task("t")["submission"]["agent"], "claude");
}

#[test]
fn without_a_usable_agent_the_way_to_each_is_shown_and_the_demo_is_not_played() {
    let env = world(&[("codex", false)]);
    let done = submit(&env, "t", &[]);
    assert_eq!(done.code, 2);
    for part in [
        "no agent is installed and logged in",
        "codex: not logged in; log in with `codex login`",
        "claude: not installed; install it with `npm install -g @anthropic-ai/claude-code`",
        "`longhaul demo`",
    ] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    assert!(!env.home().exists(), "nothing was made");
    assert_eq!(submit(&env, "t", &["--agent", "demo"]).code, 0, "by name it is played");
}

#[test]
fn a_named_agent_that_cannot_work_is_refused_unless_asked_otherwise() {
    let env = world(&[("codex", false), ("claude", true)]);
    for (agent, what) in [("codex", "is not logged in"), ("opencode", "is not installed")] {
        let done = submit(&env, "t", &["--agent", agent]);
        assert_eq!(done.code, 2, "{agent}");
        assert!(done.stderr.contains(what) && done.stderr.contains("nothing was submitted"), "{}", done.stderr);
    }
    assert_eq!(times_asked(&env, "claude"), 0, "a named agent is looked at alone");
    assert!(!env.home().exists(), "nothing was made");
    assert_eq!(submit(&env, "t", &["--agent", "codex", "--no-preflight"]).code, 0);
    configure(&env, "agent = \"codex\"\n");
    assert_eq!(submit(&env, "u", &[]).code, 2, "a configured one is refused too");
}

#[test]
fn a_login_is_remembered_and_a_missing_one_is_not() {
    let env = world(&[("claude", true), ("codex", false)]);
    assert_eq!(submit(&env, "home", &["--agent", "demo"]).code, 0);
    for name in ["a", "b", "c"] {
        assert_eq!(submit(&env, name, &["--agent", "claude"]).code, 0);
    }
    assert_eq!(times_asked(&env, "claude"), 1);
    assert_eq!(submit(&env, "d", &["--agent", "codex"]).code, 2);
    install(&env, "codex", true);
    assert_eq!(submit(&env, "d", &["--agent", "codex"]).code, 0, "after the login it works at once");
}

/// Refused with these words, and no task exists.
#[track_caller]
fn refused_check(env: &TestEnv, check: &str, words: &str) {
    let done = submit(env, "t", &["--agent", "demo", "--check", check]);
    assert_eq!(done.code, 2, "{check}: {}", done.stderr);
    assert!(done.stderr.contains(words) && done.stderr.contains("`--no-preflight`"), "{check}: {}", done.stderr);
    assert_eq!(env.json(&["list", "--all"])["tasks"].as_array().unwrap().len(), 0, "{check}");
}

#[test]
fn a_check_that_cannot_be_a_command_is_refused_before_anything_is_stored() {
    let env = world(&[]);
    std::fs::write(env.workspace().join("notes.sh"), "true\n").unwrap();
    program_at(&env, "check.sh");
    env.make_repository();
    env.git(&["add", "check.sh", "notes.sh"]);
    env.git(&["commit", "-q", "-m", "scripts"]);
    program_at(&env, "later.sh");
    refused_check(&env, "carg test", "`carg` was not found on PATH");
    refused_check(&env, "CI=1 carg test", "`carg` was not found on PATH");
    refused_check(&env, "if true; then", "the shell cannot parse it");
    refused_check(&env, "./notes.sh", "`./notes.sh` is not an executable file in the commit");
    refused_check(&env, "./later.sh", "`./later.sh` is not an executable file in the commit");
    refused_check(&env, "/no/such/tool x", "`/no/such/tool` is not a program");
    for (number, check) in
        ["./check.sh", "grep x y", "cd sub && carg", "$TOOL x", "[ -f x ]", "A=1 B=$(date) carg"].iter().enumerate()
    {
        let done = submit(&env, &format!("ok-{number}"), &["--agent", "demo", "--check", check]);
        assert_eq!(done.code, 0, "{check}: {}", done.stderr);
    }
    assert_eq!(submit(&env, "t", &["--agent", "demo", "--check", "carg test", "--no-preflight"]).code, 0);
}

fn program_at(env: &TestEnv, name: &str) {
    let path = env.workspace().join(name);
    std::fs::write(&path, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn without_git_the_file_on_disk_decides() {
    let env = world(&[]);
    refused_check(&env, "./check.sh", "`./check.sh` is not an executable file in the directory");
    program_at(&env, "check.sh");
    assert_eq!(submit(&env, "t", &["--agent", "demo", "--check", "./check.sh"]).code, 0);
}

#[test]
fn a_command_that_is_missing_later_asks_a_person_and_starts_no_fixing_session() {
    let env = crate::rounds::one_step();
    let done = env.run(&["run", "Do it", "--name", "t", "--check", "true && carg test"]);
    assert_eq!(done.code, 5, "{}", done.stderr);
    assert!(!env.purposes("t").contains(&"fix".to_owned()), "{:?}", env.purposes("t"));
    let why = env.ok(&["why", "t"]);
    assert!(why.contains("ended with exit code 127: the command may be missing"), "{why}");
    assert!(why.contains("longhaul edit t --check COMMAND"), "{why}");
    env.ok(&["edit", "t", "--check", "true"]);
    env.ok(&["resume", "t", "--reason", "another check"]);
    assert_eq!(env.run(&["wait", "t"]).code, crate::env::PASSED);
    assert!(!env.purposes("t").contains(&"fix".to_owned()), "{:?}", env.purposes("t"));
}
