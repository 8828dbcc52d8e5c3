//! `config_change`: sets or removes keys in a person's own file or in the project's `longhaul.toml`, or replaces its text.
//! What would not be valid is refused, and the file is replaced as a whole.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use longhaul_core::task::Action;
use longhaul_keeper::files::{if_exists, replace_own};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::blocking;
use crate::config::{Edit, Layer, Overrides, Place, Sources, edited, place_of, read_user_file, read_workspace_file};
use crate::error::{AppError, ErrorKind};
use crate::home::Home;
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};
use crate::submit::files::utf8;
use crate::text::shell_word;
use crate::trust::{Standing, Trusted, add, fingerprint, standing};

/// The operation `config_change`.
pub struct ConfigChange;

/// What `config_change` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ConfigChangeInput {
    /// Change the project's `longhaul.toml` instead of the person's own file.
    #[serde(default)]
    pub project: bool,
    /// Keys and their new values, spelled as in the environment; every list may have one item per line.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Keys to remove.
    #[serde(default)]
    pub unset: Vec<String>,
    /// The whole new text of the file.
    #[serde(default)]
    pub text: Option<String>,
    /// Change the file only if its content has this SHA-256; that of nothing if it must not exist.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// A changed file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigChanged {
    /// `user` or `workspace`.
    pub layer: &'static str,
    /// The file.
    pub path: String,
    /// Whether its content is different now.
    pub changed: bool,
}

impl View for ConfigChanged {
    const KIND: &'static str = "config_changed";
}

impl Operation for ConfigChange {
    const ABOUT: About = About::new(
        "config_change",
        "Set or remove keys in a configuration file, or replace its text",
        Action::Manage("change the configuration"),
        COMMAND_LINE,
    )
    .by_hand("config set");
    type Input = ConfigChangeInput;
    type Output = ConfigChanged;

    async fn run(call: &Call, _: Permit, input: ConfigChangeInput) -> Result<Answer<ConfigChanged>, AppError> {
        let here = call.clone();
        let (view, warnings) = blocking(move || {
            let (view, untrusted) = change(&here, &input)?;
            let warnings: Vec<String> = untrusted.into_iter().chain(overridden(&here, view.layer, &input)).collect();
            Ok::<_, AppError>((view, warnings))
        })
        .await?;
        Ok(Answer::new(view).warn(warnings))
    }
}

/// Writes the file if its content changes. The second half says that it does not count yet.
fn change(call: &Call, input: &ConfigChangeInput) -> Result<(ConfigChanged, Option<String>), AppError> {
    let project = call.caller.project()?.root;
    let sources = Sources::of(&call.app.system.environment, &call.caller, &project)?;
    let layer = if input.project { Layer::Workspace } else { Layer::User };
    let place = place_of(&sources, layer)?;
    let failed = |error: io::Error| cannot_write(&place.path, &error);
    let directory = place.path.parent().unwrap_or(&project);
    std::fs::create_dir_all(directory).map_err(failed)?;
    // Two changes at once wait for each other; no lock file is left in a person's directory.
    let lock = File::open(directory).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let before = match layer {
        Layer::User => read_user_file(&place.path)?,
        Layer::Workspace => read_workspace_file(&project)?,
    };
    refuse_another(&place, before.as_deref(), input.sha256.as_deref())?;
    let old = std::str::from_utf8(before.as_deref().unwrap_or_default()).map_err(|error| {
        AppError::new(ErrorKind::Usage, format!("`{}` is not UTF-8", place.path.display())).because(&error)
    })?;
    let new = edited(&sources, &place, old, &edits(input))?;
    let changed = new != old;
    let counts = layer == Layer::User || is_trusted(call, &place, before.as_deref())?;
    if changed {
        refuse_read_only(&place.path)?;
        replace_own(&place.path, new.as_bytes()).map_err(failed)?;
        keep_usable(call, &place, new.as_bytes(), before.is_none(), counts)?;
    }
    let path = place.path.display().to_string();
    let untrusted = format!(
        "`{path}` is not trusted, so most of its keys do not count; read it, then `longhaul trust {}`",
        shell_word(&project.display().to_string())
    );
    let layer = if layer == Layer::User { "user" } else { "workspace" };
    Ok((ConfigChanged { layer, path, changed }, (!counts).then_some(untrusted)))
}

/// Keys are removed before others are set, so that one request can do both.
fn edits(input: &ConfigChangeInput) -> Vec<Edit<'_>> {
    let whole = input.text.iter().map(|text| Edit::Replace(text));
    let unset = input.unset.iter().map(|key| Edit::Unset(key));
    whole.chain(unset).chain(input.set.iter().map(|(key, value)| Edit::Set(key, value))).collect()
}

fn refuse_another(place: &Place, before: Option<&[u8]>, expected: Option<&str>) -> Result<(), AppError> {
    let is_expected = |expected: &str| expected.eq_ignore_ascii_case(&fingerprint(before.unwrap_or_default()));
    if expected.is_none_or(is_expected) {
        return Ok(());
    }
    let what = format!("`{}` was changed by somebody else meanwhile; nothing was written", place.path.display());
    Err(AppError::new(ErrorKind::Conflict, what).hint("look at it, then change it again"))
}

/// A file that a person protected is not replaced, though its directory would allow it.
fn refuse_read_only(path: &Path) -> Result<(), AppError> {
    let found = if_exists(path.metadata()).map_err(|error| cannot_write(path, &error))?;
    if found.is_none_or(|found| found.permissions().mode() & 0o200 != 0) {
        return Ok(());
    }
    let what = format!("`{}` is read-only, so nothing was changed", path.display());
    let behind = path.canonicalize().ok().filter(|real| real != path);
    let hint = match behind {
        Some(real) => format!("it is a link to `{}`; change that, or what creates it", real.display()),
        None => format!("make it writable with `chmod u+w {}`", shell_word(&path.display().to_string())),
    };
    Err(AppError::new(ErrorKind::Failure, what).hint(hint))
}

fn cannot_write(path: &Path, error: &io::Error) -> AppError {
    let what = format!("cannot write `{}`; nothing was changed", path.display());
    AppError::new(ErrorKind::Failure, what).because(error).hint("`longhaul config path` shows which files are used")
}

/// What a person wrote on top of something trusted, or of nothing, they need not read again.
fn is_trusted(call: &Call, place: &Place, before: Option<&[u8]>) -> Result<bool, AppError> {
    let Some(bytes) = before else { return Ok(true) };
    Ok(standing(call.home().root(), &place.path, bytes)? == Standing::Trusted)
}

/// A new project file is for everybody who works on it; one that counted before counts as it is now.
fn keep_usable(call: &Call, place: &Place, bytes: &[u8], is_new: bool, counts: bool) -> Result<(), AppError> {
    if place.layer == Layer::User {
        return Ok(());
    }
    if is_new {
        let readable = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(&place.path, readable).map_err(|error| cannot_write(&place.path, &error))?;
    }
    if counts {
        let trusted = Trusted { path: utf8(&place.path)?, sha256: fingerprint(bytes), since: call.now().rfc3339() };
        add(Home::create(call.home().root())?.root(), trusted)?;
    }
    Ok(())
}

/// Where another layer still sets a key that was changed.
fn overridden(call: &Call, layer: &str, input: &ConfigChangeInput) -> Vec<String> {
    // What is wrong elsewhere is reported by whoever uses it.
    let Ok(loaded) = call.load_config(&Overrides::default()) else { return Vec::new() };
    let origin_of = |key: &String| loaded.origins.get(key.as_str());
    let others = input.set.keys().filter_map(|key| Some((key, origin_of(key)?)));
    others
        .filter(|(_, origin)| !matches!(origin.layer(), "default") && origin.layer() != layer)
        .map(|(key, origin)| format!("here `{key}` comes from {origin}, so the change has no effect"))
        .collect()
}
