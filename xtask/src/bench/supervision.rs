//! What a session costs when its agent does nothing: keeper, containment and everything that has to be on disk.
//! Called by `plan`. Beside it stand twice a bare spawn and twelve atomic replaces, taken right before and after.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use longhaul_core::ids::SessionId;
use longhaul_core::task::Purpose;
use longhaul_keeper::{ExitStatus, Standing, spawn_keeper};
use longhaul_store::Stored;
use longhaul_store::sqlite::SqliteStore;
use tokio::runtime::Runtime;

use super::figures::{Samples, Unit};
use super::sample_task::{advance, ended, output_read, planned, started};
use super::scene::{BenchError, Scene, failed, finish, milliseconds, runtime};
use super::table::{Bound, Comparison, Row, Target};
use super::wishes::Effort;

const ROUNDS: usize = 60;
const REPLACES_A_LOOK: u32 = 4;
const NO_OP: &str = "/bin/true";

/// As long as prompts of the worker are.
const PROMPT: [u8; 2048] = [b'p'; 2048];
/// As long as the records in a session directory are.
const RECORD: [u8; 400] = [b'r'; 400];

/// Measures a kept session, alone and with its commits.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let mut world = World::new(scene)?;
    let [mut kept, mut committed, mut spawn, mut replaced] = [const { Samples::new() }; 4];
    for _ in 0..effort.rounds(ROUNDS) {
        let before = world.references()?;
        kept.push(milliseconds(|| world.keep_session())?);
        committed.push(milliseconds(|| world.keep_session_with_commits())?);
        let after = world.references()?;
        spawn.push(f64::midpoint(before.spawn, after.spawn));
        replaced.push(f64::midpoint(before.replace, after.replace));
    }
    let allowance = spawn.with(&replaced, |spawn, replace| 2.0 * spawn + 12.0 * replace);
    let parts = format!("2 bare spawns ({:.2} ms) + 12 atomic replaces ({:.2} ms)", spawn.median(), replaced.median());
    let beside_allowance = |measured| Comparison {
        unit: Unit::Milliseconds,
        measured,
        beside: parts.clone(),
        reference: allowance.clone(),
    };
    let bound = Bound::AtMost(1.0);
    Ok(vec![
        Row::new("one session of a no-op agent under its keeper", beside_allowance(kept), Target::Gate(bound)),
        Row::new("the same with its three commits in the store", beside_allowance(committed), Target::Aim(bound)),
    ])
}

struct References {
    spawn: f64,
    replace: f64,
}

struct World<'scene> {
    scene: &'scene Scene,
    sessions: PathBuf,
    replaces: PathBuf,
    runtime: Runtime,
    store: SqliteStore,
    task: Stored,
}

impl World<'_> {
    fn new(scene: &Scene) -> Result<World<'_>, BenchError> {
        let home = scene.directory("supervision")?;
        let runtime = runtime()?;
        let store = SqliteStore::open(&home)?;
        let task = runtime.block_on(planned(&store, &home, "supervised"))?;
        let [sessions, replaces] = ["supervision/sessions", "supervision/replaces"].map(|name| scene.directory(name));
        Ok(World { scene, sessions: sessions?, replaces: replaces?, runtime, store, task })
    }

    fn references(&self) -> Result<References, BenchError> {
        let spawn = milliseconds(|| finish(Command::new(NO_OP)))?;
        let replaces = milliseconds(|| {
            (0..REPLACES_A_LOOK).try_for_each(|_| replace(&self.replaces)).map_err(failed("replace a file"))
        })?;
        Ok(References { spawn, replace: replaces / f64::from(REPLACES_A_LOOK) })
    }

    fn keep_session(&self) -> Result<(), BenchError> {
        self.keep(None)
    }

    fn keep_session_with_commits(&mut self) -> Result<(), BenchError> {
        let session = self.scene.spec(&[NO_OP]).session;
        self.commit(started(&self.task, session, Purpose::Work))?;
        self.keep(Some(session))?;
        self.commit(output_read(session, 0))?;
        self.commit(ended(session))
    }

    fn commit(&mut self, event: longhaul_core::task::Event) -> Result<(), BenchError> {
        self.task = self.runtime.block_on(advance(&self.store, &self.task, event))?;
        Ok(())
    }

    /// Prepares, spawns, and waits as a worker does: for the keeper's death, then reads its last word.
    fn keep(&self, session: Option<SessionId>) -> Result<(), BenchError> {
        let mut spec = self.scene.spec(&[NO_OP]);
        spec.session = session.unwrap_or(spec.session);
        let directory = self.scene.prepare(&self.sessions, &spec, &PROMPT)?;
        let mut keeper =
            spawn_keeper(&self.scene.keeper, &directory, Standing::Plain).map_err(failed("spawn a keeper"))?;
        keeper.wait().map_err(failed("wait for a keeper"))?;
        let status = directory.exit()?.map(|exit| exit.status);
        let is_clean = directory.end()?.is_some_and(|end| end.tree_empty);
        if is_clean && status == Some(ExitStatus::Code(0)) {
            return Ok(());
        }
        Err(unexpected_end(directory.path(), status.as_ref()))
    }
}

/// A replace written here and not the product's own, which would excuse itself by being slow.
fn replace(directory: &Path) -> io::Result<()> {
    let temporary = directory.join("record.new");
    let mut file = File::create(&temporary)?;
    file.write_all(&RECORD)?;
    file.sync_all()?;
    fs::rename(&temporary, directory.join("record"))?;
    File::open(directory)?.sync_all()
}

fn unexpected_end(directory: &Path, status: Option<&ExitStatus>) -> BenchError {
    BenchError::Unexpected { what: "the end of a session", found: format!("{}: {status:?}", directory.display()) }
}
