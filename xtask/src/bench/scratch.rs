//! Chooses the directory for scratch files: on a real disk, where a sync costs what it costs, and in no git repository,
//! where a plain directory would not be one and branches of the measured tasks would end up in somebody's clone.
//! Called by `scene`. The directory is removed when its guard is dropped.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::statfs;
use tempfile::TempDir;

use super::scene::Outcome;

/// File systems in memory: tmpfs and ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Makes the scratch directory where the caller wants it, or in the first place that suits.
pub(super) fn make(wanted: Option<&Path>) -> Outcome<TempDir> {
    let parent = match wanted {
        Some(directory) if is_in_repository(directory) => {
            return Err(format!("`{}` is inside a git repository", directory.display()).into());
        }
        Some(directory) => directory.to_owned(),
        None => first_suitable(&places()).ok_or("no place for scratch files; name one with `--scratch DIR`")?,
    };
    let scratch = tempfile::Builder::new().prefix("longhaul-bench-").tempdir_in(&parent)?;
    let note = if is_in_memory(&parent) { " (in memory, so syncs cost nothing)" } else { "" };
    eprintln!("scratch: {}{note}", scratch.path().display());
    Ok(scratch)
}

/// The cache directory, then the temporary ones.
fn places() -> Vec<PathBuf> {
    let home = env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home);
    cache.into_iter().chain([PathBuf::from("/var/tmp"), env::temp_dir()]).collect()
}

/// The first place that can be used; one in memory only if there is no other.
fn first_suitable(places: &[PathBuf]) -> Option<PathBuf> {
    let usable = |place: &&PathBuf| fs::create_dir_all(place).is_ok() && !is_in_repository(place);
    let usable: Vec<&PathBuf> = places.iter().filter(usable).collect();
    usable.iter().find(|place| !is_in_memory(place)).or(usable.first()).map(|place| place.to_path_buf())
}

fn is_in_repository(directory: &Path) -> bool {
    let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    directory.ancestors().any(|above| above.join(".git").exists())
}

fn is_in_memory(directory: &Path) -> bool {
    statfs(directory).is_ok_and(|system| IN_MEMORY.contains(&(system.f_type as u64)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::{first_suitable, is_in_memory, is_in_repository, make};

    /// Asks git itself, which knows more kinds of repository than we look for.
    fn git_finds_a_repository(directory: &Path) -> bool {
        let mut git = Command::new("git");
        git.args(["rev-parse", "--git-dir"]).current_dir(directory).env_remove("GIT_DIR");
        git.output().expect("git runs").status.success()
    }

    #[test]
    fn the_scratch_is_in_no_repository() {
        let scratch = make(None).unwrap();
        assert!(!git_finds_a_repository(scratch.path()));
        assert!(!is_in_repository(scratch.path()));
    }

    #[test]
    fn a_place_in_a_repository_is_found_and_refused() {
        let repository = make(None).unwrap();
        let below = repository.path().join("target").join("deep");
        std::fs::create_dir_all(&below).unwrap();
        assert!(
            Command::new("git").args(["init", "--quiet"]).current_dir(repository.path()).status().unwrap().success()
        );
        assert!(git_finds_a_repository(&below) && is_in_repository(&below));
        assert!(make(Some(&below)).is_err());
        assert_eq!(first_suitable(&[below]), None);
    }

    #[test]
    fn a_disk_is_preferred_to_memory() {
        let (memory, disk) = (Path::new("/dev/shm").to_owned(), make(None).unwrap());
        if is_in_memory(&memory) && !is_in_memory(disk.path()) {
            assert_eq!(first_suitable(&[memory.clone(), disk.path().to_owned()]), Some(disk.path().to_owned()));
            assert_eq!(first_suitable(std::slice::from_ref(&memory)), Some(memory));
        }
    }
}
