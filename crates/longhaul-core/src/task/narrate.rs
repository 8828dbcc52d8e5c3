//! One plain sentence per event, for `why`, `events`, `run` and the report. No period at the end: ids are double-clicked.
//! Agent text inside is not made safe for a terminal here; that is the printer's duty.

use super::{
    Amount, CheckRole, Driver, Ended, Event, Evidence, Failure, Gap, Merge, Observation, Opening, Outcome, ReleasedBy,
    Report, Restore, Resume, RoundOutcome, RunnerOptions, Saved, SessionRun, Setting, StopMode, StoppedBy, Then, Until,
    Workspace, short,
};
use crate::ids::TaskId;
use crate::plan::Refused;
use crate::time::Time;

/// The sentence for an event.
pub fn narrate(event: &Event) -> String {
    match event {
        Event::Submitted { submission } if submission.driver == Driver::External => {
            format!("started as `{}` by an outside program", submission.name)
        }
        Event::Submitted { submission } if let Some(follow_up) = &submission.follow_up => format!("{follow_up}"),
        Event::Submitted { submission } => format!("submitted as `{}` for agent {}", submission.name, submission.agent),
        Event::Claimed { worker, from: None, .. } => format!("claimed by worker {worker}"),
        Event::Claimed { worker, from: Some(dead), .. } => {
            format!("worker {dead} died; worker {worker} took over")
        }
        Event::SessionStarted { session } => start_sentence(session),
        Event::SessionRead { said, .. } => match &said.conversation {
            Some(id) => format!("the agent's conversation is {id}"),
            None => "read the session's output".into(),
        },
        Event::SessionEnded { ended, progress, .. } => ended_sentence(ended, *progress),
        Event::PlanRevised { revision, change, ticked, .. } => plan_sentence(*revision, &change.progress(), ticked),
        Event::PlanRefused { refused, unreadable, restore } => {
            refused_sentence(refused, unreadable.as_deref(), restore)
        }
        Event::PlanRestored => "restored the plan file".into(),
        Event::StopAsked { mode, then } => stop_sentence(*mode, then),
        Event::WaitStarted { why, until: Some(until), .. } => format!("waiting ({why}) until {}", until.rfc3339()),
        Event::WaitStarted { why, until: None, .. } => format!("waiting: {why}"),
        Event::WaitEnded => "the wait is over".into(),
        Event::Paused { why: None, .. } => "paused".into(),
        Event::Paused { why: Some(why), .. } => format!("paused by its runner: {why}"),
        Event::Held { person, .. } => format!("{person} took over the conversation"),
        Event::Released { how: ReleasedBy::Ended } => "the takeover ended".into(),
        Event::Released { how: ReleasedBy::Gone } => "the takeover ended: its process is gone".into(),
        Event::Driven { run } => driven_sentence(run),
        Event::Resumed { reason: Some(reason), .. } => format!("resumed: {reason}"),
        Event::Resumed { reason: None, .. } => "resumed".into(),
        Event::HelpNeeded { reason, .. } => format!("needs you: {reason}"),
        Event::Blocked { cause, .. } => format!("blocked: {cause}"),
        Event::Stopped { reached, .. } => format!("stopped: {reached}"),
        Event::Unblocked => "no longer blocked".into(),
        Event::Placed { workspace } => place_sentence(workspace),
        Event::Edited { settings, .. } => format!("settings changed: {}", list(settings)),
        Event::Told { text } => format!("message for the next session: {text}"),
        Event::PlanAccepted { revision, plan, .. } => {
            format!("plan revision {revision} accepted from a person, {}", plan.progress())
        }
        Event::RoundStarted { number, again: false, .. } => format!("round {number} of the checks started"),
        Event::RoundStarted { number, again: true, .. } => {
            format!("round {number} of the checks started, because the previous one changed the tree")
        }
        Event::Checked { evidence } => check_sentence(evidence),
        Event::RoundEnded { outcome } => round_sentence(outcome),
        Event::AgentLimited { agent, until: Until::Person { why }, .. } => {
            format!("{agent} is unusable until a person fixes it: {why}")
        }
        Event::AgentLimited { agent, until: Until::Time { at, told }, found_by, .. } => {
            limit_sentence(agent, *at, *told, *found_by)
        }
        Event::AfterMet => "the task it depends on is verified".into(),
        Event::Merged { merge } => merge_sentence(merge),
        Event::LandingStarted { landing } => format!("landing commit {}", short(&landing.commit)),
        Event::TargetMoved => "the branch moved meanwhile; trying again".into(),
        Event::Reported { report } => report_sentence("reported", report),
        Event::Checkpointed { report } => report_sentence("checkpoint", report),
        Event::SaidDone { report } => report_sentence("the agent says that it is done", report),
        Event::HelpAsked { reason, hint: None, .. } => format!("needs you: {reason}"),
        Event::HelpAsked { reason, hint: Some(hint), .. } => format!("needs you: {reason} (to continue: {hint})"),
        Event::HelpAnswered { reason, by } => format!("answered by {by}: {reason}"),
        Event::Failed { reason: Some(reason) } => format!("failed: {reason}"),
        Event::Failed { reason: None } => "failed; the program gave no reason".into(),
        Event::Finished { verdict } => format!("done, {verdict}"),
        Event::Cancelled { by, reason: Some(reason) } => format!("cancelled by {by}: {reason}"),
        Event::Cancelled { by, reason: None } => format!("cancelled by {by}"),
        Event::Forced { target } => format!("a person killed {target}, which did not respond"),
        Event::Noted { observation } => noted_sentence(observation),
    }
}

fn merge_sentence(merge: &Merge) -> String {
    let target = short(&merge.target);
    match merge.conflicts.is_empty() {
        true => format!("merged with the branch at {target}; the checks run again"),
        false => format!("merged with the branch at {target}, with conflicts in {}", merge.names()),
    }
}

fn noted_sentence(observation: &Observation) -> String {
    if let Observation::CannotPrepare { cause } = observation {
        return cause.to_string();
    }
    format!("ignored `{}`", observation.name())
}

/// The first line of a report's summary, and how much it is about.
fn report_sentence(what: &str, report: &Report) -> String {
    let mut text = what.to_owned();
    if let Some(line) = report.summary.as_deref().and_then(|text| text.trim().lines().next()) {
        text.push_str(&format!(": {line}"));
    }
    for (number, word) in [(report.completed.len(), "completed"), (report.failed.len(), "failed")] {
        if number > 0 {
            text.push_str(&format!(", {number} {word}"));
        }
    }
    text
}

fn limit_sentence(agent: &str, until: Time, told: bool, found_by: Option<TaskId>) -> String {
    let found = found_by.map_or_else(String::new, |task| format!(" (reported by task {task})"));
    match told {
        true => format!("{agent} hit its usage limit; it resets at {}{found}", until.rfc3339()),
        false => {
            format!("{agent} hit a usage limit of unknown length{found}; trying again at {}", until.rfc3339())
        }
    }
}

fn start_sentence(session: &SessionRun) -> String {
    let agent = if session.agent.is_empty() { String::new() } else { format!(" with {}", session.agent) };
    let how = match (&session.opening, &session.resumes) {
        (Opening::Handover { why }, _) => format!(" in a new conversation: {why}"),
        (Opening::TakeOver { from }, _) => format!(", taking over from {from}"),
        (Opening::Again, Some(id)) if session.attempt == 1 => format!(", continuing conversation {id}"),
        (_, None) => String::new(),
        (Opening::Again, Some(id)) => format!(", resuming conversation {id}, which never got the prompt"),
        (Opening::Unsure, Some(id)) => format!(", resuming conversation {id}, which may already have the prompt"),
        (Opening::Fresh | Opening::Continue, Some(id)) => format!(", resuming conversation {id}"),
    };
    format!("{} session {} started{agent}{how}", session.purpose, session.number)
}

fn ended_sentence(ended: &Ended, progress: bool) -> String {
    let how = match ended.stopped_by {
        StoppedBy::Itself => String::new(),
        StoppedBy::Task => ", stopped on request".into(),
        StoppedBy::Shutdown => ", interrupted from outside".into(),
        StoppedBy::Silence => ", silent for too long".into(),
        StoppedBy::Wall => ", ran for too long".into(),
        StoppedBy::Lingered => ", stopped after its turn".into(),
    };
    let verdict = match (&ended.outcome, ended.stopped_by) {
        // The result of a check is in its evidence.
        (Outcome::Completed, _) if ended.printed.is_some() => "ran".to_owned(),
        (Outcome::Completed, _) => "completed".to_owned(),
        (Outcome::Failed(Failure::Crashed), StoppedBy::Task | StoppedBy::Shutdown) => "stopped".to_owned(),
        (Outcome::Failed(failure), _) => failure_words(failure),
    };
    let gap = match ended.gap {
        Gap::None => String::new(),
        Gap::Bytes(bytes) => format!(", {bytes} bytes of output missing"),
        Gap::UnknownSize => ", an unknown amount of output missing".into(),
    };
    let left = match ended.leftovers {
        0 => String::new(),
        1 => ", 1 leftover process killed".into(),
        many => format!(", {many} leftover processes killed"),
    };
    let saved = match &ended.saved {
        Saved::NoGit | Saved::Nothing => String::new(),
        Saved::Commit(id) => format!(", work committed as {}", id.get(..12).unwrap_or(id)),
        Saved::Snapshot(name) => format!(", work saved as {name}"),
        Saved::Left(why) => format!(", work not committed: {why}"),
    };
    let gain = if progress { ", made progress" } else { "" };
    format!("session ended: {verdict} ({}{how}{gap}{left}{saved}{gain})", ended.exit)
}

fn failure_words(failure: &Failure) -> String {
    match failure {
        Failure::Crashed => "crashed".into(),
        Failure::Retryable(why) => format!("temporary failure: {why}"),
        Failure::Limited(Some(until)) => format!("usage limit until {}", until.rfc3339()),
        Failure::Limited(None) => "usage limit, end unknown".into(),
        Failure::Auth(why) => format!("login refused: {why}"),
        Failure::Configuration(why) => format!("misconfigured: {why}"),
        Failure::ContextFull => "the conversation is full".into(),
        Failure::BadConversation => "the conversation to resume was not found".into(),
        Failure::Exhausted(why) => format!("no usage left: {why}"),
        Failure::Permission(why) => format!("permission denied: {why}"),
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
        return format!("cannot read the plan ({why}); restoring the last good one");
    }
    let reasons: Vec<String> = refused.iter().map(ToString::to_string).collect();
    format!("rejected plan changes ({}), kept as task_list.rejected-{}.md", reasons.join("; "), restore.keep_as)
}

fn stop_sentence(mode: StopMode, then: &Then) -> String {
    let how = match mode {
        StopMode::Graceful => "stopping",
        StopMode::Immediate => "killing",
    };
    let next = match then {
        Then::Pause => "then pausing",
        Then::Hold { person } => return format!("{how} the session, then {person} takes over"),
        Then::Cancel { .. } => "then cancelling",
        Then::Ask { reason } => return format!("{how} the session, because {reason}"),
        Then::Stop { reached } => return format!("{reached}: {how} the session"),
        Then::GoOn => "then continuing",
    };
    format!("{how} the session, {next}")
}

fn place_sentence(workspace: &Workspace) -> String {
    match &workspace.branch {
        Some(branch) => format!("working in worktree {} on branch {branch}", workspace.root),
        None => format!("working in place at {}", workspace.cwd),
    }
}

fn check_sentence(evidence: &Evidence) -> String {
    let title = match evidence.role {
        CheckRole::Check => format!("check {}", evidence.title()),
        CheckRole::Setup => evidence.title(),
    };
    match &evidence.failure {
        None => format!("{title} passed in {}", Amount::Millis(evidence.lasted_ms)),
        Some(why) => format!("{title} failed: {why}"),
    }
}

fn round_sentence(outcome: &RoundOutcome) -> String {
    match outcome {
        RoundOutcome::Passed { tree: Some(tree) } => {
            format!("all checks passed on tree {}", super::verdict::short_tree(tree))
        }
        RoundOutcome::Passed { tree: None } => "all checks passed; the tree is unknown without git".into(),
        RoundOutcome::TreeChanged => "all checks passed, but files changed while they ran".into(),
        RoundOutcome::Failed { why } => format!("verification failed: {why}"),
    }
}

fn driven_sentence(run: &RunnerOptions) -> String {
    let sessions = match run.left {
        Some(1) => "one session".to_owned(),
        Some(number) => format!("{number} sessions"),
        None => "as many sessions as it takes".to_owned(),
    };
    let how = match run.resume {
        Resume::Saved => ", each resuming the saved conversation",
        Resume::Never => "",
    };
    format!("run-session took the task for {sessions}{how}")
}

fn list(settings: &[Setting]) -> String {
    settings.iter().map(ToString::to_string).collect::<Vec<String>>().join(", ")
}
