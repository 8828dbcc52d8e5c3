//! What the configuration's `notify` section means for a task: who is notified, on which occasions.
//! Called when a task is submitted, and by `doctor`. It delivers nothing and looks at no variable's value.

use longhaul_core::task::{Notify, Occasion, Target};

use crate::config::NotifySettings;

/// Who is notified about a new task.
pub fn notify(settings: &NotifySettings) -> Notify {
    let targets = targets(settings);
    if targets.is_empty() {
        return Notify::default();
    }
    let on = settings.on.iter().filter_map(|word| Occasion::from_word(word)).collect();
    let timeout_ms = u64::try_from(settings.timeout.as_millis()).unwrap_or(u64::MAX);
    Notify { on, targets, timeout_ms }
}

/// The targets alone.
pub fn targets(settings: &NotifySettings) -> Vec<Target> {
    let command = Some(&settings.command).filter(|argv| !argv.is_empty());
    let webhook = settings.webhook.as_ref().map(|url| {
        let secret_env = settings.webhook_secret_env.clone();
        Target::Webhook { url: url.clone(), secret_env }
    });
    [
        command.map(|argv| Target::Command { argv: argv.clone() }),
        settings.file.as_ref().map(|path| Target::File { path: path.clone() }),
        webhook,
        settings.desktop.then_some(Target::Desktop),
    ]
    .into_iter()
    .flatten()
    .collect()
}
