//! `longhaul notify test`: sends a test message to everyone who is notified, and rings this terminal.
//! Only prints what the operation returns.

use longhaul_app::operation::NoInput;
use longhaul_app::operations::{NotifyTest, TestedTarget};
use longhaul_app::{AppError, Call};

use crate::cli::{Notify, NotifyVerb};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::ring;

pub(crate) async fn notify(line: &CommandLine, args: &Notify) -> Result<Code, AppError> {
    let NotifyVerb::Test { json } = args.verb;
    let call = line.call()?;
    let answer = call.perform::<NotifyTest>(NoInput {}).await?;
    out::answer(&answer, json, |view| {
        view.targets.iter().for_each(print);
        if view.targets.is_empty() {
            out::note(
                "no notifications are configured: set `desktop = true`, `command`, `file` or `webhook` in the section `[notify]`",
            );
            out::note("`longhaul config path` shows where your configuration is");
        }
        if ring(&call, "longhaul: this is a test") {
            out::note("rang this terminal");
        }
    })?;
    let is_delivered = !answer.view.targets.is_empty() && answer.view.targets.iter().all(|target| target.delivered);
    Ok(if is_delivered { Code::Done } else { Code::Failure })
}

fn print(tested: &TestedTarget) {
    let target = out::safe(&tested.target);
    out::data(&match &tested.reason {
        None => format!("✓ {target}"),
        Some(reason) => format!("✗ {target}: {}", out::safe(reason)),
    });
}

/// Hints once per home that nobody is notified of a task that runs in the background.
pub(crate) async fn hint_once(call: &Call, task: longhaul_core::ids::TaskId) {
    let is_silent = matches!(call.load(task).await, Ok(Some(stored)) if stored.task.submission.notify.is_empty());
    let marker = call.home().root().join("notify-hint-shown");
    if is_silent && std::fs::File::create_new(marker).is_ok() {
        out::note(
            "hint: nothing notifies you when it ends or needs you; `longhaul notify test` shows how to set that up",
        );
    }
}
