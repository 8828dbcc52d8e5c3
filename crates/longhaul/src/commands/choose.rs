//! Asks a person on a terminal to choose, where a choice is all that a request lacks. Without a terminal nobody is asked.
//! Called where an operation refuses with choices: for tasks by `dispatch`, for the agent of a new task by `run`.

use std::io::{self, BufRead, IsTerminal};

use longhaul_app::{AppError, Choice, ErrorKind, blocking};

use crate::out;
use crate::picker::pick;
use crate::viewer::Signals;

/// The choice, or the error again if nobody can be asked or nobody answers.
pub(super) async fn choose(error: AppError, json: bool, signals: Option<&mut Signals>) -> Result<String, AppError> {
    let interrupted = async {
        match signals {
            Some(signals) => signals.interrupted().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        choice = blocking(move || ask(error, json)) => choice,
        () = interrupted => Err(left()),
    }
}

/// The line that a person types after a question; an error if they press Ctrl+C or nobody answers.
pub(super) async fn answer_to(question: &str, signals: &mut Signals) -> Result<String, AppError> {
    out::question(question);
    let line = async { blocking(|| io::stdin().lock().lines().next()).await.and_then(Result::ok) };
    let typed = tokio::select! {
        line = line => line,
        () = signals.interrupted() => None,
    };
    typed.map(|line| line.trim().to_owned()).ok_or_else(|| {
        out::note("");
        AppError::new(ErrorKind::Interrupted, "interrupted; nothing was changed")
    })
}

fn ask(error: AppError, json: bool) -> Result<String, AppError> {
    // A pager behind standard output would read the keys.
    let has_person = io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
    let is_plain = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let Some(choices) = error.choices.as_ref().filter(|_| has_person && !is_plain && !json) else { return Err(error) };
    let rows: Vec<String> = choices.among.iter().map(|choice| choice.row.clone()).collect();
    let picked = pick(&out::safe(&error.what), &rows);
    let picked = picked.map_err(|error| AppError::new(ErrorKind::Failure, "cannot read the keys").because(&error))?;
    let Choice { value, row } = picked.and_then(|row| choices.among.get(row)).ok_or_else(left)?;
    out::note(&format!("> {row}"));
    Ok(value.clone())
}

fn left() -> AppError {
    AppError::new(ErrorKind::Interrupted, "nothing was chosen, and nothing was changed")
}
