//! Finds the programs the suites need, and installs those that are missing.
//! Called by `suites`; what it installs from the registry goes below the target directory, with a pinned version.
//! It never changes a program the developer installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::repository::{Outcome, Repository};

/// The format of `deny.toml` changes between minor versions, so any other one is not used.
const CARGO_DENY_MINOR: &str = "cargo-deny 0.20.";
const CARGO_DENY_VERSION: &str = "0.20.2";

/// A program a suite can not do without.
#[derive(Clone, Copy)]
pub(super) enum Tool {
    Rustfmt,
    Clippy,
    CargoDeny,
    /// A program of the system, by its name and Debian's package.
    System(&'static str, &'static str),
}

/// What the tests start beside our own programs.
pub(super) const SYSTEM: &[Tool] = &[
    Tool::System("fish", "fish"),
    Tool::System("git", "git"),
    Tool::System("pip3", "python3-pip"),
    Tool::System("ssh", "openssh-client"),
    Tool::System("strace", "strace"),
    Tool::System("systemd-analyze", "systemd"),
    Tool::System("tmux", "tmux"),
    Tool::System("unshare", "util-linux"),
    Tool::System("zsh", "zsh"),
];

/// What programs of the system tell their version to.
const VERSION_FLAGS: [&str; 2] = ["--version", "-V"];

/// Returns the program, installed if it has to be.
pub(super) fn provide(repository: &Repository, tool: Tool) -> Outcome<PathBuf> {
    match tool {
        Tool::Rustfmt => provide_component(repository, "fmt", "rustfmt"),
        Tool::Clippy => provide_component(repository, "clippy", "clippy"),
        Tool::CargoDeny => provide_cargo_deny(repository),
        Tool::System(program, package) => provide_package(repository, program, package),
    }
}

/// Tells whether nextest is installed.
pub(super) fn has_nextest(repository: &Repository) -> bool {
    version(repository.cargo(&["nextest", "--version"])).is_some()
}

fn provide_component(repository: &Repository, subcommand: &str, component: &str) -> Outcome<PathBuf> {
    if version(repository.cargo(&[subcommand, "--version"])).is_none() {
        let mut command = repository.command(Path::new("rustup"));
        command.args(["component", "add", component]);
        install(command)?;
    }
    Ok(PathBuf::from(format!("cargo-{subcommand}")))
}

fn provide_cargo_deny(repository: &Repository) -> Outcome<PathBuf> {
    let metadata = repository.metadata().map_err(|error| format!("failed to find the target directory: {error}"))?;
    let tools = Path::new(metadata["target_directory"].as_str().unwrap_or("target")).join("tools");
    let ours = tools.join("bin").join("cargo-deny");
    for program in [PathBuf::from("cargo-deny"), ours.clone()] {
        let mut command = repository.command(&program);
        command.arg("--version");
        if version(command).is_some_and(|text| text.starts_with(CARGO_DENY_MINOR)) {
            return Ok(program);
        }
    }
    println!("installing cargo-deny {CARGO_DENY_VERSION} below the target directory; this takes some minutes, once");
    let mut command =
        repository.cargo(&["install", "--locked", "--version", CARGO_DENY_VERSION, "cargo-deny", "--root"]);
    command.arg(&tools);
    install(command)?;
    Ok(ours)
}

/// As an ordinary user this fails, and says which command to run as root.
fn provide_package(repository: &Repository, program: &str, package: &str) -> Outcome<PathBuf> {
    let answers = |flag: &str| {
        let mut asked = repository.command(Path::new(program));
        asked.arg(flag);
        version(asked).is_some()
    };
    if !VERSION_FLAGS.into_iter().any(answers) {
        let apt = |words: &[&str]| {
            let mut command = repository.command(Path::new("apt-get"));
            command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
            command
        };
        install(apt(&["update"]))?;
        install(apt(&["install", "--yes", "--no-install-recommends", package]))?;
    }
    Ok(PathBuf::from(program))
}

fn version(mut command: Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn install(mut command: Command) -> Outcome {
    let words: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
    let name = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            Err(format!("`{name}` ended with {status}; see its output above, run it by hand and run again").into())
        }
        Err(error) => Err(format!("failed to start `{name}`: {error}; install it by hand and run again").into()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{install, version};

    #[test]
    fn a_version_is_read_only_from_a_program_that_is_there_and_succeeds() {
        let mut echo = Command::new("echo");
        echo.arg("cargo-deny 0.20.9");
        assert_eq!(version(echo).as_deref(), Some("cargo-deny 0.20.9\n"));
        assert_eq!(version(Command::new("false")), None);
        assert_eq!(version(Command::new("/nowhere/such-program")), None);
    }

    #[test]
    fn a_failed_install_says_what_was_tried() {
        let mut failing = Command::new("false");
        failing.arg("component");
        let error = install(failing).expect_err("`false` fails");
        assert!(error.to_string().starts_with("`false component` ended with exit status: 1; "), "{error}");
        let error = install(Command::new("/nowhere/such-program")).expect_err("there is no such program");
        assert!(error.to_string().starts_with("failed to start `/nowhere/such-program`: "), "{error}");
        assert!(install(Command::new("true")).is_ok());
    }
}
