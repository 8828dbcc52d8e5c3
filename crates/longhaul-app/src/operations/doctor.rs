//! `doctor`: examines everything a task depends on, and says what is wrong and what to do about it.
//! It changes nothing and starts no worker. Every check answers for itself, so that one failure hides no other.

pub(super) mod bundle;
mod home;
mod machine;
mod notices;
mod programs;
mod setup;
mod staying;
mod store;
mod tasks;

use longhaul_core::task::{Action, Right};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Call;
use crate::blocking;
use crate::config::{Loaded, Overrides};
use crate::error::AppError;
use crate::operation::{About, Answer, COMMAND_LINE, NoInput, Operation, Permit, View};
use crate::views::{Finding, Verdict};

/// The operation `doctor`.
pub struct Doctor;

/// What the checks found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorView {
    /// Whether there is no problem.
    pub healthy: bool,
    /// One for each check.
    pub findings: Vec<Finding>,
    /// The file for a bug report, if one was asked for.
    pub bundle: Option<String>,
}

impl View for DoctorView {
    const KIND: &'static str = "doctor";
}

impl DoctorView {
    pub(super) fn new(findings: Vec<Finding>, bundle: Option<String>) -> DoctorView {
        DoctorView { healthy: findings.iter().all(|finding| finding.verdict != Verdict::Problem), findings, bundle }
    }
}

impl Operation for Doctor {
    const ABOUT: About = About::new(
        "doctor",
        "Check this machine and Longhaul's home, and say how to fix problems",
        Action::Read,
        COMMAND_LINE,
    )
    .route("/doctor")
    .needs(Right::Admin);
    type Input = NoInput;
    type Output = DoctorView;

    async fn run(call: &Call, _: Permit, _: NoInput) -> Result<Answer<DoctorView>, AppError> {
        let whole = call.of_all_tenants();
        Ok(Answer::new(DoctorView::new(examine(&Patient::new(&whole)).await, None)))
    }
}

/// What the checks examine. What could not be opened is an error that one of them reports.
pub(super) struct Patient<'a> {
    call: &'a Call,
    /// The call, if its store opens.
    opened: Result<&'a Call, AppError>,
    config: Result<Loaded, AppError>,
}

impl Patient<'_> {
    pub(super) fn new(call: &Call) -> Patient<'_> {
        Patient { call, opened: call.store().map(|_| call), config: call.load_config(&Overrides::default()) }
    }
}

/// Performs every check.
pub(super) async fn examine(patient: &Patient<'_>) -> Vec<Finding> {
    let mut findings = vec![setup::version()];
    findings.extend(home::check(patient));
    findings.extend(store::check(patient).await);
    findings.extend(tasks::check(patient).await);
    findings.extend(setup::config(patient));
    let system = patient.call.app.system.clone();
    let settings = patient.config.as_ref().ok().map(|loaded| loaded.settings.clone());
    let asked = blocking(move || {
        let (programs, staying) = (programs::check, staying::check);
        [programs(&system, settings.as_ref()), staying(&system, settings.as_ref())].concat()
    });
    findings.extend(asked.await);
    findings.extend(notices::check(patient).await);
    findings.extend(machine::check(patient).await);
    findings
}
