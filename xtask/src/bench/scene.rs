//! What all measures share: the release binary, a scratch directory on the build's own disk, ids and clocks.
//! Everything made here is gone when the scene is dropped. It measures nothing itself.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

use longhaul_core::ids::SessionId;
use longhaul_core::time::Time;
use longhaul_keeper::files::create_private_dir;
use longhaul_keeper::{
    CONTRACT_VERSION, Caps, Executable, RecordError, SessionDir, Spec, StopSignal, StopStep, prepare_session,
};
use longhaul_store::{CommitError, StoreError};
use tempfile::TempDir;

use crate::repository::{MetadataError, Repository};

/// The longest wait for something that must happen.
const DEADLINE: Duration = Duration::from_secs(60);

/// What a session may take, so that those of a run that was killed do not live for ever.
pub(super) const LONGEST_SESSION_MS: u64 = 20 * 60 * 1000;

/// Why a measure could not be taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum BenchError {
    #[error("failed to {what}")]
    Io {
        what: String,
        #[source]
        source: io::Error,
    },
    #[error("failed to find the target directory")]
    TargetDirectory {
        #[source]
        source: MetadataError,
    },
    #[error("`{command}` ended with {status}")]
    Ended { command: String, status: ExitStatus },
    #[error("the store refused a commit")]
    Commit {
        #[from]
        source: CommitError,
    },
    #[error("the store failed")]
    Store {
        #[from]
        source: StoreError,
    },
    #[error("plain SQLite failed")]
    Sqlite {
        #[from]
        source: rusqlite::Error,
    },
    #[error("a record of a session can not be used")]
    Record {
        #[from]
        source: RecordError,
    },
    #[error("{what} did not come within {} seconds", DEADLINE.as_secs())]
    Late { what: &'static str },
    #[error("{what} is not as expected: `{found}`")]
    Unexpected { what: &'static str, found: String },
}

/// The world of one run.
pub(super) struct Scene {
    scratch: TempDir,
    /// The release binary.
    pub(super) binary: PathBuf,
    /// Where builds go; what is kept for the next run lies below it.
    pub(super) target: PathBuf,
    /// The top of the checkout.
    pub(super) checkout: PathBuf,
    /// The release binary as a keeper.
    pub(super) keeper: Executable,
}

impl Scene {
    /// Builds the release binary and makes the scratch directory.
    pub(super) fn build(repository: &Repository) -> Result<Scene, BenchError> {
        finish(repository.cargo(&["build", "--release", "--quiet", "--package", "longhaul"]))?;
        let metadata = repository.metadata().map_err(|source| BenchError::TargetDirectory { source })?;
        // Not below the system's temporary directory, which may be memory, where a sync costs nothing.
        let target = PathBuf::from(metadata["target_directory"].as_str().unwrap_or("target"));
        let scratch = tempfile::Builder::new().prefix("bench-").tempdir_in(&target);
        let scratch = scratch.map_err(failed("make a scratch directory"))?;
        let binary = target.join("release").join("longhaul");
        let keeper = Executable::open(&binary).map_err(failed("open the release binary"))?;
        Ok(Scene { scratch, binary, target, checkout: repository.root().to_owned(), keeper })
    }

    /// A place in the scratch directory; nothing needs to be there.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// A new private directory in the scratch directory.
    pub(super) fn directory(&self, name: &str) -> Result<PathBuf, BenchError> {
        let path = self.path(name);
        create_private_dir(&path).map_err(|error| failed("make a directory")(io::Error::other(error)))?;
        Ok(path)
    }

    /// The release binary in a home, silent, without any setting of the caller's own Longhaul.
    pub(super) fn longhaul(&self, home: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(self.scratch.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LONGHAUL_")) {
            command.env_remove(name);
        }
        command.env("LONGHAUL_HOME", home).env("LONGHAUL_CONFIG", "/dev/null");
        command
    }

    /// What a keeper is to run; the program is given by its path.
    pub(super) fn spec(&self, argv: &[&str]) -> Spec {
        Spec {
            version: CONTRACT_VERSION,
            session: SessionId::mint(now(), random()),
            task: "bench".to_owned(),
            epoch: 1,
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            cwd: self.scratch.path().to_owned(),
            env_unset: Vec::new(),
            env_set: BTreeMap::new(),
            env_pass: None,
            secret_names: Vec::new(),
            marking: longhaul_keeper::Marking::default(),
            no_input: false,
            stop: vec![StopStep { signal: StopSignal::Term, grace_ms: 5_000 }],
            silence_ms: None,
            spare_busy: false,
            wall_ms: Some(LONGEST_SESSION_MS),
            drain_ms: 2_000,
            caps: Caps::default(),
        }
    }

    /// A session directory that waits for its keeper.
    pub(super) fn prepare(&self, sessions: &Path, spec: &Spec, prompt: &[u8]) -> Result<SessionDir, BenchError> {
        prepare_session(sessions, spec.session, spec, prompt)
            .map_err(|error| failed("prepare a session")(io::Error::other(error)))
    }
}

/// Names what failed.
pub(super) fn failed(what: &str) -> impl FnOnce(io::Error) -> BenchError {
    let what = what.to_owned();
    move |source| BenchError::Io { what, source }
}

/// Runs a command to its successful end.
pub(super) fn finish(mut command: Command) -> Result<(), BenchError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(failed(&format!("start `{name}`")))?;
    if status.success() { Ok(()) } else { Err(BenchError::Ended { command: name, status }) }
}

/// The milliseconds something takes.
pub(super) fn milliseconds(work: impl FnOnce() -> Result<(), BenchError>) -> Result<f64, BenchError> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64() * 1000.0)
}

/// Looks until something is there: another process's files ring no bell.
pub(super) fn wait_for<Seen>(
    what: &'static str,
    mut look: impl FnMut() -> Result<Option<Seen>, BenchError>,
) -> Result<Seen, BenchError> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(seen) = look()? {
            return Ok(seen);
        }
        if Instant::now() > deadline {
            return Err(BenchError::Late { what });
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The wall clock.
pub(super) fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// Bytes for an id; every hasher of the standard library starts with keys of its own.
pub(super) fn random() -> [u8; 10] {
    let [words, more] = [0, 1].map(|_| RandomState::new().build_hasher().finish().to_le_bytes());
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&words);
    bytes[8..].copy_from_slice(&more[..2]);
    bytes
}

/// A runtime as a worker has it.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, BenchError> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(failed("start a runtime"))
}
