//! `longhaul agents`: a table of all agents with path, version, login, usage limits and what to do.
//! Only prints what the operation returns.

use std::time::Duration;

use longhaul_app::AppError;
use longhaul_app::operation::NoInput;
use longhaul_app::operations::{AgentLimit, AgentListing, AgentView, Agents};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

const HEADS: [&str; 5] = ["AGENT", "WHERE", "VERSION", "KNOWN GOOD", "LOGGED IN"];

pub(crate) async fn agents(line: &CommandLine, args: &cli::Agents) -> Result<Code, AppError> {
    out::answer(&line.call()?.perform::<Agents>(NoInput {}).await?, args.json, print)
}

fn print(listing: &AgentListing) {
    let rows: Vec<[String; 5]> = listing.agents.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).chain([HEADS[column].len()]).max();
    let widths: Vec<usize> = (0..HEADS.len()).map(|column| width(column).unwrap_or(0)).collect();
    let line = |cells: &[String; 5]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    out::data(&line(&HEADS.map(str::to_owned)));
    for (agent, row) in listing.agents.iter().zip(&rows) {
        out::data(&line(row));
        agent.limits.iter().for_each(|limit| out::data(&out::safe(&limit_line(limit))));
        if let Some(advice) = &agent.advice {
            out::data(&out::safe(&format!("  to do: {advice}")));
        }
    }
    out::note(&match &listing.default {
        Some(agent) => format!("new tasks use {} by default", out::safe(agent)),
        None => {
            "no agent is configured: `run` picks the one that is installed and logged in; `longhaul setup` chooses one"
                .to_owned()
        }
    });
}

fn limit_line(limit: &AgentLimit) -> String {
    let left = out::span(Duration::from_millis(limit.left_ms));
    let guess = if limit.reported { "" } else { ", estimated" };
    format!("  usage limit until {}, in {left}{guess} (account: {})", limit.until, limit.account)
}

fn row(agent: &AgentView) -> [String; 5] {
    let known = match agent.known_good {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    };
    let place = match (&agent.program, &agent.path) {
        (None, _) => "built in",
        (Some(_), Some(path)) => path,
        (Some(_), None) => "not found",
    };
    let version = match &agent.version {
        Some(version) => version,
        None if agent.version_timed_out => "no answer",
        None => "-",
    };
    let key = agent.key_variable.as_ref().map_or_else(String::new, |name| format!(" ({name} is set)"));
    let login = if agent.found { format!("{}{key}", agent.logged_in.replace('_', " ")) } else { "-".to_owned() };
    [&agent.name, place, version, known, &login].map(out::safe)
}
