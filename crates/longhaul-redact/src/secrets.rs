//! The set of values that must never be shown, and where they come from.
//!
//! Built by keepers and front ends from an environment they read themselves and from configured secrets. It never prints a
//! value, not even in its `Debug` form.

use std::fmt;
use std::sync::OnceLock;

use super::tag::Tags;
use super::values::Values;

/// Shorter values would blank ordinary text, so they are refused as secrets.
pub(super) const SHORTEST_SECRET: usize = 8;

/// A user name alone in a URL counts as a token only from this length on; shorter ones are people and services.
const SHORTEST_TOKEN_USER: usize = 16;

const LONGEST_LABEL: usize = 64;

const SECRET_NAME_ENDINGS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS"];

/// The values to mask, each under the name it is shown by.
///
/// The patterns to search for are built on first use, so making one of these costs almost nothing.
#[derive(Default)]
pub struct Secrets {
    tags: Tags,
    entries: Vec<Entry>,
    too_short: Vec<String>,
    values: OnceLock<Values>,
}

struct Entry {
    label: String,
    value: String,
}

impl Secrets {
    /// Makes an empty set whose replacements carry a tag keyed by `key`: the same secret has the same tag everywhere.
    pub fn new(key: [u8; 32]) -> Self {
        Self { tags: Tags::new(key), ..Self::default() }
    }

    /// Collects the secrets of an environment, without a key: replacements then carry no tag, because an unkeyed hash
    /// would let a reader test guesses.
    pub fn from_env(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::default().with_env(variables)
    }

    /// Adds the secrets of an environment: values of variables with a telling name, and what URLs carry before their host.
    #[must_use]
    pub fn with_env(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        for (name, value) in variables {
            if is_secret_name(&name) {
                self.add(&name, &value);
            }
            for part in url_credentials(&value) {
                self.add(&name, &part);
            }
        }
        self
    }

    /// Adds one configured secret.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.add(name, value);
        self
    }

    /// Sets the key of the tags.
    #[must_use]
    pub fn with_key(mut self, key: [u8; 32]) -> Self {
        self.tags = Tags::new(key);
        self
    }

    /// Names of values that were refused because they have under 8 characters; they are not masked.
    pub fn too_short(&self) -> &[String] {
        &self.too_short
    }

    /// Whether no value is known; shapes are masked all the same.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn tags(&self) -> &Tags {
        &self.tags
    }

    pub(super) fn values(&self) -> &Values {
        self.values.get_or_init(|| Values::new(self.entries.iter().map(|entry| entry.value.as_str())))
    }

    /// What replaces the known value of this number.
    pub(super) fn replacement(&self, secret: usize) -> String {
        let Entry { label, value } = &self.entries[secret];
        self.tags.replacement(label, value.as_bytes())
    }

    fn add(&mut self, name: &str, value: &str) {
        let label = json_safe(name);
        if value.is_empty() || self.entries.iter().any(|entry| entry.value == value) {
            return;
        }
        if value.chars().count() < SHORTEST_SECRET {
            if !self.too_short.contains(&label) {
                self.too_short.push(label);
            }
            return;
        }
        self.entries.push(Entry { label, value: value.to_owned() });
        self.values = OnceLock::new();
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| &entry.label)).finish()
    }
}

fn json_safe(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
    let label: String = name.chars().take(LONGEST_LABEL).map(safe).collect();
    if label.is_empty() { "secret".to_owned() } else { label }
}

/// Whether the name of a variable says that its value is a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAME_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Everything secret before the host of each URL in `value`: `user:password`, the password, also percent-decoded, and a
/// long user name without a password (a token used as user).
fn url_credentials(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (scheme_end, _) in value.match_indices("://") {
        let rest = &value[scheme_end + "://".len()..];
        let authority = rest.split(|c: char| "/?#\"'".contains(c) || c.is_whitespace()).next().unwrap_or(rest);
        let Some((userinfo, _host)) = authority.rsplit_once('@') else { continue };
        match userinfo.split_once(':') {
            Some((_user, "")) => {}
            Some((_user, password)) => {
                found.extend([userinfo.to_owned(), password.to_owned()]);
                found.extend(percent_decoded(password));
            }
            None if userinfo.chars().count() >= SHORTEST_TOKEN_USER => found.push(userinfo.to_owned()),
            None => {}
        }
    }
    found
}

/// The decoded text, when it differs and is valid UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8().ok()?;
    (decoded != text).then(|| decoded.into_owned())
}
