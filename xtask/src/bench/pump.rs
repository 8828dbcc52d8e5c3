//! How fast output comes through a keeper, redacted and synced, beside `cat > file` behind the same kind of pipe.
//! Called by `plan`. By the clock, and by the keeper's own CPU time, which says what it could do on a core of its own.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use longhaul_keeper::{SessionDir, Standing, spawn_keeper};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::agent_text::{MASK, json_lines, secret, source_text};
use super::figures::{Samples, Unit};
use super::scene::{BenchError, Scene, failed};
use super::table::{Bound, Comparison, Row, Target};
use super::wishes::Effort;

const ROUNDS: usize = 10;
/// Less than a log may keep, so that nothing is dropped.
const FULL_BYTES: usize = 96_000_000;
const QUICK_BYTES: usize = 24_000_000;
const ENOUGH: Bound = Bound::AtLeastOrFigure { ratio: 0.5, figure: 100.0 };

/// Measures both kinds of output.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let source = source_text(&scene.checkout)?;
    let lines = json_lines(&source);
    let mut rows = output_of(scene, effort, &Text { name: "JSON lines of an agent", sample: &lines })?;
    rows.extend(output_of(scene, effort, &Text { name: "source text", sample: &source })?);
    Ok(rows)
}

struct Text<'sample> {
    name: &'static str,
    sample: &'sample str,
}

/// What one passage took, in megabytes a second.
struct Rate {
    by_clock: f64,
    by_cpu: f64,
}

fn output_of(scene: &Scene, effort: Effort, text: &Text<'_>) -> Result<Vec<Row>, BenchError> {
    let passage = Passage::prepare(scene, effort, text)?;
    let [mut kept, mut plain, mut kept_cpu, mut plain_cpu] = [const { Samples::new() }; 4];
    for _ in 0..effort.rounds(ROUNDS) {
        let rate = passage.through_cat()?;
        plain.push(rate.by_clock);
        plain_cpu.push(rate.by_cpu);
        let rate = passage.through_keeper()?;
        kept.push(rate.by_clock);
        kept_cpu.push(rate.by_cpu);
    }
    let row = |how: &str, measured, reference| {
        let beside = "`cat > file` behind a pipe".to_owned();
        let comparison = Comparison { unit: Unit::MegabytesPerSecond, measured, beside, reference };
        Row::new(format!("{} through a keeper, {how}", text.name), comparison, Target::Aim(ENOUGH))
    };
    Ok(vec![row("by the clock", kept, plain), row("by its CPU time", kept_cpu, plain_cpu)])
}

/// A file of output and where it is to go.
struct Passage<'scene> {
    scene: &'scene Scene,
    input: PathBuf,
    bytes: u64,
    sessions: PathBuf,
    copy: PathBuf,
}

impl Passage<'_> {
    fn prepare<'scene>(scene: &'scene Scene, effort: Effort, text: &Text<'_>) -> Result<Passage<'scene>, BenchError> {
        let directory = scene.directory(&format!("pump {}", text.name))?;
        let wanted = if effort == Effort::Full { FULL_BYTES } else { QUICK_BYTES };
        let input = directory.join("input");
        let mut file = File::create(&input).map_err(failed("make the output to pump"))?;
        let copies = wanted.div_ceil(text.sample.len());
        for _ in 0..copies {
            file.write_all(text.sample.as_bytes()).map_err(failed("write the output to pump"))?;
        }
        // Its way to the disk is not to fall into the first round.
        file.sync_all().map_err(failed("sync the output to pump"))?;
        let sessions = directory.join("sessions");
        fs::create_dir(&sessions).map_err(failed("make a directory"))?;
        let bytes = (copies * text.sample.len()) as u64;
        Ok(Passage { scene, input, bytes, sessions, copy: directory.join("copy") })
    }

    fn through_cat(&self) -> Result<Rate, BenchError> {
        let begin = Instant::now();
        let copy = File::create(&self.copy).map_err(failed("make a copy"))?;
        let mut producer = Command::new("cat");
        let mut producer = start(producer.arg(&self.input).stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let pipe = producer.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let consumer = start(Command::new("cat").stdin(pipe).stdout(copy))?;
        let cpu = cpu_seconds_at_end(consumer)?;
        producer.wait().map_err(failed("wait for `cat`"))?;
        let rate = self.rate(begin, cpu);
        let copied = fs::metadata(&self.copy).map_err(failed("look at the copy"))?.len();
        remove(&self.copy)?;
        expect(copied == self.bytes, "the copy by `cat`", || format!("{copied} bytes of {}", self.bytes))?;
        Ok(rate)
    }

    fn through_keeper(&self) -> Result<Rate, BenchError> {
        let spec = self.scene.spec(&["/bin/cat", &self.input.to_string_lossy()]);
        let directory = self.scene.prepare(&self.sessions, &spec, b"")?;
        let begin = Instant::now();
        let keeper = spawn_keeper(&self.scene.keeper, &directory, Standing::Plain).map_err(failed("spawn a keeper"))?;
        let cpu = cpu_seconds_at_end(keeper)?;
        let rate = self.rate(begin, cpu);
        check_log(&directory)?;
        // Hundreds of megabytes a round: by exact name, as the next round needs the room.
        for number in 0.. {
            let segment = directory.segment(longhaul_keeper::Stream::Out, number);
            if !segment.exists() {
                break;
            }
            remove(&segment)?;
        }
        Ok(rate)
    }

    fn rate(&self, begin: Instant, cpu_seconds: f64) -> Rate {
        let megabytes = self.bytes as f64 / 1e6;
        Rate { by_clock: megabytes / begin.elapsed().as_secs_f64(), by_cpu: megabytes / cpu_seconds }
    }
}

/// All of it must be there, without the secrets: else something else was measured.
fn check_log(directory: &SessionDir) -> Result<(), BenchError> {
    let end = directory.end()?;
    expect(end.as_ref().is_some_and(|end| end.gap_bytes == 0 && end.log_error.is_none()), "the pumped log", || {
        format!("{end:?}")
    })?;
    let first = fs::read(directory.out_log()).map_err(failed("read the pumped log"))?;
    let text = String::from_utf8_lossy(&first);
    expect(text.contains(MASK) && !text.contains(&secret()), "redaction", || "a secret went through".to_owned())
}

fn expect(holds: bool, what: &'static str, found: impl FnOnce() -> String) -> Result<(), BenchError> {
    if holds { Ok(()) } else { Err(BenchError::Unexpected { what, found: found() }) }
}

fn start(command: &mut Command) -> Result<Child, BenchError> {
    command.spawn().map_err(failed("start `cat`"))
}

fn remove(path: &Path) -> Result<(), BenchError> {
    fs::remove_file(path).map_err(failed(&format!("remove `{}`", path.display())))
}

/// Waits for a process of one thread and tells the CPU time it took itself, without its children.
fn cpu_seconds_at_end(mut child: Child) -> Result<f64, BenchError> {
    let pid = Pid::from_child(&child);
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        .map_err(|error| failed("wait for a process")(error.into()))?;
    let path = format!("/proc/{}/schedstat", child.id());
    let text = fs::read_to_string(&path).map_err(failed(&format!("read `{path}`")))?;
    child.wait().map_err(failed("wait for a process"))?;
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    let seconds = nanoseconds.map(|nanoseconds| nanoseconds / 1e9).filter(|seconds| *seconds > 0.0);
    seconds.ok_or(BenchError::Unexpected { what: "the CPU time of a process", found: text })
}
