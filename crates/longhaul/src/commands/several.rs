//! One verb for several tasks: those that are named, or with `--all` those of this project that it fits. All names are looked up before
//! anything is changed; then each task has its own outcome on its own line, and the worst one gives the exit code.
//! Used by `pause`, `resume`, `cancel` and `wait`.

use longhaul_app::operation::Answer;
use longhaul_app::operations::{List, ListInput};
use longhaul_app::views::TaskView;
use longhaul_app::{AppError, Call, ErrorKind, lookup};
use tokio::task::JoinSet;

use super::show_error;
use crate::exit::Code;
use crate::out;

/// How many tasks are changed at the same time.
const AT_ONCE: usize = 8;

/// The tasks for which a verb is carried out.
pub(super) enum Targets {
    /// One, looked up by the operation under its key; its errors are those of the verb.
    One(Box<Target>),
    /// Several, or none that fits.
    Several(Vec<Target>),
}

/// A task for which a verb is carried out.
pub(super) struct Target {
    pub(super) call: Call,
    /// As the person named it, or not at all; one of several by its id.
    pub(super) task: Option<String>,
    /// What it is called, if it is one of several.
    name: Option<String>,
}

impl Target {
    /// An answer that takes one line, if others follow.
    pub(super) fn brief<T>(&self, answer: Answer<T>) -> Answer<T> {
        let notes = if self.name.is_some() { Vec::new() } else { answer.notes };
        Answer { notes, ..answer }
    }
}

/// What a person asked for: these tasks, or all that fit.
pub(super) struct Wanted<'a> {
    pub(super) tasks: &'a [String],
    pub(super) all: bool,
    /// The key names one request, and so one task.
    pub(super) key: Option<&'a String>,
}

impl Wanted<'_> {
    /// The tasks.
    pub(super) async fn targets(&self, call: &Call, fits: impl Fn(&TaskView) -> bool) -> Result<Targets, AppError> {
        if !self.all && self.tasks.len() < 2 {
            let target = Target { call: call.clone(), task: self.tasks.first().cloned(), name: None };
            return Ok(Targets::One(Box::new(target)));
        }
        if self.key.is_some() {
            let error = AppError::new(ErrorKind::Usage, "`--key` names one request, so it takes one task");
            return Err(error.hint("name one task, or leave out --key"));
        }
        let found = if self.all { fitting(call, fits).await? } else { named(call, self.tasks).await? };
        let target = |(task, name)| Target { call: call.clone(), task: Some(task), name: Some(name) };
        Ok(Targets::Several(found.into_iter().map(target).collect()))
    }
}

/// Ids and names of these tasks, in this order, each once.
async fn named(call: &Call, names: &[String]) -> Result<Vec<(String, String)>, AppError> {
    let mut found = Vec::new();
    for wanted in names {
        let task = lookup::find_to_read(call, Some(wanted)).await?.task;
        let one = (task.id.to_string(), task.submission.name.to_string());
        if !found.contains(&one) {
            found.push(one);
        }
    }
    Ok(found)
}

/// Ids and names of all tasks of this project that fit, the oldest first. Follow-ups and runs of outside programs must be named.
async fn fitting(call: &Call, fits: impl Fn(&TaskView) -> bool) -> Result<Vec<(String, String)>, AppError> {
    let (mut input, mut found) = (ListInput::default(), Vec::new());
    loop {
        let page = call.perform::<List>(input.clone()).await?.view;
        let is_meant = |task: &TaskView| !task.is_finished && !task.is_run() && task.follows.is_none() && fits(task);
        found.extend(page.tasks.into_iter().filter(is_meant).map(|task| (task.id, task.name)));
        match page.next {
            Some(next) => input.after = Some(next),
            None => break,
        }
    }
    found.reverse();
    Ok(found)
}

/// Carries out a verb for each task. `nothing` is what a person reads if there is none.
pub(super) async fn each<F>(targets: Targets, nothing: &str, act: impl Fn(Target) -> F) -> Result<Code, AppError>
where
    F: Future<Output = Result<Code, AppError>> + Send + 'static,
{
    let targets = match targets {
        Targets::One(target) => return act(*target).await,
        Targets::Several(targets) => targets,
    };
    if targets.is_empty() {
        out::note(nothing);
    }
    let (mut running, mut worst) = (JoinSet::new(), Code::Done);
    for target in targets {
        if running.len() >= AT_ONCE {
            worst = worst.max(next(&mut running).await.unwrap_or(Code::Done));
        }
        start(&mut running, target, &act);
    }
    while let Some(code) = next(&mut running).await {
        worst = worst.max(code);
    }
    Ok(worst)
}

/// The names, for a question.
pub(super) fn names(targets: &[Target]) -> Vec<&str> {
    targets.iter().filter_map(|target| target.name.as_deref()).collect()
}

/// Starts one of several.
pub(super) fn start<F>(running: &mut JoinSet<Code>, target: Target, act: &impl Fn(Target) -> F)
where
    F: Future<Output = Result<Code, AppError>> + Send + 'static,
{
    let name = target.name.clone().unwrap_or_default();
    let outcome = act(target);
    running.spawn(async move { outcome.await.unwrap_or_else(|error| failed(&name, error)) });
}

/// The outcome of the one that ends next; none if all have ended.
pub(super) async fn next(running: &mut JoinSet<Code>) -> Option<Code> {
    Some(running.join_next().await?.unwrap_or(Code::Failure))
}

/// An error among several outcomes names its task.
fn failed(name: &str, mut error: AppError) -> Code {
    error.what = format!("{name}: {}", error.what);
    show_error(&error);
    Code::from(error.kind)
}
