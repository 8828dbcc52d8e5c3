//! What the configuration's `notify` section means for a task: who is notified, on which occasions.
//! Called when a task is submitted, by `doctor` and by `notify test`. It delivers nothing.

use std::path::Path;

use longhaul_core::task::{Notify, Occasion, Target};
use longhaul_keeper::Environment;

use crate::config::NotifySettings;
use crate::system_programs::desktop_program;

/// Who is notified about a new task.
pub fn notify(settings: &NotifySettings, environment: &Environment) -> Notify {
    let targets = targets(settings, environment);
    if targets.is_empty() {
        return Notify::default();
    }
    let on = settings.on.iter().filter_map(|word| Occasion::from_word(word)).collect();
    let timeout_ms = u64::try_from(settings.timeout.as_millis()).unwrap_or(u64::MAX);
    Notify { on, targets, timeout_ms }
}

/// The targets alone.
pub fn targets(settings: &NotifySettings, environment: &Environment) -> Vec<Target> {
    let command = Some(&settings.command).filter(|argv| !argv.is_empty());
    let webhook = settings.webhook.as_ref().map(|url| {
        let secret_env = settings.webhook_secret_env.clone();
        Target::Webhook { url: url.clone(), secret_env }
    });
    [
        command.map(|argv| Target::Command { argv: argv.clone() }),
        settings.file.as_ref().map(|path| Target::File { path: path.clone() }),
        webhook,
        settings.desktop.unwrap_or_else(|| has_desktop(environment)).then_some(Target::Desktop),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether a desktop would show a notification: its program is installed, and on Linux its session bus is known.
pub(crate) fn has_desktop(environment: &Environment) -> bool {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    let has_bus = || {
        set("DBUS_SESSION_BUS_ADDRESS").is_some()
            || set("XDG_RUNTIME_DIR").is_some_and(|directory| Path::new(directory).join("bus").exists())
    };
    environment.find_program(desktop_program()).is_some() && (cfg!(target_os = "macos") || has_bus())
}
