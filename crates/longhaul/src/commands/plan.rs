//! `longhaul plan`: shows a task's plan and what was refused of it; `--accept` takes a person's list as the plan.
//! Only reads the person's file and prints: what a list may change is decided by the core.

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
        AppError::new(ErrorKind::Usage, format!("cannot take `{}` as a plan: {why}", path.display()))
            .hint("name a file with `- [ ] Task 1: ...` lines; the task comes before --accept")
    };
    let meta = path.metadata().map_err(|error| unusable("it cannot be read").because(&error))?;
    if !meta.is_file() || meta.len() > LONGEST_PLAN as u64 {
        return Err(unusable("it is no file, or longer than 4 MiB"));
    }
    std::fs::read_to_string(path).map_err(|error| unusable("it cannot be read as text").because(&error))
}

fn report(accepted: &AcceptedPlan) {
    let name = &accepted.task.name;
    match &accepted.plan {
        Some(PlanView { revision, progress, .. }) if accepted.changed => out::note(&format!(
            "task {name}: plan revision {revision} accepted, {}; {}",
            words(*progress),
            accepted.next
        )),
        Some(_) | None => out::note(&format!("task {name}: that is the accepted plan already")),
    }
}

fn print(answer: &PlanAnswer) {
    match &answer.plan {
        None => out::data("no plan is accepted yet"),
        Some(plan) => print_steps(plan),
    }
    for refused in &answer.refused {
        out::data(&format!("refused {}: {}", refused.at, out::safe(&refused.what)));
    }
    if answer.plan.is_some() && answer.file == "changed" {
        let name = &answer.name;
        out::note(&format!("task_list.md was changed since; `longhaul plan {name} --accept` takes it as it is"));
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

/// As much as is done of all.
pub(super) fn words(Progress { done, total }: Progress) -> String {
    format!("{done}/{total}")
}
