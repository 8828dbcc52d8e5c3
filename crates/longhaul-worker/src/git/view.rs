//! A private git directory over somebody's working tree: configuration, HEAD and index are ours, files and objects are theirs.
//!
//! Trees, differences, snapshots, commits and checkouts are made through it. No driver, hook or program of the repository is even
//! defined in it, so none can run; attributes and ignore rules are in force. The real index and HEAD are never written from here.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::command::Call;
use super::error::{GitError, io_failed};
use super::repository::{Format, Repository};
use super::scratch::Scratch;
use crate::task_dir::STATE_DIR;

const SMALL: u64 = 16 << 20;

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
    has_file_mode: bool,
    objects: Objects,
}

impl<'repository> View<'repository> {
    /// Makes a view with a copy of the real index, after making sure that the working tree still belongs to this repository.
    pub(super) fn new(repository: &'repository Repository, objects: Objects) -> Result<Self, GitError> {
        let view = View::without_index(repository, objects)?;
        view.copy_index()?;
        Ok(view)
    }

    /// Makes a view with an empty index.
    pub(super) fn without_index(repository: &'repository Repository, objects: Objects) -> Result<Self, GitError> {
        repository.check()?;
        let config = repository.config()?;
        let scratch = Scratch::new(&repository.git().scratch())?;
        let settings = config.taken_over();
        let view = View { repository, scratch, settings, has_file_mode: config.has_file_mode(), objects };
        view.furnish().map_err(io_failed("furnish", view.scratch.path()))?;
        Ok(view)
    }

    /// A call that sees the working tree through this view.
    pub(super) fn call(&self) -> Call {
        let path = self.scratch.path();
        let real = self.repository.git_dir().common_dir.join("objects");
        let call = self.repository.git().call(self.repository.top_level()).holding(self.repository.held());
        let call = call.settings(&self.settings);
        let call = call.variable("GIT_DIR", path).variable("GIT_WORK_TREE", self.repository.top_level());
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

    pub(super) fn has_file_mode(&self) -> bool {
        self.has_file_mode
    }

    /// The private index.
    pub(super) fn index(&self) -> PathBuf {
        self.scratch.path().join("index")
    }

    /// Runs `look` with an index that takes equal sizes and times for equal content, however young they are.
    ///
    /// For files under a filter: their content can only be compared by running it.
    pub(super) fn trusting_times<T>(&self, look: impl FnOnce() -> Result<T, GitError>) -> Result<T, GitError> {
        let index = self.index();
        let failed = || io_failed("set the time of", &index);
        let Ok(meta) = index.metadata() else { return look() };
        let before = meta.modified().map_err(failed())?;
        set_modified(&index, SystemTime::now() + Duration::from_secs(3600)).map_err(failed())?;
        let seen = look();
        set_modified(&index, before).map_err(failed())?;
        seen
    }

    fn furnish(&self) -> io::Result<()> {
        let path = self.scratch.path();
        for directory in ["objects", "refs", "info"] {
            fs::create_dir(path.join(directory))?;
        }
        fs::write(path.join("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(path.join("config"), config_text(self.repository.format()))?;
        let dir = self.repository.git_dir();
        let mut exclude = read_plain(&dir.common_dir.join("info/exclude"))?.unwrap_or_default();
        exclude.extend_from_slice(format!("\n/{STATE_DIR}/\n").as_bytes());
        fs::write(path.join("info/exclude"), exclude)?;
        for (from, name) in [(&dir.common_dir, "info/attributes"), (&dir.git_dir, "info/sparse-checkout")] {
            if let Some(bytes) = read_plain(&from.join(name))? {
                fs::write(path.join(name), bytes)?;
            }
        }
        Ok(())
    }

    /// The copy keeps the time: by it git tells files that changed while the index was being written.
    fn copy_index(&self) -> Result<(), GitError> {
        let git_dir = &self.repository.git_dir().git_dir;
        let real = git_dir.join("index");
        let copy = || -> io::Result<()> {
            let mut file = match open_plain(&real) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error),
            };
            let modified = file.metadata()?.modified()?;
            io::copy(&mut file, &mut File::create_new(self.index())?)?;
            set_modified(&self.index(), modified)?;
            self.copy_shared_indexes(git_dir)
        };
        copy().map_err(io_failed("copy", &real))
    }

    /// A split index has its other half beside it.
    fn copy_shared_indexes(&self, git_dir: &Path) -> io::Result<()> {
        for entry in fs::read_dir(git_dir)? {
            let name = entry?.file_name();
            if name.as_bytes().starts_with(b"sharedindex.") {
                let mut from = open_plain(&git_dir.join(&name))?;
                io::copy(&mut from, &mut File::create_new(self.scratch.path().join(&name))?)?;
            }
        }
        Ok(())
    }
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

fn read_plain(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match open_plain(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(SMALL).read_to_end(&mut bytes)?;
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
