//! Taking a submission in: secrets masked or refused, the name found, the needed variables noted, then one commit.
//! Called by the hand-over and, below an agent session, by the front end. What is stored here is what agents are sent.

use std::path::Path;

use longhaul_agents::{Chosen, Cost, UnknownAgent};
use longhaul_core::names::{self, TaskName};
use longhaul_core::redact::{Secrets, redact_text};
use longhaul_core::task::{Criterion, Notify, Place, Sandbox, Submission, Target, Task, submit};
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
    mut request: Request,
    claim: Option<NewLease>,
) -> Result<(Task, Vec<String>), Declined> {
    let agents = agents(&request.submission)?;
    refuse_secrets(&request)?;
    let confined = match request.actor.session {
        Some(_) => confine(store, &mut request.submission).await?,
        None => None,
    };
    let (goal, mut warnings) = redact_goal(&request.submission);
    warnings.extend(confined);
    warnings.extend(mode_warnings(&request.submission));
    let wanted = request.name.as_deref().map(TaskName::new).transpose()?;
    let mut names = candidates(wanted.as_ref(), &goal, &request.submission, home)?;
    loop {
        let name = names.next().expect("candidates never end");
        let change = Change {
            task: request.id,
            guard: Guard::New,
            events: submit(&complete(&request, goal.clone(), name, &agents)).map_err(ChangeError::from)?,
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

/// A child task may do no more than its parent: an agent must not let another out of the sandbox it is in itself.
async fn confine(store: &dyn Store, child: &mut Submission) -> Result<Option<String>, Declined> {
    let Some(parent) = child.parent else {
        child.notify = Notify::default();
        return Ok(None);
    };
    let parent = store.load(parent).await.map_err(ChangeError::from)?;
    let parent = parent.ok_or(ChangeError::NotFound)?.task.submission;
    // Who is told is not the agent's to say: a program of its choice would run outside of its sandbox.
    child.notify = parent.notify.clone();
    let bounds = (stricter(child.sandbox, parent.sandbox), child.network && parent.network);
    if bounds == (child.sandbox, child.network) {
        return Ok(None);
    }
    (child.sandbox, child.network) = bounds;
    let network = if child.network { "network open" } else { "network as sandboxed" };
    Ok(Some(format!("a child task may do no more than its parent: it gets sandbox {}, {network}", child.sandbox)))
}

fn stricter(one: Sandbox, other: Sandbox) -> Sandbox {
    match (one, other) {
        (Sandbox::ReadOnly, _) | (_, Sandbox::ReadOnly) => Sandbox::ReadOnly,
        (Sandbox::Workspace, _) | (_, Sandbox::Workspace) => Sandbox::Workspace,
        (Sandbox::Full, Sandbox::Full) => Sandbox::Full,
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
    let prompts = submission.prompts.values().map(|text| ("prompt template", text.as_str()));
    let notify = submission.notify.targets.iter().flat_map(texts_of).map(|text| ("notification", text));
    let is_secret = |text: &str| redact_intake(text, &submission.secret_names).1 > 0;
    match names
        .chain(commands)
        .chain(expects)
        .chain(inputs)
        .chain(prompts)
        .chain(notify)
        .find(|(_, text)| is_secret(text))
    {
        Some((what, _)) => Err(Declined::Secret { what }),
        None => Ok(()),
    }
}

/// What a person wrote about a target.
fn texts_of(target: &Target) -> Vec<&str> {
    match target {
        Target::Command { argv } => argv.iter().map(String::as_str).collect(),
        Target::File { path } => vec![path],
        Target::Webhook { url, .. } => vec![url],
        Target::Desktop | Target::OpenClaw => Vec::new(),
    }
}

/// The agents of a submission, or the first name that is none.
pub(crate) fn agents(submission: &Submission) -> Result<Vec<Chosen>, UnknownAgent> {
    submission.agents().map(|name| longhaul_agents::choose(name, &submission.declared)).collect()
}

/// What a person has to know of how a submission's agents are to run: where a sandbox is none, what it costs, and which limit
/// cannot hold.
pub fn mode_warnings(submission: &Submission) -> Vec<String> {
    let agents = submission.agents().filter_map(|name| longhaul_agents::choose(name, &submission.declared).ok());
    agents.flat_map(|agent| warnings_of(&agent, submission)).collect()
}

/// The variables that a task needs after a change of its agents: the new ones' instead of the old ones', as far as they are set here.
pub fn needs_env(before: &Submission, after: &Submission) -> Vec<String> {
    let names = |of: &Submission| -> Vec<String> {
        let agents = of.agents().filter_map(|name| longhaul_agents::choose(name, &of.declared).ok());
        agents.flat_map(|agent| env_names(&agent)).collect()
    };
    let (old, new) = (names(before), names(after));
    let asked_for = before.needs_env.iter().filter(|name| !old.contains(name)).cloned();
    set_here(new.into_iter().chain(asked_for))
}

fn env_names(agent: &Chosen) -> Vec<String> {
    agent.about().env.iter().map(ToString::to_string).collect()
}

/// Each once, in order.
fn set_here(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut set = Vec::new();
    for name in names.filter(|name| std::env::var_os(name).is_some()) {
        if !set.contains(&name) {
            set.push(name);
        }
    }
    set
}

fn warnings_of(agent: &Chosen, submission: &Submission) -> Vec<String> {
    let (about, sandbox) = (agent.about(), submission.sandbox);
    let told = about.modes.of(sandbox).warning.as_ref();
    let told = told.map(|warning| format!("{} with --sandbox {sandbox}: {warning}", about.name));
    // This very binary has no sandbox, and nobody knows that of a declared one; the others keep to it, by the system's will or theirs.
    let no_plan = (sandbox == Sandbox::ReadOnly && about.program.is_some() && !agent.is_custom()).then(|| {
        format!(
            "{} with --sandbox read-only cannot write its task list and progress either, so no plan and no step will be accepted \
             from it; --sandbox workspace lets it",
            about.name
        )
    });
    let no_cost = (submission.policy.max_cost_micros.is_some() && about.cost == Cost::Unknown).then(|| {
        format!("{} tells no cost, so --max-cost cannot stop it; --max-tokens and --max-time can", about.name)
    });
    told.into_iter().chain(no_plan).chain(no_cost).collect()
}

pub(crate) fn complete(request: &Request, goal: String, name: TaskName, agents: &[Chosen]) -> Submission {
    let wanted = &request.submission;
    let declared = agents.iter().flat_map(env_names);
    let masked = |text: &String| redact_intake(text, &wanted.secret_names).0;
    let criterion = |criterion: &Criterion| Criterion { text: masked(&criterion.text), check: criterion.check.clone() };
    Submission {
        goal,
        name,
        needs_env: set_here(declared.chain(wanted.needs_env.iter().cloned())),
        constraints: wanted.constraints.iter().map(masked).collect(),
        criteria: wanted.criteria.iter().map(criterion).collect(),
        secret_names: secret_names(wanted),
        ..wanted.clone()
    }
}

/// What the person named, and what only the deliverer of notices is to know.
fn secret_names(wanted: &Submission) -> Vec<String> {
    let mut names = wanted.secret_names.clone();
    for name in wanted.notify.variables() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
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
        if submission.place == Place::InPlace
            && !submission.driver.is_runner()
            && task_dir_exists(project, name.as_ref())
        {
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
    redact_text(&own_secrets(secret_names), text)
}

/// The secrets of this process's environment, with the variables that are secret only by the task's word.
pub(crate) fn own_secrets(secret_names: &[String]) -> Secrets {
    let variables = std::env::vars_os();
    let texts = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let named = secret_names.iter().filter_map(|name| Some((name, std::env::var(name).ok()?)));
    named.fold(Secrets::from_env(texts), |secrets, (name, value)| secrets.with(name, &value))
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

#[cfg(test)]
mod tests {
    use longhaul_core::names::TaskName;
    use longhaul_core::task::{Sandbox, Submission};

    use super::mode_warnings;

    fn warned(agent: &str, sandbox: Sandbox) -> Vec<String> {
        let name = TaskName::new("t").unwrap();
        let bare = Submission::new("goal".into(), name, "/p".into(), agent.into());
        mode_warnings(&Submission { sandbox, ..bare })
    }

    #[test]
    fn a_mode_that_is_no_wall_is_warned_of() {
        assert!(warned("codex", Sandbox::Full).iter().any(|warning| warning.contains("without any sandbox")));
        assert_eq!(warned("codex", Sandbox::Workspace), Vec::<String>::new(), "the operating system holds it");
        assert_eq!(warned("pi", Sandbox::Workspace).len(), 1);
    }

    #[test]
    fn an_agent_that_may_write_nothing_cannot_plan_either() {
        assert_eq!(warned("demo", Sandbox::ReadOnly), Vec::<String>::new(), "the control: it has no sandbox");
        assert!(
            warned("codex", Sandbox::ReadOnly).iter().any(|warning| warning.contains("cannot write its task list"))
        );
    }
}
