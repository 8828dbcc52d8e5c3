//! `longhaul setup`: asks for the agent, the checks of this project and notifications, and writes the answers into the configuration.
//! All questions come before anything is written, so Ctrl+C changes nothing. Without a terminal it prints the commands that do the same.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use longhaul_app::operation::NoInput;
use longhaul_app::operations::{self, ConfigChange, ConfigChangeInput, SetupView};
use longhaul_app::text::shell_word;
use longhaul_app::{AppError, Call};

use super::choose::answer_to;
use super::config::print_change;
use crate::cli::Setup;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::Signals;

const NONE: &str = "none";

pub(crate) async fn setup(line: &CommandLine, args: &Setup) -> Result<Code, AppError> {
    let call = line.call()?;
    let found = call.perform::<operations::Setup>(NoInput {}).await?;
    if args.json {
        return out::answer(&found, true, |_| {});
    }
    out::answer(&found, false, |_| {})?;
    let found = found.view;
    show(&found);
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        explain(&found);
        return Ok(Code::Usage);
    }
    let mut signals = Signals::listen()?;
    let [own, project] = ask(&found, &mut signals).await?;
    write(&call, own, false).await?;
    write(&call, project, true).await?;
    out::note("you are set up: start a task with `longhaul run \"goal\"`");
    Ok(Code::Done)
}

fn show(found: &SetupView) {
    out::note("Agents:");
    for agent in &found.agents {
        let help = agent.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
        out::note(&out::safe(&format!("  {:10} {}{help}", agent.name, agent.state)));
    }
}

/// What a script runs instead.
fn explain(found: &SetupView) {
    let agent = found.agent.as_deref().or_else(|| first_ready(found)).unwrap_or("AGENT");
    let check = found.checks.first().or(found.suggested_checks.first()).map_or("COMMAND", String::as_str);
    out::note("setup asks on a terminal only; these commands configure the same:");
    out::note(&out::safe(&format!("  longhaul config set agent {}", shell_word(agent))));
    if found.project.is_some() {
        out::note(&out::safe(&format!("  longhaul config set --project verify.commands {}", shell_word(check))));
    }
    out::note(&format!("  longhaul config set notify.desktop {}", found.desktop_works));
}

fn first_ready(found: &SetupView) -> Option<&str> {
    found.agents.iter().find(|agent| agent.state == "ready").map(|agent| agent.name.as_str())
}

/// The keys that the answers change, of the person's own file and of the project's.
async fn ask(found: &SetupView, signals: &mut Signals) -> Result<[BTreeMap<String, String>; 2], AppError> {
    let (mut own, mut project) = (BTreeMap::new(), BTreeMap::new());
    let now = found.agent.as_deref().or_else(|| first_ready(found)).unwrap_or(NONE);
    let agent = answer(&format!("Agent for new tasks, or `{NONE}` to choose for each"), now, signals).await?;
    if agent != found.agent.as_deref().unwrap_or(NONE) {
        own.insert("agent".to_owned(), agent);
    }
    if let Some(root) = &found.project {
        let now = if found.checks.is_empty() {
            found.suggested_checks.first().cloned()
        } else {
            Some(found.checks.join(" && "))
        };
        let now = now.as_deref().unwrap_or(NONE);
        out::note(&out::safe(&format!("Checks decide whether a task in `{root}` is done.")));
        let check = answer(&format!("Command that must succeed, or `{NONE}`"), now, signals).await?;
        let before = if found.checks.is_empty() { NONE.to_owned() } else { found.checks.join(" && ") };
        if check != before {
            project.insert("verify.commands".to_owned(), if check == NONE { String::new() } else { check });
        }
    }
    let now = if found.desktop { "yes" } else { "no" };
    let desktop = loop {
        let said = answer("Desktop notification when a task is done or needs you", now, signals).await?;
        match said.to_lowercase().as_str() {
            "y" | "yes" => break true,
            "n" | "no" => break false,
            _ => out::note("answer yes or no"),
        }
    };
    if desktop != found.desktop {
        own.insert("notify.desktop".to_owned(), desktop.to_string());
    }
    Ok([own, project])
}

/// What was typed; just Enter keeps what is in brackets.
async fn answer(question: &str, now: &str, signals: &mut Signals) -> Result<String, AppError> {
    let typed = answer_to(&out::safe(&format!("{question} [{now}]:")), signals).await?;
    Ok(if typed.is_empty() { now.to_owned() } else { typed })
}

async fn write(call: &Call, set: BTreeMap<String, String>, project: bool) -> Result<(), AppError> {
    if set.is_empty() {
        return Ok(());
    }
    let input = ConfigChangeInput { project, set, ..ConfigChangeInput::default() };
    out::answer(&call.perform::<ConfigChange>(input).await?, false, print_change).map(drop)
}
