//! One plain sentence per event, for `why`, `events`, `run` and the report. No period at the end: ids are double-clicked.
//! Agent text inside is not made safe for a terminal here; that is the printer's duty.

use super::{Ended, Event, Failure, Gap, Haste, Outcome, Restore, StoppedBy, Then};
use crate::plan::Refused;

/// What an event says to a person.
pub fn narrate(event: &Event) -> String {
    match event {
        Event::Submitted { submission } => format!("submitted as `{}` for agent {}", submission.name, submission.agent),
        Event::Claimed { worker, from: None, .. } => format!("claimed by worker {worker}"),
        Event::Claimed { worker, from: Some(dead), .. } => {
            format!("worker {dead} is dead; taken over by worker {worker}")
        }
        Event::SessionStarted { session } => match &session.resumes {
            Some(id) => format!("{} session {} started, resuming conversation {id}", session.purpose, session.number),
            None => format!("{} session {} started", session.purpose, session.number),
        },
        Event::SessionRead { said, .. } => match &said.conversation {
            Some(id) => format!("the agent's conversation is {id}"),
            None => "output was read".into(),
        },
        Event::SessionEnded { ended, progress, .. } => ended_sentence(ended, *progress),
        Event::PlanRevised { revision, plan, ticked, .. } => plan_sentence(*revision, &plan.progress(), ticked),
        Event::PlanRefused { refused, unreadable, restore } => {
            refused_sentence(refused, unreadable.as_deref(), restore)
        }
        Event::PlanRestored => "the plan file was put in order".into(),
        Event::StopAsked { haste, then } => stop_sentence(*haste, then),
        Event::WaitStarted { why, until, .. } => format!("waits ({why}) until {}", until.rfc3339()),
        Event::WaitEnded => "the wait is over".into(),
        Event::Paused { .. } => "paused".into(),
        Event::Resumed { reason: Some(reason), .. } => format!("resumed: {reason}"),
        Event::Resumed { reason: None, .. } => "resumed".into(),
        Event::HelpNeeded { reason, .. } => format!("needs help: {reason}"),
        Event::Blocked { cause, .. } => format!("blocked: {cause}"),
        Event::Finished { verdict } => verdict.to_string(),
        Event::Cancelled { by, reason: Some(reason) } => format!("cancelled by {by}: {reason}"),
        Event::Cancelled { by, reason: None } => format!("cancelled by {by}"),
        Event::Forced { target } => format!("{target} did not answer and was killed by a person"),
        Event::Noted { observation } => format!("`{}` was seen and moved nothing", observation.name()),
    }
}

fn ended_sentence(ended: &Ended, progress: bool) -> String {
    let how = match ended.stopped_by {
        StoppedBy::Itself => String::new(),
        StoppedBy::Task => ", as asked".into(),
        StoppedBy::Shutdown => ", interrupted from outside".into(),
        StoppedBy::Silence => ", silent for too long".into(),
        StoppedBy::Wall => ", ran for too long".into(),
    };
    let verdict = match (&ended.outcome, ended.stopped_by) {
        (Outcome::Completed, _) => "completed".to_owned(),
        (Outcome::Failed(Failure::Crashed), StoppedBy::Task | StoppedBy::Shutdown) => "stopped".to_owned(),
        (Outcome::Failed(failure), _) => failure_words(failure),
    };
    let gap = match ended.gap {
        Gap::None => String::new(),
        Gap::Bytes(bytes) => format!(", {bytes} bytes of output missing"),
        Gap::UnknownSize => ", an unknown amount of output missing".into(),
    };
    let left =
        if ended.leftovers > 0 { format!(", {} left-over processes ended", ended.leftovers) } else { String::new() };
    let gain = if progress { ", progress" } else { "" };
    format!("session ended: {verdict} ({}{how}{gap}{left}{gain})", ended.exit)
}

fn failure_words(failure: &Failure) -> String {
    match failure {
        Failure::Crashed => "crashed".into(),
        Failure::Retryable(why) => format!("failed for now: {why}"),
        Failure::Limited(Some(until)) => format!("usage limit until {}", until.rfc3339()),
        Failure::Limited(None) => "usage limit, end unknown".into(),
        Failure::Auth(why) => format!("login refused: {why}"),
        Failure::Configuration(why) => format!("misconfigured: {why}"),
        Failure::ContextFull => "the conversation is full".into(),
        Failure::BadConversation => "the conversation to resume is unknown".into(),
    }
}

fn plan_sentence(revision: u32, progress: &str, ticked: &[u32]) -> String {
    let ticks: Vec<String> = ticked.iter().map(|number| format!("Task {number}")).collect();
    if ticks.is_empty() {
        format!("plan revision {revision} accepted, {progress}")
    } else {
        format!("plan revision {revision} accepted, {progress}, newly ticked: {}", ticks.join(", "))
    }
}

fn refused_sentence(refused: &[Refused], unreadable: Option<&str>, restore: &Restore) -> String {
    if let Some(why) = unreadable {
        return format!("the plan cannot be read ({why}); the last good one is put back");
    }
    let reasons: Vec<String> = refused.iter().map(ToString::to_string).collect();
    format!("plan changes refused ({}), kept as task_list.rejected-{}.md", reasons.join("; "), restore.keep_as)
}

fn stop_sentence(haste: Haste, then: &Then) -> String {
    let how = match haste {
        Haste::Recipe => "asked to stop",
        Haste::Now => "being ended at once",
    };
    let next = match then {
        Then::Pause => "then pause",
        Then::Cancel { .. } => "then cancel",
        Then::GoOn => "then go on",
    };
    format!("the session is {how}, {next}")
}
