//! `land --pr`: the commit is pushed to the remote of the submission and offered with the person's own program, which a strict stand-in
//! replaces here: it rejects every word that the real one would not take. The remote is a bare repository on disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{finished, repository};
use crate::checker;
use crate::env::TestEnv;

/// Takes exactly the flags of `gh pr list` and `gh pr create`, in an empty directory, and remembers one pull request.
const GH: &str = r#"#!/bin/sh
set -eu
[ -z "$(ls -A .)" ] || { echo "not in an empty directory: $(pwd)" >&2; exit 64; }
[ "$1" = pr ] || { echo "unknown command \"$1\"" >&2; exit 64; }
verb=$2; shift 2
known="--repo --head --base"
case $verb in
  list) known="$known --state --json" ;;
  create) known="$known --title --body" ;;
  *) echo "unknown command \"$verb\"" >&2; exit 64 ;;
esac
while [ $# -gt 0 ]; do
  case " $known " in *" $1 "*) ;; *) echo "unknown flag: $1" >&2; exit 64 ;; esac
  [ $# -ge 2 ] || { echo "flag needs an argument: $1" >&2; exit 64; }
  printf '%s %s=%s\n' "$verb" "$1" "$2" >> "$STAND_IN/words"
  shift 2
done
if [ "$verb" = list ]; then
  if [ -e "$STAND_IN/open" ]; then printf '[{"url":"%s"}]\n' "$(cat "$STAND_IN/open")"; else echo '[]'; fi
  exit 0
fi
[ ! -e "$STAND_IN/open" ] || { echo "a pull request for branch already exists" >&2; exit 1; }
echo "https://github.com/ann/project/pull/7" | tee "$STAND_IN/open"
"#;

/// The same for `glab mr list` and `glab mr create`.
const GLAB: &str = r#"#!/bin/sh
set -eu
[ -z "$(ls -A .)" ] || { echo "not in an empty directory: $(pwd)" >&2; exit 64; }
[ "$1" = mr ] || { echo "Unknown command $1" >&2; exit 64; }
verb=$2; shift 2
known="--repo --source-branch --target-branch"
case $verb in
  list) known="$known --output" ;;
  create) known="$known --title --description" ;;
  *) echo "Unknown command $verb" >&2; exit 64 ;;
esac
while [ $# -gt 0 ]; do
  if [ "$verb $1" = "create --yes" ]; then shift; continue; fi
  case " $known " in *" $1 "*) ;; *) echo "Unknown flag: $1" >&2; exit 64 ;; esac
  [ $# -ge 2 ] || { echo "flag needs an argument: $1" >&2; exit 64; }
  printf '%s %s=%s\n' "$verb" "$1" "$2" >> "$STAND_IN/words"
  shift 2
done
if [ "$verb" = list ]; then echo '[]'; exit 0; fi
echo "!7 Port the parser (longhaul/t)"
echo " https://gitlab.example.org/ann/project/-/merge_requests/7"
"#;

/// A world whose remote has this address, which the user's own configuration leads to a bare repository.
fn hosted(url: &str) -> TestEnv {
    let mut env = repository();
    let (bin, state) = (env.path().join("bin"), env.path().join("stand-in"));
    for directory in [&bin, &state] {
        fs::create_dir(directory).unwrap();
    }
    for (name, text) in [("gh", GH), ("glab", GLAB)] {
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    env.set("PATH", &format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    env.set("STAND_IN", &state.display().to_string());
    let bare = env.path().join("remote.git");
    env.git(&["init", "-q", "--bare", "-b", "main", &bare.display().to_string()]);
    env.git(&["push", "-q", &bare.display().to_string(), "main"]);
    env.git(&["remote", "add", "origin", url]);
    let config = env.path().join("user/.gitconfig");
    let known = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{known}[url \"{}\"]\n\tinsteadOf = {url}\n", bare.display())).unwrap();
    env
}

fn at_remote(env: &TestEnv, name: &str) -> String {
    env.git(&["-C", &env.path().join("remote.git").display().to_string(), "log", "-1", "--format=%s %an", name])
}

fn words(env: &TestEnv) -> String {
    fs::read_to_string(env.path().join("stand-in/words")).unwrap_or_default()
}

#[test]
fn the_work_is_offered_and_the_branch_here_does_not_move() {
    let env = hosted("git@github.com:ann/project.git");
    finished(&env, "t", &["--check", "true"]);
    let before = env.checkout();
    let done = env.run(&["land", "t", "--pr"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.stdout.trim(), "t: https://github.com/ann/project/pull/7");
    assert!(env.checkout() == before, "neither branch nor files");
    assert_eq!(at_remote(&env, "longhaul/t"), "Port the parser Ann");
    assert_eq!(at_remote(&env, "main"), "begin A");
    let words = words(&env);
    for word in ["--repo=github.com/ann/project", "--head=longhaul/t", "--base=main", "--title=Port the parser"] {
        assert!(words.contains(&format!("create {word}\n")), "{words}");
    }
    assert!(words.contains("Keep the API."), "{words}");
    let view = env.json(&["show", "t"])["task"]["followed_up"].clone();
    assert_eq!(view["kind"], json!("pull_request"));
    assert!(env.ok(&["list"]).contains("offered as a pull request"), "{}", env.ok(&["list"]));
    assert_eq!(env.worktrees().len(), 1, "a review may want more");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn glab_gets_its_own_words() {
    let env = hosted("https://gitlab.example.org/ann/project.git");
    finished(&env, "t", &["--check", "true"]);
    let done = env.run(&["land", "t", "--pr"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.stdout.trim(), "t: https://gitlab.example.org/ann/project/-/merge_requests/7");
    assert!(words(&env).contains("create --repo=https://gitlab.example.org/ann/project\n"), "{}", words(&env));
}

#[test]
fn nothing_that_an_agent_configures_takes_part_in_the_push() {
    let env = hosted("git@github.com:ann/project.git");
    finished(&env, "t", &["--check", "true"]);
    let (mark, trap) = (env.path().join("ran"), env.path().join("trap"));
    fs::write(&trap, format!("#!/bin/sh\n: > {}\nexit 1\n", mark.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(&trap, env.workspace().join(".git/hooks/pre-push")).unwrap();
    let (trap, elsewhere) = (trap.display().to_string(), env.path().join("elsewhere.git").display().to_string());
    env.git(&["init", "-q", "--bare", &elsewhere]);
    for (key, value) in [
        ("core.sshCommand", trap.as_str()),
        ("credential.helper", &trap),
        ("remote.origin.receivepack", &trap),
        ("remote.origin.url", &elsewhere),
        (&format!("url.{elsewhere}.insteadOf"), "git@github.com:ann/project.git"),
        ("core.hooksPath", ".git/hooks"),
        ("push.gpgSign", "true"),
        ("gpg.program", &trap),
    ] {
        env.git(&["config", key, value]);
    }
    env.ok(&["land", "t", "--pr"]);
    assert!(!mark.exists());
    assert_eq!(at_remote(&env, "longhaul/t"), "Port the parser Ann");
    assert_eq!(env.git(&["-C", &elsewhere, "for-each-ref"]), "");
}

#[test]
fn without_a_remote_or_a_program_nothing_is_pushed() {
    let mut env = hosted("git@github.com:ann/project.git");
    finished(&env, "t", &["--check", "true"]);
    env.git(&["remote", "remove", "origin"]);
    let second = env.run(&["run", "Port the lexer", "--name", "u", "--check", "true"]);
    assert_eq!(second.code, 0, "{}", second.stderr);
    let refused = env.run(&["land", "u", "--pr"]);
    assert!(refused.code == 8 && refused.stderr.contains("there was no remote"), "{}", refused.stderr);
    fs::remove_file(env.path().join("bin/gh")).unwrap();
    env.set("PATH", &format!("{}:/usr/bin:/bin", env.path().join("bin").display()));
    let refused = env.run(&["land", "t", "--pr"]);
    assert!(refused.code == 8 && refused.stderr.contains("`gh` opens the pull request"), "{}", refused.stderr);
    assert_eq!(
        env.git(&["-C", &env.path().join("remote.git").display().to_string(), "branch", "--format=%(refname:short)"]),
        "main"
    );
}

#[test]
fn a_branch_there_with_other_commits_is_not_overwritten() {
    let env = hosted("git@github.com:ann/project.git");
    finished(&env, "t", &["--check", "true"]);
    let bare = env.path().join("remote.git").display().to_string();
    let other = env.git(&["commit-tree", "main^{tree}", "-m", "theirs"]);
    env.git(&["push", "-q", &bare, &format!("{other}:refs/heads/longhaul/t")]);
    let refused = env.run(&["land", "t", "--pr"]);
    assert!(refused.code == 8 && refused.stderr.contains("could not be pushed"), "{}", refused.stderr);
    assert_eq!(at_remote(&env, "longhaul/t"), "theirs A");
    assert!(!words(&env).contains("create "), "{}", words(&env));
}

#[test]
fn l14_after_the_push_no_second_pull_request_is_opened() {
    let mut env = hosted("git@github.com:ann/project.git");
    finished(&env, "t", &["--check", "true"]);
    env.deserted();
    let fails = env.path().join("fails");
    fs::create_dir(&fails).unwrap();
    env.set("LONGHAUL_FAIL_POINTS", "land.pushed,land.offered");
    env.set("LONGHAUL_FAIL_DIR", &fails.display().to_string());
    let done = env.run(&["land", "t", "--pr"]);
    assert!(fails.join("land.pushed").exists() && fails.join("land.offered").exists(), "{}", done.stderr);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(words(&env).matches("create --title=").count(), 1);
    env.deserted();
    checker::assert_clean(&env);
}
