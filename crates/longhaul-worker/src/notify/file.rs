//! The channel of a file: the message as JSON, there as a whole or not at all. Another message to the same path replaces it.
//! The directory has to be there; nothing is made but the file.

use std::io;
use std::path::Path;
use std::time::Duration;

use longhaul_keeper::files::replace;

use super::bounded;
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
    /// The system said nothing.
    #[error("`{path}` was not written within {within:?}")]
    TimedOut { path: String, within: Duration },
}

pub(super) async fn send(template: &str, message: &Message, within: Duration) -> Result<(), FileError> {
    let path = filled(template, message);
    let (wanted, json) = (path.clone(), message.json());
    let written = bounded::within(within, move || write(&wanted, &json)).await;
    written.unwrap_or(Err(FileError::TimedOut { path, within }))
}

fn write(path: &str, bytes: &[u8]) -> Result<(), FileError> {
    let parts = (Path::new(path).parent(), Path::new(path).file_name().and_then(|name| name.to_str()));
    let (Some(directory), Some(name)) = parts else { return Err(FileError::NoFile { path: path.to_owned() }) };
    replace(directory, name, bytes).map_err(|source| FileError::Write { path: path.to_owned(), source })
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

    const WITHIN: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn the_file_is_written_whole_where_its_path_says() {
        let directory = tempfile::tempdir().unwrap();
        let message = sample("no login");
        let template = directory.path().join("{name}.{occasion}").display().to_string();
        send(&template, &message, WITHIN).await.unwrap();
        let written = std::fs::read(directory.path().join("port-it.needs_person")).unwrap();
        assert_eq!(written, message.json());
        let nowhere = directory.path().join("absent/file").display().to_string();
        assert!(matches!(send(&nowhere, &message, WITHIN).await, Err(FileError::Write { .. })));
        assert!(matches!(send("/", &message, WITHIN).await, Err(FileError::NoFile { .. })));
    }
}
