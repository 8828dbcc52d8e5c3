//! Taking a submission in: secrets masked or refused, the name found, the needed variables noted, then one commit.
//! Called by the hand-over and, below an agent session, by the front end. What is stored here is what agents are sent.

use std::path::Path;

use longhaul_agents::About;
use longhaul_core::names::{self, TaskName};
use longhaul_core::redact::{Secrets, redact_text};
use longhaul_core::task::{Criterion, Place, Submission, Task, submit};
use longhaul_store::{Change, CommitError, Guard, NewLease, Store};

use crate::change::ChangeError;
use crate::clock::now;
use crate::git::{Git, Repository};
use crate::handover::{Declined, Request};
use crate::home::Home;
use crate::task_dir::{STATE_DIR, task_dir_exists};

pub(crate) async fn commit_submission(
    store: &dyn Store,
    home: &Home,
    request: Request,
    claim: Option<NewLease>,
) -> Result<(Task, Vec<String>), Declined> {
    let about = longhaul_agents::find(&request.submission.agent)?.about();
    refuse_secrets(&request)?;
    let (goal, warnings) = redact_goal(&request.submission);
    let wanted = request.name.as_deref().map(TaskName::new).transpose()?;
    let mut names = candidates(wanted.as_ref(), &goal, &request.submission, home)?;
    loop {
        let name = names.next().expect("candidates never end");
        let change = Change {
            task: request.id,
            guard: Guard::New,
            events: submit(&complete(&request, goal.clone(), name, about)).map_err(ChangeError::from)?,
            actor: request.actor.clone(),
            at: now(),
            key: None,
            claim: claim.clone(),
            session_cap: None,
        };
        match store.commit(change).await {
            Ok(committed) => return Ok((committed.stored.task, warnings)),
            Err(CommitError::NameTaken { .. }) if wanted.is_none() => {}
            Err(error) => return Err(ChangeError::from(error).into()),
        }
    }
}

/// What would mean something else when masked is refused instead.
fn refuse_secrets(request: &Request) -> Result<(), Declined> {
    let submission = &request.submission;
    let commands = submission.commands().into_iter().map(|command| ("check", command));
    let expects = submission.expects.iter().map(|path| ("expected file", path.as_str()));
    let inputs = submission.inputs.iter().map(|file| ("input file", file.path.as_str()));
    let names = [("name", request.name.as_deref()), ("model", submission.model.as_deref())];
    let names = names.into_iter().filter_map(|(what, text)| Some((what, text?)));
    let is_secret = |text: &str| redact_intake(text, &submission.secret_names).1 > 0;
    match names.chain(commands).chain(expects).chain(inputs).find(|(_, text)| is_secret(text)) {
        Some((what, _)) => Err(Declined::Secret { what }),
        None => Ok(()),
    }
}

pub(crate) fn complete(request: &Request, goal: String, name: TaskName, about: &About) -> Submission {
    let wanted = &request.submission;
    let declared = about.env.iter().map(|name| (*name).to_owned());
    let needs_env = declared.chain(wanted.needs_env.iter().cloned()).filter(|name| std::env::var_os(name).is_some());
    let masked = |text: &String| redact_intake(text, &wanted.secret_names).0;
    let criterion = |criterion: &Criterion| Criterion { text: masked(&criterion.text), check: criterion.check.clone() };
    Submission {
        goal,
        name,
        needs_env: needs_env.collect(),
        constraints: wanted.constraints.iter().map(masked).collect(),
        criteria: wanted.criteria.iter().map(criterion).collect(),
        ..wanted.clone()
    }
}

/// An explicit name stands alone; a generated one also avoids directories and branches that are there already.
fn candidates<'a>(
    wanted: Option<&TaskName>,
    goal: &str,
    submission: &'a Submission,
    home: &Home,
) -> Result<Box<dyn Iterator<Item = TaskName> + Send + 'a>, Declined> {
    let project = Path::new(&submission.project);
    if let Some(name) = wanted {
        // In a worktree of its own the task meets no other's directory.
        if submission.place == Place::InPlace && task_dir_exists(project, name.as_ref()) {
            return Err(Declined::DirectoryExists { path: format!("{STATE_DIR}/{name}") });
        }
        return Ok(Box::new(std::iter::repeat(name.clone())));
    }
    let repository = repository(submission, home);
    let has_branch = move |name: &TaskName| {
        repository.as_ref().is_some_and(|repository| repository.has_task_branch(name.as_ref()).unwrap_or(false))
    };
    let base = names::slug(goal).unwrap_or_else(|| names::fallback(jiff::Zoned::now().datetime()));
    let free = names::candidates(base)
        .filter_map(|name| TaskName::new(&name).ok())
        .filter(move |name| !task_dir_exists(project, name.as_ref()) && !has_branch(name));
    Ok(Box::new(free))
}

fn repository(submission: &Submission, home: &Home) -> Option<Repository> {
    match submission.place {
        Place::InPlace => None,
        Place::Worktree { .. } => Git::open(&home.git()).ok()?.find(Path::new(&submission.project)).ok()?,
    }
}

/// Masks what a person typed before it is stored: values of secrets in this process's environment, also of the variables that are
/// secret only by the task's word. Says how many there were.
pub fn redact_intake(text: &str, secret_names: &[String]) -> (String, usize) {
    let variables = std::env::vars_os();
    let texts = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let named = secret_names.iter().filter_map(|name| Some((name, std::env::var(name).ok()?)));
    let secrets = named.fold(Secrets::from_env(texts), |secrets, (name, value)| secrets.with(name, &value));
    redact_text(&secrets, text)
}

fn redact_goal(submission: &Submission) -> (String, Vec<String>) {
    let (goal, hits) = redact_intake(&submission.goal, &submission.secret_names);
    let warnings = if hits == 0 {
        Vec::new()
    } else {
        vec![format!("the goal contained {hits} secret value(s) of this shell's environment; they were masked")]
    };
    (goal, warnings)
}
