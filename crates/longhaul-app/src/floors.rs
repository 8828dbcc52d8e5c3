//! Enough free disk and memory for a session? Asked before each one, after a failed one, and while a task is blocked by it.
//! What cannot be measured is not judged.

use std::path::Path;

use longhaul_core::task::{Cause, Task};

use crate::home::Home;

/// Below this nothing can be written into the home, whatever a task's floor says.
const LEAST_DISK: u64 = 4 << 20;

/// The bytes that may still be written to the disk of a path; none if unknown.
pub fn free_disk(path: &Path) -> Option<u64> {
    // A file system without blocks, such as the kernel's own, is never full.
    let stat = rustix::fs::statvfs(path).ok().filter(|stat| stat.f_blocks > 0)?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// What the kernel thinks could be used without swapping; none if unknown.
pub fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib.saturating_mul(1024))
}

/// Whether the task's floors hold now.
pub fn check(task: &Task, home: &Home) -> Result<(), Cause> {
    let patience = &task.submission.patience;
    disk(home.root(), patience.disk_floor.max(LEAST_DISK))?;
    disk(Path::new(task.root()), patience.disk_floor)?;
    memory(patience.memory_floor)
}

fn disk(path: &Path, floor: u64) -> Result<(), Cause> {
    match free_disk(path) {
        Some(free) if free < floor => Err(Cause::Disk { path: path.display().to_string(), free, floor }),
        Some(_) | None => Ok(()),
    }
}

fn memory(floor: u64) -> Result<(), Cause> {
    match free_memory() {
        Some(free) if free < floor => Err(Cause::Memory { free, floor }),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use longhaul_core::task::Cause;

    use super::{disk, memory};

    #[test]
    fn floors_that_nothing_reaches_are_missed_and_zero_never_is() {
        let here = std::path::Path::new("/");
        assert!(disk(here, 0).is_ok() && memory(0).is_ok());
        assert!(matches!(disk(here, u64::MAX), Err(Cause::Disk { floor: u64::MAX, .. })));
        #[cfg(target_os = "linux")]
        assert_eq!(super::free_disk(std::path::Path::new("/proc")), None, "it has no size");
        #[cfg(target_os = "linux")]
        assert!(matches!(memory(u64::MAX), Err(Cause::Memory { .. })));
    }
}
