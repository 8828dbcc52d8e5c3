//! The goal of a new task: an argument, a file, standard input, or what a person writes in their editor.
//! Called by `run`. A goal that was written in the editor is kept until its task is stored.

use longhaul_app::text::shell_word;
use longhaul_app::{AppError, ErrorKind};

use super::run::text_or_stdin;
use crate::cli::Run;
use crate::command_line::CommandLine;
use crate::editor::Draft;

/// The goal, and where it is if it was written for this task and is nowhere else.
pub(super) struct Goal {
    pub(super) text: String,
    draft: Option<Draft>,
}

impl Goal {
    /// What came of the submission. A text that was refused is not lost.
    pub(super) fn kept_until<T>(self, submitted: Result<T, AppError>) -> Result<T, AppError> {
        match (submitted, self.draft) {
            (Ok(answer), draft) => {
                draft.into_iter().for_each(Draft::discard);
                Ok(answer)
            }
            (Err(error), Some(draft)) => {
                let path = shell_word(&draft.path().display().to_string());
                Err(error.hint(format!("your goal is kept: repeat the command with `-f {path}`")))
            }
            (Err(error), None) => Err(error),
        }
    }
}

const ASKED: &str = "
----- Only what is above this line counts. -----
What should the agent do? Write as much as it needs; save and quit to start the task.
With an empty goal nothing is submitted.
";

/// The goal from the arguments, a file or standard input; else what a person writes in their editor.
pub(super) async fn goal(line: &CommandLine, args: &Run) -> Result<Goal, AppError> {
    let given = |text| Ok(Goal { text, draft: None });
    match (&args.goal, &args.file) {
        (Some(goal), _) => return given(text_or_stdin(goal)?),
        (None, Some(file)) if file.as_os_str() == "-" => return given(text_or_stdin("-")?),
        (None, Some(file)) => {
            let failed = |error: std::io::Error| {
                AppError::new(ErrorKind::Usage, format!("cannot read the goal from `{}`", file.display()))
                    .because(&error)
            };
            return given(std::fs::read_to_string(file).map_err(failed)?);
        }
        // What a task would run with does not depend on its goal.
        (None, None) if args.dry_run => return given("any".to_owned()),
        (None, None) => {}
    }
    let draft = Draft::new("goal.md", ASKED).map_err(|error| match error.kind {
        ErrorKind::Usage => AppError::new(ErrorKind::Usage, "no goal given").hint(
            "give it as an argument, with `-f FILE`, or as `-` on standard input; on a terminal your editor opens",
        ),
        _ => error,
    })?;
    let text = draft.edit(&line.system.environment).await?;
    let above = text.split(ASKED.lines().nth(1).unwrap_or_default()).next().unwrap_or_default().trim();
    if above.is_empty() {
        draft.discard();
        return Err(AppError::new(ErrorKind::Usage, "the goal is empty; nothing was submitted"));
    }
    // What is kept is what a repeated command reads.
    std::fs::write(draft.path(), above).ok();
    Ok(Goal { text: above.to_owned(), draft: Some(draft) })
}
