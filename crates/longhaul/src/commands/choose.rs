//! Asks a person on a terminal to choose, where a choice is all that a request lacks. Without a terminal nobody is asked.
//! Called by verbs when an operation refuses with choices.

use std::io::{BufRead, IsTerminal};

use longhaul_app::{AppError, ErrorKind, blocking};

use crate::out;
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
        () = interrupted => Err(AppError::new(ErrorKind::Interrupted, "interrupted; nothing was submitted")),
    }
}

fn ask(error: AppError, json: bool) -> Result<String, AppError> {
    let has_person = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if error.choices.is_empty() || json || !has_person {
        return Err(error);
    }
    out::note(&error.what);
    for (number, choice) in (1..).zip(&error.choices) {
        out::note(&format!("  {number}  {}", out::safe(choice)));
    }
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if let Some(choice) = meant(line.trim(), &error.choices) {
            return Ok(choice.clone());
        }
        out::note(&format!("type a number from 1 to {}, or Ctrl+C", error.choices.len()));
    }
    Err(error)
}

/// The choice that an answer means: its number, its name, or for an empty line the first.
fn meant<'a>(answer: &str, choices: &'a [String]) -> Option<&'a String> {
    let number = if answer.is_empty() { Some(1) } else { answer.parse::<usize>().ok() };
    let by_number = number.and_then(|number| choices.get(number.checked_sub(1)?));
    by_number.or_else(|| choices.iter().find(|choice| *choice == answer))
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn an_answer_is_a_number_a_name_or_nothing() {
        let choices = ["codex".to_owned(), "claude".to_owned()];
        let meant = |answer| meant(answer, &choices).map(String::as_str);
        assert_eq!((meant(""), meant("2"), meant("claude")), (Some("codex"), Some("claude"), Some("claude")));
        assert_eq!((meant("0"), meant("3"), meant("pi")), (None, None, None));
    }
}
