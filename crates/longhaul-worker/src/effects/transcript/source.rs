//! Where an agent keeps its conversations when they are files below its own directory, and what is found of one.
//! Used by the transcript effect. Reads only what the agent's file names, and never a login.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use longhaul_keeper::Environment;

/// The most that is read of a transcript: its end.
pub(super) const CAP: usize = 16 << 20;

/// An agent's record of a conversation.
pub(super) enum Conversation {
    /// The transcript, or its end.
    Bytes { bytes: Vec<u8>, whole: bool },
    /// It does not exist.
    Nothing,
    /// Nobody can tell.
    Unknown,
}

/// The agent's own directory, as the agent sees it: variables that an agent names are always passed on to it.
pub(super) fn base(environment: &Environment, variable: &str, default: &str) -> PathBuf {
    let named = environment.get(variable).filter(|value| !value.is_empty());
    let home = || PathBuf::from(environment.get("HOME").unwrap_or_default());
    named.map_or_else(|| home().join(default), PathBuf::from)
}

/// The newest file that the pattern names.
pub(super) fn in_file(base: &Path, pattern: &str) -> Conversation {
    let found = pattern
        .split('/')
        .fold(vec![base.to_owned()], |paths, part| paths.iter().flat_map(|path| matching(path, part)).collect());
    let written = |path: &PathBuf| path.metadata().and_then(|meta| meta.modified()).ok();
    match found.into_iter().filter(|path| path.is_file()).max_by_key(written) {
        Some(path) => read(&path).unwrap_or(Conversation::Unknown),
        None => Conversation::Nothing,
    }
}

fn read(path: &Path) -> std::io::Result<Conversation> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let whole = length <= CAP as u64;
    file.seek(SeekFrom::Start(length.saturating_sub(CAP as u64)))?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(CAP).min(CAP));
    file.take(CAP as u64).read_to_end(&mut bytes)?;
    if whole {
        return Ok(if bytes.is_empty() { Conversation::Nothing } else { Conversation::Bytes { bytes, whole } });
    }
    // What begins in the middle may be the end of a secret, which nobody would know for one.
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) if end + 1 < bytes.len() => {
            bytes.drain(..=end);
            Ok(Conversation::Bytes { bytes, whole })
        }
        Some(_) | None => Ok(Conversation::Unknown),
    }
}

/// The entries of a directory that one part of a pattern means.
fn matching(directory: &Path, part: &str) -> Vec<PathBuf> {
    let Some((before, after)) = part.split_once('*') else { return vec![directory.join(part)] };
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let fits =
        |name: &str| name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after);
    let names = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(fits));
    names.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(found: Conversation) -> Option<Vec<u8>> {
        match found {
            Conversation::Bytes { bytes, .. } => Some(bytes),
            Conversation::Nothing | Conversation::Unknown => None,
        }
    }

    #[test]
    fn a_pattern_names_one_file_by_its_id() {
        let dir = tempfile::tempdir().unwrap();
        let day = dir.path().join("sessions/2026/11/15");
        std::fs::create_dir_all(&day).unwrap();
        std::fs::write(day.join("rollout-x-id1.jsonl"), "one").unwrap();
        std::fs::write(day.join("rollout-y-id2.jsonl"), "two").unwrap();
        let find = |id: &str| in_file(dir.path(), &format!("sessions/*/*/*/rollout-*-{id}.jsonl"));
        assert_eq!(bytes(find("id2")).unwrap(), b"two");
        assert!(matches!(find("id3"), Conversation::Nothing));
        std::fs::write(day.join("rollout-z-id4.jsonl"), "").unwrap();
        assert!(matches!(find("id4"), Conversation::Nothing), "an empty file holds no conversation");
    }

    #[test]
    fn of_a_long_file_the_last_whole_lines_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("long");
        let cap = CAP;
        let read = |text: String| {
            std::fs::write(&file, text).unwrap();
            in_file(dir.path(), "long")
        };
        let found = read(format!("first {}\nlast\n", "x".repeat(cap)));
        assert!(
            matches!(found, Conversation::Bytes { bytes, whole: false } if bytes == b"last\n"),
            "half a line may be half a secret"
        );
        let found = read("x".repeat(cap + 1));
        assert!(matches!(found, Conversation::Unknown), "no line is whole");
        let found = read("x".repeat(cap));
        assert!(matches!(found, Conversation::Bytes { bytes, whole: true } if bytes.len() == cap), "the control");
    }
}
