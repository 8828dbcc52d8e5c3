//! `longhaul plan`: shows a task's plan and the refused changes; `--accept` replaces the plan with a person's list.
//! Only reads the person's file and prints; the core decides what a list may change.

use std::path::Path;

use longhaul_app::operations::{AcceptPlan, AcceptPlanInput, AcceptedPlan, LONGEST_PLAN, Plan, TaskInput};
use longhaul_app::views::{PlanAnswer, PlanView, Progress};
use longhaul_app::{AppError, ErrorKind};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn plan(line: &CommandLine, args: &cli::Plan) -> Result<Code, AppError> {
    let (call, task) = (line.call()?, args.which.task.clone());
    match &args.accept {
        None => out::answer(&call.perform::<Plan>(TaskInput { task }).await?, args.json, print),
        Some(file) => {
            let text = file.as_deref().map(read).transpose()?;
            let answer = call.perform::<AcceptPlan>(AcceptPlanInput { task, text, key: args.key.clone() }).await?;
            out::answer(&answer, args.json, report)
        }
    }
}

fn read(path: &Path) -> Result<String, AppError> {
    let unusable = |why: &str| {
        AppError::new(ErrorKind::Usage, format!("cannot use `{}` as a plan: {why}", path.display()))
            .hint("name a file with `- [ ] Task 1: ...` lines, and put the task before --accept")
    };
    let meta = path.metadata().map_err(|error| unusable("it cannot be read").because(&error))?;
    if !meta.is_file() || meta.len() > LONGEST_PLAN as u64 {
        return Err(unusable("it is not a file, or larger than 4 MiB"));
    }
    std::fs::read_to_string(path).map_err(|error| unusable("it is not readable UTF-8").because(&error))
}

fn report(accepted: &AcceptedPlan) {
    let name = &accepted.task.name;
    match &accepted.plan {
        Some(PlanView { revision, progress, .. }) if accepted.changed => out::note(&format!(
            "task {name}: plan revision {revision} accepted, {}; {}",
            words(*progress),
            accepted.next_step
        )),
        Some(_) | None => out::note(&format!("task {name}: this is already its plan")),
    }
}

fn print(answer: &PlanAnswer) {
    match &answer.plan {
        None => out::note("no plan has been accepted yet"),
        Some(plan) => print_steps(plan),
    }
    for refused in &answer.refused {
        out::data(&format!("refused {}: {}", refused.at, out::safe(&refused.what)));
    }
    if answer.plan.is_some() && answer.file == "changed" {
        let name = &answer.task.name;
        out::note(&format!("task_list.md has changed since; accept it with `longhaul plan {name} --accept`"));
    }
}

fn print_steps(plan: &PlanView) {
    out::data(&format!("plan revision {}, {} ({}%)", plan.revision, words(plan.progress), plan.percent));
    let mut phase = None;
    for step in &plan.steps {
        if step.phase.as_ref() != phase {
            phase = step.phase.as_ref();
            out::data(&format!("  {}", out::safe(phase.map_or("", |text| text))));
        }
        let tick = if step.ticked { "x" } else { " " };
        let now = if Some(step.number) == plan.current { "  <- current" } else { "" };
        out::data(&format!("  [{tick}] Task {}: {}{now}", step.number, out::safe(&step.text)));
    }
}

/// Done and total steps.
pub(super) fn words(Progress { done, total }: Progress) -> String {
    format!("{done}/{total}")
}
