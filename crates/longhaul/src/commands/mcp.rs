//! `longhaul mcp`: serves the tools of this binary to one MCP client on standard input and output, and ends with it.
//! It carries out no task: submitting hands it to a worker with this process's environment, as `run -d` does. A signal simply ends it, because
//! nothing lives in this process.

mod install;

use longhaul_app::operation::FrontEnd;
use longhaul_app::{AppError, Call, Caller};
use longhaul_core::task::{Right, Rights};
use longhaul_server::{Tool, rights, serve_stdio, tools};
use serde_json::json;

use crate::cli::{Mcp, McpVerb, Offer};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn mcp(line: &CommandLine, args: &Mcp) -> Result<Code, AppError> {
    let (offer, caller) = (&args.offer, client(line, &args.offer));
    match &args.verb {
        Some(McpVerb::Install(install)) => return install::install(line, offer, install),
        Some(McpVerb::Tools { json }) => print_tools(&tools(&caller, &offer.tool_prefix), *json),
        None => {
            let call = line.call()?;
            serve_stdio(Call::new(call.app, caller), &offer.tool_prefix).await?;
        }
    }
    Ok(Code::Done)
}

/// The client acts for whoever started this process. Below a session its scope allows less than any right that is added.
fn client(line: &CommandLine, offer: &Offer) -> Caller {
    let rights = if offer.read_only { Rights::NONE.with(Right::Read) } else { rights(offer.rights) };
    line.caller.clone().through(FrontEnd::Mcp, rights)
}

fn print_tools(tools: &[Tool], as_json: bool) {
    if as_json {
        out::json("tools", &json!({ "tools": tools }));
        return;
    }
    let width = tools.iter().map(|tool| tool.name.len()).max().unwrap_or_default();
    for tool in tools {
        out::data(&format!("{:width$}  {}", tool.name, tool.description.as_deref().unwrap_or_default()));
    }
}
