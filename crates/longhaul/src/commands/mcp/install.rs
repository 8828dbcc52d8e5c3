//! `longhaul mcp install`: registers this server with a client, through the client's own command or in its configuration file, and reports what
//! the client needs besides. A second run changes nothing; another server under our name is left alone. Refused below an agent session.

mod claude;
mod codex;
mod opencode;
mod server;

use longhaul_app::{AppError, ErrorKind};

use crate::cli::{McpClient, McpInstall, Offer};
use crate::command_line::CommandLine;
use crate::commands::step::{Step, carry_out};
use crate::exit::Code;
use crate::out;

use server::Server;

pub(super) fn install(line: &CommandLine, offer: &Offer, args: &McpInstall) -> Result<Code, AppError> {
    let environment = &line.system.environment;
    let client = args.client;
    let name = client.name();
    if environment.find_program(name).is_none() {
        return Err(AppError::new(ErrorKind::Failure, format!("`{name}` is not installed, or not on PATH"))
            .hint("install it, or add its directory to PATH, and run this again"));
    }
    if args.auto_approve && client != McpClient::Codex {
        return Err(AppError::new(ErrorKind::Usage, format!("{name} has no such setting as --auto-approve"))
            .hint("leave it out; only codex refuses tools that it cannot ask about"));
    }
    let server = Server::of(line, offer, args)?;
    let steps = steps(line, &server, args)?;
    carry_out(environment, &steps, args.dry_run)?;
    if steps.is_empty() {
        out::data(&format!("{name} already has this server; nothing was changed"));
    }
    let asks = client == McpClient::Codex && !args.auto_approve && !codex::approves(environment)?;
    advice(client, asks, &server).iter().for_each(|sentence| out::note(sentence));
    Ok(Code::Done)
}

fn steps(line: &CommandLine, server: &Server, args: &McpInstall) -> Result<Vec<Step>, AppError> {
    let environment = &line.system.environment;
    match args.client {
        McpClient::Claude => claude::steps(environment, server),
        McpClient::Codex => codex::steps(environment, server, args.auto_approve),
        McpClient::Opencode => opencode::steps(environment, server),
    }
}

/// What a person should know about this client (`docs/guide/mcp.md` has the same).
fn advice(client: McpClient, asks: bool, server: &Server) -> Vec<String> {
    let mut sentences = vec![match client {
        McpClient::Claude => {
            "interactive Claude Code takes `run` as a native task and is notified of its end; `claude -p` calls `wait` until the \
             task ends, and needs `--allowedTools mcp__longhaul`"
        }
        McpClient::Codex => "codex has no native tasks: it calls `wait` until the task ends",
        McpClient::Opencode => "opencode has no native tasks: it calls `wait` until the task ends",
    }
    .to_owned()];
    if asks {
        sentences.push(
            "codex asks you before it calls `submit`, `run`, `retry`, `resume` or `cancel`, and `codex exec` refuses them; \
             add `--auto-approve` to allow them all (`default_tools_approval_mode = \"approve\"`)"
                .to_owned(),
        );
    }
    if let Server::Http { key_variable, .. } = server {
        let name = client.name();
        sentences.push(format!(
            "`longhaul serve` must be running; start {name} with a key of `longhaul keys create` in {key_variable}"
        ));
    }
    sentences
}
