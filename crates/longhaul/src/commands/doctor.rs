//! `longhaul doctor`: prints the finding of every check and how to fix problems; `--bundle` writes a file for a bug report.
//! Adds one finding about the terminal.

use std::io::IsTerminal;

use longhaul_app::AppError;
use longhaul_app::operation::NoInput;
use longhaul_app::operations::{Doctor, DoctorBundle, DoctorBundleInput, DoctorView};
use longhaul_app::views::{Finding, Verdict};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn doctor(line: &CommandLine, args: &cli::Doctor) -> Result<Code, AppError> {
    let call = line.call()?;
    let mut answer = match &args.bundle {
        None => call.perform::<Doctor>(NoInput {}).await?,
        Some(file) => {
            let input = DoctorBundleInput { file: file.clone(), with_goals: args.with_goals };
            call.perform::<DoctorBundle>(input).await?
        }
    };
    answer.view.findings.push(terminal());
    out::answer(&answer, args.json, print)?;
    if let Some(file) = &answer.view.bundle {
        out::note(&out::safe(&format!("wrote `{file}`; read it before you share it")));
    }
    Ok(if answer.view.healthy { Code::Done } else { Code::Failure })
}

fn print(view: &DoctorView) {
    view.findings.iter().flat_map(Finding::lines).for_each(|line| out::data(&out::safe(&line)));
    let count = |verdict: Verdict| view.findings.iter().filter(|finding| finding.verdict == verdict).count();
    out::note(&match [Verdict::Problem, Verdict::Warning, Verdict::Unknown].map(count) {
        [0, 0, 0] => "no problems found".to_owned(),
        [problems, warnings, unknown] => format!("{problems} problem(s), {warnings} warning(s), {unknown} unknown"),
    });
}

/// The finding that only this front end can make.
fn terminal() -> Finding {
    let shown = if std::io::stdout().is_terminal() { "a terminal" } else { "not a terminal" };
    let input = if std::io::stdin().is_terminal() { "keys are read" } else { "no keys are read" };
    let colour =
        if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) { ", NO_COLOR is set" } else { "" };
    Finding::ok("terminal", format!("standard output is {shown}, {input}{colour}"))
}
