//! The forms in which work lands: one commit or a merge, signed as the user's git is configured to, with or without the trailer.

use std::path::Path;
use std::process::Command;

use super::moved::meanwhile;
use super::{finished, repository};
use crate::env::TestEnv;

#[test]
fn a_merge_keeps_the_commits_of_the_task() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    let tip = env.git(&["rev-parse", "longhaul/t"]);
    let base = env.git(&["rev-parse", "main"]);
    env.ok(&["land", "t", "--merge"]);
    assert_eq!(env.git(&["show", "-s", "--format=%P %an", "main"]), format!("{base} {tip} Ann"));
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert_eq!(env.run(&["land", "t", "--merge", "--squash"]).code, 2);
}

#[test]
fn a_merge_on_a_branch_that_has_moved_holds_both_histories() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    meanwhile(&env, "other.txt", "more\n");
    let target = env.git(&["rev-parse", "main"]);
    env.ok(&["land", "t", "--merge"]);
    assert_eq!(env.git(&["rev-parse", "main^1"]), target);
    assert_eq!(env.git(&["log", "-1", "--format=%s", "main"]), "Port the parser");
}

#[test]
pub(super) fn the_trailer_can_be_left_out() {
    let mut env = repository();
    finished(&env, "t", &["--check", "true"]);
    env.set("LONGHAUL_LAND_TRAILER", "false");
    env.ok(&["land", "t"]);
    assert!(!env.git(&["show", "-s", "--format=%B", "main"]).contains("Longhaul-Task"));
}

/// A world whose user signs with an SSH key of their own.
fn signing() -> TestEnv {
    let env = repository();
    let user = env.path().join("user");
    let key = user.join("key");
    let words = ["-q", "-t", "ed25519", "-N", "", "-C", "ann@example.org", "-f"];
    assert!(Command::new("ssh-keygen").args(words).arg(&key).status().unwrap().success());
    let public = std::fs::read_to_string(user.join("key.pub")).unwrap();
    std::fs::write(user.join("signers"), format!("ann@example.org {public}")).unwrap();
    append(
        &user.join(".gitconfig"),
        &format!("[commit]\n\tgpgsign = true\n[gpg]\n\tformat = ssh\n[user]\n\tsigningkey = {}\n", key.display()),
    );
    env
}

fn append(file: &Path, text: &str) {
    let before = std::fs::read_to_string(file).unwrap_or_default();
    std::fs::write(file, before + text).unwrap();
}

fn signature(env: &TestEnv) -> String {
    let signers = env.path().join("user/signers");
    env.git(&[
        "-c",
        &format!("gpg.ssh.allowedSignersFile={}", signers.display()),
        "-c",
        "gpg.ssh.program=ssh-keygen",
        "log",
        "-1",
        "--format=%G? %GS",
        "main",
    ])
}

#[test]
fn a_commit_is_signed_with_the_users_key() {
    let env = signing();
    finished(&env, "t", &["--check", "true"]);
    env.ok(&["land", "t"]);
    assert_eq!(signature(&env), "G ann@example.org");
}

#[test]
fn what_an_agent_configures_signs_nothing() {
    let env = signing();
    finished(&env, "t", &["--check", "true"]);
    let mark = env.path().join("ran");
    let trap = env.path().join("trap");
    std::fs::write(&trap, format!("#!/bin/sh\n: > {}\nexit 1\n", mark.display())).unwrap();
    std::fs::set_permissions(&trap, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for key in ["gpg.ssh.program", "gpg.program", "gpg.ssh.defaultKeyCommand"] {
        env.git(&["config", key, &trap.display().to_string()]);
    }
    env.git(&["config", "user.signingkey", "/nonexistent"]);
    env.ok(&["land", "t"]);
    assert!(!mark.exists());
    assert_eq!(signature(&env), "G ann@example.org");
}

#[test]
fn a_commit_that_cannot_be_signed_does_not_land() {
    let env = signing();
    finished(&env, "t", &["--check", "true"]);
    std::fs::remove_file(env.path().join("user/key")).unwrap();
    let before = (env.checkout(), env.worktrees(), env.task_branches());
    let refused = env.run(&["land", "t"]);
    assert!(refused.code == 8 && refused.stderr.contains("could not be signed"), "{} {}", refused.code, refused.stderr);
    assert!(refused.stderr.contains("--no-sign"), "{}", refused.stderr);
    assert!((env.checkout(), env.worktrees(), env.task_branches()) == before);
    env.ok(&["land", "t", "--no-sign"]);
    assert!(signature(&env).starts_with('N'), "{}", signature(&env));
}
