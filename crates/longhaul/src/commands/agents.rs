//! `longhaul agents`: every agent, built in and declared: found, version, known good, logged in, its usage limit, and what to do.
//! Asks the programs offline, with a deadline; starts no session and reads no token.

use longhaul_app::now;
use longhaul_core::task::AccountLimit;
use serde_json::{Value, json};

use super::config::tell;
use crate::cli::Agents;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::agent_status::{self, AgentStatus};
use longhaul_app::config::Overrides;
use longhaul_app::{AppError, ErrorKind};

const HEADS: [&str; 5] = ["AGENT", "WHERE", "VERSION", "KNOWN GOOD", "LOGGED IN"];

pub(crate) async fn agents(line: &CommandLine, args: &Agents) -> Result<Code, AppError> {
    let loaded = line.load(&line.caller.project()?.root, &Overrides::default())?;
    tell(&loaded.notices);
    let looks = agent_status::probe_agents(&line.system, &loaded.settings.agents);
    let limits = limits(line).await?;
    if args.json {
        let rows: Vec<Value> = looks.iter().map(|look| row_json(look, &limits)).collect();
        out::json("agents", &json!({ "agents": rows, "default": loaded.settings.agent }));
        return Ok(Code::Done);
    }
    print(&looks, &limits);
    out::note(&format!("new tasks are for {} by default", out::safe(&loaded.settings.agent)));
    Ok(Code::Done)
}

/// The usage limits that hold now; none where there is no home yet.
async fn limits(line: &CommandLine) -> Result<Vec<AccountLimit>, AppError> {
    let call = match line.open_existing() {
        Ok(call) => call,
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let limits = call.store()?.account_limits().await?;
    Ok(limits.into_iter().filter(|limit| limit.until > now()).collect())
}

fn of_agent<'a>(look: &'a AgentStatus, limits: &'a [AccountLimit]) -> impl Iterator<Item = &'a AccountLimit> {
    limits.iter().filter(|limit| limit.agent == look.name)
}

fn row_json(look: &AgentStatus, limits: &[AccountLimit]) -> Value {
    let limit = |limit: &AccountLimit| json!({ "account": limit.account, "until": limit.until.rfc3339(), "reported": limit.told, "task": limit.task });
    let mut row = look.json();
    row["limits"] = of_agent(look, limits).map(limit).collect();
    row
}

fn print(looks: &[AgentStatus], limits: &[AccountLimit]) {
    let rows: Vec<[String; 5]> = looks.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).chain([HEADS[column].len()]).max();
    let widths: Vec<usize> = (0..HEADS.len()).map(|column| width(column).unwrap_or(0)).collect();
    let line = |cells: &[String; 5]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    out::data(&line(&HEADS.map(str::to_owned)));
    for (look, row) in looks.iter().zip(&rows) {
        out::data(&line(row));
        of_agent(look, limits).for_each(|limit| out::data(&out::safe(&limit_line(limit))));
        if let Some(advice) = look.advice() {
            out::data(&out::safe(&format!("  to do: {advice}")));
        }
    }
}

fn limit_line(limit: &AccountLimit) -> String {
    let (until, left) = (limit.until.rfc3339(), out::span(limit.until.since(now())));
    let guess = if limit.told { "" } else { ", estimated" };
    format!("  usage limit until {until}, in {left}{guess} (account: {})", limit.account)
}

fn row(look: &AgentStatus) -> [String; 5] {
    let known = match look.known_good() {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    };
    let key = look.key_words().map_or_else(String::new, |words| format!(" ({words})"));
    let login = if look.is_found() { format!("{}{key}", look.login().word()) } else { "-".to_owned() };
    let version = look.version.words().unwrap_or_else(|| "-".to_owned());
    [look.name.clone(), look.place(), version, known.to_owned(), login].map(|cell| out::safe(&cell))
}
