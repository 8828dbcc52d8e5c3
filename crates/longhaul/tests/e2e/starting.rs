//! Ways to start a task: a preview that creates nothing, an editor, a file, another branch, a profile; and `setup`, which asks once.

use std::path::PathBuf;

use longhaul_app::Caller;
use longhaul_app::operation::FrontEnd;
use longhaul_core::task::{Actor, Rights};
use serde_json::{Value, json};

use crate::custom_agents::{configure, program};
use crate::env::TestEnv;
use crate::in_process;
use crate::rounds::one_step;
use crate::screen::{Shell, Terminal};

const NEVER: [&str; 2] = ["--hours", "00:00-00:01"];

/// A world whose temporary files are in a directory of its own.
fn world() -> TestEnv {
    let mut env = one_step();
    let place = env.path().join("tmp");
    std::fs::create_dir(&place).unwrap();
    env.set("TMPDIR", &place.display().to_string());
    env.make_repository();
    env
}

fn left_in_tmp(env: &TestEnv) -> Vec<PathBuf> {
    std::fs::read_dir(env.path().join("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn submission(env: &TestEnv, name: &str) -> Value {
    env.task(name)["submission"].clone()
}

#[track_caller]
fn refused(env: &TestEnv, args: &[&str], words: &str) {
    let done = env.run(args);
    assert!(done.code == 2 && done.stderr.contains(words), "{args:?}: {}", done.stderr);
}

#[test]
fn a_dry_run_shows_everything_resolved_and_creates_nothing() {
    let env = world();
    configure(&env, "limits.max_cost = 20\n[profile.night]\nsession.hours = '22:00-07:00'\nsandbox = 'full'\n");
    env.put("own.txt", "changed by me\n");
    let asked = ["run", "--dry-run", "Port it", "--check", "true", "--profile", "night", "--max-time", "2h"];
    let shown = env.run(&asked);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let base = env.git(&["rev-parse", "--short=12", "main"]);
    for part in [
        "agent       demo\n".to_owned(),
        format!("at {base}; lands on main"),
        "sandbox     full, ".to_owned(),
        "check       true\n".to_owned(),
        "max time 2h".to_owned(),
        "max cost 20".to_owned(),
        "hours       22:00-07:00\n".to_owned(),
        "so far      no finished task of demo here yet".to_owned(),
    ] {
        assert!(shown.stdout.contains(&part), "`{part}` is missing in\n{}", shown.stdout);
    }
    assert!(shown.stderr.contains("will not see 1 uncommitted file"), "{}", shown.stderr);
    assert!(shown.stderr.ends_with("nothing was submitted\n"), "{}", shown.stderr);
    assert!(!env.home().exists() && left_in_tmp(&env).is_empty(), "{:?}", left_in_tmp(&env));
    assert_eq!((env.worktrees().len(), env.task_branches().len()), (0, 0));

    assert_eq!(env.run(&["run", "Port it", "--name", "t"]).code, 0);
    let view = env.json(&asked);
    assert_eq!((&view["history"]["tasks"], view["base"].as_str().map(str::len)), (&json!(1), Some(40)));
    assert!(view["history"]["median_worked_ms"].is_u64(), "{view}");
    assert_eq!(env.json(&["list", "--all"])["tasks"].as_array().unwrap().len(), 1);
    for (flags, words) in [
        (&["--check", "carg test"][..], "`carg` was not found on PATH"),
        (&["--agent", "cladue"], "`claude`"),
        (&["--base", "nowhere"], "there is no branch `nowhere`"),
    ] {
        refused(&env, &[&["run", "--dry-run", "Port it"], flags].concat(), words);
    }
}

/// An editor that puts this text above what it finds.
fn editor(env: &mut TestEnv, text: &str) {
    let place = env.path().display().to_string();
    std::fs::write(env.path().join("text"), text).unwrap();
    env.set("EDITOR", &format!("sh -c 'cat {place}/text \"$1\" >{place}/both; cp {place}/both \"$1\"' sh"));
}

#[test]
fn without_a_goal_the_editor_opens_and_what_is_above_the_line_is_the_goal() {
    let mut env = world();
    editor(&mut env, "Port the parser\n\n# Rules\nKeep the API.\n");
    let (code, shown) = Terminal::run(&env, &[&["run", "-d", "--name", "t"], &NEVER[..]].concat()).finish();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(submission(&env, "t")["goal"], "Port the parser\n\n# Rules\nKeep the API.");
    assert!(left_in_tmp(&env).is_empty(), "{:?}", left_in_tmp(&env));
    editor(&mut env, " \n");
    let (code, shown) = Terminal::run(&env, &["run", "-d", "--name", "u"]).finish();
    assert!(code == 2 && shown.contains("the goal is empty; nothing was submitted"), "{shown}");
    assert_eq!(env.json(&["list", "--all"])["tasks"].as_array().unwrap().len(), 1);
    refused(&env, &["run", "-d"], "no goal given");
}

#[test]
fn a_written_goal_is_kept_when_the_task_is_refused() {
    let mut env = world();
    editor(&mut env, "A long goal\n");
    let (code, shown) = Terminal::run(&env, &["run", "-d", "--check", "carg test"]).finish();
    assert!(code == 2 && shown.contains("your goal is kept: repeat the command with `-f "), "{shown}");
    let draft = left_in_tmp(&env)[0].join("goal.md");
    env.ok(&[&["run", "-d", "-f", draft.to_str().unwrap(), "--name", "t"], &NEVER[..]].concat());
    assert_eq!(submission(&env, "t")["goal"], "A long goal");
    refused(&env, &["run", "-d", "-f", "nowhere.md"], "cannot read the goal from `nowhere.md`");
    refused(&env, &["run", "-d", "goal", "-f", "nowhere.md"], "cannot be used with");
}

#[test]
fn a_task_from_another_branch_lands_there() {
    let env = world();
    env.git(&["switch", "-q", "-c", "develop"]);
    env.put("develop.txt", "only here\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "develop"]);
    env.git(&["switch", "-q", "main"]);
    let done = env.run(&["run", "Port it", "--name", "t", "--base", "develop", "--check", "test -f develop.txt"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let main = env.git(&["rev-parse", "main"]);
    assert!(env.ok(&["land", "t"]).contains("on develop"));
    assert_eq!(env.git(&["rev-parse", "main"]), main);
    assert!(env.git(&["show", "--stat", "--format=%s", "develop"]).contains("step-1.md"));
    let tip = env.git(&["rev-parse", "develop"]);
    assert_eq!(env.run(&["retry", "t", "--name", "again"]).code, 0);
    assert_eq!(submission(&env, "again")["place"]["worktree"]["base"], tip.as_str(), "{}", submission(&env, "again"));
    for (flags, words) in [
        (&["--base", "nowhere"][..], "there is no branch `nowhere`"),
        (&["--base", "develop", "--in-place"], "leave out --base"),
        (&["--base=-x"], "cannot start from `-x`"),
    ] {
        refused(&env, &[&["run", "-d", "Port it"], flags].concat(), words);
    }
}

const PROFILES: &str = "model = 'day'\n[profile.night]\nmodel = 'night'\nlimits.max_cost = 20\nsandbox = 'full'\n\
                        [profile.night.session]\nhours = '22:00-07:00'\n";

#[test]
fn a_profile_wins_over_the_files_and_loses_to_flags() {
    let env = world();
    configure(&env, PROFILES);
    env.submit("Do it", &[&["--name", "day"], &NEVER[..]].concat());
    assert_eq!(submission(&env, "day")["model"], "day");
    env.submit("Do it", &[&["--name", "night", "--profile", "night"], &NEVER[..]].concat());
    let night = submission(&env, "night");
    assert_eq!((&night["model"], &night["sandbox"]), (&json!("night"), &json!("full")));
    assert_eq!(night["policy"]["max_cost_micros"], 20_000_000);
    assert_eq!(env.json(&["run", "--dry-run", "x", "--profile", "night"])["hours"], "22:00-07:00");
    assert!(env.ok(&["config", "show"]).contains("profile.night.model = \"night\"\n"));
    refused(&env, &["run", "-d", "Do it", "--profile", "nigth"], "no profile `nigth`; did you mean `night`?");
    for (config, words) in [
        ("[profile.night]\nmodle = 'x'\n", "line 2: unknown key `profile.night.modle`; did you mean `model`?"),
        ("[profile.night]\nretention.age = '1d'\n", "takes only keys that concern a task"),
        ("[profile.night]\nagent = 'cladue'\n", "`profile.night.agent` cannot be `cladue`"),
        ("[profile.night]\nsandbox = 'none'\n", "`profile.night.sandbox` cannot be `none`"),
        ("profile = 'night'\n", "`profile` cannot be string"),
    ] {
        configure(&env, config);
        refused(&env, &["run", "-d", "Do it"], words);
    }
    configure(&env, "");
    env.put("longhaul.toml", "[profile.night]\nmodel = 'theirs'\n");
    refused(&env, &["run", "-d", "Do it", "--profile", "night"], "is not trusted");
    assert!(env.ok(&["trust", "."]).contains("profile.night.model = \"theirs\"  # needs trust"));
    env.submit("Do it", &[&["--name", "trusted", "--profile", "night"], &NEVER[..]].concat());
    assert_eq!(submission(&env, "trusted")["model"], "theirs");
}

#[test]
fn of_a_profile_an_assistant_gets_what_it_may_choose_and_stricter_limits() {
    let env = world();
    let directory = env.path().join("nobody/.config/longhaul");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.toml"), format!("agent = 'demo'\n{PROFILES}")).unwrap();
    let preview = |rights: &str| {
        let caller = Caller::new(Actor::person("ann"), Ok(env.workspace()));
        let caller = caller.through(FrontEnd::Mcp, rights.parse::<Rights>().unwrap());
        in_process::perform(&env, caller, "preview", json!({ "goal": "g", "profile": "night" })).unwrap()
    };
    let all = preview("run,approve");
    assert_eq!((&all["data"]["sandbox"], &all["data"]["model"]), (&json!("full"), &json!("night")));
    let some = preview("run");
    assert_eq!((&some["data"]["sandbox"], &some["data"]["model"]), (&json!("workspace"), &json!("night")));
    let limits = some["data"]["limits"].as_array().unwrap();
    assert!(limits.contains(&json!({ "key": "limits.max_cost", "value": "20" })), "{limits:?}");
    let warning = some["warnings"][0].as_str().unwrap();
    assert!(warning.contains("need the right `approve` and are ignored: sandbox"), "{some}");
}

/// A world with claude logged in, and without anything configured.
fn new_here() -> TestEnv {
    let mut env = TestEnv::new().without_agent();
    for key in ["CODEX_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"] {
        env.set(key, "");
    }
    env.unset("LONGHAUL_NOTIFY_DESKTOP");
    env.set("DBUS_SESSION_BUS_ADDRESS", "");
    env.set("XDG_RUNTIME_DIR", "");
    std::fs::create_dir(env.path().join("bin")).unwrap();
    program(&env, "claude", "#!/bin/sh\nexit 0\n");
    program(&env, "codex", "#!/bin/sh\nexit 1\n");
    let path = format!("{}:/usr/bin:/bin", env.path().join("bin").display());
    env.set("PATH", &path);
    env.make_repository();
    env.put("Cargo.toml", "[package]\n");
    env
}

fn files(env: &TestEnv) -> [Option<String>; 2] {
    [env.path().join("config/longhaul/config.toml"), env.workspace().join("longhaul.toml")]
        .map(|file| std::fs::read_to_string(file).ok())
}

#[test]
fn setup_asks_once_and_writes_what_was_answered() {
    let env = new_here();
    let mut terminal = Terminal::run(&env, &["setup"]);
    terminal.shows("  codex      not logged in; log in with `codex login`");
    terminal.shows("Agent for new tasks, or `none` to choose for each [claude]:");
    terminal.press(b"\n");
    terminal.shows("Command that must succeed, or `none` [cargo test]:");
    terminal.press(b"true\n");
    terminal.shows("done or needs you [no]:");
    assert_eq!(files(&env), [None, None], "nothing is written before the last answer");
    terminal.press(b"perhaps\n");
    terminal.shows("answer yes or no");
    terminal.press(b"yes\n");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    let own = "agent = \"claude\"\n\n[notify]\ndesktop = true\n";
    let written = [Some(own.to_owned()), Some("[verify]\ncommands = [\"true\"]\n".to_owned())];
    assert_eq!(files(&env), written);
    let mut again = Terminal::run(&env, &["setup"]);
    for question in ["[claude]:", "[true]:", "[yes]:"] {
        again.shows(question);
        again.press(b"\n");
    }
    assert_eq!(again.finish().0, 0);
    assert_eq!(files(&env), written, "Enter keeps everything");
    assert_eq!(env.json(&["run", "--dry-run", "x"])["checks"], json!(["true"]), "the new file counts");
}

#[test]
fn an_interrupted_setup_writes_nothing() {
    let env = new_here();
    let mut shell = Shell::run(&env, &["setup"]);
    shell.shows("[claude]:");
    shell.press(b"codex\n");
    shell.shows("[cargo test]:");
    shell.press(b"\x03");
    let shown = shell.finish();
    assert!(shown.contains("interrupted; nothing was changed"), "{shown}");
    assert_eq!(files(&env), [None, None]);
}

#[test]
fn without_a_terminal_setup_explains_what_to_set() {
    let env = new_here();
    let done = env.run(&["setup"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    for line in [
        "longhaul config set agent claude",
        "longhaul config set --project verify.commands 'cargo test'",
        "longhaul config set notify.desktop false",
    ] {
        assert!(done.stderr.contains(&format!("\n  {line}\n")), "{line}: {}", done.stderr);
    }
    let found = env.json(&["setup"]);
    assert_eq!((&found["agent"], &found["suggested_checks"]), (&Value::Null, &json!(["cargo test"])));
    assert_eq!((files(&env), env.home().exists()), ([None, None], false));
}
