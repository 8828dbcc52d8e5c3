//! Lets a person write a text in their own editor, in a private copy that stays until its text is stored somewhere.
//! Used by `config edit` and by `run` without a goal. Only on a terminal.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use longhaul_app::tag::tag;
use longhaul_app::{AppError, ErrorKind, blocking};
use longhaul_keeper::Environment;
use longhaul_keeper::files::{create_private_dir, write_once};

use crate::start;

/// A text that a person edits.
pub(crate) struct Draft {
    directory: PathBuf,
    file: PathBuf,
}

impl Draft {
    /// A file of this name with this text, in a directory of its own.
    pub(crate) fn new(name: &str, text: &str) -> Result<Draft, AppError> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Err(AppError::new(ErrorKind::Usage, "an editor needs a terminal"));
        }
        let directory = std::env::temp_dir().join(format!("longhaul-edit-{}", tag::<4>()));
        let failed = |error: &dyn std::error::Error| {
            AppError::new(ErrorKind::Failure, format!("cannot create `{}`", directory.display())).because(error)
        };
        create_private_dir(&directory).map_err(|error| failed(&error))?;
        write_once(&directory, name, text.as_bytes()).map_err(|error| failed(&error))?;
        Ok(Draft { file: directory.join(name), directory })
    }

    /// Where the text is.
    pub(crate) fn path(&self) -> &Path {
        &self.file
    }

    /// Opens the editor, waits until it ends, and returns the text.
    pub(crate) async fn edit(&self, environment: &Environment) -> Result<String, AppError> {
        let (environment, file) = (environment.clone(), self.file.clone());
        let editor = editor(&environment)?;
        let failed = |what: &str| {
            AppError::new(ErrorKind::Failure, format!("the editor `{editor}` {what}"))
                .hint("set VISUAL or EDITOR to the command of your editor")
                .hint(format!("your text is in `{}`", self.file.display()))
        };
        let command = editor.clone();
        let ended = blocking(move || start::editor(&environment, &command, &file)).await;
        match ended {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(failed(&format!("failed ({status})"))),
            Err(error) => return Err(failed("cannot be started").because(&error)),
        }
        std::fs::read_to_string(&self.file).map_err(|error| failed("left no text").because(&error))
    }

    /// Removes the text, which is stored elsewhere or not wanted.
    pub(crate) fn discard(self) {
        std::fs::remove_file(&self.file).ok();
        // A backup copy of the editor keeps the directory.
        std::fs::remove_dir(&self.directory).ok();
    }
}

/// The command of the person's editor.
fn editor(environment: &Environment) -> Result<String, AppError> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| environment.get(name)?.to_str());
    let usual = ["vi", "nano"].into_iter().filter(|program| environment.find_program(program).is_some());
    named.filter(|command| !command.trim().is_empty()).chain(usual).next().map(str::to_owned).ok_or_else(|| {
        AppError::new(ErrorKind::Usage, "no editor was found")
            .hint("set VISUAL or EDITOR to the command of your editor")
    })
}
