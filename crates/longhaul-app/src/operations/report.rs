//! `report`: everything stored about a task as one view, from events and files only.
//! Markdown is written from the same view; what an agent claims is quoted, never believed.

use longhaul_core::task::Action;

use super::TaskPageInput;
use super::show::view;
use crate::app::Call;
use crate::error::AppError;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::report::{TaskReport, gather};
use crate::session::history::recent;
use crate::views::Page;
use crate::{changed_files, lookup};

/// The operation `report`.
pub struct Report;

impl Operation for Report {
    const ABOUT: About = About::new("report", "Report on a task from stored facts", Action::Read, VERB_AND_TOOL)
        .route("/tasks/{task}/report");
    type Input = TaskPageInput;
    type Output = TaskReport;

    async fn run(call: &Call, _: Permit, input: TaskPageInput) -> Result<Answer<TaskReport>, AppError> {
        let stored = lookup::find_to_read(call, input.task.as_deref()).await?;
        let events = recent(call, stored.task.id).await?;
        let mut page = Page::new(input.page);
        let show = view(call, &stored, &events, &mut page).await?;
        let changed = changed_files::changed_files(call.home(), &stored.task).await;
        Ok(Answer::new(gather(show, &stored, &events, changed, &mut page)))
    }
}
