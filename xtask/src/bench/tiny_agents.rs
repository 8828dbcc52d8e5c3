//! Programs that a keeper runs for a measure: this tool itself, told by a hidden argument what to be.
//! `plan` asks here first. Each prints and ends; none measures anything.

use std::io::{self, Write};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::scene::{BenchError, failed, now};

/// Tells when it was executed, on the clock that all processes of a machine share.
pub(super) const TELL_TIME: &str = "--tell-monotonic-time";
/// Prints so many bytes, in lines of 1 KiB, as fast as they are taken.
pub(super) const FLOOD: &str = "--flood-with-bytes";
/// Prints the time of day so many times, in microseconds, one line each `TICK`.
pub(super) const TICK_TIMES: &str = "--tick-times";

/// Between two lines of the ticking one.
const TICK: Duration = Duration::from_millis(10);

/// The path of this tool.
pub(super) fn program() -> Result<String, BenchError> {
    let program = std::env::current_exe().map_err(failed("find this program"))?;
    Ok(program.to_string_lossy().into_owned())
}

/// Is one of the agents, if the arguments say so.
pub(super) fn play(arguments: &[String]) -> Option<ExitCode> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let played = match *words {
        [TELL_TIME] => writeln!(io::stdout(), "{:.4}", monotonic_milliseconds()),
        [FLOOD, bytes] => flood(bytes.parse().ok()?),
        [TICK_TIMES, count] => tick(count.parse().ok()?),
        _ => return None,
    };
    Some(if played.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Milliseconds of the clock that all processes of a machine share.
pub(super) fn monotonic_milliseconds() -> f64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn flood(bytes: usize) -> io::Result<()> {
    let line = [&[b'x'; 1023][..], b"\n"].concat();
    let piece = line.repeat(64);
    let mut output = io::stdout().lock();
    for _ in 0..bytes / piece.len() {
        output.write_all(&piece)?;
    }
    output.write_all(&piece[..bytes % piece.len()])
}

fn tick(count: u32) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for _ in 0..count {
        // Not to synchronise with anything: the rests are what makes it a quiet neighbour.
        sleep(TICK);
        writeln!(output, "{}", now().0)?;
    }
    Ok(())
}
