//! Merges the layers: defaults, the user's file, the project's file, the environment, flags. Later layers win.
//! Front ends call `load` and print its notices themselves.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use longhaul_agents::UnknownAgent;
use longhaul_core::task::Setting;

use super::agent_tables::{self, AgentTables};
use super::file::{Entry, Layer, PROFILES, WORKSPACE_FILE, Written, read_entries, read_user_file, read_workspace_file};
use super::key::Key;
use super::keys::{KEYS, defaults};
use super::kind::Kind;
use super::nearest::nearest;
use super::origin::Origin;
use super::settings::Settings;
use super::value::{Raw, Value};
use super::{environment, keys};
use crate::app::Call;
use crate::caller::Caller;
use crate::error::{AppError, ErrorKind};
use crate::intake::blocking_here;
use crate::locations;
use crate::text::shell_word;
use crate::trust::{self, Standing, TrustError};
use longhaul_keeper::Environment;

const USER_FILE: &str = "longhaul/config.toml";
const LONGEST_QUOTE: usize = 80;

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("failed to read `{path}`", path = path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` does not exist, but LONGHAUL_CONFIG names it", path = path.display())]
    Missing { path: PathBuf },
    #[error("`{path}` is not a regular file with exactly one link", path = path.display())]
    NotPlain { path: PathBuf },
    #[error("`{path}` is larger than {cap} bytes", path = path.display())]
    TooLarge { path: PathBuf, cap: u64 },
    #[error("`{path}` line {line} is not UTF-8", path = path.display())]
    NotUtf8 { path: PathBuf, line: usize },
    #[error("`{path}` line {line} is not valid TOML: {message}", path = path.display())]
    Syntax { path: PathBuf, line: usize, message: String },
    #[error("{origin}: unknown key `{key}`{hint}")]
    UnknownKey { origin: Origin, key: String, hint: String },
    #[error("unknown variable `{name}`{hint}")]
    UnknownVariable { name: String, hint: String },
    #[error("{origin}: `{key}` cannot be {found}; it takes {wanted}")]
    BadValue { origin: Origin, key: String, found: String, wanted: String },
    #[error("{origin}: `{table}` is invalid: {why}")]
    BadAgent { origin: Origin, table: String, why: String },
    #[error("there is no profile `{name}`{hint}")]
    UnknownProfile { name: String, hint: String },
    #[error("cannot check whether `{path}` is trusted", path = path.display())]
    Trust {
        path: PathBuf,
        #[source]
        source: TrustError,
    },
}

/// What the flags of a command set, written as in a variable.
#[derive(Debug, Default)]
pub struct Overrides {
    values: Vec<(&'static str, &'static str, Raw)>,
    profile: Option<Profile>,
}

/// The profile of a request: a named set of keys from the files. It counts before variables, and flags count before it.
#[derive(Debug, Clone)]
pub(crate) struct Profile {
    pub(crate) name: String,
    /// What may count of it.
    pub(crate) free: FreeKeys,
}

/// Which keys of a profile its caller may choose.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FreeKeys {
    All,
    /// These with any value, others only with one that is as strict as without the profile.
    Only(&'static [&'static str]),
}

impl Overrides {
    /// What a request sets, by key, in the spelling of the environment. Messages name the flag that sets a key, if there is one.
    pub fn of(settings: &BTreeMap<String, String>) -> Result<Overrides, AppError> {
        let value = |(name, word): (&String, &String)| {
            let parts: Vec<&str> = name.split('.').collect();
            let key = Key::find(&parts).ok_or_else(|| unknown_key(Origin::Flag { flag: "settings" }, name))?;
            Ok((key.name, key.flag.unwrap_or(key.name), Raw::Word(word.clone())))
        };
        let values: Result<_, ConfigError> = settings.iter().map(value).collect();
        Ok(Overrides { values: values?, profile: None })
    }

    /// The same with a profile.
    pub(crate) fn with_profile(self, profile: Option<Profile>) -> Overrides {
        Overrides { profile, ..self }
    }

    /// Adds a key that a flag sets, if the flag was given. Lists are written as in a variable: a repeated flag joins its
    /// commands with line breaks, its names with commas.
    pub fn word(mut self, key: &'static str, flag: &'static str, given: Option<&str>) -> Overrides {
        self.values.extend(given.map(|given| (key, flag, Raw::Word(given.to_owned()))));
        self
    }

    /// Adds a key that a flag without a value sets, if the flag was given.
    pub fn flag(self, key: &'static str, flag: &'static str, given: bool) -> Overrides {
        self.word(key, flag, given.then_some("true"))
    }

    fn entries(&self) -> Result<Vec<Entry>, ConfigError> {
        let entry = |(name, flag, raw): &(&'static str, &'static str, Raw)| {
            let origin = Origin::Flag { flag };
            let parts: Vec<&str> = name.split('.').collect();
            match Key::find(&parts) {
                Some(key) => Entry::read(key, raw, origin),
                None => Err(unknown_key(origin, name)),
            }
        };
        self.values.iter().map(entry).collect()
    }
}

/// The merged settings, the origin of each value, and what a person should know.
#[derive(Debug)]
pub struct Loaded {
    /// The values.
    pub settings: Settings,
    /// One for every key.
    pub(crate) origins: BTreeMap<&'static str, Origin>,
    pub(crate) notices: Vec<Notice>,
    /// The declared agents, with their origins.
    pub(crate) agents: AgentTables,
    /// What the profiles set, with their names.
    pub(crate) profiles: Vec<(String, Entry)>,
}

/// Something a person should know although the configuration is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// Keys of an untrusted project file that need trust.
    Ignored { project: PathBuf, standing: Standing, keys: Vec<String> },
    /// Keys of a profile that its caller may not choose.
    Withheld { profile: String, keys: Vec<String> },
    /// A variable with our prefix that is not ours.
    Stranger { variable: String },
}

impl fmt::Display for Notice {
    /// What it is, and what can be done about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Stranger { variable } => write!(f, "ignoring unknown variable `{variable}`"),
            Notice::Withheld { profile, keys } => {
                write!(
                    f,
                    "these keys of the profile `{profile}` need the right `approve` and are ignored: {}",
                    keys.join(", ")
                )
            }
            Notice::Ignored { project, standing, keys } => {
                let why = match standing {
                    Standing::Changed => "has changed since it was trusted",
                    Standing::Unknown | Standing::Trusted => "is not trusted",
                };
                let (file, keys) = (project.join(WORKSPACE_FILE), keys.join(", "));
                write!(f, "`{}` {why}, so these keys of it are ignored: {keys}; ", file.display())?;
                write!(f, "read it, then `longhaul trust {}`", shell_word(&project.display().to_string()))
            }
        }
    }
}

impl Loaded {
    /// What a person should know, in sentences.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.notices.iter().map(ToString::to_string)
    }
}

impl Call {
    /// The configuration of the project that the call comes from, with these flags.
    pub fn load_config(&self, overrides: &Overrides) -> Result<Loaded, AppError> {
        load(&self.app.system.environment, &self.caller, &self.caller.project()?.root, overrides)
    }
}

impl Call {
    /// The configuration without a project's file: what concerns the whole home is no project's business.
    pub fn load_user_config(&self, overrides: &Overrides) -> Result<Loaded, AppError> {
        load(&self.app.system.environment, &self.caller, self.home().root(), overrides)
    }
}

/// Where the layers are.
pub struct Sources {
    /// The user's file, and whether LONGHAUL_CONFIG named it.
    pub(crate) user: Option<(PathBuf, Named)>,
    /// The project whose `longhaul.toml` applies.
    pub(crate) project: Option<PathBuf>,
    /// Longhaul's home, where trust is stored.
    pub(crate) home: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// How the user's file was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// It was named explicitly, so it must exist.
    Expressly,
    /// It is at the default location.
    ByCustom,
}

/// The configuration of a command in a project.
pub fn load(
    environment: &Environment,
    caller: &Caller,
    project: &Path,
    overrides: &Overrides,
) -> Result<Loaded, AppError> {
    blocking_here(|| Ok(Sources::of(environment, caller, project)?.load(overrides)?))
}

/// What a request changes in a task that exists. The second half are the flags or keys that only a new task takes.
pub(crate) fn changes(settings: &BTreeMap<String, String>) -> Result<(Vec<Setting>, Vec<&'static str>), AppError> {
    let (entries, mut loading) = (Overrides::of(settings)?.entries()?, Loading::new());
    let fixed = entries.iter().map(|entry| entry.key).filter(|key| key.edit.is_none());
    let fixed = fixed.map(|key| key.flag.unwrap_or(key.name)).collect();
    let edits: Vec<_> = entries.iter().filter_map(|entry| entry.key.edit).collect();
    loading.take(entries);
    Ok((edits.into_iter().map(|edit| edit(&loading.settings)).collect(), fixed))
}

impl Sources {
    /// The layers of a call. A task's own workspace is written by its agent, so below a session, and inside
    /// Longhaul's home, a `longhaul.toml` does not apply.
    pub fn of(environment: &Environment, caller: &Caller, project: &Path) -> Result<Sources, AppError> {
        let home = locations::home(environment)?;
        let agents = caller.actor.session.is_some() || project.starts_with(home.canonicalize().unwrap_or(home.clone()));
        Ok(Sources {
            user: user_file(environment, caller)?,
            project: (!agents).then(|| project.to_owned()),
            home,
            environment: environment.clone().into(),
        })
    }

    /// Merges the layers.
    pub fn load(&self, overrides: &Overrides) -> Result<Loaded, ConfigError> {
        let mut loading = Loading::new();
        let written = self.user_entries()?;
        loading.take_file(written);
        self.take_workspace(&mut loading)?;
        let (entries, unknown) = environment::read(&self.environment)?;
        loading.take(entries);
        loading.notices.extend(unknown.into_iter().map(|variable| Notice::Stranger { variable }));
        if let Some(profile) = &overrides.profile {
            loading.take_profile(profile)?;
        }
        loading.take(overrides.entries()?);
        loading.finish()
    }

    /// Whether a text is a valid file of this layer, on its own or above the user's agents. What other layers set does not matter.
    pub(super) fn check(&self, layer: Layer, path: &Path, text: &str) -> Result<(), ConfigError> {
        let mut loading = Loading::new();
        if layer == Layer::Workspace
            && let Ok(users) = self.user_entries()
        {
            agent_tables::take(&mut loading.agents, users.agents);
        }
        loading.take_file(read_entries(layer, path, text.as_bytes())?);
        loading.finish().map(drop)
    }

    fn user_entries(&self) -> Result<Written, ConfigError> {
        let nothing = Written::default;
        let Some((path, named)) = &self.user else { return Ok(nothing()) };
        match read_user_file(path)? {
            Some(bytes) => read_entries(Layer::User, path, &bytes),
            None if *named == Named::Expressly => Err(ConfigError::Missing { path: path.clone() }),
            None => Ok(nothing()),
        }
    }

    fn take_workspace(&self, loading: &mut Loading) -> Result<(), ConfigError> {
        let Some(project) = &self.project else { return Ok(()) };
        let Some(bytes) = read_workspace_file(project)? else { return Ok(()) };
        let path = project.join(WORKSPACE_FILE);
        let written = read_entries(Layer::Workspace, &path, &bytes)?;
        let standing = trust::standing(&self.home, &path, &bytes)
            .map_err(|source| ConfigError::Trust { path: path.clone(), source })?;
        if standing == Standing::Trusted {
            loading.take_file(written);
            return Ok(());
        }
        let Written { entries, agents, profiles } = written;
        let ignored = loading.take_harmless(entries).into_iter().map(str::to_owned);
        let ignored = ignored.chain(agent_tables::new_ones(&loading.agents, &agents));
        let keys: Vec<String> =
            ignored.chain(profiles.iter().map(|(name, entry)| profile_key(name, entry.key))).collect();
        if !keys.is_empty() {
            loading.notices.push(Notice::Ignored { project: project.clone(), standing, keys });
        }
        Ok(())
    }
}

/// The layers so far.
struct Loading {
    settings: Settings,
    origins: BTreeMap<&'static str, Origin>,
    notices: Vec<Notice>,
    agents: AgentTables,
    profiles: Vec<(String, Entry)>,
}

impl Loading {
    fn new() -> Loading {
        let origins = KEYS.iter().map(|key| (key.name, Origin::Default)).collect();
        Loading { settings: defaults(), origins, notices: Vec::new(), agents: AgentTables::new(), profiles: Vec::new() }
    }

    /// Takes everything that a file sets. Keys of a later file replace those of the same profile.
    fn take_file(&mut self, written: Written) {
        self.take(written.entries);
        agent_tables::take(&mut self.agents, written.agents);
        self.profiles.retain(|(name, old)| {
            !written.profiles.iter().any(|(other, new)| other == name && new.key.name == old.key.name)
        });
        self.profiles.extend(written.profiles);
    }

    fn take_profile(&mut self, profile: &Profile) -> Result<(), ConfigError> {
        let entries: Vec<Entry> =
            self.profiles.iter().filter(|(name, _)| *name == profile.name).map(|(_, entry)| entry.clone()).collect();
        if entries.is_empty() {
            return Err(self.no_profile(&profile.name));
        }
        let (free, terms) = match profile.free {
            FreeKeys::All => (entries, Vec::new()),
            FreeKeys::Only(free) => entries.into_iter().partition(|entry| free.contains(&entry.key.name)),
        };
        self.take(free);
        let keys: Vec<String> = self.take_harmless(terms).into_iter().map(str::to_owned).collect();
        if !keys.is_empty() {
            self.notices.push(Notice::Withheld { profile: profile.name.clone(), keys });
        }
        Ok(())
    }

    fn no_profile(&self, name: &str) -> ConfigError {
        let section = format!("{PROFILES}.{name}.");
        let ignored = |notice: &&Notice| matches!(notice, Notice::Ignored { keys, .. } if keys.iter().any(|key| key.starts_with(&section)));
        let mut known: Vec<&str> = self.profiles.iter().map(|(name, _)| name.as_str()).collect();
        known.dedup();
        let hint = if let Some(notice) = self.notices.iter().find(ignored) {
            format!(": {notice}")
        } else if let Some(near) = nearest(name, known.iter().copied()) {
            format!("; did you mean `{near}`?")
        } else if known.is_empty() {
            format!("; write one as a section `[{PROFILES}.{}]` with `longhaul config edit`", quoted(name))
        } else {
            format!("; there are `{}`", known.join("`, `"))
        };
        ConfigError::UnknownProfile { name: quoted(name), hint }
    }

    fn take(&mut self, entries: Vec<Entry>) {
        for Entry { key, value, origin } in entries {
            if (key.place)(&mut self.settings).put(value) {
                self.origins.insert(key.name, origin);
            }
        }
    }

    /// Checks what depends on all layers: agent declarations are valid, and every agent a key names exists.
    fn finish(mut self) -> Result<Loaded, ConfigError> {
        agent_tables::check(&self.agents)?;
        let named =
            [("agent", self.settings.agent.iter().cloned().collect()), ("fallbacks", self.settings.fallbacks.clone())];
        let named = named.into_iter().map(|(key, names)| (key.to_owned(), self.origins[key].clone(), names));
        let in_profiles = self.profiles.iter().filter_map(|(name, entry)| {
            let names = match (entry.key.kind, &entry.value) {
                (Kind::Agent, Value::Text(name)) => vec![name.clone()],
                (Kind::Agents, Value::List(names)) => names.clone(),
                _ => return None,
            };
            Some((profile_key(name, entry.key), entry.origin.clone(), names))
        });
        for (key, origin, names) in named.chain(in_profiles) {
            if let Some(name) = names.iter().find(|name| !agent_tables::is_agent(&self.agents, name)) {
                return Err(self.no_agent(key, origin, name));
            }
        }
        self.settings.agents = self.agents.iter().map(|(name, table)| (name.clone(), table.json())).collect();
        let Loading { settings, origins, notices, agents, profiles } = self;
        Ok(Loaded { settings, origins, notices, agents, profiles })
    }

    fn no_agent(&self, key: String, origin: Origin, name: &str) -> ConfigError {
        let declared = self.agents.iter().map(|(name, table)| (name.clone(), table.json())).collect();
        let known = match longhaul_agents::choose(name, &declared) {
            Err(UnknownAgent::Name { known, .. }) => known,
            Ok(_) | Err(UnknownAgent::Unreadable { .. }) => Vec::new(),
        };
        ConfigError::BadValue {
            origin,
            key,
            found: format!("`{}`", quoted(name)),
            wanted: format!("an agent, closest match first: `{}`", known.join("`, `")),
        }
    }

    /// Takes what an untrusted file may set, and returns the keys it may not.
    fn take_harmless(&mut self, entries: Vec<Entry>) -> Vec<&'static str> {
        let mut ignored = Vec::new();
        for entry in entries {
            let from: Value = entry.key.value(&mut self.settings);
            if from == entry.value {
                continue;
            }
            if entry.key.untrusted.allows(&from, &entry.value) {
                self.take(vec![entry]);
            } else {
                ignored.push(entry.key.name);
            }
        }
        ignored
    }
}

/// The path of the user's own file, if there is a place for it.
fn user_file(environment: &Environment, caller: &Caller) -> Result<Option<(PathBuf, Named)>, AppError> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = set("LONGHAUL_CONFIG") {
        let path = if named.is_absolute() { named } else { caller.resolve(&named)? };
        return Ok(Some((path, Named::Expressly)));
    }
    let config = set("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let directory = config.or_else(|| Some(set("HOME")?.join(".config")));
    Ok(directory.map(|directory| (directory.join(USER_FILE), Named::ByCustom)))
}

pub(super) fn unknown_key(origin: Origin, name: &str) -> ConfigError {
    let sections = keys::sections();
    let known =
        KEYS.iter().map(|key| key.name).chain(sections.iter().copied()).chain([agent_tables::SECTION, PROFILES]);
    let hint = match nearest(name, known) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => "; `longhaul config show` lists all keys".to_owned(),
    };
    ConfigError::UnknownKey { origin, key: quoted(name), hint }
}

/// The whole name of a key of a profile.
pub(crate) fn profile_key(profile: &str, key: &Key) -> String {
    format!("{PROFILES}.{profile}.{}", key.name)
}

pub(super) fn bad_value(origin: Origin, key: &Key, raw: &Raw) -> ConfigError {
    let found = match raw {
        Raw::Word(text) | Raw::Text(text) => format!("`{}`", quoted(text)),
        Raw::Decimal(text) => format!("`{}`", quoted(text)),
        Raw::Integer(number) => format!("`{number}`"),
        Raw::Flag(flag) => format!("`{flag}`"),
        Raw::List(list) => format!("`{}`", quoted(&format!("[{}]", list.join(", ")))),
        Raw::Other(what) => (*what).to_owned(),
    };
    ConfigError::BadValue { origin, key: key.name.to_owned(), found, wanted: key.wanted() }
}

/// Untrusted text for a message: on one line, and shortened.
pub(super) fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(LONGEST_QUOTE).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{}{more}", shown.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\""))
}

impl From<ConfigError> for AppError {
    fn from(error: ConfigError) -> AppError {
        match error {
            ConfigError::Trust { source, .. } => source.into(),
            ConfigError::BadValue { origin: Origin::Flag { flag }, found, wanted, .. } => {
                AppError::new(ErrorKind::Usage, format!("`{flag}` cannot be {found}: it takes {wanted}"))
                    .hint("add `--help` to see the flags of this command")
            }
            ConfigError::UnknownProfile { name, hint } => {
                AppError::new(ErrorKind::Usage, format!("there is no profile `{name}`{hint}")).coded("unknown_profile")
            }
            ConfigError::UnknownKey { origin: Origin::Flag { .. }, key, hint } => {
                AppError::new(ErrorKind::Usage, format!("there is no key `{key}`{hint}"))
            }
            error => AppError::new(ErrorKind::Usage, "the configuration cannot be used")
                .because(&error)
                .hint("`longhaul config path` lists the files, `longhaul config reference` describes every key"),
        }
    }
}
