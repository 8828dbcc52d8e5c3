//! Merging a task's work with the branch it is to land on, without touching a file, and finding what is left of its conflicts.
//!
//! Called by the effect of a follow-up and before its checks. No merge driver runs: git merges in a private directory, by the attributes of the
//! branch, and only as it does itself.

use super::command::{LONG, unreadable};
use super::commit::{LONGHAUL, write_commit_by};
use super::error::GitError;
use super::references::{CommitId, TreeId};
use super::repository::Repository;
use super::view::{Objects, View, zero_separated};

/// How git ends that does not know an option.
const USAGE: i32 = 129;
/// How many paths one git is asked about.
const AT_ONCE: usize = 500;

/// What came of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// A commit of both, on no branch.
    Made {
        /// Which.
        commit: CommitId,
        /// The paths that git could not merge; in the commit they contain markers where they are text.
        conflicts: Vec<String>,
    },
    /// Git cannot merge these.
    Impossible {
        /// Why.
        why: String,
    },
}

impl Repository {
    /// Merges the tip of a branch into work that began before it.
    pub fn merge(&self, work: &CommitId, target: &CommitId, message: &str) -> Result<Merged, GitError> {
        let shared = self.shared_view()?;
        let view = View::new(&shared, Objects::Repository)?;
        view.call().words(&["read-tree"]).value(target.as_str())?.deadline(LONG).succeed()?;
        let words = &["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"];
        let answer =
            view.call_aside().words(words).value(work.as_str())?.value(target.as_str())?.deadline(LONG).run()?;
        match answer.code() {
            Some(0 | 1) => {}
            Some(USAGE) => {
                let why = "merging without a checkout needs git 2.38 or newer".to_owned();
                return Ok(Merged::Impossible { why });
            }
            _ => return Ok(Merged::Impossible { why: format!("git cannot merge them: {}", answer.refused()) }),
        }
        let mut parts = zero_separated(&answer.output);
        let tree = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
        let tree: TreeId = tree.parse().map_err(|_| unreadable("git merge-tree", &tree))?;
        let names: Result<Vec<String>, _> = parts.map(|name| String::from_utf8(name.to_vec())).collect();
        let Ok(conflicts) = names else {
            return Ok(Merged::Impossible {
                why: "a file that git cannot merge has a name that is not text".to_owned(),
            });
        };
        let commit = write_commit_by(&view, LONGHAUL, &tree, [work, target], message)?;
        Ok(Merged::Made { commit, conflicts })
    }

    /// Which of these files of a tree still have a conflict marker.
    pub fn conflict_markers(&self, tree: &str, paths: &[String]) -> Result<Vec<String>, GitError> {
        let mut found = Vec::new();
        for some in paths.chunks(AT_ONCE) {
            let call = self.reading().variable("GIT_LITERAL_PATHSPECS", "1");
            let call = call.words(&["grep", "-z", "-l", "-a", "-e", "^<<<<<<<", "-e", "^>>>>>>>"]).value(tree)?;
            let call = some.iter().try_fold(call.words(&["--"]), |call, path| call.value(format!("./{path}")))?;
            let answer = call.deadline(LONG).run()?;
            match answer.code() {
                Some(0) => found.extend(zero_separated(&answer.output).filter_map(|name| name_in(name, tree))),
                Some(1) => {}
                _ => return Err(answer.refused()),
            }
        }
        Ok(found)
    }
}

/// What `git grep` prints is the tree and the path.
fn name_in(name: &[u8], tree: &str) -> Option<String> {
    let name = String::from_utf8_lossy(name).into_owned();
    name.strip_prefix(tree)?.strip_prefix(':').map(str::to_owned)
}
