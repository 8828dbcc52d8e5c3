//! Where the pinned agent programs are installed: a cache outside the clone, named after the lockfile beside this file.
//! Compiled into `xtask`, which installs them, and into the scripted model's crate, which finds them: one truth for both.
//! It never looks at the disk.

use std::ffi::OsString;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

/// The variable that names another directory, for programs installed by hand.
pub(crate) const OVERRIDE: &str = "LONGHAUL_TEST_AGENTS";

const LOCKFILE: &[u8] = include_bytes!("package-lock.json");
const DIGEST_BYTES: usize = 8;

/// Returns the directory that holds `node_modules`; none without a home directory.
pub(crate) fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(directory) = set(OVERRIDE) {
        return Some(directory);
    }
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    let digest = Sha256::digest(LOCKFILE);
    let name: String = digest[..DIGEST_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    Some(cache.join("longhaul").join(format!("agents-{name}")))
}
