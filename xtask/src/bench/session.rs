//! What a session costs when its agent does nothing (keeper, containment, all records on disk), and how soon the agent is executed.
//! Called by `bench`. The session's reference is two bare spawns and twelve atomic replaces, taken right before and after.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use longhaul_keeper::{ExitStatus, SessionDir, Standing, spawn_keeper};

use super::compare::{in_turn, milliseconds, monotonic_milliseconds};
use super::scene::{Outcome, Scene, ensure, finish, silent};
use super::table::{Bound, Row};

const ROUNDS: usize = 60;
const REPLACES: u32 = 4;
const NO_OP: &str = "/bin/true";

/// As long as prompts of the worker are.
const PROMPT: [u8; 2048] = [b'p'; 2048];
/// As long as the records in a session directory are.
const RECORD: [u8; 400] = [b'r'; 400];

/// Measures a kept session and the time to exec.
pub(super) fn measure(scene: &Scene) -> Outcome<Vec<Row>> {
    let [sessions, replaces] = ["sessions", "replaces"].map(|name| scene.directory(name));
    let (sessions, replaces) = (sessions?, replaces?);
    let [kept, spawn, replace] = in_turn(scene.rounds(ROUNDS), |_| {
        let before = references(&replaces)?;
        let kept = milliseconds(|| keep(scene, &sessions))?;
        let after = references(&replaces)?;
        Ok([kept, f64::midpoint(before[0], after[0]), f64::midpoint(before[1], after[1])])
    })?;
    let allowance = spawn.with(&replace, |spawn, replace| 2.0 * spawn + 12.0 * replace);
    let beside = format!("2 bare spawns ({:.2} ms) + 12 atomic replaces ({:.2} ms)", spawn.median(), replace.median());
    let row = Row::new("one session of a no-op agent under its keeper", " ms", &kept).beside(beside, &allowance);
    Ok(vec![row.gate(Bound::AtMost(1.0)), time_to_exec(scene, &sessions)?])
}

/// The agent is this program, which prints the moment it runs.
fn time_to_exec(scene: &Scene, sessions: &Path) -> Outcome<Row> {
    let program = std::env::current_exe()?.to_string_lossy().into_owned();
    let argv = [&*program, "bench", "--print-time"];
    let [kept, direct] = in_turn(scene.rounds(ROUNDS), |_| {
        let begin = monotonic_milliseconds();
        let output = Command::new(&program).args(&argv[1..]).output()?;
        let direct = printed_time(&output.stdout)? - begin;
        let directory = scene.session(sessions, &argv, b"")?;
        let begin = monotonic_milliseconds();
        run_keeper(scene, &directory)?;
        Ok([printed_time(&fs::read(directory.out_log())?)? - begin, direct])
    })?;
    let over = kept.with(&direct, |kept, direct| kept - direct).median();
    let what = format!("from the keeper's spawn to the agent's exec ({over:.2} ms over a direct spawn)");
    Ok(Row::new(what, " ms", &kept).beside("direct spawn to exec", &direct))
}

fn printed_time(output: &[u8]) -> Outcome<f64> {
    Ok(String::from_utf8_lossy(output).trim().parse()?)
}

fn run_keeper(scene: &Scene, directory: &SessionDir) -> Outcome {
    spawn_keeper(&scene.keeper, directory, Standing::Plain)?.wait()?;
    Ok(())
}

/// A bare spawn, and one atomic replace of a file.
fn references(replaces: &Path) -> Outcome<[f64; 2]> {
    let spawn = milliseconds(|| finish(&mut silent(NO_OP)))?;
    let replaces = milliseconds(|| Ok((0..REPLACES).try_for_each(|_| replace(replaces))?))?;
    Ok([spawn, replaces / f64::from(REPLACES)])
}

/// Prepares, spawns, and waits as a worker does: for the keeper's death, then reads its last records.
fn keep(scene: &Scene, sessions: &Path) -> Outcome {
    let directory = scene.session(sessions, &[NO_OP], &PROMPT)?;
    run_keeper(scene, &directory)?;
    let status = directory.exit()?.map(|exit| exit.status);
    let is_clean = directory.end()?.is_some_and(|end| end.tree_empty) && status == Some(ExitStatus::Code(0));
    ensure(is_clean, || format!("a session ended with {status:?} in `{}`", directory.path().display()))
}

/// Written here: the product's own replace as its reference would hide that it is slow.
fn replace(directory: &Path) -> io::Result<()> {
    let temporary = directory.join("record.new");
    let mut file = File::create(&temporary)?;
    file.write_all(&RECORD)?;
    file.sync_all()?;
    fs::rename(&temporary, directory.join("record"))?;
    File::open(directory)?.sync_all()
}
