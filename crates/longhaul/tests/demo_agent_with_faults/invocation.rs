//! How often the agent was started in its home: the `@n` of a fault. Counted under a lock, so no two processes get the same number.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// How often the agent was started in this home, this time included, and when that began.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Invocation {
    pub(crate) number: u64,
    pub(crate) first_ms: i64,
}

impl Invocation {
    /// Numbers this invocation.
    pub(crate) fn count(home: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(home)?;
        let open = |path| OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
        let held = open(home.join("invocations.lock"))?;
        held.lock()?;
        let (path, new) = (home.join("invocations.json"), home.join("invocations.json.new"));
        let stored = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let mut invocation = stored.unwrap_or(Self { number: 0, first_ms: now_ms() });
        invocation.number += 1;
        // A kill must not reset the count.
        open(new.clone())?.write_all(&serde_json::to_vec(&invocation)?)?;
        fs::rename(&new, &path)?;
        Ok(invocation)
    }
}

/// The wall clock in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_invocations_get_different_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let count = || Invocation::count(directory.path()).unwrap();
        let mut numbers = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| (0..5).map(|_| count().number).collect::<Vec<_>>())).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
        let (before, after) = (count(), count());
        assert_eq!(before.first_ms, after.first_ms);
    }
}
