//! An agent that prints 10 GB: what its keeper takes in memory, whether the gap is counted, and what a neighbour notices.
//! Called by `plan` when asked for. The neighbour is a quiet agent under a keeper of its own; how late each of its lines was
//! written is read from its index afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use longhaul_keeper::{
    Caps, EntryKind, SessionDir, Spec, Standing, Stop, Stream, read_index, signal_keeper, spawn_keeper,
};

use super::figures::{Samples, Unit};
use super::scene::{BenchError, Scene, failed};
use super::table::{Bound, Comparison, Row, Target};
use super::tiny_agents::{FLOOD, TICK_TIMES, program};
use super::wishes::Effort;

const GIGABYTE: u64 = 1_000_000_000;
/// Parts of the flood, each with a stretch of quiet before it.
const ROUNDS: u64 = 5;
/// Ten minutes: more than any part of the flood takes, and an end to neighbours of a run that was killed.
const TICKS: &str = "60000";
const QUIET: Duration = Duration::from_secs(4);
const CAPS: Caps = Caps { segment_bytes: 1 << 20, log_bytes: 8 << 20, pids_max: 4096 };
const MOST_MEMORY_KB: f64 = 65_536.0;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Measures a flood in parts, each beside the same neighbour in quiet.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let total = if effort == Effort::Full { 10 * GIGABYTE } else { GIGABYTE };
    let place = Place { scene, program: program()?, sessions: scene.directory("flood")?, bytes: total / ROUNDS };
    let mut rounds = Rounds::default();
    for _ in 0..ROUNDS {
        place.round(&mut rounds)?;
    }
    Ok(rounds.rows(total))
}

/// The figures of all rounds.
#[derive(Default)]
struct Rounds {
    late_in_flood: Samples,
    late_in_quiet: Samples,
    flooded_kb: Samples,
    neighbour_kb: Samples,
    rate: Samples,
    plain_rate: Samples,
    gap_bytes: u64,
}

impl Rounds {
    fn rows(self, total: u64) -> Vec<Row> {
        let [total, gap] = [total, self.gap_bytes].map(|bytes| bytes as f64 / GIGABYTE as f64);
        let row = |what: String, unit, [measured, reference]: [Samples; 2], beside: &str, target| {
            Row::new(what, Comparison { unit, measured, beside: beside.to_owned(), reference }, target)
        };
        vec![
            row(
                format!("a flood of {total:.0} GB through keepers ({gap:.2} GB of it counted as gap, to the byte)"),
                Unit::MegabytesPerSecond,
                [self.rate, self.plain_rate],
                "the same into `cat > /dev/null`",
                Target::Free,
            ),
            row(
                "the most memory of a flooded keeper".to_owned(),
                Unit::Kilobytes,
                [self.flooded_kb, self.neighbour_kb],
                "its quiet neighbour",
                Target::Aim(Bound::FigureAtMost(MOST_MEMORY_KB)),
            ),
            row(
                "how late a neighbour's lines are written during the flood, 99th of 100".to_owned(),
                Unit::Milliseconds,
                [self.late_in_flood, self.late_in_quiet],
                "in quiet",
                Target::Aim(Bound::AtMost(2.0)),
            ),
        ]
    }
}

struct Place<'scene> {
    scene: &'scene Scene,
    program: String,
    sessions: PathBuf,
    bytes: u64,
}

impl Place<'_> {
    fn round(&self, rounds: &mut Rounds) -> Result<(), BenchError> {
        let neighbour = self.start(&[TICK_TIMES, TICKS])?;
        sleep(QUIET);
        rounds.late_in_quiet.push(neighbour.end_and_tell_lateness()?);
        rounds.plain_rate.push(self.plain_flood()?);

        let neighbour = self.start(&[TICK_TIMES, TICKS])?;
        let begin = Instant::now();
        let mut flooded = self.start(&[FLOOD, &self.bytes.to_string()])?;
        let peak_kb = flooded.peak_kb_until_end()?;
        rounds.rate.push(self.bytes as f64 / 1e6 / begin.elapsed().as_secs_f64());
        rounds.flooded_kb.push(peak_kb);
        rounds.neighbour_kb.push(peak_kb_of(neighbour.keeper.id()));
        rounds.late_in_flood.push(neighbour.end_and_tell_lateness()?);
        rounds.gap_bytes += flooded.counted_gap(self.bytes)?;
        Ok(())
    }

    fn start(&self, words: &[&str]) -> Result<Kept, BenchError> {
        let argv = [&[&*self.program, "bench"], words].concat();
        let spec = Spec { caps: CAPS, ..self.scene.spec(&argv) };
        let directory = self.scene.prepare(&self.sessions, &spec, b"")?;
        let keeper = spawn_keeper(&self.scene.keeper, &directory, Standing::Plain).map_err(failed("spawn a keeper"))?;
        Ok(Kept { keeper, directory })
    }

    /// A part of the flood without keeper and disk.
    fn plain_flood(&self) -> Result<f64, BenchError> {
        let begin = Instant::now();
        let mut source = Command::new(&self.program);
        source.args(["bench", FLOOD, &self.bytes.to_string()]).stdout(Stdio::piped());
        let mut source = source.spawn().map_err(failed("start a flood"))?;
        let pipe = source.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let drain = Command::new("cat").stdin(pipe).stdout(Stdio::null()).status();
        drain.map_err(failed("start `cat`"))?;
        source.wait().map_err(failed("wait for a flood"))?;
        Ok(self.bytes as f64 / 1e6 / begin.elapsed().as_secs_f64())
    }
}

/// A session under its keeper; ended when it is dropped.
struct Kept {
    keeper: Child,
    directory: SessionDir,
}

impl Kept {
    fn peak_kb_until_end(&mut self) -> Result<f64, BenchError> {
        let mut peak = 0.0;
        while self.keeper.try_wait().map_err(failed("look at a keeper"))?.is_none() {
            peak = peak_kb_of(self.keeper.id()).max(peak);
            sleep(LOOK_EVERY);
        }
        Ok(peak)
    }

    /// What was dropped; with what was kept it must be all that was printed.
    fn counted_gap(&self, printed: u64) -> Result<u64, BenchError> {
        match self.directory.end()? {
            Some(end) if end.out_len + end.gap_bytes == printed => Ok(end.gap_bytes),
            other => Err(BenchError::Unexpected { what: "the end of a flood", found: format!("{other:?}") }),
        }
    }

    /// Ends the session and tells how late, in milliseconds, all but one of a hundred lines were written at most.
    fn end_and_tell_lateness(mut self) -> Result<f64, BenchError> {
        self.end();
        lateness(&self.directory).map(|late| late.quantile(0.99))
    }

    fn end(&mut self) {
        if let Ok(Some(identity)) = self.directory.identity() {
            // A keeper that can not be told to end is waited for below in vain, and that is seen.
            signal_keeper(&identity, Stop::Immediate).ok();
        }
        self.keeper.wait().ok();
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.end();
    }
}

/// For each piece in the index, from the time its first line tells until it was written.
fn lateness(directory: &SessionDir) -> Result<Samples, BenchError> {
    let log = read(&directory.out_log())?;
    let index = read(&directory.index())?;
    let mut late = Samples::new();
    for entry in read_index(&index).iter().filter(|entry| entry.stream == Stream::Out && entry.segment == 0) {
        let piece = usize::try_from(entry.offset).ok().and_then(|from| log.get(from..)).unwrap_or_default();
        let told = first_number(piece).filter(|_| entry.kind == EntryKind::Piece);
        if let Some(told) = told {
            late.push((entry.time.0 - told) as f64 / 1e3);
        }
    }
    Ok(late)
}

fn first_number(piece: &[u8]) -> Option<i64> {
    let line = piece.split(|&byte| byte == b'\n').next()?;
    str::from_utf8(line).ok()?.parse().ok()
}

fn read(path: &Path) -> Result<Vec<u8>, BenchError> {
    fs::read(path).map_err(failed(&format!("read `{}`", path.display())))
}

/// The most memory a live process ever had; 0 of a dead one.
fn peak_kb_of(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::{first_number, peak_kb_of};

    #[test]
    fn a_piece_begins_with_its_time() {
        assert_eq!(first_number(b"1700000000000001\n1700000000000002\n"), Some(1_700_000_000_000_001));
        assert_eq!(first_number(b"tick\n"), None);
    }

    #[test]
    fn a_live_process_has_memory() {
        assert!(peak_kb_of(std::process::id()) > 0.0);
    }
}
