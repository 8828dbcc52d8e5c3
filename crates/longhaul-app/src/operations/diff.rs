//! `diff`: what a task changed since it began, from version control.
//! Needs no worker and only reads.

use longhaul_core::task::Action;
use longhaul_store::Stored;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::changed_files::{self, FileChange, Unknown};
use crate::error::{AppError, ErrorKind};
use crate::lookup;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL, View};

/// The operation `diff`.
pub struct Diff;

/// What `diff` takes.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiffInput {
    /// Name or id of the task; by default the only unfinished task of this project, otherwise its newest.
    pub task: Option<String>,
    /// Only the names of the changed files, without the patch.
    pub stat: bool,
}

/// What a task changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiffView {
    /// Id of the task.
    pub task_id: String,
    /// The commit that it began with; null without one.
    pub base: Option<String>,
    /// The first changed files, at most 10,000.
    pub files: Vec<FileChange>,
    /// How many files changed.
    pub files_total: usize,
    /// The patch; bytes that are not UTF-8 are replaced. Null if only names were requested.
    pub patch: Option<String>,
    /// Whether the patch was too long and its end is missing.
    pub patch_is_cut: bool,
    /// The patch as git wrote it, for front ends that pass on bytes.
    #[serde(skip)]
    pub raw: Vec<u8>,
}

impl View for DiffView {
    const KIND: &'static str = "diff";
}

impl Operation for Diff {
    const ABOUT: About =
        About::new("diff", "Show what a task has changed", Action::Read, VERB_AND_TOOL).route("/tasks/{task}/diff");
    type Input = DiffInput;
    type Output = DiffView;

    async fn run(call: &Call, _: Permit, input: DiffInput) -> Result<Answer<DiffView>, AppError> {
        let stored = lookup::find_executed(call, input.task.as_deref()).await?;
        let unknown = |why: Unknown| unknown(&stored, &why);
        let task = &stored.task;
        let changed = changed_files::changed_files(call.home(), task).await.map_err(unknown)?;
        let patch = match input.stat {
            true => None,
            false => Some(changed_files::patch(call.home(), task).await.map_err(unknown)?),
        };
        Ok(Answer::new(DiffView {
            task_id: task.id.to_string(),
            base: task.workspace.as_ref().and_then(|workspace| workspace.base.clone()),
            files: changed.files,
            files_total: changed.total,
            patch: patch.as_ref().map(|patch| String::from_utf8_lossy(&patch.bytes).into_owned()),
            patch_is_cut: patch.as_ref().is_some_and(|patch| patch.is_cut),
            raw: patch.map(|patch| patch.bytes).unwrap_or_default(),
        }))
    }
}

fn unknown(stored: &Stored, why: &Unknown) -> AppError {
    let name = &stored.task.submission.name;
    AppError::new(ErrorKind::Failure, format!("cannot show what task {name} changed"))
        .because(why)
        .hint(format!("look at {} yourself, or read `longhaul report {name}`", stored.task.cwd()))
}
