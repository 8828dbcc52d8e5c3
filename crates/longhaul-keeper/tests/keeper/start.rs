//! From spec to exec: what reaches the agent, and every way in which it can not be started.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use longhaul_keeper::{
    Executable, ExitStatus, FAILED, KEPT, LEFT_ALONE, NOT_STARTED, PrepareError, SessionStatus, Standing, Stream, Why,
    inspect_session, prepare_session, read_index, spawn_keeper,
};

use crate::scene::{FIXTURE, SECRET, Scene, inspect_when_free, output, until, wait};

#[test]
fn an_agent_that_ends_by_itself_is_recorded_as_it_ended() {
    let scene = Scene::new();
    for (words, status) in [
        (&["exit", "0"][..], ExitStatus::Code(0)),
        (&["exit", "7"], ExitStatus::Code(7)),
        (&["kills-itself"], ExitStatus::Signal { number: 9, core: false }),
    ] {
        let ended = scene.run(&scene.spec(words));
        assert_eq!((ended.code, ended.exit.status, ended.exit.why), (Some(i32::from(KEPT)), status, Why::Own));
        let end = ended.end.unwrap();
        assert_eq!((end.tree_empty, end.killed_leftovers, end.log_error), (true, 0, None));
        assert!(matches!(inspect_session(&ended.directory).unwrap(), SessionStatus::Ended { end: Some(_), .. }));
    }
}

#[test]
fn a_large_prompt_arrives_whole_and_no_prompt_is_empty_input() {
    let scene = Scene::new();
    for prompt in [vec![b'p'; 300_000], Vec::new()] {
        let spec = scene.spec(&["count-input"]);
        let directory = prepare_session(scene.home.path(), spec.session, &spec, &prompt).unwrap();
        assert!(wait(&mut scene.keeper(&directory, "")).success());
        assert_eq!(output(&directory), format!("{}\n", prompt.len()));
    }
}

#[test]
fn the_agent_sees_the_marker_and_none_of_our_settings() {
    let scene = Scene::new();
    let mut spec = scene.spec(&["environment"]);
    spec.env_set.insert("GIVEN".to_owned(), "yes".to_owned());
    let ended = scene.run(&spec);
    let text = output(&ended.directory);
    let marker = format!("LONGHAUL_SESSION={}", spec.session);
    assert!(text.lines().any(|line| line == marker) && text.contains("GIVEN=yes") && text.contains("SECRET_THING"));
    assert_eq!(text.lines().filter(|line| line.starts_with("LONGHAUL_")).count(), 1, "{text}");

    spec = scene.spec(&["environment"]);
    spec.env_unset = vec!["SECRET_THING".to_owned()];
    assert!(!output(&scene.run(&spec).directory).contains("SECRET_THING"));

    spec = scene.spec(&["environment"]);
    spec.env_pass = Some(Vec::new());
    spec.env_set = BTreeMap::new();
    assert_eq!(output(&scene.run(&spec).directory), format!("LONGHAUL_SESSION={}\n", spec.session));
}

#[test]
fn an_agent_keeps_the_users_file_mode_mask_and_our_files_are_private() {
    let scene = Scene::new();
    let mut spec = scene.spec(&[]);
    spec.argv = ["sh", "-c", "umask; umask >made"].map(str::to_owned).to_vec();
    let ended = scene.run(&spec);
    let ours = Command::new("sh").args(["-c", "umask"]).output().unwrap().stdout;
    assert_eq!(output(&ended.directory).as_bytes(), ours);
    for entry in std::fs::read_dir(ended.directory.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.path());
    }
    assert_eq!(ended.directory.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn the_index_covers_both_logs() {
    let scene = Scene::new();
    let mut spec = scene.spec(&[]);
    spec.argv = ["sh", "-c", "echo one; echo two >&2"].map(str::to_owned).to_vec();
    let ended = scene.run(&spec);
    let entries = read_index(&std::fs::read(ended.directory.index()).unwrap());
    let total = |stream| entries.iter().filter(|entry| entry.stream == stream).map(|entry| entry.length).sum::<u32>();
    assert_eq!((total(Stream::Out), total(Stream::Err)), (4, 4));
    let end = ended.end.unwrap();
    assert_eq!((end.out_len, end.err_len, end.index_len), (4, 4, 24 * entries.len() as u64));
    assert_eq!(std::fs::read_to_string(ended.directory.err_log()).unwrap(), "two\n");
}

#[test]
fn what_can_not_be_executed_says_why() {
    let scene = Scene::new();
    let mut missing = scene.spec(&[]);
    missing.argv = vec!["no-such-program-anywhere".to_owned()];
    let mut no_file = scene.spec(&[]);
    no_file.argv = vec![scene.text("nothing-here")];
    let mut no_directory = scene.spec(&["exit", "0"]);
    no_directory.cwd = scene.path("gone");
    let mut no_arguments = scene.spec(&[]);
    no_arguments.argv.clear();
    for (spec, number, word) in [
        (missing, Some(2), "no-such-program-anywhere"),
        (no_file, Some(2), "nothing-here"),
        (no_directory, Some(2), "gone"),
        (no_arguments, None, "no program"),
    ] {
        let ended = scene.run(&spec);
        let ExitStatus::ExecFailed { errno, message } = ended.exit.status else { panic!("{:?}", ended.exit) };
        assert_eq!((ended.code, errno), (Some(i32::from(NOT_STARTED)), number), "{message}");
        assert!(message.contains(word), "{message}");
        assert!(ended.end.unwrap().tree_empty);
    }
    assert_eq!(scene.executions(), 0);
}

#[test]
fn a_spec_that_is_damaged_newer_foreign_or_missing_runs_nothing() {
    let scene = Scene::new();
    let other = serde_json::to_string(&scene.spec(&["exit", "0"])).unwrap();
    let newer = other.replace("\"version\":2", "\"version\":3");
    assert_ne!(newer, other);
    for (text, word) in [("{\"version\":1", "damaged"), (&newer, "version 3;"), (&other, "for session"), ("", "")] {
        let directory = scene.prepare(&scene.spec(&["exit", "0"]));
        let file = directory.path().join("spec");
        if text.is_empty() {
            std::fs::remove_file(&file).unwrap();
        } else {
            std::fs::write(&file, text).unwrap();
        }
        assert_eq!(wait(&mut scene.keeper(&directory, "")).code(), Some(i32::from(NOT_STARTED)));
        let SessionStatus::Ended { exit, identity, .. } = inspect_session(&directory).unwrap() else {
            panic!("not ended")
        };
        let ExitStatus::ExecFailed { message, .. } = exit.status else { panic!("{exit:?}") };
        assert!(message.contains(word) && identity.is_none(), "{message}");
    }
    assert_eq!(scene.executions(), 0);
}

#[test]
fn where_nothing_can_be_written_nothing_is_run() {
    let scene = Scene::new();
    let directory = scene.prepare(&scene.spec(&["exit", "0"]));
    let line = format!("ulimit -f 0; exec {FIXTURE} keep {}", directory.path().display());
    let status = Command::new("sh").args(["-c", &line]).status().unwrap();
    assert_eq!(status.code(), Some(i32::from(FAILED)));
    assert!(matches!(inspect_when_free(&directory), SessionStatus::NeverStarted(_)));
    assert_eq!(scene.executions(), 0);
}

#[test]
fn of_many_keepers_one_runs_the_agent() {
    let scene = Scene::new();
    let directory = scene.prepare(&scene.spec(&["exit", "0"]));
    let mut keepers: Vec<_> = (0..12).map(|_| scene.keeper(&directory, "")).collect();
    let codes: Vec<_> = keepers.iter_mut().map(|keeper| wait(keeper).code().unwrap()).collect();
    assert_eq!(codes.iter().filter(|&&code| code == i32::from(KEPT)).count(), 1);
    assert_eq!(codes.iter().filter(|&&code| code == i32::from(LEFT_ALONE)).count(), 11);
    assert_eq!(scene.executions(), 1);
}

#[test]
fn a_replaced_executable_harms_nothing() {
    let scene = Scene::new();
    let path = scene.path("program");
    std::fs::copy(FIXTURE, &path).unwrap();
    let executable = Executable::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "#!/bin/sh\nexit 77\n").unwrap();
    let mut allowed = std::fs::metadata(&path).unwrap().permissions();
    allowed.set_mode(0o755);
    std::fs::set_permissions(&path, allowed).unwrap();
    // The control: the path leads to the new program by now.
    assert_eq!(Command::new(&path).status().unwrap().code(), Some(77));

    let directory = scene.prepare(&scene.spec(&["exit", "6"]));
    let mut keeper = spawn_keeper(&executable, &directory, Standing::Plain).unwrap();
    assert_eq!(wait(&mut keeper).code(), Some(i32::from(KEPT)));
    assert_eq!(directory.exit().unwrap().unwrap().status, ExitStatus::Code(6));
}

#[test]
fn a_session_is_prepared_once() {
    let scene = Scene::new();
    let spec = scene.spec(&["exit", "0"]);
    scene.prepare(&spec);
    let again = prepare_session(scene.home.path(), spec.session, &spec, b"");
    assert!(matches!(again, Err(PrepareError::Exists { .. })));
    let foreign = prepare_session(scene.home.path(), crate::scene::mint(), &spec, b"");
    assert!(matches!(foreign, Err(PrepareError::ForeignSpec { .. })));
}

#[test]
fn an_agent_knows_that_it_is_below_a_session_even_scrubbed() {
    let scene = Scene::new();
    let spec = scene.spec(&["caller"]);
    let expected = format!("{}\n", spec.session);
    assert_eq!(output(&scene.run(&spec).directory), expected);

    let mut scrubbed = scene.spec(&[]);
    let line = format!("exec env -i {FIXTURE} caller");
    scrubbed.argv = ["sh", "-c", &line].map(str::to_owned).to_vec();
    let expected = format!("{}\n", scrubbed.session);
    assert_eq!(output(&scene.run(&scrubbed).directory), expected);

    let outside = Command::new(FIXTURE).arg("caller").env_clear().output().unwrap().stdout;
    assert_eq!(outside, b"Person\n");
}

#[test]
fn output_is_on_disk_while_the_agent_runs() {
    let scene = Scene::new();
    let spec = scene.spec(&["stray", "plain", &scene.tag, &scene.text("r")]);
    let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
    assert!(directory.exit().unwrap().is_none());
    longhaul_keeper::signal_keeper(&identity, longhaul_keeper::Stop::Immediate).unwrap();
    wait(&mut keeper);
    until("the stray is gone", || scene.tagged().is_empty());
}

#[test]
fn no_secret_of_the_environment_reaches_the_disk() {
    let scene = Scene::new();
    let mut spec = scene.spec(&[]);
    let line =
        r#"printf %s "${AN_API_KEY%trout}"; sleep 0.1; echo trout; echo "clean $SECRET_THING"; echo "$AN_API_KEY" >&2"#;
    spec.argv = ["sh", "-c", line].map(str::to_owned).to_vec();
    let ended = scene.run(&spec);
    let written = output(&ended.directory);
    assert!(written.contains("\nclean seen\n"), "the control: other values pass: {written}");
    for entry in std::fs::read_dir(ended.directory.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(SECRET) && !text.contains("mmxv"), "{text}");
    }
    assert!(ended.directory.err_log().metadata().unwrap().len() > 0);
}
