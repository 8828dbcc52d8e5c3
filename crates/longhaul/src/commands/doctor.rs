//! `longhaul doctor`: looks at everything a task depends on and says what is well, what is not, and what to do about it.
//! It changes nothing and starts nobody. Every check answers for itself, so that one failure hides no other.

mod bundle;
mod finding;
mod home;
mod machine;
mod notices;
mod programs;
mod setup;
mod staying;
mod store;
mod tasks;

use std::path::Path;

use serde_json::json;

use crate::cli::Doctor;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::AppError;
use longhaul_app::config::{Loaded, Overrides};
use longhaul_app::{Call, System};

use bundle::Goals;
use finding::{Finding, Verdict};

/// What the checks look at; what could not be had is an error that one of them tells.
struct Patient {
    home: Result<std::path::PathBuf, AppError>,
    opened: Result<Call, AppError>,
    system: System,
    config: Result<Loaded, AppError>,
}

pub(crate) async fn doctor(line: &CommandLine, args: &Doctor) -> Result<Code, AppError> {
    let patient = Patient {
        home: line.home(),
        opened: line.open_existing(),
        system: line.system.clone(),
        config: line.caller.project().and_then(|here| line.load(&here.root, &Overrides::default())),
    };
    let findings = examine(&patient).await;
    if let Some(file) = &args.bundle {
        write_bundle(file, args, &patient, &findings).await?;
    }
    if args.json {
        let rows: Vec<_> = findings.iter().map(Finding::json).collect();
        out::json("doctor", &json!({ "healthy": is_healthy(&findings), "findings": rows }));
    } else {
        print(&findings);
    }
    Ok(if is_healthy(&findings) { Code::Done } else { Code::Failure })
}

async fn examine(patient: &Patient) -> Vec<Finding> {
    let mut findings = vec![setup::version()];
    findings.extend(home::look(patient));
    findings.extend(store::look(patient).await);
    findings.extend(tasks::look(patient).await);
    findings.extend(setup::config(patient));
    findings.extend(programs::look(patient));
    findings.extend(staying::look(patient));
    findings.extend(notices::look(patient).await);
    findings.extend(machine::look(patient).await);
    findings
}

fn is_healthy(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.verdict != Verdict::Problem)
}

fn print(findings: &[Finding]) {
    for line in findings.iter().flat_map(Finding::lines) {
        out::data(&out::safe(&line));
    }
    let count = |verdict: Verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    let (problems, warnings) = (count(Verdict::Problem), count(Verdict::Warning));
    out::note(&match (problems, warnings, count(Verdict::Unknown)) {
        (0, 0, 0) => "all is well".to_owned(),
        (problems, warnings, unknown) => {
            format!("{problems} problem(s), {warnings} warning(s), {unknown} cannot be told")
        }
    });
}

async fn write_bundle(file: &Path, args: &Doctor, patient: &Patient, findings: &[Finding]) -> Result<(), AppError> {
    let goals = if args.with_goals { Goals::Told } else { Goals::LeftOut };
    let text = bundle::text(patient, findings, goals).await;
    bundle::write(file, &text)?;
    out::note(&out::safe(&format!("wrote `{}`; read it before you give it away", file.display())));
    Ok(())
}
