//! `config_path`: which configuration files are used here.
//! Works even if one of them is not valid configuration, and makes nothing.

use longhaul_core::task::{Action, Right};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Call;
use crate::config::{Sources, WORKSPACE_FILE, read_workspace_file};
use crate::error::AppError;
use crate::operation::{About, Answer, COMMAND_LINE, NoInput, Operation, Permit, View};
use crate::trust;

/// The operation `config_path`.
pub struct ConfigPath;

/// The configuration files, those that win last.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigFiles {
    /// The files.
    pub files: Vec<ConfigFile>,
}

/// One configuration file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigFile {
    /// `user` or `workspace`.
    pub layer: &'static str,
    /// Where it is.
    pub path: String,
    /// Whether it exists, and whether a project's file is trusted.
    pub state: &'static str,
}

impl View for ConfigFiles {
    const KIND: &'static str = "config_paths";
}

impl Operation for ConfigPath {
    const ABOUT: About =
        About::new("config_path", "Show which configuration files are used", Action::Read, COMMAND_LINE)
            .needs(Right::Admin);
    type Input = NoInput;
    type Output = ConfigFiles;

    async fn run(call: &Call, _: Permit, _: NoInput) -> Result<Answer<ConfigFiles>, AppError> {
        let project = call.caller.project()?.root;
        let sources = Sources::of(&call.app.system.environment, &call.caller, &project)?;
        let mut files = Vec::new();
        if let Some((path, _)) = &sources.user {
            let state = if path.exists() { "read" } else { "does not exist" };
            files.push(ConfigFile { layer: "user", path: path.display().to_string(), state });
        }
        if let Some(project) = &sources.project {
            let path = project.join(WORKSPACE_FILE);
            let state = match read_workspace_file(project)? {
                Some(bytes) => trust::standing(&sources.home, &path, &bytes)?.name(),
                None => "does not exist",
            };
            files.push(ConfigFile { layer: "workspace", path: path.display().to_string(), state });
        }
        Ok(Answer::new(ConfigFiles { files }))
    }
}
