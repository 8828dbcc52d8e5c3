//! `trust`: trusts a project's `longhaul.toml` in its current form, so that it may run its commands and choose its agent.
//! A change of the file ends the trust.

use std::path::{Path, PathBuf};

use longhaul_core::task::Action;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::Call;
use crate::config::{Entry, Layer, Untrusted, WORKSPACE_FILE, Written, profile_key, read_entries, read_workspace_file};
use crate::error::{AppError, ErrorKind};
use crate::home::Home;
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};
use crate::project::Project;
use crate::submit::files::utf8;
use crate::text;
use crate::trust::{Trusted, add, fingerprint};

use super::trust_list::TrustedFile;

/// The operation `trust`.
pub struct Trust;

/// What `trust` takes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TrustInput {
    /// The project's directory, or its `longhaul.toml`.
    pub path: PathBuf,
    /// Trust the file only if its content has this SHA-256.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// What was trusted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrustView {
    /// The file.
    pub trusted: TrustedFile,
    /// What the file sets.
    pub keys: Vec<TrustedKey>,
}

/// A key that a trusted file sets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrustedKey {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// The value as a configuration file writes it.
    pub written: String,
    /// Whether it would be ignored, or could be, without the trust.
    pub needs_trust: bool,
}

impl View for TrustView {
    const KIND: &'static str = "trusted";
}

impl Operation for Trust {
    const ABOUT: About = About::new(
        "trust",
        "Trust a project's longhaul.toml in its current form",
        Action::Manage("trust"),
        COMMAND_LINE,
    );
    type Input = TrustInput;
    type Output = TrustView;

    async fn run(call: &Call, _: Permit, input: TrustInput) -> Result<Answer<TrustView>, AppError> {
        let project = project(&call.caller.resolve(&input.path)?)?;
        let file = project.join(WORKSPACE_FILE);
        refuse_inside(call.home(), &project)?;
        let Some(bytes) = read_workspace_file(&project)? else {
            return Err(AppError::new(ErrorKind::Usage, format!("`{}` does not exist", file.display()))
                .hint("name the directory of a project that has one"));
        };
        let written = read_entries(Layer::Workspace, &file, &bytes)?;
        let trusted = Trusted { path: utf8(&file)?, sha256: fingerprint(&bytes), since: call.now().rfc3339() };
        if let Some(expected) = input.sha256.filter(|expected| !expected.eq_ignore_ascii_case(&trusted.sha256)) {
            let hint = format!("its SHA-256 is {}, not {}; read it again", trusted.sha256, text::safe(&expected));
            let what = format!("`{}` has changed", file.display());
            return Err(AppError::new(ErrorKind::Conflict, what).hint(hint));
        }
        add(Home::create(call.home().root())?.root(), trusted.clone())?;
        Ok(Answer::new(TrustView { trusted: trusted.into(), keys: keys(&written) }))
    }
}

/// What the file sets.
fn keys(written: &Written) -> Vec<TrustedKey> {
    let of = |name: String, entry: &Entry, needs_trust: bool| {
        let (value, written) = (entry.key.kind.json(&entry.value), entry.key.kind.show(&entry.value));
        TrustedKey { key: name, value, written, needs_trust }
    };
    let keys = written.entries.iter();
    let keys = keys.map(|entry| of(entry.key.name.to_owned(), entry, entry.key.untrusted != Untrusted::Any));
    let profiles = written.profiles.iter().map(|(name, entry)| of(profile_key(name, entry.key), entry, true));
    let agents = written.agents.iter().flat_map(|table| table.written());
    let agents =
        agents.map(|(key, written, entry)| TrustedKey { key, value: entry.value.clone(), written, needs_trust: true });
    keys.chain(agents).chain(profiles).collect()
}

/// A task's worktree is written by its agent; nobody can read it faster than it changes.
fn refuse_inside(home: &Home, project: &Path) -> Result<(), AppError> {
    let root = home.root().canonicalize().unwrap_or_else(|_| home.root().to_owned());
    if project.starts_with(root) {
        let what = "files inside Longhaul's home belong to agents and cannot be trusted";
        return Err(AppError::new(ErrorKind::Usage, what).hint("trust the file in your own checkout"));
    }
    Ok(())
}

/// The project meant by its directory, one below it, or the file itself.
pub(super) fn project(path: &Path) -> Result<PathBuf, AppError> {
    let names_file = path.file_name().is_some_and(|name| name == WORKSPACE_FILE) && !path.is_dir();
    if !names_file {
        return Ok(Project::of(path)?.root);
    }
    let place = Project::of(path.parent().unwrap_or(path))?;
    if place.directory != place.root {
        return Err(AppError::new(ErrorKind::Usage, format!("`{}` is not at the root of its project", path.display()))
            .hint(format!("only `{}` is used", place.root.join(WORKSPACE_FILE).display())));
    }
    Ok(place.root)
}
