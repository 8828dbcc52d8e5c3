//! `worker.log` in the home, where all workers without a terminal write their messages.
//!
//! Its size is bounded: a full log is renamed to `worker.log.1` and replaces the older one. A repeated message is written again
//! only the 10th time, the 100th time and so on, with its count.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use longhaul_app::WORKER_LOGS as NAMES;
use longhaul_keeper::files::is_at;
use rustix::stdio::{dup2_stderr, stderr};

use crate::out;

/// A log of this many bytes is full.
const FULL: u64 = 1 << 20;
/// How many different messages are remembered; then all are forgotten, and each is written once more.
const REMEMBERED: usize = 256;

/// The home whose log this worker writes to.
static HOME: OnceLock<PathBuf> = OnceLock::new();
static SEEN: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Opens the log of a home for a worker that is about to start.
pub(crate) fn open(home: &Path) -> io::Result<File> {
    let log = home.join(NAMES[0]);
    if log.symlink_metadata().is_ok_and(|found| found.len() >= FULL) {
        std::fs::rename(&log, home.join(NAMES[1]))?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(log)
}

/// Makes this process keep the log of this home bounded, if its standard error is that log.
pub(crate) fn keep_bounded(home: &Path) {
    HOME.get_or_init(|| home.to_owned());
}

/// Writes a message to this worker's standard error.
pub(crate) fn report(message: &str) {
    let Some(line) = counted(message, &mut SEEN.lock().unwrap_or_else(PoisonError::into_inner)) else { return };
    if let Some(home) = HOME.get() {
        // If this fails, the worker keeps writing to its current log.
        switch_if_full(home).ok();
    }
    out::note(&format!("longhaul worker: {}", out::safe(&line)));
}

/// The line to write for a message, if any.
fn counted(message: &str, seen: &mut BTreeMap<String, u64>) -> Option<String> {
    if seen.len() >= REMEMBERED && !seen.contains_key(message) {
        seen.clear();
    }
    let times = seen.entry(message.to_owned()).or_default();
    *times += 1;
    match *times {
        1 => Some(message.to_owned()),
        times if is_power_of_ten(times) => Some(format!("{message} (reported {times} times)")),
        _ => None,
    }
}

fn is_power_of_ten(number: u64) -> bool {
    10_u64.checked_pow(number.ilog10()) == Some(number)
}

/// Switches to a new file if the log is full or another worker has renamed it.
fn switch_if_full(home: &Path) -> io::Result<()> {
    let file = File::from(rustix::io::dup(stderr())?);
    let [is_current, is_old] = NAMES.map(|name| is_at(&file, &home.join(name)));
    let own = file.metadata()?;
    // A file without a name was a log before another one replaced it.
    let is_log = is_current || is_old || (own.is_file() && own.nlink() == 0);
    if !is_log || (is_current && own.len() < FULL) {
        return Ok(());
    }
    Ok(dup2_stderr(open(home)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_repeats_is_written_with_its_count_and_seldom() {
        let mut seen = BTreeMap::new();
        let lines: Vec<String> = (0..1000).filter_map(|_| counted("no room", &mut seen)).collect();
        let again = |times: u64| format!("no room (reported {times} times)");
        assert_eq!(lines, ["no room".to_owned(), again(10), again(100), again(1000)]);
        assert_eq!(counted("another", &mut seen).as_deref(), Some("another"), "each on its own");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut seen = BTreeMap::new();
        for number in 0..10 * REMEMBERED {
            assert!(counted(&format!("message {number}"), &mut seen).is_some());
            assert!(seen.len() <= REMEMBERED);
        }
    }
}
