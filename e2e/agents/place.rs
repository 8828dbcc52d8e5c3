//! Where the pinned programs that tests run are installed: a cache outside the clone, named after their lockfile.
//! Compiled into `xtask`, which installs them, and into the scripted model's crate, which finds them: one truth for both.
//! It never looks at the disk.

use std::ffi::OsString;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

const DIGEST_BYTES: usize = 8;

/// Programs that one lockfile pins.
pub(crate) struct Pinned {
    /// The directory below `e2e` with the lockfile.
    pub(crate) name: &'static str,
    /// What installs them.
    pub(crate) installer: Installer,
    /// The variable that names another directory, for programs installed by hand.
    pub(crate) variable: &'static str,
    lockfile: &'static [u8],
}

/// What installs packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Installer {
    Npm,
    Pip,
}

impl Installer {
    /// The directory that it fills.
    pub(crate) fn fills(self) -> &'static str {
        match self {
            Self::Npm => "node_modules",
            Self::Pip => "site-packages",
        }
    }
}

/// The agents' programs.
pub(crate) const AGENTS: Pinned = Pinned {
    name: "agents",
    installer: Installer::Npm,
    variable: "LONGHAUL_TEST_AGENTS",
    lockfile: include_bytes!("package-lock.json"),
};
/// The official MCP client for Python.
pub(crate) const PYTHON: Pinned = Pinned {
    name: "clients/python",
    installer: Installer::Pip,
    variable: "LONGHAUL_TEST_PYTHON",
    lockfile: include_bytes!("../clients/python/requirements.txt"),
};
/// The program that tries what the OpenAPI document allows.
pub(crate) const SCHEMATHESIS: Pinned = Pinned {
    name: "clients/schemathesis",
    installer: Installer::Pip,
    variable: "LONGHAUL_TEST_SCHEMATHESIS",
    lockfile: include_bytes!("../clients/schemathesis/requirements.txt"),
};
/// The MCP clients that nobody here wrote.
pub(crate) const CLIENTS: Pinned = Pinned {
    name: "clients",
    installer: Installer::Npm,
    variable: "LONGHAUL_TEST_CLIENTS",
    lockfile: include_bytes!("../clients/package-lock.json"),
};

impl Pinned {
    /// Returns the directory of the installation; none without a home directory.
    pub(crate) fn directory(&self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(directory) = set(self.variable) {
            return Some(directory);
        }
        let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
        let digest = Sha256::digest(self.lockfile);
        let digest: String = digest[..DIGEST_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
        Some(cache.join("longhaul").join(format!("{}-{digest}", self.name.replace('/', "-"))))
    }
}
