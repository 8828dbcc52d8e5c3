//! What is fixed about an agent: names, variables, the directories it keeps, what its sandbox modes mean. Data only.
//! Help, completions, the docs table and `doctor` are made from it.

use std::borrow::Cow;

use longhaul_core::task::Sandbox;

/// A text that is fixed for the agents of this crate and owned by those a person declared.
pub type Words = Cow<'static, str>;

/// What is fixed about an agent.
#[derive(Debug, Clone)]
pub struct About {
    /// Its name on the command line.
    pub name: Words,
    /// What it is, in one line.
    pub summary: Words,
    /// The program, by its name on PATH; `None` if it is this binary.
    pub program: Option<Words>,
    /// Variables it takes its login and configuration from: names, never values.
    pub env: Cow<'static, [Words]>,
    /// Who chooses the id of a conversation.
    pub ids: Ids,
    /// Its own directories, which are checked before it starts.
    pub homes: &'static [AgentHome],
    /// Whether it reports what a session cost.
    pub cost: Cost,
    /// What each mode of `--sandbox` means for it.
    pub modes: Modes,
    /// The arguments that print its version, and the versions it was tested with.
    pub version: Version,
    /// How to ask, offline, whether it is logged in.
    pub login: Login,
    /// The command that installs it, for a message; `None` if there is not one.
    pub install_help: Option<&'static str>,
    /// How a person logs in, for a message; `None` if only the program's own help explains it.
    pub login_help: Option<&'static str>,
}

/// Who chooses the id of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// We choose it, so it is durable before the program starts.
    Preset,
    /// The program reports it.
    Captured,
    /// There is no id: every session starts a new conversation, from the files in the task directory.
    None,
}

/// Whether a program reports what a session cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// It does, in money.
    Told,
    /// It reports at most tokens.
    Unknown,
}

/// A directory a program keeps its state in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentHome {
    /// The variable that names it.
    pub env: &'static str,
    /// The directory in the user's home when the variable is not set.
    pub default: &'static str,
    /// Whether it has to exist when the variable is set.
    pub must_exist: bool,
    /// Why it must not be below the temp directory while a sandbox is on; `None` if it may.
    pub not_in_temp: Option<&'static str>,
}

/// What the modes of `--sandbox` and `--network` mean for an agent.
#[derive(Debug, Clone)]
pub struct Modes {
    /// `--sandbox read-only`.
    pub read_only: Mode,
    /// `--sandbox workspace`.
    pub workspace: Mode,
    /// `--sandbox full`.
    pub full: Mode,
    /// `--network`.
    pub network: Words,
}

/// What one mode means.
#[derive(Debug, Clone)]
pub struct Mode {
    /// In words, for help and docs.
    pub means: Words,
    /// What a person must know before using it; `None` if the mode does what its name says.
    pub warning: Option<Words>,
}

impl Mode {
    /// A mode that does what its name says.
    pub(crate) const fn plain(means: &'static str) -> Mode {
        Mode { means: words(means), warning: None }
    }

    /// A mode about which a person must know this before using it.
    pub(crate) const fn warned(means: &'static str, warning: &'static str) -> Mode {
        Mode { means: words(means), warning: Some(words(warning)) }
    }
}

impl Modes {
    /// What this mode means.
    pub fn of(&self, sandbox: Sandbox) -> &Mode {
        match sandbox {
            Sandbox::ReadOnly => &self.read_only,
            Sandbox::Workspace => &self.workspace,
            Sandbox::Full => &self.full,
        }
    }
}

/// How a program reports its version.
#[derive(Debug, Clone)]
pub struct Version {
    /// The arguments.
    pub arguments: Cow<'static, [Words]>,
    /// The versions whose behaviour is recorded in `samples/`.
    pub known: &'static [&'static str],
}

impl Version {
    /// For a program that accepts `--version`, as most do.
    pub(crate) const fn of(known: &'static [&'static str]) -> Version {
        const FLAG: &[Words] = &[words("--version")];
        Version { arguments: Cow::Borrowed(FLAG), known }
    }
}

/// How to ask whether a program is logged in, without a network and without reading its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// The program has a command for it: exit code 0 means yes.
    Command(&'static [&'static str]),
    /// One of the variables is enough; without any of them it is unknown.
    Unknown,
    /// It needs no login.
    NotNeeded,
}

/// A text of this crate.
pub(crate) const fn words(text: &'static str) -> Words {
    Cow::Borrowed(text)
}
