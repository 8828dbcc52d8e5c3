//! Tests of one run with programs of our own in place of git: deadline, caps, environment, arguments.
//! Run by the test runner only.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use super::*;
use longhaul_keeper::process::exits_within;

fn program(script: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("git");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    (directory, path)
}

#[test]
fn after_the_deadline_the_whole_group_is_gone() {
    let (directory, path) = program("sleep 600 & echo $! > child; sleep 600");
    let began = Instant::now();
    let answer = Call::new(&path, directory.path()).deadline(Duration::from_millis(500)).run();
    assert!(matches!(answer, Err(GitError::Deadline { .. })));
    assert!(began.elapsed() < Duration::from_secs(60));
    let child = fs::read_to_string(directory.path().join("child")).unwrap();
    assert!(
        exits_within(child.trim().parse().unwrap(), Duration::from_secs(20)).unwrap(),
        "the child of the killed program lives"
    );
}

#[test]
fn output_is_capped_and_the_program_ends_by_the_closed_pipe() {
    let (directory, path) = program("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done");
    let answer = Call::new(&path, directory.path()).cap(1000).run().unwrap();
    assert!(answer.cut);
    assert_eq!(answer.output.len(), 1000);
    let error = Call::new(&path, directory.path()).cap(1000).succeed().unwrap_err();
    assert!(matches!(error, GitError::TooMuch { cap: 1000, .. }));
}

#[test]
fn a_large_input_and_a_large_output_do_not_block_each_other() {
    let (directory, path) = program("exec cat");
    let input = vec![b'a'; 4 << 20];
    assert_eq!(Call::new(&path, directory.path()).input(input.clone()).succeed().unwrap(), input);
}

#[test]
fn the_environment_is_ours_alone() {
    let (directory, path) = program("exec env");
    let setting = [("filter.a=b.clean".into(), "".into())];
    let text = Call::new(&path, directory.path()).settings(&setting).variable("GIT_DIR", "/x").line().unwrap();
    let names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
    let ours = |name: &&str| {
        name.starts_with("GIT_")
            || ["LC_ALL", "HOME", "PATH", "SSH_ASKPASS", "PWD", "_", "SHLVL", "OLDPWD"].contains(name)
    };
    assert!(names.iter().all(ours), "{names:?}");
    assert!(text.contains("GIT_CONFIG_KEY_0=filter.a=b.clean\n"));
    assert!(text.contains("GIT_CONFIG_COUNT=1\n"));
}

#[test]
fn what_could_be_an_option_is_refused() {
    let call = || Call::new(Path::new("git"), Path::new("/"));
    for bad in ["-", "--all", "-c", "a\0b"] {
        assert!(matches!(call().value(bad), Err(GitError::BadArgument { .. })), "{bad}");
    }
    for good in ["", "a -b", "$(touch x)", "a;b", "ä\n"] {
        assert_eq!(call().value(good).unwrap().arguments, [OsString::from(good)]);
    }
}

#[test]
fn a_git_without_input_holds_the_lock_it_was_started_under() {
    let (directory, path) = program("readlink /proc/self/fd/0; cat");
    let lock = crate::locks::PathLock::take(directory.path(), Path::new("/subject")).unwrap();
    let call = || Call::new(&path, directory.path()).holding(Some(lock.file()));
    let name = call().line().unwrap();
    assert!(name.starts_with(directory.path().to_str().unwrap()) && name.ends_with(".lock"), "{name}");
    let text = call().input(b"input".to_vec()).line().unwrap();
    assert!(text.starts_with("pipe:") && text.ends_with("input"), "{text}");
}

#[test]
fn a_refusal_carries_the_text() {
    let (directory, path) = program("echo it is so >&2; exit 3");
    let answer = Call::new(&path, directory.path()).run().unwrap();
    assert_eq!((answer.code(), answer.error.as_str()), (Some(3), "it is so"));
    assert!(answer.refused().to_string().contains("it is so"));
}

fn overrides(listed: &[u8]) -> Vec<(String, String)> {
    let text = |text: OsString| text.into_string().unwrap();
    let fixed = FIXED.len();
    let all = Listed::read(listed).overrides().into_iter().skip(fixed);
    all.map(|(key, value)| (text(key), text(value))).collect()
}

#[test]
fn programs_of_every_section_are_blanked_by_their_exact_name() {
    let listed = b"filter.A b=c.clean\nevil\0filter.x.required\nyes\0diff.d.textconv\nevil\0merge.m.driver\nevil\0\
        credential.https://a.b.helper\nevil\0user.name\nme\0filter.alone.process\0";
    let blank = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(
        overrides(listed),
        [
            blank("filter.A b=c.clean", ""),
            blank("filter.x.required", "false"),
            blank("diff.d.textconv", ""),
            blank("merge.m.driver", ""),
            blank("credential.https://a.b.helper", ""),
            blank("filter.alone.process", ""),
        ]
    );
}

#[test]
fn the_fixed_list_keeps_the_last_word() {
    assert_eq!(overrides(b"gpg.program\nevil\0gpg.ssh.program\nevil\0"), []);
}

#[test]
fn a_view_takes_over_only_what_names_no_program() {
    let listed = Listed::read(b"core.autocrlf\ntrue\0core.fsmonitor\nevil\0filter.x.clean\nevil\0");
    let taken = listed.taken_over();
    assert_eq!(taken[0], ("core.autocrlf".into(), "true".into()));
    assert!(taken.iter().all(|(_, value)| value != "evil"));
}
