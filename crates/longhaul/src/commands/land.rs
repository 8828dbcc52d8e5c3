//! `longhaul land`: brings the work of finished tasks onto a branch, one after the other, and stops at the first that cannot land.
//! On a terminal it asks once before it lands work that is not verified.

use std::io::{self, IsTerminal};

use longhaul_app::operation::Answer;
use longhaul_app::operations::{Diff, DiffInput, Land, LandInput, Resume, ResumeInput};
use longhaul_app::views::FollowUpView;
use longhaul_app::{AppError, Call, ErrorKind, ended_follow_up};

use super::id_of;
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn land(line: &CommandLine, args: &cli::Land) -> Result<Code, AppError> {
    let call = line.call()?;
    for task in &args.tasks {
        let mut input = LandInput {
            task: task.clone(),
            onto: args.onto.clone(),
            message: args.message.clone(),
            merge: args.merge,
            pr: args.pr,
            no_sign: args.no_sign,
            keep: args.keep,
            dry_run: args.dry_run,
            unverified: args.unverified,
            no_fix: args.no_fix,
            yes: args.yes,
            reason: args.reason.clone(),
            key: args.request.key.clone(),
        };
        if !args.unverified && !args.dry_run && can_ask(args.request.json) {
            input.unverified = asked(&call, &input, args.yes).await?;
        }
        let mut answer = finish(&call, call.perform::<Land>(input).await?).await?;
        if can_ask(args.request.json) {
            answer = reviewed(&call, answer).await?;
        }
        out::answer(&answer, args.request.json, print)?;
        // What waits for a person has not landed.
        if let Some(task) = answer.view.follow_up.as_ref().filter(|task| !task.is_finished) {
            return Ok(task.outcome.into());
        }
    }
    Ok(Code::Done)
}

/// Whether somebody is there to answer a question.
pub(super) fn can_ask(json: bool) -> bool {
    !json && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question that is answered with yes or no.
pub(super) fn confirm(question: &str) -> Result<bool, AppError> {
    out::question(&format!("{question} [y/N]"));
    let mut answer = String::new();
    io::stdin()
        .read_line(&mut answer)
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot read the answer").because(&error))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Whether the person wants to land work that is not verified. Verified work is not asked about.
async fn asked(call: &Call, input: &LandInput, yes: bool) -> Result<bool, AppError> {
    let look = LandInput { dry_run: true, key: None, ..input.clone() };
    let view = call.perform::<Land>(look).await?.view;
    let Some(why) = view.unverified else { return Ok(false) };
    let name = &view.name;
    out::note(&out::safe(&format!("{name} is not verified: {why}")));
    if yes || confirm(&format!("Land {name} all the same?"))? {
        return Ok(true);
    }
    Err(AppError::new(ErrorKind::Interrupted, format!("{name} was not landed; nothing was changed")))
}

/// Shows what a fixing session changed and asks whether it may land.
async fn reviewed(call: &Call, answer: Answer<FollowUpView>) -> Result<Answer<FollowUpView>, AppError> {
    let (Some(why), Some(task)) = (&answer.view.review, &answer.view.follow_up) else { return Ok(answer) };
    let name = &answer.view.name;
    let diff = call.perform::<Diff>(DiffInput { task: Some(task.id.clone()), stat: false }).await?.view;
    out::note(&out::safe(&format!("{name}: {why}")));
    out::note(&out::safe_lines(diff.patch.as_deref().unwrap_or_default().trim_end()));
    if !confirm(&format!("Land {name} with these changes?"))? {
        return Ok(answer);
    }
    let reason = Some("read and confirmed".to_owned());
    call.perform::<Resume>(ResumeInput { task: Some(task.id.clone()), reason, ..ResumeInput::default() }).await?;
    finish(call, answer).await
}

/// Waits for a follow-up that takes longer than the operation waits.
pub(crate) async fn finish(call: &Call, answer: Answer<FollowUpView>) -> Result<Answer<FollowUpView>, AppError> {
    let Some(task) = answer.view.follow_up.as_ref().filter(|task| !task.is_finished) else { return Ok(answer) };
    let id = id_of(task)?;
    let wait = longhaul_app::operations::WaitInput { task: Some(task.id.clone()), ..Default::default() };
    call.perform::<longhaul_app::operations::Wait>(wait).await?;
    Ok(Answer { notes: answer.notes, warnings: answer.warnings, ..ended_follow_up(call, id).await? })
}

fn print(view: &FollowUpView) {
    let name = &view.name;
    match (&view.commit, &view.message) {
        _ if let Some(url) = &view.pull_request => {
            out::data(&out::safe(&format!("{name}: {url}")));
            out::note(&format!("the branch here did not move; worktree and branch of {} are kept", out::safe(name)));
        }
        (Some(commit), _) => {
            let onto = view.onto.as_deref().unwrap_or_default();
            out::data(&out::safe(&format!("{name}: landed as {} on {onto}", longhaul_core::task::short(commit))));
            if let Some(why) = &view.kept {
                out::note(&out::safe(&format!("worktree and branch are kept: {why}")));
            }
            out::note("local git hooks did not run");
            view.undo.iter().for_each(|undo| out::note(&format!("undo it with `{}`", out::safe(undo))));
        }
        (None, Some(message)) => {
            let (onto, author) = (view.onto.as_deref().unwrap_or_default(), view.author.as_deref().unwrap_or_default());
            out::note(&out::safe(&format!("{name} would land on {onto}, by {author}, as:")));
            view.unverified.iter().for_each(|why| out::note(&out::safe(&format!("it is not verified: {why}"))));
            out::data(&out::safe_lines(message.trim_end()));
        }
        (None, None) => unfinished(view),
    }
}

/// A follow-up that did not come to an end.
pub(super) fn unfinished(view: &FollowUpView) {
    if let Some(task) = view.follow_up.as_ref().filter(|task| !task.is_finished) {
        out::note(&out::safe(&format!("{}: {}; `longhaul why {}` says more", task.goal, task.status, task.name)));
    }
}
