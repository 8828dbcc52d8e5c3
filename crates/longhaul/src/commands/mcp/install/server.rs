//! What a client is told about this server: a command to start, or an address. Built once; each client writes it in its own format.
//! No key is ever written: an address goes with the name of the variable that holds the key.

use std::path::Path;

use longhaul_app::config::{self, Overrides};
use longhaul_app::submit::files::utf8;
use longhaul_app::{AppError, ErrorKind, agent_variables};

use crate::cli::{McpInstall, Offer, Transport};
use crate::command_line::CommandLine;
use crate::start::own_program;

/// The name under which clients know this server.
pub(super) const NAME: &str = "longhaul";
pub(super) const HOME: &str = "LONGHAUL_HOME";
const URL: &str = "http://127.0.0.1:7717/mcp";
const KEY_VARIABLE: &str = "LONGHAUL_API_KEY";

/// How a client reaches this server.
pub(super) enum Server {
    /// It starts the command.
    Stdio {
        command: Vec<String>,
        /// LONGHAUL_HOME.
        home: String,
        /// Variables to pass on, for a client that passes on none by itself.
        variables: Vec<String>,
    },
    /// It calls the address.
    Http { url: String, key_variable: String },
}

impl Server {
    pub(super) fn of(line: &CommandLine, offer: &Offer, args: &McpInstall) -> Result<Server, AppError> {
        let is_for_http = args.url.is_some() || args.key_variable.is_some();
        match args.transport {
            Transport::Stdio if is_for_http => {
                Err(AppError::new(ErrorKind::Usage, "--url and --key-variable are for a running server")
                    .hint("add `--transport http`, or leave them out"))
            }
            Transport::Stdio => Server::stdio(line, offer),
            Transport::Http if !offer.arguments().is_empty() => {
                let given = offer.arguments().join(" ");
                Err(AppError::new(ErrorKind::Usage, format!("`{given}` is for a server that the client starts"))
                    .hint("leave it out; over HTTP a client has the rights of its key"))
            }
            Transport::Http => Server::http(args),
        }
    }

    fn http(args: &McpInstall) -> Result<Server, AppError> {
        let url = args.url.as_deref().unwrap_or(URL);
        let is_url =
            ["http://", "https://"].iter().any(|start| url.strip_prefix(start).is_some_and(|rest| !rest.is_empty()));
        if !is_url {
            return Err(AppError::new(ErrorKind::Usage, format!("`{url}` is no address of a server"))
                .hint(format!("give the address of `longhaul serve`, such as {URL}")));
        }
        let key_variable = args.key_variable.as_deref().unwrap_or(KEY_VARIABLE).to_owned();
        Ok(Server::Http { url: url.to_owned(), key_variable })
    }

    fn stdio(line: &CommandLine, offer: &Offer) -> Result<Server, AppError> {
        let environment = &line.system.environment;
        let mut command = vec![utf8(&own_program(environment)?)?, "mcp".to_owned()];
        command.extend(offer.arguments());
        // Clients start the server in any directory, so no project's configuration counts.
        let loaded = config::load(environment, &line.caller, Path::new("/"), &Overrides::default())?;
        let mut variables = agent_variables(&line.system, &loaded.settings);
        variables.extend(["LONGHAUL_CONFIG", "XDG_CONFIG_HOME"].map(str::to_owned));
        variables.sort_unstable();
        variables.dedup();
        Ok(Server::Stdio { command, home: utf8(&line.home()?)?, variables })
    }
}

/// Whether a client's server is one that an earlier `install`, or a person who followed the guide, registered.
pub(super) fn is_ours(command: &[&str], url: Option<&str>) -> bool {
    let is_longhaul = |program: &str| Path::new(program).file_name().is_some_and(|name| name == NAME);
    matches!(command, [program, "mcp", ..] if is_longhaul(program)) || url.is_some_and(|url| url.ends_with("/mcp"))
}

/// The error for a server that somebody else registered under our name.
pub(super) fn foreign(client: &str, remove: &str) -> AppError {
    let what = format!("{client} already has another server called `{NAME}`; nothing was changed");
    AppError::new(ErrorKind::Conflict, what).hint(format!("if you do not need it, {remove}, and run this again"))
}
