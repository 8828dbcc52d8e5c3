//! `doctor_bundle`: examines the machine as `doctor` does, and writes a redacted text file for a bug report.
//! It overwrites nothing.

use std::path::{Path, PathBuf};

use longhaul_core::task::Action;
use longhaul_keeper::files::write_once;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit};

use super::doctor::bundle::{self, Goals};
use super::doctor::{DoctorView, Patient, examine};

/// The operation `doctor_bundle`.
pub struct DoctorBundle;

/// What `doctor_bundle` takes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DoctorBundleInput {
    /// The file to write; it must not exist yet.
    pub file: PathBuf,
    /// Include names and goals of tasks.
    #[serde(default)]
    pub with_goals: bool,
}

impl Operation for DoctorBundle {
    const ABOUT: About = About::new(
        "doctor_bundle",
        "Write a redacted text file for a bug report",
        Action::ReadAll("make a bundle"),
        COMMAND_LINE,
    );
    type Input = DoctorBundleInput;
    type Output = DoctorView;

    async fn run(call: &Call, _: Permit, input: DoctorBundleInput) -> Result<Answer<DoctorView>, AppError> {
        let whole = call.of_all_tenants();
        let patient = Patient::new(&whole);
        let findings = examine(&patient).await;
        let goals = if input.with_goals { Goals::Shown } else { Goals::LeftOut };
        let text = bundle::text(&patient, &findings, goals).await;
        let path = call.caller.resolve(&input.file)?;
        write(&path, &text)?;
        Ok(Answer::new(DoctorView::new(findings, Some(path.display().to_string()))))
    }
}

/// Writes the file, for its owner only; one that exists is refused.
fn write(path: &Path, text: &str) -> Result<(), AppError> {
    let failed = |error: std::io::Error| {
        let what = format!("cannot write `{}`", path.display());
        AppError::new(ErrorKind::Failure, what).because(&error).hint("name a new file in a directory you can write to")
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(AppError::new(ErrorKind::Usage, format!("`{}` is not the name of a file", path.display())));
    };
    write_once(&parent.canonicalize().map_err(failed)?, name, text.as_bytes()).map_err(failed)
}
