//! `longhaul why`: explains a task's state in a few lines.
//! Only prints what the operation returns.

use longhaul_app::AppError;
use longhaul_app::operations::{TaskInput, Why, WhyView};

use crate::cli::Read;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::when::When;

pub(crate) async fn why(line: &CommandLine, args: &Read) -> Result<Code, AppError> {
    let answer = line.call()?.perform::<Why>(TaskInput { task: args.which.task.clone() }).await?;
    out::answer(&answer, args.json, |view| {
        let when = When::here();
        out::data(&out::readable(&when.told(&view.why)));
        also(view).iter().for_each(|line| out::data(&out::readable(&when.localized(line))));
    })
}

/// What follows the first sentence, without what that has said: the end of a wait is named once.
fn also(view: &WhyView) -> Vec<String> {
    let is_said = |time: &str| view.why.contains(time.trim_end_matches('`'));
    let waits = view.task.wait.as_ref().and_then(|wait| wait.until.as_deref()).filter(|until| is_said(until));
    let repeats = |fact: &&String| fact.starts_with("usage limit: ") && waits.is_some_and(|until| fact.contains(until));
    let next = match waits {
        Some(until) => view.next_step.replace(&format!(" at {until}"), " then"),
        None => view.next_step.clone(),
    };
    let also = view.also.iter().filter(|fact| !repeats(fact)).cloned();
    also.chain([next]).collect()
}
