//! Reads the two files: the user's own, and the project's `longhaul.toml`, which is untrusted until a person trusts it.
//! Reading never blocks, never follows a link inside the project, and accepts at most one MiB.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use longhaul_core::names::TaskName;
use longhaul_keeper::files::if_exists;
use longhaul_keeper::{Beneath, BeneathError};
use rustix::fs::OFlags;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::agent_tables::{self, AgentTable};
use super::key::Key;
use super::keys::sections;
use super::load::{ConfigError, bad_value, quoted, unknown_key};
use super::origin::Origin;
use super::value::{Raw, Value};

/// The name of the project's file, at the project's root.
pub(crate) const WORKSPACE_FILE: &str = "longhaul.toml";

const CAP: u64 = 1 << 20;

/// Which of the two files it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    User,
    Workspace,
}

/// The section of the profiles.
pub(super) const PROFILES: &str = "profile";

/// Sections that no task depends on, so a profile has no use for them.
const NOT_OF_TASKS: [&str; 2] = ["retention", "serve"];

/// One key that a file sets.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: &'static Key,
    pub value: Value,
    pub origin: Origin,
}

impl Entry {
    /// The value of a key as it was written there.
    pub(super) fn read(key: &'static Key, raw: &Raw, origin: Origin) -> Result<Entry, ConfigError> {
        match key.read(raw) {
            Some(value) => Ok(Entry { key, value, origin }),
            None => Err(bad_value(origin, key, raw)),
        }
    }
}

/// What a file sets.
#[derive(Default)]
pub(crate) struct Written {
    /// Keys of the one table, in the file's own order.
    pub entries: Vec<Entry>,
    /// What it declares about agents.
    pub agents: Vec<AgentTable>,
    /// The keys of its profiles, each with the name of its profile.
    pub profiles: Vec<(String, Entry)>,
}

/// Reads the project's file, which must be a regular file with one link; `None` if it does not exist.
pub(crate) fn read_workspace_file(project: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    let path = project.join(WORKSPACE_FILE);
    let failed = |source| ConfigError::Read { path: path.clone(), source };
    let beneath = Beneath::open(project).map_err(failed)?;
    beneath.read(WORKSPACE_FILE, CAP).map_err(|error| match error {
        BeneathError::Io { source, .. } => ConfigError::Read { path: path.clone(), source },
        BeneathError::TooLarge { .. } => ConfigError::TooLarge { path: path.clone(), cap: CAP },
        BeneathError::BadName { .. } | BeneathError::NotPlain { .. } => ConfigError::NotPlain { path: path.clone() },
    })
}

/// Reads the user's own file, which may be a symbolic link, for example into a dotfiles repository.
pub(crate) fn read_user_file(path: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    let failed = |source| ConfigError::Read { path: path.to_owned(), source };
    // The usual way to say "no file".
    if path == Path::new("/dev/null") {
        return Ok(Some(Vec::new()));
    }
    // Not blocking: a named pipe in its place would otherwise wait for a writer.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let opened = if_exists(OpenOptions::new().read(true).custom_flags(flags).open(path)).map_err(failed)?;
    let Some(file) = opened else { return Ok(None) };
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(ConfigError::NotPlain { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    file.take(CAP + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > CAP {
        return Err(ConfigError::TooLarge { path: path.to_owned(), cap: CAP });
    }
    Ok(Some(bytes))
}

/// The keys a file sets; the first unknown key or invalid value is an error.
pub(crate) fn read_entries(layer: Layer, path: &Path, bytes: &[u8]) -> Result<Written, ConfigError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| ConfigError::NotUtf8 { path: path.to_owned(), line: line_of(bytes, error.valid_up_to()) })?;
    let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        path: path.to_owned(),
        line: line_of(bytes, error.span().map_or(0, |span| span.start)),
        message: quoted(error.message()),
    })?;
    let place = |at: usize| origin(layer, path.to_owned(), line_of(bytes, at));
    let mut found = Vec::new();
    collect(table.get_ref(), &mut Vec::new(), &mut found);
    found.sort_by_key(|one| one.at);
    let entries = found.into_iter().map(|one| one.entry(layer, path, bytes)).collect::<Result<_, ConfigError>>()?;
    let section = table.get_ref().get(agent_tables::SECTION).and_then(|section| section.get_ref().as_table());
    let agents = section.map_or_else(|| Ok(Vec::new()), |section| agent_tables::read(section, &place))?;
    let profiles = profiles(table.get_ref(), layer, path, bytes)?;
    Ok(Written { entries, agents, profiles })
}

fn profiles(table: &DeTable<'_>, layer: Layer, path: &Path, bytes: &[u8]) -> Result<Vec<(String, Entry)>, ConfigError> {
    let section = table.get(PROFILES).and_then(|section| section.get_ref().as_table());
    let mut all = Vec::new();
    for (name, value) in section.into_iter().flatten() {
        let at = name.span().start;
        let name: &str = name.get_ref();
        let origin = || origin(layer, path.to_owned(), line_of(bytes, at));
        let Some(keys) = value.get_ref().as_table().filter(|_| TaskName::new(name).is_ok()) else {
            let key = quoted(&format!("{PROFILES}.{name}"));
            let (found, wanted) =
                (value.get_ref().type_str().to_owned(), format!("a table `[{PROFILES}.NAME]` whose name is a word"));
            return Err(ConfigError::BadValue { origin: origin(), key, found, wanted });
        };
        let mut found = Vec::new();
        collect(keys, &mut Vec::new(), &mut found);
        found.sort_by_key(|one| one.at);
        for one in found {
            let entry = one.entry(layer, path, bytes).map_err(|error| in_profile(error, name))?;
            if entry.key.split().0.is_some_and(|section| NOT_OF_TASKS.contains(&section)) {
                let (origin, key) = (entry.origin, format!("{PROFILES}.{name}.{}", entry.key.name));
                let hint = "; a profile takes only keys that concern a task".to_owned();
                return Err(ConfigError::UnknownKey { origin, key, hint });
            }
            all.push((name.to_owned(), entry));
        }
    }
    Ok(all)
}

/// The same error with the whole name of the key.
fn in_profile(error: ConfigError, profile: &str) -> ConfigError {
    let whole = |key: String| format!("{PROFILES}.{profile}.{key}");
    match error {
        ConfigError::UnknownKey { origin, key, hint } => ConfigError::UnknownKey { origin, key: whole(key), hint },
        ConfigError::BadValue { origin, key, found, wanted } => {
            ConfigError::BadValue { origin, key: whole(key), found, wanted }
        }
        other => other,
    }
}

/// One value of a file, with its position.
struct FileValue<'a> {
    parts: Vec<&'a str>,
    value: &'a DeValue<'a>,
    at: usize,
}

impl FileValue<'_> {
    fn entry(&self, layer: Layer, path: &Path, bytes: &[u8]) -> Result<Entry, ConfigError> {
        let origin = origin(layer, path.to_owned(), line_of(bytes, self.at));
        match Key::find(&self.parts) {
            Some(key) => Entry::read(key, &raw(self.value), origin),
            None => Err(self.unknown(origin)),
        }
    }

    /// A section that is not a table, or an unknown name.
    fn unknown(&self, origin: Origin) -> ConfigError {
        let name = self.parts.join(".");
        if self.parts.len() == 1 && (sections().contains(&self.parts[0]) || is_own_section(&name)) {
            return ConfigError::BadValue {
                origin,
                key: name.clone(),
                found: self.value.type_str().to_owned(),
                wanted: format!("a table: `[{name}]`"),
            };
        }
        unknown_key(origin, &name)
    }
}

/// Every value with the names above it; a table is followed only while it can be a section.
fn collect<'a>(table: &'a DeTable<'a>, above: &mut Vec<&'a str>, found: &mut Vec<FileValue<'a>>) {
    for (name, value) in table {
        above.push(name.get_ref());
        match value.get_ref() {
            DeValue::Table(_) if above.len() == 1 && is_own_section(above[0]) => {}
            DeValue::Table(inner) if above.len() == 1 && sections().contains(&above[0]) => {
                collect(inner, above, found);
            }
            inner => found.push(FileValue { parts: above.clone(), value: inner, at: name.span().start }),
        }
        above.pop();
    }
}

/// Whether a section is read by other rules than those of the one table.
fn is_own_section(name: &str) -> bool {
    [agent_tables::SECTION, PROFILES].contains(&name)
}

fn origin(layer: Layer, path: PathBuf, line: usize) -> Origin {
    match layer {
        Layer::User => Origin::User { path, line },
        Layer::Workspace => Origin::Workspace { path, line },
    }
}

fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Boolean(flag) => Raw::Flag(*flag),
        DeValue::Float(float) => Raw::Decimal(float.as_str().to_owned()),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map_or(Raw::Other("an integer that is too large"), Raw::Integer),
        DeValue::Array(items) => {
            strings(items.iter()).map_or(Raw::Other("a list with values that are not strings"), Raw::List)
        }
        DeValue::Datetime(_) => Raw::Other("a date"),
        DeValue::Table(_) => Raw::Other("a table"),
    }
}

fn strings<'a>(items: impl Iterator<Item = &'a Spanned<DeValue<'a>>>) -> Option<Vec<String>> {
    items.map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}
