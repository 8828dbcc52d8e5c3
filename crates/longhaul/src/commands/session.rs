//! `longhaul session`: what the agent of a session says about its task, for agents without MCP.
//! Performs the same operations as the TaskRun tools, on the task of the session that it runs below.

use longhaul_app::operation::Operation;
use longhaul_app::operations::{
    FailedItem, TaskRunCheckpoint, TaskRunCheckpointInput, TaskRunComplete, TaskRunCompleteInput, TaskRunNeedsHelp,
    TaskRunNeedsHelpInput, TaskRunUpdate, TaskRunUpdateInput, own_task,
};
use longhaul_app::{AppError, Call};

use super::run::text_or_stdin;
use crate::cli::{Request, Session, SessionVerb};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn session(line: &CommandLine, args: &Session) -> Result<Code, AppError> {
    let call = line.call()?;
    let run_id = own_task(&call).await?.task.id.to_string();
    match &args.verb {
        SessionVerb::Report { summary, completed, failed, cursor, request } => {
            let failed = failed.iter().map(|(item, reason)| FailedItem { item: item.clone(), reason: reason.clone() });
            let input = TaskRunUpdateInput {
                run_id,
                progress_summary: optional(summary.as_ref())?,
                completed_items: Some(completed.clone()),
                failed_items: Some(failed.collect()),
                current_cursor: cursor.clone(),
                key: request.key.clone(),
                ..TaskRunUpdateInput::default()
            };
            say::<TaskRunUpdate>(&call, input, request).await
        }
        SessionVerb::Checkpoint { summary, cursor, request } => {
            let input = TaskRunCheckpointInput {
                run_id,
                summary: text_or_stdin(summary)?,
                current_cursor: cursor.clone(),
                key: request.key.clone(),
                ..TaskRunCheckpointInput::default()
            };
            say::<TaskRunCheckpoint>(&call, input, request).await
        }
        SessionVerb::Help { question, hint, request } => {
            let input = TaskRunNeedsHelpInput {
                run_id,
                reason: text_or_stdin(question)?,
                resume_hint: hint.clone(),
                key: request.key.clone(),
                ..TaskRunNeedsHelpInput::default()
            };
            say::<TaskRunNeedsHelp>(&call, input, request).await
        }
        SessionVerb::Done { summary, request } => {
            let input = TaskRunCompleteInput {
                run_id,
                progress_summary: optional(summary.as_ref())?,
                key: request.key.clone(),
                ..TaskRunCompleteInput::default()
            };
            say::<TaskRunComplete>(&call, input, request).await
        }
    }
}

fn optional(text: Option<&String>) -> Result<Option<String>, AppError> {
    text.map(|text| text_or_stdin(text)).transpose()
}

async fn say<O: Operation>(call: &Call, input: O::Input, request: &Request) -> Result<Code, AppError> {
    out::answer(&call.perform::<O>(input).await?, request.json, |_| out::note("stored"))
}
