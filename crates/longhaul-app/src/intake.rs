//! Taking a submission in: secrets masked or refused, the name found, the needed variables noted, then one commit.
//! Called by the hand-over and, below an agent session, by the front end. What is stored here is what agents are sent.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use longhaul_agents::{Chosen, Cost, UnknownAgent};
use longhaul_core::names::{self, STATE_DIR, TaskName};
use longhaul_core::task::{Criterion, Place, Refusal, Sandbox, Scope, Submission, Target, submit};
use longhaul_core::time::Time;
use longhaul_store::{Change, CommitError, Committed, Earlier, Filter, Guard, NewLease, Store, Which};

use crate::change::ChangeError;
use crate::child::{self, NoChild};
use crate::handover::{Declined, Request, Taken};
use crate::home::Home;
use crate::task_dir::task_dir_exists;
use longhaul_git::{Git, Repository};
use longhaul_keeper::Environment;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Commits a submission, once: a repeat of one that is stored already, by its id or its key, answers with that.
pub(crate) async fn commit_submission(
    store: &dyn Store,
    home: &Home,
    mut request: Request,
    environment: &Environment,
    claim: Option<NewLease>,
    at: Time,
) -> Result<Taken, Declined> {
    if let Some(committed) = earlier(store, &request).await? {
        return Ok(Taken { committed, warnings: Vec::new() });
    }
    let notes = admit(store, home, &mut request, at).await?;
    let agents = agents(&request.submission)?;
    refuse_secrets(&request, environment)?;
    let (goal, mut warnings) = redact_goal(&request.submission, environment);
    warnings.extend(notes);
    let works = request.submission.follow_up.is_none();
    if works && !request.submission.driver.conduct().warns_of_every_session {
        warnings.extend(mode_warnings(&request.submission));
    }
    warnings.extend(agents.iter().skip(1).filter(|_| works).filter_map(|agent| missing_stand_in(agent, environment)));
    let wanted = request.name.as_deref().map(TaskName::new).transpose()?;
    let base = wanted.clone().map_or_else(|| generated(&goal, at), String::from);
    let finished = finished_names(store, &request.submission, &base).await?;
    let mut names = {
        let (wanted, submission, home) = (wanted.clone(), request.submission.clone(), home.clone());
        blocking(move || candidates(wanted.as_ref(), base, finished, &submission, &home)).await?
    };
    loop {
        let (next, rest) = blocking(move || (names.next(), names)).await;
        let name = next.expect("candidates never end");
        names = rest;
        if let Some(wanted) = wanted.as_ref().filter(|wanted| **wanted != name) {
            warnings.retain(|warning| !warning.starts_with(TAKEN));
            warnings.push(format!("{TAKEN} `{wanted}`; this one is `{name}`"));
        }
        let change = Change {
            task: request.id,
            guard: Guard::New,
            events: submit(&complete(&request, goal.clone(), name, &agents, environment)).map_err(ChangeError::from)?,
            actor: request.actor.clone(),
            at,
            key: request.key.clone(),
            claim: claim.clone(),
            session_cap: None,
        };
        match store.commit(change).await {
            Ok(committed) => return Ok(Taken { committed, warnings }),
            Err(CommitError::NameTaken { name }) if wanted.as_ref().is_none_or(|wanted| wanted.as_str() != name) => {}
            // The same submission was handed to another worker too, which was faster.
            Err(CommitError::Conflict) => {
                let committed = earlier(store, &request).await?.ok_or(ChangeError::NotFound)?;
                return Ok(Taken { committed, warnings });
            }
            Err(CommitError::TooManyChildren { most }) => return Err(NoChild::TooMany { most }.into()),
            Err(CommitError::TooDeep { deepest }) => return Err(NoChild::TooDeep { deepest }.into()),
            Err(error) => return Err(ChangeError::from(error).into()),
        }
    }
}

/// The task of this very submission, if it is stored. Only a key that comes again means that the caller repeats itself: a task id does when
/// the same submission was offered to another worker too.
async fn earlier(store: &dyn Store, request: &Request) -> Result<Option<Committed>, ChangeError> {
    if let Some(stored) = store.load(request.id).await? {
        return Ok(Some(Committed { stored, repeated: false }));
    }
    let Some(key) = &request.key else { return Ok(None) };
    let earlier = store.repeat_of(key, &request.actor).await?;
    Ok(earlier.map(|Earlier { stored, .. }| Committed { stored, repeated: true }))
}

/// Runs what asks git or the disk on a thread of its own: a slow answer must not stop the worker's other tasks.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// The same for work that borrows: it stays where it is, and the other tasks of this thread move to another one.
pub(crate) fn blocking_here<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // Here are no other threads.
        Ok(_) | Err(_) => work(),
    }
}

/// A person's submission is as it is; one from below a session is a child's, and has the rest from its parent.
async fn admit(store: &dyn Store, home: &Home, request: &mut Request, at: Time) -> Result<Option<String>, Declined> {
    match request.actor.scope {
        Scope::Unknown => Err(ChangeError::from(Refusal::UnknownCaller { verb: "submit a task" }).into()),
        Scope::Session => {
            let (submission, warning) = child::confine(store, home, &request.submission, at).await?;
            request.submission = submission;
            Ok(warning)
        }
        Scope::Person | Scope::Worker | Scope::Workspace => Ok(None),
    }
}

/// What would mean something else when masked is refused instead.
fn refuse_secrets(request: &Request, environment: &Environment) -> Result<(), Declined> {
    let submission = &request.submission;
    let setup = submission.setup.as_deref().map(|command| ("setup", command));
    let commands = submission.commands().into_iter().map(|command| ("check", command)).chain(setup);
    let copy = submission.copy.iter().map(|pattern| ("pattern of files to copy", pattern.as_str()));
    let expects = submission.expects.iter().map(|path| ("expected file", path.as_str()));
    let inputs = submission.inputs.iter().map(|file| ("input file", file.path.as_str()));
    let names = [("name", request.name.as_deref()), ("model", submission.model.as_deref())];
    let names = names.into_iter().filter_map(|(what, text)| Some((what, text?)));
    let prompts = submission.prompts.values().map(|text| ("prompt template", text.as_str()));
    let notify = submission.notify.targets.iter().flat_map(texts_of).map(|text| ("notification", text));
    let is_secret = |text: &str| environment.mask(text, &submission.secret_names).1 > 0;
    match names
        .chain(commands)
        .chain(copy)
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
        Target::Desktop => Vec::new(),
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

/// A stand-in that could not stand in. The first agent's program is looked for before its first session.
fn missing_stand_in(agent: &Chosen, environment: &Environment) -> Option<String> {
    let (name, program) = (&agent.about().name, agent.program()?);
    let missing = environment.find_program(program).is_none();
    missing.then(|| format!("{name} cannot take over at a usage limit: `{program}` was not found; install it first"))
}

/// The variables that a task needs after a change of its agents: the new ones' instead of the old ones', as far as they are set here.
pub fn needs_env(environment: &Environment, before: &Submission, after: &Submission) -> Vec<String> {
    let names = |of: &Submission| -> Vec<String> {
        let agents = of.agents().filter_map(|name| longhaul_agents::choose(name, &of.declared).ok());
        agents.flat_map(|agent| env_names(&agent)).collect()
    };
    let (old, new) = (names(before), names(after));
    let asked_for = before.needs_env.iter().filter(|name| !old.contains(name)).cloned();
    set_in(environment, new.into_iter().chain(asked_for))
}

fn env_names(agent: &Chosen) -> Vec<String> {
    agent.about().env.iter().map(ToString::to_string).collect()
}

/// Each once, in order.
fn set_in(environment: &Environment, names: impl Iterator<Item = String>) -> Vec<String> {
    let mut set = Vec::new();
    for name in names.filter(|name| environment.get(name).is_some()) {
        if !set.contains(&name) {
            set.push(name);
        }
    }
    set
}

fn warnings_of(agent: &Chosen, submission: &Submission) -> Vec<String> {
    let (about, sandbox) = (agent.about(), submission.sandbox);
    let limited = about.modes.of(sandbox).warning.as_ref();
    let limited = limited.map(|warning| format!("{} with --sandbox {sandbox}: {warning}", about.name));
    // The demo agent has no sandbox, and for a declared agent it is unknown; all others respect it.
    let no_plan = (sandbox == Sandbox::ReadOnly && about.program.is_some() && !agent.is_custom()).then(|| {
        format!(
            "{} with --sandbox read-only cannot write its task list or progress, so it cannot plan or complete a step; \
             --sandbox workspace lets it",
            about.name
        )
    });
    let no_cost = (submission.patience.max_cost_micros.is_some() && about.cost == Cost::Unknown).then(|| {
        format!("{} does not report costs, so --max-cost cannot stop it; --max-tokens and --max-time can", about.name)
    });
    limited.into_iter().chain(no_plan).chain(no_cost).collect()
}

pub(crate) fn complete(
    request: &Request,
    goal: String,
    name: TaskName,
    agents: &[Chosen],
    environment: &Environment,
) -> Submission {
    let wanted = &request.submission;
    let declared = agents.iter().flat_map(env_names);
    // An agent may have another environment than the worker that will run its child.
    let needs_env = match request.actor.scope {
        Scope::Session => wanted.needs_env.clone(),
        Scope::Person | Scope::Worker | Scope::Workspace | Scope::Unknown => {
            set_in(environment, declared.chain(wanted.needs_env.iter().cloned()))
        }
    };
    let masked = |text: &String| environment.mask(text, &wanted.secret_names).0;
    let criterion = |criterion: &Criterion| Criterion { text: masked(&criterion.text), check: criterion.check.clone() };
    Submission {
        goal,
        name,
        needs_env,
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

/// The beginning of the warning about a name that was changed.
const TAKEN: &str = "a finished task has the name";

/// A name from the goal, in ASCII whatever its script.
fn generated(goal: &str, at: Time) -> String {
    let local = || jiff::Timestamp::from_microsecond(at.0).unwrap_or_default().to_zoned(jiff::tz::TimeZone::system());
    // Word by word: it drops line breaks.
    let words: Vec<String> = goal.split_whitespace().map(deunicode::deunicode).collect();
    names::readable(&words.join(" ")).unwrap_or_else(|| names::fallback(local().datetime()))
}

/// Which of the names that begin so finished tasks of the project have: they are not used again, so that a name means one task.
async fn finished_names(store: &dyn Store, submission: &Submission, base: &str) -> Result<HashSet<String>, Declined> {
    // The shell runner's tasks continue under their name.
    if submission.driver.conduct().takes_existing_directories {
        return Ok(HashSet::new());
    }
    let filter = Filter {
        project: Some(submission.project.clone()),
        name_prefix: Some(base.to_owned()),
        which: Which::Finished,
        ..Filter::default()
    };
    let listed = store.summaries(filter).await.map_err(|error| ChangeError::Commit(CommitError::Store(error)))?;
    Ok(listed.tasks.into_iter().map(|task| task.name).collect())
}

/// The name itself and then numbered ones, without those of finished tasks. A generated name also avoids directories and branches that
/// exist; a chosen one is refused if its directory does.
fn candidates(
    wanted: Option<&TaskName>,
    base: String,
    finished: HashSet<String>,
    submission: &Submission,
    home: &Home,
) -> Result<Box<dyn Iterator<Item = TaskName> + Send>, Declined> {
    let project = PathBuf::from(&submission.project);
    let numbered = std::iter::once(base.clone()).chain((2..).map(move |number| names::numbered(&base, number)));
    let free = numbered.filter(move |name| !finished.contains(name)).filter_map(|name| TaskName::new(&name).ok());
    if wanted.is_some() {
        // In a worktree of its own the task meets no other's directory.
        let meets = submission.place == Place::InPlace && !submission.driver.conduct().takes_existing_directories;
        let mut free = free;
        let Some(name) = free.next() else { return Ok(Box::new(free)) };
        if meets && task_dir_exists(&project, name.as_ref()) {
            return Err(Declined::DirectoryExists { path: format!("{STATE_DIR}/{name}") });
        }
        return Ok(Box::new(std::iter::once(name).chain(free)));
    }
    let repository = repository(submission, home);
    let has_branch = move |name: &TaskName| {
        repository.as_ref().is_some_and(|repository| repository.has_task_branch(name.as_ref()).unwrap_or(false))
    };
    Ok(Box::new(free.filter(move |name| !task_dir_exists(&project, name.as_ref()) && !has_branch(name))))
}

fn repository(submission: &Submission, home: &Home) -> Option<Repository> {
    match submission.place {
        Place::InPlace => None,
        Place::Worktree { .. } => Git::open(&home.git()).ok()?.find(Path::new(&submission.project)).ok()?,
    }
}

/// Masks what a person typed before it is stored: values of secrets in this process's environment, also of the variables that are
/// secret only by the task's word. Says how many there were.
pub fn redact_intake(environment: &Environment, text: &str, secret_names: &[String]) -> (String, usize) {
    environment.mask(text, secret_names)
}

fn redact_goal(submission: &Submission, environment: &Environment) -> (String, Vec<String>) {
    let (goal, hits) = environment.mask(&submission.goal, &submission.secret_names);
    let warnings = if hits == 0 {
        Vec::new()
    } else {
        vec![format!("the goal contained {hits} secret value(s) from this shell's environment; they were masked")]
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
