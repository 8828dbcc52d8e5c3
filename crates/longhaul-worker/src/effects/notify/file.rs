//! The channel of a file: the message as JSON, there as a whole or not at all. Another message to the same path replaces it.
//! The directory has to be there; nothing is made but the file.

use std::io;
use std::path::Path;

use longhaul_keeper::files::replace;

use super::message::Message;

/// Why the file was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// The path names no file in a directory.
    #[error("`{path}` names no file")]
    NoFile { path: String },
    /// The system said no.
    #[error("failed to write `{path}`")]
    Write {
        path: String,
        #[source]
        source: io::Error,
    },
}

pub(super) fn send(template: &str, message: &Message) -> Result<(), FileError> {
    let path = filled(template, message);
    let parts = (Path::new(&path).parent(), Path::new(&path).file_name().and_then(|name| name.to_str()));
    let (Some(directory), Some(name)) = parts else { return Err(FileError::NoFile { path }) };
    replace(directory, name, &message.json()).map_err(|source| FileError::Write { path: path.clone(), source })
}

/// Names, ids and occasions are all safe as parts of a path.
fn filled(template: &str, message: &Message) -> String {
    template
        .replace("{name}", &message.name)
        .replace("{task}", &message.task.to_string())
        .replace("{occasion}", message.occasion)
}

#[cfg(test)]
mod tests {
    use super::super::message::tests::sample;
    use super::*;

    #[test]
    fn the_file_is_written_whole_where_its_path_says() {
        let directory = tempfile::tempdir().unwrap();
        let message = sample("no login");
        let template = directory.path().join("{name}.{occasion}").display().to_string();
        send(&template, &message).unwrap();
        let written = std::fs::read(directory.path().join("port-it.needs_person")).unwrap();
        assert_eq!(written, message.json());
        let nowhere = directory.path().join("absent/file").display().to_string();
        assert!(matches!(send(&nowhere, &message), Err(FileError::Write { .. })));
        assert!(matches!(send("/", &message), Err(FileError::NoFile { .. })));
    }
}
