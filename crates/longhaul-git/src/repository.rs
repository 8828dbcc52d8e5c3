//! The git program with the wrapper's private directory, and one repository as seen from one working tree.
//!
//! [`Git`] is opened once by a worker or a command and finds repositories; below its directory it keeps `scratch/` and `locks/`.
//! Calls of a [`Repository`] name the git directory that was found, so a `.git` that is swapped later is never followed.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use longhaul_core::task::GitPlace;
use longhaul_keeper::files::create_private_dir;
use longhaul_keeper::{Environment, find_program};

use super::command::{Answer, Call, Listed, fixed, unreadable};
use super::error::{GitError, io_failed};
use super::references::{CommitId, TreeId};
use super::rules::{self, Rules};
use super::view::{GATE, line_of, sweep};

/// What git says when it looked everywhere and found nothing, as opposed to something it did not like.
const NO_REPOSITORY: &str = "not a git repository (or any";
/// What is asked of a directory, in one call.
const QUESTIONS: &[&str] =
    &["--is-inside-work-tree", "--show-object-format", "--absolute-git-dir", "--git-common-dir", "--show-toplevel"];

/// Looks up the names that come in, a line for each.
const LOOK_UP: &[&str] = &["cat-file", "--batch-check=%(objectname)"];

/// The git program, and where the wrapper keeps its own files.
#[derive(Debug, Clone)]
pub struct Git {
    program: Arc<Path>,
    state: Arc<Path>,
    #[expect(dead_code, reason = "it removes the directory when the last copy of this is dropped")]
    temporary: Option<Arc<Temporary>>,
}

/// A private directory that is removed. Calls that only read leave it empty.
#[derive(Debug)]
struct Temporary(Git);

impl Drop for Temporary {
    fn drop(&mut self) {
        // Whatever else is in them stays, with them.
        std::fs::remove_file(self.0.scratch().join(GATE)).ok();
        [self.0.scratch(), self.0.locks(), self.0.state.to_path_buf()].iter().for_each(|directory| {
            std::fs::remove_dir(directory).ok();
        });
    }
}

impl Git {
    /// Finds git in `PATH` and makes `state` (its parent must exist), the wrapper's private directory in Longhaul's home.
    pub fn open(state: &Path) -> Result<Git, GitError> {
        let program = find_program("git").ok_or(GitError::NoProgram)?;
        Git::with_program(&program, state)
    }

    /// As [`Git::open`], with a private directory that lasts as long as the answer: for callers that must leave nothing behind.
    pub fn open_temporary(state: &Path) -> Result<Git, GitError> {
        let git = Git::open(state)?;
        Ok(Git { temporary: Some(Arc::new(Temporary(git.clone()))), ..git })
    }

    /// As [`Git::open`], with a git of the caller's choice.
    pub fn with_program(program: &Path, state: &Path) -> Result<Git, GitError> {
        let git = Git { program: program.into(), state: state.into(), temporary: None };
        for directory in [state, &git.scratch(), &git.locks()] {
            let failed = io_failed("make", directory);
            create_private_dir(directory).map_err(|error| failed(std::io::Error::other(error)))?;
        }
        // Leftovers cost space, nothing else; the next one tries again.
        sweep(&git.scratch()).ok();
        Ok(git)
    }

    /// Finds the repository that a directory is in, if any. A repository that git refuses is an error.
    pub fn find(&self, directory: &Path) -> Result<Option<Repository>, GitError> {
        let answer = self.discover(directory, &[&["rev-parse"], QUESTIONS].concat())?;
        let lines: Vec<&[u8]> = answer.output.trim_ascii_end().split(|byte| *byte == b'\n').collect();
        // Outside the files git answers the first question and refuses the last.
        if lines.first() == Some(&b"false".as_slice()) {
            return Err(GitError::NoWorkTree { directory: directory.to_owned() });
        }
        if !answer.is_success() {
            return if is_none(&answer, directory) { Ok(None) } else { Err(refusal(answer, directory)) };
        }
        let is_sha256 = lines.get(1) == Some(&b"sha256".as_slice());
        let [git_dir, common_dir, top_level] = match lines[..] {
            [_, _, git_dir, common_dir, top_level] => {
                [existing(directory, git_dir)?, existing(directory, common_dir)?, existing(directory, top_level)?]
            }
            // A path with a newline in it: each has its own call.
            _ => [
                self.discovered_path(directory, "--absolute-git-dir")?,
                self.discovered_path(directory, "--git-common-dir")?,
                self.discovered_path(directory, "--show-toplevel")?,
            ],
        };
        let format = if is_sha256 { Format::Sha256 } else { Format::Sha1 };
        Ok(Some(Repository { git: self.clone(), top_level, git_dir, common_dir, format, held: None, rules: None }))
    }

    /// Finds the repository of a directory and makes sure that it is the recorded one.
    pub fn find_recorded(&self, directory: &Path, recorded: &GitPlace) -> Result<Repository, GitError> {
        self.find_same(directory, Path::new(&recorded.dir), Path::new(&recorded.common))
    }

    /// The same for a worktree of ours with one of its commits. Git is asked where the files do not show plainly that all is as it was.
    pub(super) fn find_worktree(
        &self,
        path: &Path,
        recorded: &GitPlace,
        commit: &CommitId,
    ) -> Result<Repository, GitError> {
        let (git_dir, common_dir) = (PathBuf::from(&recorded.dir), PathBuf::from(&recorded.common));
        // Only a worktree's own configuration can lead git to other files: what all share is not asked for that.
        let has_config = git_dir.join("config.worktree").symlink_metadata().is_ok();
        let top_level = path.canonicalize().map_err(io_failed("find", path))?;
        let format = if commit.as_str().len() == 64 { Format::Sha256 } else { Format::Sha1 };
        let plain = Repository { git: self.clone(), top_level, git_dir, common_dir, format, held: None, rules: None };
        let is_linked = plain.git_dir != plain.common_dir;
        let is_plain = is_linked && !has_config && plain.leads_here() == Some(true);
        if is_plain { Ok(plain) } else { self.find_recorded(path, recorded) }
    }

    fn find_same(&self, directory: &Path, git_dir: &Path, common_dir: &Path) -> Result<Repository, GitError> {
        let swapped =
            |found: String| GitError::Swapped { directory: directory.to_owned(), recorded: git_dir.to_owned(), found };
        let found = self.find(directory)?.ok_or_else(|| swapped("missing".to_owned()))?;
        let is_same = found.git_dir == git_dir && found.common_dir == common_dir;
        if is_same { Ok(found) } else { Err(swapped(found.git_dir.display().to_string())) }
    }

    pub(super) fn call(&self, directory: &Path) -> Call {
        Call::new(&self.program, directory)
    }

    /// Longhaul's home, without links.
    pub(super) fn home(&self) -> std::io::Result<PathBuf> {
        self.state.parent().unwrap_or(&self.state).canonicalize()
    }

    pub(super) fn scratch(&self) -> PathBuf {
        self.state.join("scratch")
    }

    pub(super) fn rules(&self) -> PathBuf {
        self.state.join("rules")
    }

    pub(super) fn locks(&self) -> PathBuf {
        self.state.join("locks")
    }

    fn discover(&self, directory: &Path, words: &[&str]) -> Result<Answer, GitError> {
        self.call(directory).settings(&fixed()).words(words).run()
    }

    /// One path per call: a path may contain a newline, and only the last one is git's.
    fn discovered_path(&self, directory: &Path, option: &str) -> Result<PathBuf, GitError> {
        let answer = self.discover(directory, &["rev-parse", option])?;
        if !answer.is_success() {
            return Err(refusal(answer, directory));
        }
        existing(directory, answer.output.strip_suffix(b"\n").unwrap_or(&answer.output))
    }
}

/// The path as the text that callers store.
pub(super) fn text_of(path: &Path) -> Result<String, GitError> {
    path.to_str().map(str::to_owned).ok_or_else(|| GitError::NotText { path: path.to_owned() })
}

fn parsed<T: FromStr>(id: &str) -> Result<T, GitError> {
    id.parse().map_err(|_| unreadable(&LOOK_UP.join(" "), id))
}

fn no_tree(name: &str) -> GitError {
    GitError::Refused { command: LOOK_UP.join(" "), text: format!("`{name}` has no tree") }
}

/// A path that git printed, made absolute; it must exist.
fn existing(directory: &Path, bytes: &[u8]) -> Result<PathBuf, GitError> {
    let path = directory.join(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    path.canonicalize().map_err(io_failed("find", &path))
}

/// Git found nothing, and there is nothing that only looks like nothing: a damaged repository must not pass for none.
fn is_none(answer: &Answer, directory: &Path) -> bool {
    let says_none = answer.error.lines().any(|line| line.contains(NO_REPOSITORY));
    says_none && !directory.ancestors().any(is_remnant)
}

fn is_remnant(directory: &Path) -> bool {
    let dot_git = directory.join(".git");
    let holds = |name: &str| dot_git.join(name).symlink_metadata().is_ok();
    dot_git.is_file() || ["HEAD", "config", "objects", "refs"].iter().any(|name| holds(name))
}

fn refusal(answer: Answer, directory: &Path) -> GitError {
    if answer.error.contains(NO_REPOSITORY) {
        return GitError::Damaged { directory: directory.to_owned(), text: answer.error };
    }
    answer.refused()
}

/// A commit and its tree.
pub(super) type Head = (CommitId, TreeId);

/// How objects are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Sha1,
    Sha256,
}

/// A repository with a working tree.
#[derive(Debug, Clone)]
pub struct Repository {
    pub(super) git: Git,
    top_level: PathBuf,
    /// Of this working tree: HEAD and index.
    git_dir: PathBuf,
    /// What all worktrees share: objects and branches. The same in a main working tree.
    common_dir: PathBuf,
    pub(super) format: Format,
    /// A lock that every git started for this value holds on.
    held: Option<Arc<File>>,
    /// The rules of the task that works here; without a task, those of the moment.
    pub(super) rules: Option<Arc<Rules>>,
}

impl Repository {
    /// The root of the working tree.
    pub fn top_level(&self) -> &Path {
        &self.top_level
    }

    /// The git directory of this working tree: HEAD and index.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The directory that all worktrees share: objects and branches. The same in a main working tree.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Where its git data is, for the caller to store and to compare at the next look.
    pub fn place(&self) -> Result<GitPlace, GitError> {
        Ok(GitPlace { dir: text_of(&self.git_dir)?, common: text_of(&self.common_dir)? })
    }

    /// The commit HEAD is on; none in a repository without commits.
    pub fn head_commit(&self) -> Result<Option<CommitId>, GitError> {
        self.commit_of("HEAD")
    }

    /// The branch HEAD is on, also one without commits; none if HEAD is detached.
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        if let Some(branch) = self.plain_branch() {
            return Ok(Some(branch));
        }
        let answer = self.reading().words(&["symbolic-ref", "--quiet", "HEAD"]).run()?;
        match answer.code() {
            Some(0) => {
                let text = String::from_utf8_lossy(&answer.output).into_owned();
                let name = text.trim_end_matches('\n');
                Ok(Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()))
            }
            Some(1) => Ok(None),
            _ => Err(answer.refused()),
        }
    }

    /// The branch that the file HEAD names in git's plainest form. In a repository that keeps its references in another format, HEAD
    /// names a branch that can not exist.
    fn plain_branch(&self) -> Option<String> {
        let name = line_of(&self.git_dir.join("HEAD"))?.strip_prefix("ref: refs/heads/")?.to_owned();
        (name != ".invalid" && name.bytes().all(|byte| byte.is_ascii_graphic())).then_some(name)
    }

    /// The commit a full reference name stands for, if there is one.
    pub(super) fn commit_of(&self, reference: &str) -> Result<Option<CommitId>, GitError> {
        let [commit] = self.look_up(&[format!("{reference}^{{commit}}")])?;
        commit.map(|commit| parsed(&commit)).transpose()
    }

    /// The id of a commit's tree.
    pub(super) fn tree_of(&self, commit: &str) -> Result<TreeId, GitError> {
        let [tree] = self.look_up(&[format!("{commit}^{{tree}}")])?;
        parsed(&tree.ok_or_else(|| no_tree(commit))?)
    }

    /// The commit that a full reference name stands for, and its tree, if there is one.
    pub(super) fn commit_and_tree_of(&self, name: &str) -> Result<Option<Head>, GitError> {
        match self.look_up(&[format!("{name}^{{commit}}"), format!("{name}^{{tree}}")])? {
            [Some(commit), Some(tree)] => Ok(Some((parsed(&commit)?, parsed(&tree)?))),
            [Some(_), None] => Err(no_tree(name)),
            [None, _] => Ok(None),
        }
    }

    /// The ids that these names stand for, asked of one git.
    fn look_up<const N: usize>(&self, names: &[String; N]) -> Result<[Option<String>; N], GitError> {
        if let Some(value) = names.iter().find(|name| name.contains(['\n', '\0'])) {
            return Err(GitError::BadArgument { value: value.clone() });
        }
        let input = names.iter().map(|name| format!("{name}\n")).collect::<String>().into_bytes();
        let text = self.reading().words(LOOK_UP).input(input).line()?;
        let found = |line: &str| (!line.ends_with(" missing")).then(|| line.to_owned());
        let found: Vec<Option<String>> = text.split('\n').map(found).collect();
        found.try_into().map_err(|_| unreadable(&LOOK_UP.join(" "), &text))
    }

    /// A call that only reads references and objects. No program that a configuration names can take part in that, so the fixed
    /// overrides are enough.
    pub(super) fn reading(&self) -> Call {
        self.located().settings(&fixed())
    }

    /// A call with the repository's own configuration in force and everything in it overridden that could run a program.
    pub(super) fn call(&self) -> Result<Call, GitError> {
        // Attributes of the working tree decide nothing for these calls; a git too old for the variable does not read it.
        Ok(self.call_with_attributes()?.variable("GIT_ATTR_SOURCE", self.format.empty_tree()))
    }

    /// As [`Repository::call`], with the attributes of the working tree: for git's own look at whether files are clean.
    pub(super) fn call_with_attributes(&self) -> Result<Call, GitError> {
        Ok(self.located().settings(&self.config()?.overrides()))
    }

    /// The repository's configuration, read under the fixed overrides. Listing runs nothing.
    pub(super) fn config(&self) -> Result<Listed, GitError> {
        let output = self.reading().words(&["config", "--list", "-z"]).succeed()?;
        // The fixed overrides are listed too; they are ours, not the repository's, and are put behind its own again.
        Ok(Listed::read(&output))
    }

    /// Makes sure that the working tree still leads to this git directory. Git is asked where the files do not show it plainly.
    pub(super) fn check(&self) -> Result<(), GitError> {
        if self.leads_here() == Some(true) {
            return Ok(());
        }
        self.git.find_same(&self.top_level, &self.git_dir, &self.common_dir).map(drop)
    }

    /// Whether `.git` is this git directory, or a file that names it. None for anything else.
    fn leads_here(&self) -> Option<bool> {
        let (git_dir, common_dir) = (&self.git_dir, &self.common_dir);
        let dot_git = self.top_level.join(".git");
        let is_whole = git_dir.join("HEAD").symlink_metadata().ok()?.is_file() && common_dir.join("objects").is_dir();
        if dot_git.symlink_metadata().ok()?.is_dir() {
            return Some(is_whole && dot_git == *git_dir && git_dir == common_dir);
        }
        let named = self.top_level.join(line_of(&dot_git)?.strip_prefix("gitdir: ")?).canonicalize().ok()?;
        let shared = git_dir.join(line_of(&git_dir.join("commondir"))?).canonicalize().ok()?;
        Some(is_whole && named == *git_dir && shared == *common_dir)
    }

    pub(super) fn with_rules(self, rules: Rules) -> Repository {
        Repository { rules: Some(Arc::new(rules)), ..self }
    }

    /// The rules that decide what counts here.
    pub(super) fn rules(&self) -> Result<Cow<'_, Rules>, GitError> {
        match self.rules.as_deref() {
            Some(rules) => Ok(Cow::Borrowed(rules)),
            None => rules::today(self, &Environment::of_process()).map(Cow::Owned),
        }
    }

    /// The same repository for work under a lock that each git holds on until it ends.
    pub(super) fn holding(self, held: Option<Arc<File>>) -> Repository {
        Repository { held, ..self }
    }

    pub(super) fn held(&self) -> Option<Arc<File>> {
        self.held.clone()
    }

    /// The same repository seen from the directory that all its worktrees share: for references and worktrees, which outlive this one.
    pub(super) fn shared(&self) -> Repository {
        Repository { git_dir: self.common_dir.clone(), ..self.clone() }
    }

    /// Runs beside the files, not among them: these calls read none, and the working tree may be gone.
    fn located(&self) -> Call {
        let common = &self.common_dir;
        let call = self.git.call(common).holding(self.held()).variable("GIT_DIR", &self.git_dir);
        call.variable("GIT_COMMON_DIR", common).variable("GIT_WORK_TREE", common)
    }
}

impl Format {
    /// The name git uses in its configuration.
    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Sha1 => "sha1",
            Format::Sha256 => "sha256",
        }
    }

    /// The id of the tree without files, which every git knows without having it.
    pub(super) fn empty_tree(self) -> &'static str {
        match self {
            Format::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            Format::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }

    /// The id that means "no object".
    pub(super) fn zeros(self) -> &'static str {
        const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
        match self {
            Format::Sha1 => &ZEROS[..40],
            Format::Sha256 => ZEROS,
        }
    }
}
