//! The text for a bug report: what `doctor` found, the configuration, tasks, their last events, and the end of the workers' log.
//! Written on request only. No goal unless asked for, no command of the configuration, no agent's output, and no value of any
//! variable of this environment: everything passes the redactor, which knows them all.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use longhaul_core::task::Task;
use longhaul_redact::{Secrets, redact_text};
use longhaul_store::{Filter, Stored, StoredEvent, Which};

use super::Patient;
use crate::app::Call;
use crate::config::{KEYS, Origin};
use crate::error::AppError;
use crate::home::WORKER_LOGS;
use crate::text::safe;
use crate::views::Finding;

/// So many of the last events of each unfinished task.
const LAST_EVENTS: u64 = 50;
/// So much of the end of the workers' log.
const LOG_TAIL: u64 = 64 << 10;
/// Keys whose value a person writes freely, or that may let a stranger speak.
const FREE_TEXT: [&str; 3] = ["verify.commands", "notify.command", "notify.webhook"];

/// Whether names and goals of tasks are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Goals {
    Shown,
    LeftOut,
}

/// The whole text, redacted.
pub(in super::super) async fn text(patient: &Patient<'_>, findings: &[Finding], goals: Goals) -> String {
    let mut text = String::new();
    section(&mut text, "doctor", findings.iter().flat_map(Finding::lines));
    section(&mut text, "configuration", configuration(patient));
    if let Ok(call) = &patient.opened {
        section(&mut text, "tasks", tasks(call, goals).await);
        section(&mut text, "workers' log, its end", worker_log(call));
    }
    redact_text(&secrets(patient.call), &text).0
}

fn section(text: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    // Writing into a string cannot fail.
    let _written = writeln!(text, "== {title}");
    for line in lines {
        let _written = writeln!(text, "{}", safe(&line));
    }
    text.push('\n');
}

/// Every variable's value counts as a secret here, whatever its name.
fn secrets(call: &Call) -> Secrets {
    let environment = &call.app.system.environment;
    let texts = environment.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    // Paths of ours stay readable; they hold no secret that the names above do not cover.
    let home = call.home().root().to_str();
    let hidden = texts.filter(|(_, value)| Some(*value) != home);
    hidden.fold(environment.secrets(&[]), |secrets, (name, value)| secrets.with(name, value))
}

fn configuration(patient: &Patient<'_>) -> Vec<String> {
    let Ok(loaded) = &patient.config else { return vec!["cannot be loaded".to_owned()] };
    let mut settings = loaded.settings.clone();
    let mut lines = Vec::new();
    for key in KEYS {
        let origin = &loaded.origins[key.name];
        let is_hidden = FREE_TEXT.contains(&key.name) && *origin != Origin::Default;
        let value = if is_hidden { "(not shown)".to_owned() } else { key.kind.show(&key.value(&mut settings)) };
        lines.push(format!("{} = {value}  # {origin}", key.name));
    }
    lines
}

async fn tasks(call: &Call, goals: Goals) -> Vec<String> {
    let mut lines = Vec::new();
    match call.summaries(Filter::default()).await {
        Ok(listed) => lines.extend(listed.tasks.iter().map(|outline| {
            let name = if goals == Goals::Shown { format!(" {}", outline.name) } else { String::new() };
            let (state, sessions) = (&outline.state, outline.sessions);
            format!("{}{name} {state}, {sessions} session(s), {}", outline.task, outline.updated.rfc3339())
        })),
        Err(error) => lines.push(format!("cannot be listed: {}", error.sentence())),
    }
    let filter = Filter { which: Which::Unfinished, ..Filter::default() };
    for stored in call.list(filter).await.map(|listed| listed.tasks).unwrap_or_default() {
        lines.push(String::new());
        lines.extend(last_events(call, &stored, goals).await);
    }
    lines
}

/// Kinds, times and actors only: what an event carries may be an agent's or a person's text.
async fn last_events(call: &Call, stored: &Stored, goals: Goals) -> Vec<String> {
    let task = &stored.task;
    let mut lines = vec![format!("-- {}: {}, agent {}", task.id, task.state.name(), task.submission.agent)];
    if goals == Goals::Shown {
        lines.extend(task.submission.goal.lines().map(|line| format!("   goal: {line}")));
    }
    match recent_events(call, task).await {
        Ok(events) => lines.extend(events.iter().map(|event| {
            format!("   {:>5} {} epoch {} {}", event.seq, event.at.rfc3339(), event.epoch, event.event.kind())
        })),
        Err(error) => lines.push(format!("   its events cannot be read: {}", error.sentence())),
    }
    lines
}

async fn recent_events(call: &Call, task: &Task) -> Result<Vec<StoredEvent>, AppError> {
    Ok(call.store()?.events(task.id, task.version.saturating_sub(LAST_EVENTS), u32::MAX).await?)
}

fn worker_log(call: &Call) -> Vec<String> {
    let tail = || -> std::io::Result<String> {
        let mut file = File::open(call.home().root().join(WORKER_LOGS[0]))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL)))?;
        let mut bytes = Vec::new();
        file.take(LOG_TAIL).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // A cut line could be the rest of a secret that is no longer known by its beginning.
        let whole =
            if length > LOG_TAIL { text.split_once('\n').map_or("", |(_, rest)| rest).to_owned() } else { text };
        Ok(whole)
    };
    match tail() {
        Ok(text) => text.lines().map(str::to_owned).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => vec!["there is no log".to_owned()],
        Err(error) => vec![format!("cannot be read: {error}")],
    }
}
