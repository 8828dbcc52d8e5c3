//! The environment layer: `LONGHAUL_<SECTION>_<KEY>`. A variable that is almost a key is an error;
//! any other unknown variable is only a warning. Empty variables count as not set.

use std::ffi::{OsStr, OsString};

use super::file::Entry;
use super::key::Key;
use super::keys::{KEYS, sections};
use super::load::{ConfigError, quoted};
use super::nearest::nearest;
use super::origin::Origin;
use super::value::Raw;

const PREFIX: &str = "LONGHAUL_";

/// Variables of ours that are not keys.
const OURS: &[&str] = &["LONGHAUL_HOME", "LONGHAUL_CONFIG", "LONGHAUL_SESSION", "LONGHAUL_API_KEY", "LONGHAUL_PAGER"];

/// Variables that `notify.command` gets; the program may call us with them set.
const NOTICE: &[&str] =
    &["LONGHAUL_TASK", "LONGHAUL_TASK_NAME", "LONGHAUL_OCCASION", "LONGHAUL_STATE", "LONGHAUL_MESSAGE"];

/// Prefixes of variables that other parts and the tests use.
const PREFIXES: &[&str] = &["LONGHAUL_FAIL_", "LONGHAUL_TEST_", "LONGHAUL_STORE", "LONGHAUL_REQUIRE_"];

/// What the environment sets, and unknown variables.
pub(super) fn read(environment: &[(OsString, OsString)]) -> Result<(Vec<Entry>, Vec<String>), ConfigError> {
    let mut entries = Vec::new();
    let mut unknown = Vec::new();
    let mut ours: Vec<(&str, &OsStr)> = environment
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?, value.as_os_str())))
        .filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty())
        .collect();
    ours.sort_unstable();
    for (name, value) in ours {
        match KEYS.iter().find(|key| key.variable() == name) {
            Some(key) => {
                let raw =
                    value.to_str().map_or(Raw::Other("text that is not UTF-8"), |text| Raw::Word(text.to_owned()));
                entries.push(Entry::read(key, &raw, Origin::Environment { variable: name.to_owned() })?);
            }
            None if OURS.contains(&name)
                || NOTICE.contains(&name)
                || PREFIXES.iter().any(|beginning| name.starts_with(beginning)) => {}
            None => unknown.push(unknown_variable(name)?),
        }
    }
    Ok((entries, unknown))
}

/// A variable that is not a key: an error if it was probably meant to be one.
fn unknown_variable(name: &str) -> Result<String, ConfigError> {
    let own = &name[PREFIX.len()..];
    let variables: Vec<String> = KEYS.iter().map(Key::variable).collect();
    let known = variables.iter().map(String::as_str).chain(OURS.iter().copied());
    // Compared without the shared prefix, which would make all names similar.
    let near = nearest(own, known.filter_map(|variable| variable.strip_prefix(PREFIX)));
    let in_section = sections()
        .iter()
        .any(|section| own.strip_prefix(&section.to_uppercase()).is_some_and(|rest| rest.starts_with('_')));
    if near.is_none() && !in_section {
        return Ok(quoted(name));
    }
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{PREFIX}{near}`?"));
    Err(ConfigError::UnknownVariable { name: quoted(name), hint })
}
