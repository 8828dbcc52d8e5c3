//! What decides which files of a workspace count and how their bytes become objects: ignore rules, attributes and a few settings.
//!
//! Captured when the workspace is made and kept in one file per task below Longhaul's home, because an agent can change all of it
//! later. Also holds what was in the directory before the agent came, and what checks left behind. A tree's own `.gitignore` and
//! `.gitattributes` are part of the tree and not kept here.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use longhaul_core::ids::TaskId;
use longhaul_keeper::files::{create_private_dir, replace};
use serde::{Deserialize, Serialize};

use super::error::{GitError, io_failed};
use super::hardening::Listed;
use super::id::TreeId;
use super::program::Git;
use super::repository::Repository;
use super::stored_names;
use super::tree::Paths;
use super::view::{read_plain, zero_separated};
use longhaul_keeper::Environment;

/// The rules of one workspace. Names and texts are bytes, because git's are.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Rules {
    /// Settings of the repository that decide how bytes become objects, and before them the user's own for line endings.
    pub(super) settings: Vec<(OsString, OsString)>,
    /// `info/exclude`.
    pub(super) exclude: Vec<u8>,
    /// `info/attributes`.
    pub(super) attributes: Vec<u8>,
    /// The file that `core.excludesFile` names, the user's own one if the repository names none.
    pub(super) user_exclude: Vec<u8>,
    /// Tracked files that a sparse checkout had left out.
    #[serde(with = "stored_names::names")]
    pub(super) not_checked_out: Paths,
    /// Ignored entries and repositories that were in the directory before the agent came.
    #[serde(with = "stored_names::names")]
    pub(super) present_before: Paths,
    /// Files under a filter that are not as stored, with the ids of their raw bytes, before the agent came.
    #[serde(default, with = "stored_names::ids")]
    pub(super) filtered_before: Vec<(Vec<u8>, String)>,
    /// The files before the agent came; none where that is the commit it started from.
    pub(super) tree_before: Option<TreeId>,
    /// What checks left behind, with the id of its content; nothing of it is work.
    #[serde(with = "stored_names::ids")]
    pub(super) left_by_checks: Vec<(Vec<u8>, String)>,
}

/// Whose directory a workspace is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// A worktree of ours: nothing but the commit's files was in it before the agent came.
    Ours,
    /// The user's own.
    Users,
}

impl Rules {
    /// Whether the file system's executable bit counts.
    pub(super) fn has_file_mode(&self) -> bool {
        self.value("core.filemode").is_none_or(|value| !is_no(value))
    }

    /// Whether line endings of every text file are converted, with attributes or without.
    pub(super) fn converts_all(&self) -> bool {
        self.value("core.autocrlf").is_some_and(|value| !is_no(value))
    }

    /// Whether text files without an attribute for it may be checked out with CRLF.
    pub(super) fn checks_out_crlf(&self) -> bool {
        let is_input = || self.value("core.autocrlf").is_some_and(|value| value.eq_ignore_ascii_case("input"));
        let is_crlf = || self.value("core.eol").is_some_and(|value| value.eq_ignore_ascii_case("crlf"));
        (self.converts_all() && !is_input()) || is_crlf()
    }

    fn value(&self, key: &str) -> Option<&OsString> {
        self.settings.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value)
    }
}

fn is_no(value: &OsString) -> bool {
    ["false", "no", "off", "0", ""].iter().any(|no| value.eq_ignore_ascii_case(no))
}

impl Repository {
    /// The same repository under the rules of a task, which are captured now, with this process's environment, if they never were.
    pub fn with_rules_of(self, task: TaskId, whose: Whose) -> Result<Repository, GitError> {
        self.with_rules_in(task, whose, &Environment::of_process())
    }

    /// The same with the environment that leads to the ignore file of the person whose task it is.
    pub fn with_rules_in(self, task: TaskId, whose: Whose, environment: &Environment) -> Result<Repository, GitError> {
        let place = place(self.git(), task);
        match place.read()? {
            Some(rules) => Ok(self.with_rules(rules)),
            None => {
                let rules = capture(&self, whose, environment)?;
                place.write(&rules)?;
                Ok(self.with_rules(rules))
            }
        }
    }

    /// Adds to what checks left behind in this task's workspace.
    pub(super) fn remember_left_by_checks(&self, task: TaskId, files: Vec<(Vec<u8>, String)>) -> Result<(), GitError> {
        let mut rules = self.rules()?.into_owned();
        let paths: BTreeSet<&Vec<u8>> = files.iter().map(|(path, _)| path).collect();
        rules.left_by_checks.retain(|(known, _)| !paths.contains(known));
        rules.left_by_checks.extend(files);
        place(self.git(), task).write(&rules)
    }

    /// Drops files from what checks left behind: whoever makes one of them again does work.
    pub(super) fn forget_left_by_checks(&self, task: TaskId, files: &Paths) -> Result<(), GitError> {
        let mut rules = self.rules()?.into_owned();
        rules.left_by_checks.retain(|(known, _)| !files.contains(known));
        place(self.git(), task).write(&rules)
    }
}

impl Git {
    /// Forgets the rules of a task that is gone.
    pub fn forget_rules(&self, task: TaskId) -> io::Result<()> {
        match std::fs::remove_file(place(self, task).file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

struct Place {
    directory: PathBuf,
    name: String,
}

fn place(git: &Git, task: TaskId) -> Place {
    Place { directory: git.rules(), name: format!("{task}.json") }
}

impl Place {
    fn file(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// The stored rules, however many names they hold.
    fn read(&self) -> Result<Option<Rules>, GitError> {
        let read = || match std::fs::read(self.file()) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        read().map_err(io_failed("read", &self.file()))
    }

    fn write(&self, rules: &Rules) -> Result<(), GitError> {
        let write = || -> io::Result<()> {
            create_private_dir(&self.directory).map_err(io::Error::other)?;
            replace(&self.directory, &self.name, &serde_json::to_vec(rules).map_err(io::Error::other)?)
        };
        write().map_err(io_failed("write", &self.file()))
    }
}

/// The rules as they are now.
pub(super) fn today(repository: &Repository, environment: &Environment) -> Result<Rules, GitError> {
    let (config, personal) = (repository.config()?, personal(repository, environment));
    let info = repository.git_dir().common_dir.join("info");
    let read = |path: &Path| read_plain(path).map(Option::unwrap_or_default).map_err(io_failed("read", path));
    Ok(Rules {
        // A later value wins.
        settings: [personal.line_endings(), config.taken_over()].concat(),
        exclude: read(&info.join("exclude"))?,
        attributes: read(&info.join("attributes"))?,
        user_exclude: user_exclude(config.excludes_file().or_else(|| personal.excludes_file()), environment),
        not_checked_out: not_checked_out(repository),
        ..Rules::default()
    })
}

fn capture(repository: &Repository, whose: Whose, environment: &Environment) -> Result<Rules, GitError> {
    let rules = today(repository, environment)?;
    if whose == Whose::Ours {
        return Ok(rules);
    }
    let survey = repository.clone().with_rules(rules.clone()).survey()?;
    let present = survey.ignored.into_iter().chain(survey.nested);
    Ok(Rules {
        present_before: present.collect(),
        filtered_before: survey.filtered.into_iter().collect(),
        tree_before: Some(survey.tree),
        ..rules
    })
}

/// By the index as it is: nobody but the user has touched it yet.
fn not_checked_out(repository: &Repository) -> Paths {
    let listed = repository.call().and_then(|call| call.words(&["ls-files", "-z", "-t"]).succeed());
    let listed = listed.unwrap_or_default();
    zero_separated(&listed).filter_map(|entry| entry.strip_prefix(b"S ")).map(<[u8]>::to_vec).collect()
}

/// The ignore file of the person's own configuration. Where it cannot be read there is none, as for git.
fn user_exclude(named: Option<OsString>, environment: &Environment) -> Vec<u8> {
    let home = environment.get("HOME").map(PathBuf::from);
    let path = match (named, &home) {
        (Some(path), Some(home)) => match path.as_bytes().strip_prefix(b"~/") {
            Some(below) => home.join(OsString::from_vec(below.to_vec())),
            None => PathBuf::from(path),
        },
        (Some(path), None) => PathBuf::from(path),
        (None, _) => match configured(environment) {
            Some(directory) => directory.join("git/ignore"),
            None => return Vec::new(),
        },
    };
    read_plain(&path).ok().flatten().unwrap_or_default()
}

/// The person's own configuration of git. A file that cannot be read has none.
fn personal(repository: &Repository, environment: &Environment) -> Listed {
    let own = environment.get("HOME").map(|home| PathBuf::from(home).join(".gitconfig"));
    let files = configured(environment).map(|directory| directory.join("git/config")).into_iter().chain(own);
    let read = |file: PathBuf| {
        let call = repository.git().call(file.parent()?).words(&["config", "--includes", "--list", "-z", "--file"]);
        call.value(&file).ok()?.succeed().ok()
    };
    Listed::read(&files.filter_map(read).collect::<Vec<_>>().concat())
}

fn configured(environment: &Environment) -> Option<PathBuf> {
    let named = environment.get("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(environment.get("HOME")?).join(".config")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_and_odd_ones_are_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place { directory: directory.path().to_owned(), name: "rules.json".into() };
        let odd = || vec![b'o', 0xff, b'\n'];
        let name = |n: u32| format!("{}/{n}", "deep".repeat(40)).into_bytes();
        let left_by_checks: Vec<_> = (0..100_000).map(name).chain([odd()]).map(|name| (name, "id".into())).collect();
        let rules = Rules { left_by_checks, present_before: [odd(), name(1)].into(), ..Rules::default() };
        place.write(&rules).unwrap();
        assert!(
            place.file().metadata().unwrap().len() > 16 << 20,
            "the control: more than is read of a file of others"
        );
        let read = place.read().unwrap().unwrap();
        assert!(read.left_by_checks == rules.left_by_checks && read.present_before == rules.present_before);
    }

    #[test]
    fn a_file_of_others_that_is_too_large_is_refused_and_not_cut() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("exclude");
        std::fs::File::create(&path).unwrap().set_len(16 << 20).unwrap();
        assert_eq!(read_plain(&path).unwrap().map(|bytes| bytes.len()), Some(16 << 20));
        std::fs::File::create(&path).unwrap().set_len((16 << 20) + 1).unwrap();
        assert!(read_plain(&path).unwrap_err().to_string().contains("larger than"));
    }
}
