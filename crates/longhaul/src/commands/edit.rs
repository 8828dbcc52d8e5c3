//! `longhaul edit`: changes limits, checks, agents, modes or priority of a task that is not finished.
//! What a change does to a running session is decided by the core: it counts from the next one, unless a limit is used up already.

use longhaul_app::{mode_warnings, redact_intake};
use longhaul_core::task::{Command, Limit, Setting, Submission};

use super::run::warn;
use crate::cli::{Changes, Edit};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::task_flags::TaskFlags;
use longhaul_app::lookup;
use longhaul_app::send_command::send_command;
use longhaul_app::submit::{agent_choice, declared};
use longhaul_app::{AppError, ErrorKind};

pub(crate) async fn edit(line: &CommandLine, args: &Edit) -> Result<Code, AppError> {
    let mut settings = settings(&args.changes)?;
    if settings.is_empty() {
        return Err(
            AppError::new(ErrorKind::Usage, "nothing to change").hint("`longhaul edit --help` lists what can be")
        );
    }
    let call = line.open_existing()?;
    let stored = lookup::find(&call, args.which.task.as_deref()).await?;
    refuse_secrets(line, &args.changes.checks, &stored.task.submission.secret_names)?;
    let warnings = weigh(line, &args.changes.flags, &stored.task.submission, &mut settings)?;
    let said: Vec<String> = settings.iter().map(ToString::to_string).collect();
    let changed = send_command(&call, &stored, Command::Edit { settings }).await?;
    out::note(&format!("task {}: {}", stored.task.submission.name, out::safe(&said.join(", "))));
    warn(&warnings);
    if args.changes.no_checks
        && let Some(left) = still_checked(&changed.task.submission)
    {
        out::note(&out::safe(&left));
    }
    Ok(Code::Done)
}

/// What changes of a task come to: refused where they contradict it, completed where something follows from them, and what a
/// person should know.
pub(super) fn weigh(
    line: &CommandLine,
    flags: &TaskFlags,
    submission: &Submission,
    settings: &mut Vec<Setting>,
) -> Result<Vec<String>, AppError> {
    let mut after = agent_choice::complete(submission, settings);
    declared::complete(&line.system.environment, &line.caller, submission, &mut after, settings)?;
    let mut warnings = Vec::new();
    if settings.iter().any(|setting| matches!(setting, Setting::Fallbacks(_) | Setting::OnLimit(_))) {
        warnings.extend(flags.agents.judge(&after)?);
    }
    let is_mode = |setting: &Setting| {
        matches!(
            setting,
            Setting::Agent(_)
                | Setting::Fallbacks(_)
                | Setting::Sandbox(_)
                | Setting::Network(_)
                | Setting::Limit(Limit::Cost, Some(_))
        )
    };
    if settings.iter().any(is_mode) {
        warnings.extend(mode_warnings(&after));
    }
    Ok(warnings)
}

/// What the result is still verified by without checks of its own; it belongs to what was asked for and stays.
fn still_checked(submission: &Submission) -> Option<String> {
    let quoted = |text: &str| format!("`{text}`");
    let commands: Vec<String> = submission.commands().into_iter().map(quoted).collect();
    let files: Vec<String> = submission.expects.iter().map(|path| quoted(path)).collect();
    let parts = [("commands of criteria", commands), ("expected files", files)];
    let told: Vec<String> = parts
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what}: {}", names.join(", ")))
        .collect();
    (!told.is_empty()).then(|| format!("still checked: {}", told.join("; ")))
}

/// The flags that were given, as changes of a task.
pub(super) fn settings(changes: &Changes) -> Result<Vec<Setting>, AppError> {
    let mut settings = changes.flags.settings(changes.model.as_deref())?;
    if changes.no_checks || !changes.checks.is_empty() {
        settings.push(Setting::Checks(changes.checks.clone()));
    }
    settings.extend(changes.priority.map(Setting::Priority));
    Ok(settings)
}

/// A command with a mask in it would run something else, so one that holds a secret is refused.
fn refuse_secrets(line: &CommandLine, checks: &[String], secret_names: &[String]) -> Result<(), AppError> {
    if checks.iter().all(|check| redact_intake(&line.system.environment, check, secret_names).1 == 0) {
        return Ok(());
    }
    Err(AppError::new(ErrorKind::Usage, "the check contains a secret value of this shell's environment")
        .hint("name the variable in it, in single quotes, instead of its value"))
}
