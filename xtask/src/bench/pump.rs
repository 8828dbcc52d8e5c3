//! How fast output passes a keeper, redacted and synced, beside `cat > file` behind the same kind of pipe.
//! Called by `bench`. By the clock, and by the keeper's own CPU time, which shows what it could do with a core to itself.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use longhaul_keeper::{SessionDir, Standing, Stream, spawn_keeper};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::agent_text::{MASK, json_lines, secret, source_text};
use super::compare::in_turn;
use super::scene::{Outcome, Scene, ensure};
use super::table::Row;

const ROUNDS: usize = 10;
/// Less than a log may keep, so that nothing is dropped.
const FULL_BYTES: usize = 96_000_000;
const QUICK_BYTES: usize = 24_000_000;

/// Measures both kinds of output.
pub(super) fn measure(scene: &Scene) -> Outcome<Vec<Row>> {
    let source = source_text(&scene.checkout)?;
    let lines = json_lines(&source);
    let mut rows = output_of(scene, "JSON lines of an agent", &lines)?;
    rows.extend(output_of(scene, "source text", &source)?);
    Ok(rows)
}

fn output_of(scene: &Scene, name: &str, sample: &str) -> Outcome<Vec<Row>> {
    let passage = Passage::prepare(scene, name, sample)?;
    let [plain, plain_cpu, kept, kept_cpu] = in_turn(scene.rounds(ROUNDS), |_| {
        let ([plain, plain_cpu], [kept, kept_cpu]) = (passage.through_cat()?, passage.through_keeper()?);
        Ok([plain, plain_cpu, kept, kept_cpu])
    })?;
    let row = |how: &str, figures, reference| {
        Row::new(format!("{name} through a keeper, {how}"), " MB/s", figures)
            .beside("`cat > file` behind a pipe", reference)
    };
    Ok(vec![row("by the clock", &kept, &plain), row("by its CPU time", &kept_cpu, &plain_cpu)])
}

/// A file of output, and the places for its copies.
struct Passage<'scene> {
    scene: &'scene Scene,
    input: PathBuf,
    bytes: u64,
    sessions: PathBuf,
    copy: PathBuf,
}

impl Passage<'_> {
    fn prepare<'scene>(scene: &'scene Scene, name: &str, sample: &str) -> Outcome<Passage<'scene>> {
        let sessions = scene.directory(&format!("pump {name}"))?;
        let [input, copy] = ["input", "copy"].map(|file| scene.path(&format!("pump {name}.{file}")));
        let wanted = if scene.arguments.quick { QUICK_BYTES } else { FULL_BYTES };
        let text = sample.repeat(wanted.div_ceil(sample.len()));
        let mut file = File::create(&input)?;
        file.write_all(text.as_bytes())?;
        // Or its way to the disk would be part of the first round.
        file.sync_all()?;
        Ok(Passage { scene, input, bytes: text.len() as u64, sessions, copy })
    }

    /// Megabytes a second by the clock and by the reader's CPU time.
    fn through_cat(&self) -> Outcome<[f64; 2]> {
        let begin = Instant::now();
        let mut producer = Command::new("cat").arg(&self.input).stdout(Stdio::piped()).spawn()?;
        let pipe = producer.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let consumer = Command::new("cat").stdin(pipe).stdout(File::create(&self.copy)?).spawn()?;
        let cpu = cpu_seconds_at_end(consumer)?;
        let rate = self.rate(begin, cpu);
        producer.wait()?;
        let copied = fs::metadata(&self.copy)?.len();
        fs::remove_file(&self.copy)?;
        ensure(copied == self.bytes, || format!("`cat` copied {copied} bytes of {}", self.bytes))?;
        Ok(rate)
    }

    fn through_keeper(&self) -> Outcome<[f64; 2]> {
        let directory = self.scene.session(&self.sessions, &["/bin/cat", &self.input.to_string_lossy()], b"")?;
        let begin = Instant::now();
        let cpu = cpu_seconds_at_end(spawn_keeper(&self.scene.keeper, &directory, Standing::Plain)?)?;
        let rate = self.rate(begin, cpu);
        check_log(&directory)?;
        // Hundreds of megabytes a round, and the next one needs the room.
        let segments = (0..).map(|number| directory.segment(Stream::Out, number));
        segments.take_while(|segment| segment.exists()).try_for_each(fs::remove_file)?;
        Ok(rate)
    }

    fn rate(&self, begin: Instant, cpu_seconds: f64) -> [f64; 2] {
        [begin.elapsed().as_secs_f64(), cpu_seconds].map(|seconds| self.bytes as f64 / 1e6 / seconds)
    }
}

/// The log must be complete and hold no secret, or something else was measured.
fn check_log(directory: &SessionDir) -> Outcome {
    let end = directory.end()?;
    let is_complete = end.as_ref().is_some_and(|end| end.gap_bytes == 0 && end.log_error.is_none());
    ensure(is_complete, || format!("the log is not complete: {end:?}"))?;
    let first = fs::read(directory.out_log())?;
    let text = String::from_utf8_lossy(&first);
    ensure(text.contains(MASK) && !text.contains(&secret()), || "a secret was not redacted".to_owned())
}

/// Waits for a process of one thread and returns its own CPU time, without its children.
fn cpu_seconds_at_end(mut child: Child) -> Outcome<f64> {
    waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let text = fs::read_to_string(format!("/proc/{}/schedstat", child.id()))?;
    child.wait()?;
    let nanoseconds: f64 = text.split(' ').next().unwrap_or_default().parse()?;
    ensure(nanoseconds > 0.0, || format!("a process without CPU time: {text}"))?;
    Ok(nanoseconds / 1e9)
}
