//! `preview`: what `submit` would store for the same input, with everything resolved: agent, place, checks, limits.
//! Creates nothing and starts nothing; without a home, git works in a directory that is gone afterwards.

use longhaul_core::task::{Action, Need, Place, Submission};
use longhaul_store::Filter;
use schemars::JsonSchema;
use serde::Serialize;

use super::SubmitInput;
use crate::app::Call;
use crate::config::{KEYS, Settings};
use crate::error::{AppError, ErrorKind};
use crate::mode_warnings;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL, View};
use crate::submit::{choose_place, need_of_terms, person_request, refuse_impossible_checks};
use crate::usual_span::median;
use crate::views::usd;

/// The operation `preview`.
pub struct Preview;

/// How many of the agent's last tasks count.
const TASKS: usize = 10;
/// How many tasks are looked at for them.
const RECENT: u32 = 200;

/// A task as it would be submitted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PreviewView {
    /// The agent that would work.
    pub agent: String,
    /// The agents that would replace it at a usage limit.
    pub fallbacks: Vec<String>,
    /// The model; null leaves it to the agent.
    pub model: Option<String>,
    /// The project.
    pub project: String,
    /// The commit that the task's worktree would start from; null if the agent would work in place.
    pub base: Option<String>,
    /// The branch to land on; null if it is not known.
    pub onto: Option<String>,
    /// The commands that must pass, criteria and expected files included.
    pub checks: Vec<String>,
    /// The command that prepares a clean checkout.
    pub setup: Option<String>,
    /// What agents may write.
    pub sandbox: String,
    /// Whether their tools may use the network where the sandbox blocks it.
    pub network: bool,
    /// The hours in which sessions may start; null is at any hour.
    pub hours: Option<String>,
    /// What happens at a usage limit.
    pub on_limit: String,
    /// Every limit.
    pub limits: Vec<LimitSetting>,
    /// What this agent's last tasks in this project took.
    pub history: PastTasks,
}

/// A limit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LimitSetting {
    /// The key of the configuration that sets it.
    pub key: String,
    /// Its value, as the configuration spells it; null is no limit.
    pub value: Option<String>,
}

/// The last finished tasks of an agent in a project.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PastTasks {
    /// How many there are, at most ten.
    pub tasks: u64,
    /// The median of their working time.
    pub median_worked_ms: Option<u64>,
    /// The median of what they cost, as far as it is known.
    pub median_cost_usd: Option<f64>,
}

impl View for PreviewView {
    const KIND: &'static str = "preview";
}

impl Operation for Preview {
    const ABOUT: About =
        About::new("preview", "Show what a task would run with, without starting it", Action::Read, VERB_AND_TOOL)
            .by_hand("run --dry-run");
    type Input = SubmitInput;
    type Output = PreviewView;

    fn need(input: &SubmitInput) -> Need {
        need_of_terms::<Preview>(&input.settings, input.in_place)
    }

    async fn run(call: &Call, _: Permit, input: SubmitInput) -> Result<Answer<PreviewView>, AppError> {
        if call.caller.actor.session.is_some() {
            let what = "a child task inherits its settings from its parent, so there is nothing to preview";
            return Err(AppError::new(ErrorKind::Conflict, what).hint("`longhaul show` shows your task"));
        }
        let (mut prepared, in_place) = person_request(call, &input).await?;
        prepared.request.check(&call.app.system.environment)?;
        choose_place(call, &mut prepared, &input, in_place).await?;
        let submission = &prepared.request.submission;
        if !input.no_preflight {
            refuse_impossible_checks(call, submission).await?;
        }
        let history = history(call, submission).await?;
        let warnings = mode_warnings(submission);
        let answer = Answer::new(view(submission, history)).note(prepared.notes);
        Ok(answer.warn(prepared.warnings).warn(warnings))
    }
}

fn view(submission: &Submission, history: PastTasks) -> PreviewView {
    let base = match &submission.place {
        Place::Worktree { base } => Some(base.clone()),
        Place::InPlace => None,
    };
    PreviewView {
        agent: submission.agent.clone(),
        fallbacks: submission.fallbacks.clone(),
        model: submission.model.clone(),
        project: submission.project.clone(),
        onto: base.is_some().then(|| submission.destination.branch.clone()).flatten(),
        base,
        checks: submission.commands().into_iter().map(str::to_owned).collect(),
        setup: submission.setup.clone(),
        sandbox: submission.sandbox.to_string(),
        network: submission.network,
        hours: submission.hours.map(|hours| hours.to_string()),
        on_limit: submission.on_limit.to_string(),
        limits: limits(submission),
        history,
    }
}

fn limits(submission: &Submission) -> Vec<LimitSetting> {
    let mut settings = Settings { patience: submission.patience.clone(), ..Settings::default() };
    let limits = KEYS.iter().filter(|key| key.name.starts_with("limits.") || key.name == "verify.fix_attempts");
    let limit = |key: &crate::config::Key| {
        let value = key.kind.json(&key.value(&mut settings));
        let value = match value {
            serde_json::Value::Null => None,
            serde_json::Value::String(text) => Some(text),
            other => Some(other.to_string()),
        };
        LimitSetting { key: key.name.to_owned(), value }
    };
    limits.map(limit).collect()
}

/// Without a home nothing has run yet.
async fn history(call: &Call, submission: &Submission) -> Result<PastTasks, AppError> {
    let filter = Filter {
        project: Some(submission.project.clone()),
        agent: Some(submission.agent.clone()),
        which: longhaul_store::Which::Finished,
        limit: Some(RECENT),
        ..Filter::default()
    };
    let found = match call.summaries(filter).await {
        Err(error) if error.kind == ErrorKind::NotFound => Vec::new(),
        found => found?.tasks,
    };
    let past: Vec<_> = found.iter().filter(|task| task.sessions > 0 && task.follows.is_none()).take(TASKS).collect();
    let costs = past.iter().filter_map(|task| task.cost_micros).collect();
    Ok(PastTasks {
        tasks: past.len() as u64,
        median_worked_ms: median(past.iter().map(|task| task.worked_ms).collect()),
        median_cost_usd: median(costs).map(usd),
    })
}
