//! The real agent programs: where they are, and all they need to talk to a scripted model instead of their vendor.
//! Used by tests that run them; `cargo xtask agents` installs them.
//! It writes only below the home directory it is given, and starts nothing.

#[path = "../../agents/place.rs"]
mod place;
mod settings;

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// An agent program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// OpenAI's Codex CLI.
    Codex,
    /// Anthropic's Claude Code.
    Claude,
    /// OpenCode.
    OpenCode,
    /// Pi.
    Pi,
    /// Google's Gemini CLI.
    Gemini,
}

/// How an agent is logged in at its vendor's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Login {
    /// With an API key.
    #[default]
    Key,
    /// With a subscription's token, where the agent tells the two apart: only then claude takes note of usage limits.
    Subscription,
}

/// Which server an agent talks to, and where it keeps its files.
#[derive(Debug, Clone)]
pub struct Setup {
    server_url: String,
    home: PathBuf,
    login: Login,
}

/// The installed programs.
#[derive(Debug, Clone)]
pub struct Programs {
    directory: PathBuf,
}

/// A program is not installed.
#[derive(Debug, thiserror::Error)]
#[error("there is no `{path}`: run `cargo xtask agents`, which installs the agents' programs", path = path.display())]
pub struct Missing {
    path: PathBuf,
}

/// The surroundings of an agent could not be prepared.
#[derive(Debug, thiserror::Error)]
#[error("failed to write `{path}`", path = path.display())]
pub struct EnvironmentError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl Agent {
    /// Every agent.
    pub const ALL: [Self; 5] = [Self::Codex, Self::Claude, Self::OpenCode, Self::Pi, Self::Gemini];

    /// The name of its command.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
            Self::Gemini => "gemini",
        }
    }
}

impl Setup {
    /// An agent at home in `home`, which talks to the server at `server_url` with an API key. Codex runs no sandboxed
    /// command when its home lies in the temporary directory.
    pub fn new(server_url: impl Into<String>, home: impl Into<PathBuf>) -> Self {
        Self { server_url: server_url.into(), home: home.into(), login: Login::default() }
    }

    /// The same with another login.
    #[must_use]
    pub fn with_login(self, login: Login) -> Self {
        Self { login, ..self }
    }

    /// The directory that has to be first on the path: it holds the commands by their plain names.
    #[must_use]
    pub fn bin(&self) -> PathBuf {
        self.home.join("bin")
    }
}

/// A directory for the homes of agents in tests: below the target directory, or, where that lies below the directory for temporary
/// files, below the cache. Codex runs no sandboxed command from a home there.
pub fn place_for_homes(target: &Path) -> io::Result<PathBuf> {
    let temporary = [env::temp_dir(), PathBuf::from("/tmp")];
    if !temporary.iter().any(|directory| target.starts_with(directory)) {
        return Ok(target.to_owned());
    }
    let programs = place::AGENTS.directory(|name| env::var_os(name)).unwrap_or_default();
    let homes = programs.with_file_name("homes");
    fs::create_dir_all(&homes)?;
    Ok(homes)
}

/// The directory with the installed MCP clients.
pub fn clients() -> Result<PathBuf, Missing> {
    installed(&place::CLIENTS, "@modelcontextprotocol/sdk/package.json")
}

/// The directory with the installed Python packages, for `PYTHONPATH`.
pub fn python_packages() -> Result<PathBuf, Missing> {
    Ok(installed(&place::PYTHON, "mcp/__init__.py")?.join(place::PYTHON.installer.fills()))
}

/// The directory with schemathesis and what it needs, for `PYTHONPATH`.
pub fn schemathesis() -> Result<PathBuf, Missing> {
    Ok(installed(&place::SCHEMATHESIS, "schemathesis/__init__.py")?.join(place::SCHEMATHESIS.installer.fills()))
}

fn installed(pinned: &place::Pinned, file: &str) -> Result<PathBuf, Missing> {
    let directory = pinned.directory(|name| env::var_os(name)).unwrap_or_default();
    let path = directory.join(pinned.installer.fills()).join(file);
    if path.is_file() { Ok(directory) } else { Err(Missing { path }) }
}

impl Programs {
    /// Finds the programs, all of them.
    pub fn find() -> Result<Self, Missing> {
        Self::find_in(place::AGENTS.directory(|name| env::var_os(name)).unwrap_or_default())
    }

    fn find_in(directory: PathBuf) -> Result<Self, Missing> {
        let programs = Self { directory };
        let missing = Agent::ALL.map(|agent| programs.program(agent)).into_iter().find(|path| !path.is_file());
        match missing {
            Some(path) => Err(Missing { path }),
            None => Ok(programs),
        }
    }

    /// The file that is started: the program itself and no wrapper, which a signal would have to pass through.
    #[must_use]
    pub fn program(&self, agent: Agent) -> PathBuf {
        let (platform, triple) = platform();
        let path = match agent {
            Agent::Codex => format!("@openai/codex-{platform}/vendor/{triple}/bin/codex"),
            Agent::Claude => format!("@anthropic-ai/claude-code-{platform}/claude"),
            Agent::OpenCode => format!("opencode-{platform}/bin/opencode"),
            Agent::Pi => "@earendil-works/pi-coding-agent/dist/bundle/cli.js".to_owned(),
            Agent::Gemini => "@google/gemini-cli/bundle/gemini.js".to_owned(),
        };
        self.directory.join("node_modules").join(path)
    }

    /// Node.js, in a newer version than many systems have.
    #[must_use]
    pub fn node(&self) -> PathBuf {
        self.directory.join("node_modules").join(format!("node-{}/bin/node", platform().0))
    }

    /// Prepares an agent's home and returns the variables with which its plain command talks to the server. Agents can
    /// share a home; their variables do not contradict each other.
    pub fn environment(&self, agent: Agent, setup: &Setup) -> Result<Vec<(String, String)>, EnvironmentError> {
        let bin = setup.bin();
        fs::create_dir_all(&bin).map_err(|source| EnvironmentError { path: bin.clone(), source })?;
        link(&self.program(agent), &bin.join(agent.name()))?;
        let node = self.node();
        if node.is_file() {
            // Pi and gemini are scripts that ask for `node` by name, and pi needs a newer one than many systems have.
            link(&node, &bin.join("node"))?;
        }
        let path = env::var("PATH").unwrap_or_default();
        let mut variables = vec![
            ("HOME".to_owned(), setup.home.display().to_string()),
            ("PATH".to_owned(), format!("{}:{path}", bin.display())),
        ];
        variables.extend(settings::write(agent, setup)?);
        Ok(variables)
    }

    /// The same for several agents in one home.
    pub fn environments(&self, agents: &[Agent], setup: &Setup) -> Result<Vec<(String, String)>, EnvironmentError> {
        let mut variables: Vec<(String, String)> = Vec::new();
        for agent in agents {
            for variable in self.environment(*agent, setup)? {
                if !variables.contains(&variable) {
                    variables.push(variable);
                }
            }
        }
        Ok(variables)
    }
}

fn link(target: &Path, link: &Path) -> Result<(), EnvironmentError> {
    match std::os::unix::fs::symlink(target, link) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && link.read_link().is_ok_and(|to| to == target) => {
            Ok(())
        }
        result => result.map_err(|source| EnvironmentError { path: link.to_path_buf(), source }),
    }
}

/// The platform in npm's words and in codex's.
fn platform() -> (&'static str, &'static str) {
    match (env::consts::OS, env::consts::ARCH) {
        ("macos", "aarch64") => ("darwin-arm64", "aarch64-apple-darwin"),
        ("linux", "aarch64") => ("linux-arm64", "aarch64-unknown-linux-musl"),
        _ => ("linux-x64", "x86_64-unknown-linux-musl"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Agent, Login, Programs, Setup};

    /// Empty files where the programs would be.
    fn hollow(directory: &Path) -> Programs {
        let programs = Programs { directory: directory.to_path_buf() };
        for agent in Agent::ALL {
            let path = programs.program(agent);
            fs::create_dir_all(path.parent().expect("it lies in a directory")).expect("a new directory");
            fs::write(path, "").expect("a new file");
        }
        programs
    }

    #[test]
    fn a_missing_program_is_told_with_what_to_do() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let programs = hollow(place.path());
        assert!(Programs::find_in(place.path().to_path_buf()).is_ok());
        fs::remove_file(programs.program(Agent::Pi)).expect("it was there");
        let text = Programs::find_in(place.path().to_path_buf()).expect_err("pi is gone").to_string();
        assert!(text.contains("pi-coding-agent") && text.contains("cargo xtask agents"), "{text}");
    }

    #[test]
    fn agents_share_a_home_and_can_be_prepared_again() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (programs, home) = (hollow(&place.path().join("agents")), place.path().join("home"));
        let setup = Setup::new("http://127.0.0.1:1", &home);
        let first = programs.environments(&Agent::ALL, &setup).expect("all is written");
        assert_eq!(programs.environments(&Agent::ALL, &setup).expect("all is written again"), first);
        for (index, (name, _)) in first.iter().enumerate() {
            assert!(first[..index].iter().all(|(other, _)| other != name), "{name} is there twice");
        }
        for agent in Agent::ALL {
            let linked = setup.bin().join(agent.name()).read_link().expect("a link");
            assert_eq!(linked, programs.program(agent));
        }
    }

    #[test]
    fn a_subscription_takes_the_place_of_the_key() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let programs = hollow(&place.path().join("agents"));
        let names = |login| -> Vec<String> {
            let setup = Setup::new("http://127.0.0.1:1", place.path().join("home")).with_login(login);
            let variables = programs.environment(Agent::Claude, &setup).expect("all is written");
            variables.into_iter().map(|(name, _)| name).collect()
        };
        let (key, token) = ("ANTHROPIC_API_KEY".to_owned(), "CLAUDE_CODE_OAUTH_TOKEN".to_owned());
        assert!(names(Login::Key).contains(&key) && !names(Login::Key).contains(&token));
        assert!(names(Login::Subscription).contains(&token) && !names(Login::Subscription).contains(&key));
    }
}
