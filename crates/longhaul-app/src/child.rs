//! Taking in a child task: what it may bring, what it has from its parent, and where it works.
//! Called by the intake for every submission from below an agent session. Nothing that an agent hands over widens what its parent has.

use std::path::Path;

use longhaul_core::names::TaskName;
use longhaul_core::task::{Family, Limit, Place, Reached, Setting, Submission, Task};
use longhaul_core::time::Time;
use longhaul_store::Store;

use crate::change::ChangeError;
use crate::handover::Declined;
use crate::home::Home;
use crate::intake::blocking;
use longhaul_git::{Git, GitError, Repository};

/// Why a child task was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum NoChild {
    #[error("the task of this session is not in this home, so it cannot have child tasks")]
    NoParent,
    #[error("task `{parent}` is finished, so it cannot have more child tasks")]
    Finished { parent: TaskName },
    #[error(
        "`{command}` is not a check of the parent task `{parent}`: checks run outside the agent's sandbox, so a child task may only \
         run its parent's; {}", instead(.allowed)
    )]
    StrangeCheck { command: String, parent: TaskName, allowed: Vec<String> },
    #[error(
        "{reached}, so nothing is left for a child task; a person can raise the limit with `longhaul edit {parent} --{} MORE`",
        reached.limit.flag()
    )]
    NothingLeft { reached: Reached, parent: TaskName },
    #[error(
        "there are already {most} unfinished child tasks, the most that `children.max` allows: wait for one with \
         `longhaul wait NAME`"
    )]
    TooMany { most: u32 },
    #[error("`children.depth` allows at most {deepest} level(s) of child tasks: do the work in this task instead")]
    TooDeep { deepest: u32 },
    #[error("cannot read the tip of the branch of `{parent}`")]
    Git {
        parent: TaskName,
        #[source]
        source: GitError,
    },
}

fn instead(commands: &[String]) -> String {
    if commands.is_empty() {
        "drop the check".to_owned()
    } else {
        format!("drop it, or use one of: {}", commands.join("; "))
    }
}

/// The submission as it is taken in, and what the submitter should know.
pub(crate) async fn confine(
    store: &dyn Store,
    home: &Home,
    wanted: &Submission,
    at: Time,
) -> Result<(Submission, Option<String>), Declined> {
    let parent = wanted.parent.ok_or(NoChild::NoParent)?;
    let parent = store.load(parent).await.map_err(ChangeError::from)?.ok_or(NoChild::NoParent)?.task;
    let name = parent.submission.name.clone();
    if parent.state.is_final() {
        return Err(NoChild::Finished { parent: name }.into());
    }
    if let Some(command) = parent.submission.strange_check(wanted) {
        let allowed = parent.submission.commands().into_iter().map(str::to_owned).collect();
        return Err(NoChild::StrangeCheck { command: command.to_owned(), parent: name, allowed }.into());
    }
    let mut child = parent.submission.child(parent.id, wanted);
    let family = store.family(parent.id).await.map_err(ChangeError::from)?;
    bound(&mut child, &parent, &family, at)?;
    let home = home.clone();
    let (place, uncommitted) =
        blocking(move || place(&parent, &home)).await.map_err(|source| NoChild::Git { parent: name, source })?;
    child.place = place;
    Ok((child, uncommitted))
}

/// A child has at most what its family has left.
fn bound(child: &mut Submission, parent: &Task, family: &[Task], at: Time) -> Result<(), NoChild> {
    let alone = std::slice::from_ref(parent);
    let family = Family::new(if family.is_empty() { alone } else { family }, at);
    if let Some(reached) = family.limit_reached(parent.id) {
        return Err(NoChild::NothingLeft { reached, parent: parent.submission.name.clone() });
    }
    let patience = child.patience.clone();
    for limit in Limit::ALL {
        if let Some(left) = family.left(parent.id, limit) {
            let cap = patience.cap(limit).map_or(left, |cap| cap.min(left));
            child.set(&Setting::Limit(limit, Some(cap)));
        }
    }
    Ok(())
}

/// In git a worktree of its own, from the tip of the parent's branch; elsewhere the parent's directory.
fn place(parent: &Task, home: &Home) -> Result<(Place, Option<String>), GitError> {
    let Some(workspace) = parent.workspace.as_ref().filter(|workspace| workspace.git.is_some()) else {
        return Ok((Place::InPlace, None));
    };
    let Some(repository) = Git::open(&home.git())?.find(Path::new(&workspace.root))? else {
        return Ok((Place::InPlace, None));
    };
    let tip = match &workspace.branch {
        Some(branch) => repository.branch_tip(branch)?,
        None => repository.head_commit()?,
    };
    match tip {
        Some(tip) => Ok((Place::Worktree { base: tip.as_str().to_owned() }, uncommitted(&repository))),
        None => Ok((Place::InPlace, None)),
    }
}

fn uncommitted(repository: &Repository) -> Option<String> {
    let total = repository.uncommitted().ok()?.total;
    (total > 0).then(|| {
        format!(
            "{total} uncommitted file(s) are not in the child's worktree, which starts at the last commit: commit what the child \
             needs first"
        )
    })
}
