//! Where things are: Longhaul's home, the project a command is run in, and who runs it.
//! The one module that reads LONGHAUL_HOME, HOME and USER; libraries get paths and actors handed in.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use longhaul_app::Home;
use longhaul_core::ids::TaskId;
use longhaul_core::task::{Actor, Scope};
use longhaul_keeper::Caller;

use crate::error::CliError;
use crate::exit::Code;

/// Longhaul's home: `$LONGHAUL_HOME`, else the XDG state directory.
pub(crate) fn home() -> Result<PathBuf, CliError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = set("LONGHAUL_HOME") {
        return absolute(&home);
    }
    if let Some(state) = set("XDG_STATE_HOME").filter(|path| path.is_absolute()) {
        return Ok(state.join("longhaul"));
    }
    let home = set("HOME").ok_or_else(|| {
        CliError::new(Code::Usage, "neither LONGHAUL_HOME nor HOME is set")
            .hint("set LONGHAUL_HOME to a directory of yours")
    })?;
    absolute(&home.join(".local/state/longhaul"))
}

/// The directory that a variable names, if it names one.
pub(crate) fn named_directory(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The person's own directory.
pub(crate) fn user_directory() -> Result<PathBuf, CliError> {
    named_directory("HOME").ok_or_else(|| {
        CliError::new(Code::Usage, "HOME is not set").hint("set it to your own directory, as an absolute path")
    })
}

/// Where the person's configuration of programs is: the XDG configuration directory.
pub(crate) fn config_directory() -> Result<PathBuf, CliError> {
    match named_directory("XDG_CONFIG_HOME") {
        Some(directory) => Ok(directory),
        None => Ok(user_directory()?.join(".config")),
    }
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(path)
        .map_err(|error| CliError::new(Code::Usage, format!("cannot use `{}`", path.display())).because(&error))
}

const ELSEWHERE: &str = "name a directory with --workspace, or run the command inside one";

/// The directory a command is run in, and the project it belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The directory itself, physical.
    pub(crate) directory: PathBuf,
    /// The git top level above it, else the directory.
    pub(crate) project: PathBuf,
}

/// The place of a directory. A `.git` directory or file marks a top level: also of a linked worktree or a submodule.
pub(crate) fn place(directory: &Path) -> Result<Place, CliError> {
    let unfit = |error: std::io::Error| {
        CliError::new(Code::Usage, format!("cannot work in `{}`", directory.display())).because(&error).hint(ELSEWHERE)
    };
    let physical = directory.canonicalize().map_err(unfit)?;
    if !physical.is_dir() {
        return Err(CliError::new(Code::Usage, format!("the workspace `{}` is not a directory", directory.display()))
            .hint(ELSEWHERE));
    }
    let top = physical.ancestors().find(|above| is_top_level(above));
    Ok(Place { project: top.unwrap_or(&physical).to_owned(), directory: physical })
}

/// An empty `.git` is none: the sandbox of codex makes one for a moment in every directory it may write, `/tmp` too.
fn is_top_level(directory: &Path) -> bool {
    let git = directory.join(".git");
    match git.symlink_metadata() {
        Ok(meta) if meta.is_file() => meta.len() > 0,
        Ok(_) => git.join("HEAD").symlink_metadata().is_ok(),
        Err(_) => false,
    }
}

/// The place of the current directory.
pub(crate) fn here() -> Result<Place, CliError> {
    let current = std::env::current_dir()
        .map_err(|error| CliError::new(Code::Usage, "the current directory is gone").because(&error))?;
    place(&current)
}

/// The task in whose worktree below this home the current directory lies, if it does.
pub(crate) fn worktree_task(home: &Home) -> Option<TaskId> {
    let below = here().ok()?.directory.strip_prefix(home.worktrees().canonicalize().ok()?).ok()?.to_owned();
    below.components().next()?.as_os_str().to_str()?.parse().ok()
}

/// Who runs this command: a person, something below an agent session, which then has that session's scope only, or somebody unknown.
pub(crate) fn actor() -> Actor {
    // Where a process stands does not change while it runs.
    static CALLER: OnceLock<Caller> = OnceLock::new();
    match *CALLER.get_or_init(|| Caller::own(&Home::at(&home().unwrap_or_default()).workers())) {
        Caller::Session(session) => Actor::below(session),
        Caller::Person => Actor::person(user()),
        Caller::Unknown => Actor::unknown(user()),
    }
}

/// Whether a person runs this command, as far as anyone can tell.
pub(crate) fn is_person() -> bool {
    actor().scope == Scope::Person
}

fn user() -> String {
    std::env::var("USER")
        .ok()
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| format!("uid {}", rustix::process::geteuid().as_raw()))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn only_a_git_directory_or_file_marks_a_top_level() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let below = top.join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::create_dir(top.join("a/.git")).unwrap();
        assert_eq!(place(&below).unwrap().project, below, "an empty one is no repository");
        std::fs::write(top.join("a/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(place(&below).unwrap().project, top.join("a"));
        std::fs::write(below.join(".git"), "").unwrap();
        assert_eq!(place(&below).unwrap().project, top.join("a"));
        std::fs::write(below.join(".git"), "gitdir: /elsewhere\n").unwrap();
        assert_eq!(place(&below).unwrap().project, below);
    }
}
