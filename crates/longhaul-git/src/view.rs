//! A private git directory over somebody's working tree: configuration, HEAD and index are ours, files and objects are theirs.
//!
//! Trees, differences, snapshots, commits and checkouts are made through it. No driver, hook or program of the repository is even
//! defined in it, so none can run; attributes and ignore rules are in force. The real index and HEAD are never written from here.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::command::Call;
use super::error::{GitError, io_failed};
use super::hardening::fixed;
use super::repository::{Format, Repository};
use super::rules::Rules;
use super::scratch::Scratch;
use longhaul_core::names::STATE_DIR;

const SMALL: u64 = 16 << 20;
const USER_EXCLUDE: &str = "user-exclude";
const ASIDE: &str = "aside";

/// Where new objects go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    /// Into the view, gone with it: for looking.
    Private,
    /// Into the repository: for keeping.
    Repository,
}

/// A private git directory, gone when dropped.
pub(super) struct View<'repository> {
    repository: &'repository Repository,
    scratch: Scratch,
    settings: Vec<(OsString, OsString)>,
    rules: Cow<'repository, Rules>,
    objects: Objects,
}

impl<'repository> View<'repository> {
    /// Makes a view with an empty index, after making sure that the working tree still belongs to this repository.
    pub(super) fn new(repository: &'repository Repository, objects: Objects) -> Result<Self, GitError> {
        repository.check()?;
        let rules = repository.rules()?;
        let scratch = Scratch::new(&repository.git().scratch())?;
        let settings = taken_over(&rules, scratch.path());
        let view = View { repository, scratch, settings, rules, objects };
        view.furnish().map_err(io_failed("furnish", view.scratch.path()))?;
        Ok(view)
    }

    /// A call that sees the working tree through this view.
    pub(super) fn call(&self) -> Call {
        self.call_in(self.repository.top_level())
    }

    /// A call that sees no working tree, so only attributes in the index count. Temporary files that git makes go to [`View::aside`].
    pub(super) fn call_aside(&self) -> Call {
        self.call_in(&self.aside())
    }

    /// An empty directory.
    pub(super) fn aside(&self) -> PathBuf {
        self.scratch.path().join(ASIDE)
    }

    fn call_in(&self, work_tree: &Path) -> Call {
        let path = self.scratch.path();
        let real = self.repository.git_dir().common_dir.join("objects");
        let call = self.repository.git().call(work_tree).holding(self.repository.held());
        let call = call.settings(&self.settings);
        let call = call.variable("GIT_DIR", path).variable("GIT_WORK_TREE", work_tree);
        let call = call.variable("GIT_INDEX_FILE", self.index());
        match self.objects {
            Objects::Repository => call.variable("GIT_OBJECT_DIRECTORY", real),
            Objects::Private => call
                .variable("GIT_OBJECT_DIRECTORY", path.join("objects"))
                .variable("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsString::from_vec(quoted(real.as_os_str().as_bytes()))),
        }
    }

    pub(super) fn repository(&self) -> &Repository {
        self.repository
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The private index.
    pub(super) fn index(&self) -> PathBuf {
        self.scratch.path().join("index")
    }

    fn furnish(&self) -> io::Result<()> {
        let path = self.scratch.path();
        for directory in ["objects", "refs", "info", ASIDE] {
            fs::create_dir(path.join(directory))?;
        }
        fs::write(path.join("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(path.join("config"), config_text(self.repository.format()))?;
        let exclude = [&self.rules.exclude, format!("\n/{STATE_DIR}/\n").as_bytes()].concat();
        fs::write(path.join("info/exclude"), exclude)?;
        fs::write(path.join("info/attributes"), &self.rules.attributes)?;
        fs::write(path.join(USER_EXCLUDE), &self.rules.user_exclude)?;
        if let Some(patterns) = read_plain(&self.repository.git_dir().git_dir.join("info/sparse-checkout"))? {
            fs::write(path.join("info/sparse-checkout"), patterns)?;
        }
        Ok(())
    }
}

/// The settings of the workspace, with the fixed list behind them.
fn taken_over(rules: &Rules, scratch: &Path) -> Vec<(OsString, OsString)> {
    let user_exclude = ("core.excludesFile".into(), scratch.join(USER_EXCLUDE).into_os_string());
    rules.settings.iter().cloned().chain(fixed()).chain([user_exclude]).collect()
}

/// A path as git reads it where it expects quotes: between them, with the few bytes escaped that would end or change it.
pub(super) fn quoted(bytes: &[u8]) -> Vec<u8> {
    let mut text = vec![b'"'];
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    text
}

pub(super) fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.set_times(FileTimes::new().set_modified(time))
}

fn config_text(format: Format) -> String {
    format!("[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = {}\n", format.name())
}

/// A file that others can write, whole. One that is too large to be honest is refused.
pub(super) fn read_plain(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match open_plain(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    let read = file.take(SMALL + 1).read_to_end(&mut bytes)?;
    if read as u64 > SMALL {
        return Err(io::Error::other(format!("larger than {} MiB", SMALL >> 20)));
    }
    Ok(Some(bytes))
}

/// Not blocking, because an agent can put a pipe there.
fn open_plain(path: &Path) -> io::Result<File> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let is_plain = file.metadata()?.is_file();
    if is_plain { Ok(file) } else { Err(io::Error::other("not a plain file")) }
}

/// Splits what git printed with `-z`.
pub(super) fn zero_separated(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// The path that git means by these bytes.
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_backslashes_and_newlines_are_escaped() {
        assert_eq!(quoted(b"a\"b\\c\nd\xff"), b"\"a\\\"b\\\\c\\nd\xff\"");
    }
}
