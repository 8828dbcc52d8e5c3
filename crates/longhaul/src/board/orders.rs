//! Carries out what a person wants done with a task: one operation each, as the verbs do, and its answer in a sentence.
//! Whether something is allowed is decided there; a refusal is shown and changes nothing.

use longhaul_app::operation::Answer;
use longhaul_app::operations::{
    Cancel, CancelInput, Discard, DiscardInput, Land, LandInput, Pause, PauseInput, Resume, ResumeInput, Retry,
    RetryInput, Submit, SubmitInput, Tell, TellInput,
};
use longhaul_app::views::{FollowUpView, TaskView};
use longhaul_app::{AppError, Call};
use longhaul_core::task::short;

use crate::commands::land::finish;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Start a task; without an agent the usual one is chosen.
    New {
        goal: String,
        agent: Option<String>,
    },
    Pause,
    Resume {
        reason: Option<String>,
    },
    Tell {
        text: String,
    },
    Retry,
    Cancel,
    /// Find out what would land.
    LookAtLanding,
    Land {
        unverified: bool,
    },
    Discard,
}

/// An order, and the task that it is for; a new task has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Errand {
    pub(super) task: Option<Target>,
    pub(super) order: Order,
}

/// A task that something is to be done with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: String,
    pub(super) name: String,
}

/// What came of an order.
#[derive(Debug)]
pub(super) enum Reply {
    /// It is done, in a sentence.
    Done(String),
    /// It needs a yes first, and is this order then.
    Asks(String, Order),
}

/// Carries out an order.
pub(super) async fn carry_out(call: &Call, errand: &Errand) -> Result<Reply, AppError> {
    let id = errand.task.as_ref().map(|task| task.id.clone());
    let task = || id.clone().unwrap_or_default();
    let answer = match &errand.order {
        Order::New { goal, agent } => return submit(call, goal, agent.as_ref()).await,
        Order::LookAtLanding => return look_at_landing(call, task()).await,
        Order::Land { unverified } => return land(call, task(), *unverified).await,
        Order::Discard => return discard(call, task()).await,
        Order::Tell { text } => {
            let input = TellInput { task: task(), text: text.clone(), key: None };
            let answer = call.perform::<Tell>(input).await?;
            return Ok(said(&answer, &format!("{}: the next session gets the message", answer.view.name)));
        }
        Order::Pause => call.perform::<Pause>(PauseInput { task: id, ..PauseInput::default() }).await?,
        Order::Resume { reason } => {
            call.perform::<Resume>(ResumeInput { task: id, reason: reason.clone(), ..ResumeInput::default() }).await?
        }
        Order::Retry => call.perform::<Retry>(RetryInput { task: id, ..RetryInput::default() }).await?,
        Order::Cancel => call.perform::<Cancel>(CancelInput { task: id, ..CancelInput::default() }).await?,
    };
    let TaskView { name, status, .. } = &answer.view;
    Ok(said(
        &Answer { notes: Vec::new(), ..Answer::new(()).warn(answer.warnings.clone()) },
        &format!("{name}: {status}"),
    ))
}

/// A sentence, and what a person should know besides.
fn said<T>(answer: &Answer<T>, sentence: &str) -> Reply {
    let more = answer.notes.iter().chain(&answer.warnings).map(|more| format!("\n{more}"));
    Reply::Done(format!("{sentence}{}", more.collect::<String>()))
}

async fn submit(call: &Call, goal: &str, agent: Option<&String>) -> Result<Reply, AppError> {
    let mut input = SubmitInput { goal: goal.to_owned(), ..SubmitInput::default() };
    input.settings.extend(agent.map(|agent| ("agent".to_owned(), agent.clone())));
    let answer = call.perform::<Submit>(input).await?;
    Ok(said(&answer, &format!("{}: submitted, {} works on it", answer.view.name, answer.view.agent)))
}

/// What would land, as the question that is asked once before anything is changed.
async fn look_at_landing(call: &Call, task: String) -> Result<Reply, AppError> {
    let look = LandInput { task, dry_run: true, ..LandInput::default() };
    let answer = call.perform::<Land>(look).await?;
    let FollowUpView { name, onto, message, unverified, .. } = &answer.view;
    let (Some(onto), Some(message)) = (onto, message) else {
        return Ok(said(&answer, &format!("{name}: not landed")));
    };
    let subject = message.lines().next().unwrap_or_default();
    let question = match unverified {
        None => format!("Land {name} on {onto} as \"{subject}\"?"),
        Some(why) => format!("{name} is not verified: {why}. Land it on {onto} all the same?"),
    };
    Ok(Reply::Asks(question, Order::Land { unverified: unverified.is_some() }))
}

async fn land(call: &Call, task: String, unverified: bool) -> Result<Reply, AppError> {
    let input = LandInput { task, unverified, ..LandInput::default() };
    let answer = finish(call, call.perform::<Land>(input).await?).await?;
    let view = &answer.view;
    let sentence = match (&view.commit, &view.onto, &view.undo) {
        (Some(commit), Some(onto), Some(undo)) => {
            format!("{}: landed as {} on {onto}; undo it with `{undo}`", view.name, short(commit))
        }
        _ => unfinished(view),
    };
    Ok(said(&answer, &sentence))
}

async fn discard(call: &Call, task: String) -> Result<Reply, AppError> {
    let input = DiscardInput { task, ..DiscardInput::default() };
    let answer = finish(call, call.perform::<Discard>(input).await?).await?;
    let name = &answer.view.name;
    let sentence = match &answer.view.follow_up {
        Some(task) if task.is_finished => {
            format!("{name}: discarded; bring it back with `longhaul discard --undo {name}`")
        }
        _ => unfinished(&answer.view),
    };
    Ok(said(&answer, &sentence))
}

fn unfinished(view: &FollowUpView) -> String {
    match &view.follow_up {
        Some(task) => format!("{}: {}; `longhaul why {}` says more", task.goal, task.status, task.name),
        None => format!("{}: nothing was changed", view.name),
    }
}
