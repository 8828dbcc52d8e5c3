//! `cargo xtask agents`: installs the pinned programs that tests run: agents against the scripted model, and MCP clients.
//! Called by `main` and as one suite of `test`; what is installed stays in a cache outside the clone and is used again.
//! It never changes a finished installation, and no install script of a package runs.

#[path = "../../e2e/agents/place.rs"]
mod place;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use tempfile::TempDir;

use crate::repository::{Outcome, Repository};
use place::{Installer, Pinned};

/// Installers give up on a lost connection; what they have fetched by then stays in their own cache.
const TRIES: usize = 3;

/// What the installer reads; copied, so that an installation needs nothing of the clone.
fn inputs(installer: Installer) -> &'static [&'static str] {
    match installer {
        Installer::Npm => &["package.json", "package-lock.json", ".npmrc"],
        Installer::Pip => &["requirements.txt"],
    }
}

/// Its command, without arguments.
fn program(installer: Installer) -> &'static [&'static str] {
    match installer {
        Installer::Npm => &["npm"],
        Installer::Pip => &["python3", "-m", "pip"],
    }
}

/// Installs exactly what is pinned, and runs nothing of it.
fn arguments(installer: Installer) -> &'static [&'static str] {
    match installer {
        Installer::Npm => &["ci", "--loglevel", "error"],
        Installer::Pip => &[
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--root-user-action=ignore",
            "--require-hashes",
            "--no-deps",
            "--only-binary=:all:",
            "--target=site-packages",
            "--requirement=requirements.txt",
        ],
    }
}

/// What a person installs who does not have it.
fn advice(installer: Installer) -> &'static str {
    match installer {
        Installer::Npm => "there is no npm; install Node.js 20 or newer with npm, then run `cargo xtask agents`",
        Installer::Pip => "there is no pip; install Python 3.11 or newer with pip, then run `cargo xtask agents`",
    }
}

/// Runs the verb.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Outcome<ExitCode> {
    if let Some(argument) = arguments.first() {
        return Ok(crate::usage(&format!("`agents` takes no argument, but got `{argument}`")));
    }
    for directory in provide(repository)? {
        println!("agents: installed in {}", directory.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns where the programs are, installed if they have to be.
pub(crate) fn provide(repository: &Repository) -> Outcome<Vec<PathBuf>> {
    [place::AGENTS, place::CLIENTS, place::PYTHON, place::SCHEMATHESIS]
        .iter()
        .map(|pinned| provide_one(repository, pinned))
        .collect()
}

fn provide_one(repository: &Repository, pinned: &Pinned) -> Outcome<PathBuf> {
    let no_cache = || format!("neither `XDG_CACHE_HOME` nor `HOME` is set; name a directory in `{}`", pinned.variable);
    let directory = pinned.directory(|name| env::var_os(name)).ok_or_else(no_cache)?;
    if directory.join(pinned.installer.fills()).is_dir() {
        return Ok(directory);
    }
    if !starts(command(repository, pinned.installer).arg("--version")) {
        return Err(advice(pinned.installer).into());
    }
    println!(
        "installing the packages of e2e/{} into {}, once; the agents are 1.6 GB",
        pinned.name,
        directory.display()
    );
    let unfinished = copy_inputs(repository, pinned, &directory)?;
    install(repository, pinned.installer, unfinished.path())?;
    publish(unfinished, &directory, pinned.installer.fills())?;
    Ok(directory)
}

/// A sibling of the final place, so that a rename can put all of it there at once.
fn copy_inputs(repository: &Repository, pinned: &Pinned, directory: &Path) -> Outcome<TempDir> {
    let failed = |error| format!("failed to prepare `{}`: {error}", directory.display());
    let parent = directory.parent().unwrap_or(directory);
    fs::create_dir_all(parent).map_err(failed)?;
    let unfinished = tempfile::Builder::new().prefix("installing-").tempdir_in(parent).map_err(failed)?;
    for name in inputs(pinned.installer) {
        let source = repository.root().join("e2e").join(pinned.name).join(name);
        fs::copy(source, unfinished.path().join(name)).map_err(failed)?;
    }
    Ok(unfinished)
}

fn command(repository: &Repository, installer: Installer) -> Command {
    let (name, arguments) = program(installer).split_first().expect("a program has a name");
    let mut command = repository.command(Path::new(name));
    command.args(arguments);
    command
}

fn install(repository: &Repository, installer: Installer, place: &Path) -> Outcome {
    let name = program(installer).join(" ");
    let mut tries = 1;
    loop {
        let mut command = command(repository, installer);
        command.args(arguments(installer)).current_dir(place);
        let status = command.status().map_err(|error| format!("failed to start {name}: {error}"))?;
        match status.success() {
            true => return Ok(()),
            false if tries == TRIES => {
                let advice = "see its output above, then run `cargo xtask agents`";
                return Err(format!("`{name}` ended with {status} {TRIES} times; {advice}").into());
            }
            false => tries += 1,
        }
    }
}

fn publish(unfinished: TempDir, directory: &Path, filled: &str) -> Outcome {
    match fs::rename(unfinished.path(), directory) {
        // Taken out of its guard, which would delete by the old name what is no longer there.
        Ok(()) => drop(unfinished.keep()),
        // Another run was first; ours goes away with its guard.
        Err(_) if directory.join(filled).is_dir() => {}
        Err(error) => return Err(format!("failed to prepare `{}`: {error}", directory.display()).into()),
    }
    Ok(())
}

fn starts(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::path::Path;

    use super::{copy_inputs, inputs, place, publish};
    use crate::repository::Repository;

    fn directory(variables: &[(&str, &str)]) -> Option<String> {
        let variable = |name: &str| variables.iter().find(|(set, _)| *set == name).map(|(_, value)| value.into());
        place::AGENTS.directory(|name| -> Option<OsString> { variable(name) }).map(|path| path.display().to_string())
    }

    #[test]
    fn the_place_is_named_after_the_lockfile_unless_a_variable_names_it() {
        let cached = directory(&[("HOME", "/h")]).expect("a home is enough");
        let name = cached.strip_prefix("/h/.cache/longhaul/agents-").expect("it lies in the cache");
        assert!(name.len() == 16 && name.chars().all(|c| c.is_ascii_hexdigit()), "{name}");
        assert_eq!(directory(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]), Some(cached.replace("/h/.cache", "/c")));
        assert_eq!(directory(&[("HOME", "/h"), ("LONGHAUL_TEST_AGENTS", "/a")]).as_deref(), Some("/a"));
        assert_eq!(directory(&[("HOME", "")]), None);
    }

    #[test]
    fn an_installation_appears_whole_and_a_second_one_leaves_the_first_alone() {
        let cache = tempfile::tempdir().expect("a temporary directory");
        let directory = cache.path().join("longhaul").join("agents-x");
        for content in ["first", "second"] {
            let unfinished =
                copy_inputs(&Repository::here(), &place::CLIENTS, &directory).expect("the inputs are in the clone");
            assert!(inputs(place::CLIENTS.installer).iter().all(|name| unfinished.path().join(name).is_file()));
            fs::create_dir(unfinished.path().join("node_modules")).expect("a new directory");
            fs::write(unfinished.path().join("node_modules/mark"), content).expect("a new file");
            publish(unfinished, &directory, "node_modules").expect("it is put in its place");
        }
        assert_eq!(fs::read_to_string(directory.join("node_modules/mark")).expect("the mark"), "first");
        assert_eq!(fs::read_dir(cache.path().join("longhaul")).expect("the cache").count(), 1);
    }

    #[test]
    fn python_packages_are_pinned_by_hash_and_name_no_registry() {
        for (directory, name) in [("python", "mcp=="), ("schemathesis", "schemathesis==")] {
            let path = Repository::here().root().join(format!("e2e/clients/{directory}/requirements.txt"));
            let pinned = fs::read_to_string(path).expect("the list is in the clone");
            let (packages, hashes): (Vec<&str>, Vec<&str>) = pinned.lines().partition(|line| !line.starts_with(' '));
            assert!(packages.iter().all(|line| line.contains("==") && line.ends_with('\\')), "{packages:?}");
            assert!(hashes.iter().all(|line| line.trim().starts_with("--hash=sha256:")), "{hashes:?}");
            assert!(packages.iter().any(|line| line.starts_with(name)));
        }
    }

    #[test]
    fn the_lockfiles_name_no_registry_and_every_pinned_program() {
        let agents = ["@openai/codex", "@anthropic-ai/claude-code", "opencode-ai", "@google/gemini-cli"];
        for (pinned, names) in [("agents", &agents[..]), ("clients", &["@modelcontextprotocol/sdk"])] {
            let path = Repository::here().root().join(format!("e2e/{pinned}/package-lock.json"));
            let lockfile = fs::read_to_string(Path::new(&path)).expect("the lockfile is in the clone");
            assert!(!lockfile.contains("\"resolved\""), "set `omit-lockfile-registry-resolved` and lock again");
            for name in names {
                assert!(lockfile.contains(&format!("node_modules/{name}\"")), "{name}");
            }
        }
    }
}
