//! `notify_test`: sends a test message to everyone who would be notified about a task of this project.
//! Each target is tried once, at the same time as the others; the answer has what became of it.

use std::time::Duration;

use longhaul_core::task::Action;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Call;
use crate::config::Overrides;
use crate::error::AppError;
use crate::intake::blocking;
use crate::operation::{About, Answer, COMMAND_LINE, NoInput, Operation, Permit, View};
use crate::submit::notify_targets::targets;

/// The operation `notify_test`.
pub struct NotifyTest;

/// What became of the test messages.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotifyTested {
    /// Everyone who is notified about tasks that are submitted here; empty if notifications are not configured.
    pub targets: Vec<TestedTarget>,
}

/// What became of one test message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestedTarget {
    /// The target in words.
    pub target: String,
    /// Whether it took the message.
    pub delivered: bool,
    /// Why it did not.
    pub reason: Option<String>,
}

impl View for NotifyTested {
    const KIND: &'static str = "notify_test";
}

impl Operation for NotifyTest {
    const ABOUT: About = About::new(
        "notify_test",
        "Send a test message to everyone who is notified",
        Action::Manage("send a test message"),
        COMMAND_LINE,
    );
    type Input = NoInput;
    type Output = NotifyTested;

    async fn run(call: &Call, _: Permit, _: NoInput) -> Result<Answer<NotifyTested>, AppError> {
        // Programs run there.
        call.app.create()?;
        let loaded = call.load_config(&Overrides::default())?;
        let settings = &loaded.settings.notify;
        let within = settings.timeout.max(Duration::from_secs(1));
        let sent = targets(settings, &call.app.system.environment).into_iter().map(|target| {
            let app = call.app.clone();
            let words = target.to_string();
            let sending = tokio::spawn(blocking(move || app.system.processes.notify(&app, &target, within)));
            (words, sending)
        });
        let sent: Vec<_> = sent.collect();
        let mut tested = Vec::with_capacity(sent.len());
        for (target, sending) in sent {
            let reason = sending.await.unwrap_or_else(|error| Err(error.to_string())).err();
            tested.push(TestedTarget { target, delivered: reason.is_none(), reason });
        }
        Ok(Answer::new(NotifyTested { targets: tested }).warn(loaded.warnings()))
    }
}
