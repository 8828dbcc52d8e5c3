//! Refuses a check that cannot be a command, before anything is stored. No check is run: the shell only parses it, and its first plain
//! word must be a builtin, a program on PATH, or a program in the commit that the task starts from. What cannot be judged passes.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use longhaul_core::task::{Place, Submission};
use longhaul_git::CommitId;
use longhaul_keeper::Environment;

use super::workspace_choice::open;
use crate::app::Call;
use crate::blocking;
use crate::error::{AppError, ErrorKind};
use crate::home::Home;
use crate::processes::{Asked, System};
use crate::text;

const PATIENCE: Duration = Duration::from_secs(3);

/// Builtins, keywords and the wrappers of the shells in use. A word that only some of them know passes.
const BUILTINS: &str = ". : [ [[ { ! alias bg break builtin caller case cd command continue coproc declare dirs do done echo elif else \
    enable esac eval exec exit export false fg fi for function getopts hash help if in jobs kill let local mapfile popd printf pushd pwd \
    read readarray readonly return select set shift shopt source suspend test then time times trap true type typeset ulimit umask unalias \
    unset until wait while }";

/// Refuses the first check that cannot be a command.
pub(crate) async fn refuse_impossible_checks(call: &Call, submission: &Submission) -> Result<(), AppError> {
    let (system, home, submission) = (call.app.system.clone(), call.home().clone(), submission.clone());
    blocking(move || {
        let found = submission
            .commands()
            .into_iter()
            .find_map(|check| Some((check, problem(&system, &home, &submission, check)?)));
        found.map_or(Ok(()), |(check, why)| Err(refused(check, &why)))
    })
    .await
}

fn refused(check: &str, why: &str) -> AppError {
    AppError::new(ErrorKind::Usage, format!("the check `{}` cannot run: {}", text::safe(check), text::safe(why)))
        .hint("correct it; or, if the command will exist when the check runs, add `--no-preflight`")
        .coded("check_cannot_run")
}

fn problem(system: &System, home: &Home, submission: &Submission, check: &str) -> Option<String> {
    let shell = system.environment.find_program("sh")?;
    if system.processes.ask(&shell, &["-n", "-c", check], PATIENCE) == Asked::Failed {
        return Some("the shell cannot parse it".to_owned());
    }
    let word = first_word(check).filter(|word| !BUILTINS.split_whitespace().any(|builtin| builtin == *word))?;
    if !word.contains('/') {
        let is_missing = has_plain_path(&system.environment) && system.environment.find_program(word).is_none();
        return is_missing.then(|| format!("`{word}` was not found on PATH"));
    }
    if Path::new(word).is_absolute() {
        return system.environment.find_program(word).is_none().then(|| format!("`{word}` is not a program"));
    }
    let is_there = match &submission.place {
        Place::InPlace => {
            system.environment.find_program(Path::new(&submission.workspace).join(word).to_str()?).is_some()
        }
        Place::Worktree { base } => is_in_commit(home, submission, base, word)?,
    };
    let place =
        if submission.place == Place::InPlace { "the directory" } else { "the commit that the task starts from" };
    (!is_there).then(|| format!("`{word}` is not an executable file in {place}"))
}

/// Whether PATH is set and has only absolute directories: what a relative one has is not known before the workspace exists.
fn has_plain_path(environment: &Environment) -> bool {
    environment.get("PATH").is_some_and(|path| std::env::split_paths(path).all(|directory| directory.is_absolute()))
}

/// None if git cannot tell.
fn is_in_commit(home: &Home, submission: &Submission, base: &str, word: &str) -> Option<bool> {
    let below = Path::new(&submission.workspace).strip_prefix(&submission.project).ok()?.join(word);
    let path: PathBuf = below.components().filter(|part| *part != Component::CurDir).collect();
    if path.components().any(|part| !matches!(part, Component::Normal(_))) {
        return None;
    }
    let repository = open(home).ok()?.find(Path::new(&submission.project)).ok()??;
    repository.has_program(&base.parse::<CommitId>().ok()?, path.to_str()?).ok()
}

/// The first word after `NAME=value`, if it is plain: without quotes, expansions and patterns.
fn first_word(command: &str) -> Option<&str> {
    let mut words = command.split_ascii_whitespace();
    let word = words.find(|word| !is_plain_assignment(word))?;
    let word = word.split([';', '&', '|', '<', '>']).next()?;
    let is_plain = |c: char| c.is_alphanumeric() || "_-./+:,@[]{}!".contains(c);
    (!word.is_empty() && !word.contains('=') && word.chars().all(is_plain)).then_some(word)
}

/// Whether a word is `NAME=value` without anything that the shell expands or joins with the next word.
fn is_plain_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name && value.chars().all(|c| c.is_alphanumeric() || "_-./+:,@%=".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::first_word;

    #[test]
    fn the_first_plain_word_is_found() {
        for (command, word) in [
            ("cargo test --all", Some("cargo")),
            ("  CI=1 RUST_LOG=a=b cargo test", Some("cargo")),
            ("./check.sh|tee log", Some("./check.sh")),
            ("true;false", Some("true")),
            ("[ -f x ]", Some("[")),
            ("! grep x y", Some("!")),
        ] {
            assert_eq!(first_word(command), word, "{command}");
        }
    }

    #[test]
    fn what_only_the_shell_can_expand_is_not_judged() {
        for command in [
            "$TOOL x",
            "\"my tool\" x",
            "`tool`",
            "(cd x && y)",
            "~/bin/x",
            "A=$(date) x",
            "A='b c' x",
            "x*y",
            "f() { x; }",
            "",
        ] {
            assert_eq!(first_word(command), None, "{command}");
        }
    }
}
