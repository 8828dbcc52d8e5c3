//! How fast the redactor is by itself, in MB per second of CPU time, beside a loop that looks each byte up in a table.
//! Called by `bench`. No program that looks at every byte can be faster than the loop; neither needs a disk or a pipe.

use std::hint::black_box;
use std::sync::Arc;

use longhaul_redact::{Redactor, Secrets};
use rustix::time::{ClockId, clock_gettime};

use super::agent_text::{json_lines, source_text};
use super::compare::in_turn;
use super::scene::{Outcome, Scene};
use super::table::{Bound, Row};

const ROUNDS: usize = 20;
/// As much as a pump reads at once.
const WRITE: usize = 64 * 1024;
/// So much text is enough for a figure.
const BYTES: usize = 24_000_000;

/// Measures both kinds of output, with four known values.
pub(super) fn measure(scene: &Scene) -> Outcome<Vec<Row>> {
    let source = source_text(&scene.checkout)?;
    let lines = json_lines(&source);
    let row = |name: &str, text: &str, least: f64| -> Outcome<Row> {
        let text = text.repeat(BYTES.div_ceil(text.len()));
        let [reference, redacted] =
            in_turn(scene.rounds(ROUNDS), |_| Ok([rate(&text, look_each_byte_up), rate(&text, redact)]))?;
        let row = Row::new(format!("{name} through the redactor, by CPU time"), " MB/s", &redacted);
        Ok(row.beside("one table lookup for each byte", &reference).gate(Bound::AtLeast(least)))
    };
    Ok(vec![row("source text", &source, 0.05)?, row("JSON lines of an agent", &lines, 0.04)?])
}

/// Megabytes in a second of this thread's CPU time.
fn rate(text: &str, pass: fn(&[u8])) -> f64 {
    let begin = cpu_seconds();
    pass(text.as_bytes());
    text.len() as f64 / 1e6 / (cpu_seconds() - begin)
}

fn redact(text: &[u8]) {
    let values = [
        ("A_KEY", "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5"),
        ("GH_TOKEN", "tok_0123456789abcdefghij"),
        ("DB_PASSWORD", "correct-horse/battery+staple"),
        ("CLIENT_SECRET", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz"),
    ];
    let secrets = values.iter().fold(Secrets::default(), |secrets, (name, value)| secrets.with(name, value));
    let (mut redactor, mut out) = (Redactor::new(Arc::new(secrets)), Vec::new());
    for write in text.chunks(WRITE) {
        out.clear();
        redactor.push(write, &mut out);
    }
    redactor.finish(&mut out);
    black_box(out);
}

fn look_each_byte_up(text: &[u8]) {
    let table: [u8; 256] = std::array::from_fn(|byte| (byte as u8).to_ascii_lowercase());
    let table = black_box(table);
    let mut out = Vec::with_capacity(WRITE);
    for write in text.chunks(WRITE) {
        out.clear();
        out.extend(write.iter().map(|byte| table[usize::from(*byte)]));
        black_box(&out);
    }
}

fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
