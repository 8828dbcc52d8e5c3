//! Carries out the faults that happen at the start of a session or end the process; the lies are told by the roles.
//!
//! Called by `session.rs` and the speaker. Signals go only to this process itself.

use std::io;
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

use super::dialect::{Line, Speaker};
use super::faults::{Fault, LimitUntil};
use super::ledger::Ledger;
use super::memory::{Invocation, now_ms};
use super::session::SessionError;

/// Does what the faults ask for right after the session line, in their order; breaks with the exit code when that is the end.
pub(super) fn at_start(
    faults: &[Fault],
    speaker: &mut Speaker<'_>,
    ledger: Option<&Ledger>,
    invocation: Invocation,
) -> Result<ControlFlow<u8>, SessionError> {
    for fault in faults {
        let flow = match fault {
            Fault::Exit(code) => ControlFlow::Break(*code),
            Fault::Limit(until) => report_limit(speaker, *until, invocation)?,
            Fault::Auth => report(speaker, "auth", "not logged in")?,
            Fault::ServerError => report(speaker, "server", "the server answered with an error")?,
            Fault::ContextFull => report(speaker, "context_full", "the conversation is too long")?,
            Fault::Permission => report(speaker, "permission", "wants to run `rm`, which needs an approval")?,
            Fault::Exhausted => report(speaker, "exhausted", "the credit balance is zero")?,
            Fault::Daemon => ControlFlow::Continue(leave_daemons(speaker, ledger)?),
            Fault::Hang => sleep_for_ever(),
            Fault::Busy => loop {
                std::hint::spin_loop();
            },
            Fault::HangHard => return Err(sleep_through_signals(ledger).into()),
            Fault::Stop => ControlFlow::Continue(stop()?),
            _ => ControlFlow::Continue(print(fault, speaker)?),
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Ends this process as a crash would: nothing after this call happens.
pub(super) fn die() -> ! {
    // Were the kill refused, hanging would still be closer to the asked fault than going on.
    let _ = kill_process(getpid(), Signal::KILL);
    sleep_for_ever()
}

/// The faults that only print; all others print nothing.
fn print(fault: &Fault, speaker: &mut Speaker<'_>) -> io::Result<()> {
    match fault {
        Fault::Says(text) => speaker.text(text),
        Fault::Tokens(count) => speaker.usage(*count, 0),
        Fault::Cost(micros) => speaker.cost(*micros),
        Fault::EnvDump => std::env::vars_os().try_for_each(|(name, value)| {
            speaker.text(&format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
        }),
        Fault::Flood(bytes) => {
            print_repeated(speaker, b"junk junk junk junk junk junk junk junk junk junk junk junk junk junk\n", *bytes)
        }
        Fault::LongLine(bytes) => {
            print_repeated(speaker, b"long", *bytes)?;
            speaker.raw(b"\n")
        }
        Fault::Garbage => print_garbage(speaker),
        _ => Ok(()),
    }
}

fn print_repeated(speaker: &mut Speaker<'_>, pattern: &[u8], bytes: u64) -> io::Result<()> {
    let block = pattern.repeat(1024);
    let mut left = bytes;
    while left > 0 {
        let take = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let last = left <= block.len() as u64;
        speaker.raw(&block[..take])?;
        left -= take as u64;
        // A cut pattern must not run into the next line of the dialect.
        if last && pattern.ends_with(b"\n") && !block[..take].ends_with(b"\n") {
            speaker.raw(b"\n")?;
        }
    }
    Ok(())
}

fn print_garbage(speaker: &mut Speaker<'_>) -> io::Result<()> {
    speaker.raw(b"\xff\xfe not utf-8 \xc3\x28\n\0nul\0\n{\"type\":\"done\"\n{\"type\":\"text\"}\n[]\nnull\n\r\n")?;
    speaker.raw(b"\x1b]52;c;cm0gLXJmIH4=\x07\x1b]0;owned title\x07\x1b[2J\x1b[31mred\x1b[0m\n")?;
    speaker.text("\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}]0;owned title\u{7}\u{1b}[2J\u{202e}\u{0}escapes inside JSON")?;
    speaker.raw(&b"[".repeat(100_000))?;
    speaker.raw(b"\n")
}

fn report(speaker: &mut Speaker<'_>, class: &str, message: &str) -> io::Result<ControlFlow<u8>> {
    speaker.say(&Line::Error { class, message })?;
    Ok(ControlFlow::Break(1))
}

fn report_limit(speaker: &mut Speaker<'_>, until: LimitUntil, invocation: Invocation) -> io::Result<ControlFlow<u8>> {
    let until_ms = match until {
        LimitUntil::Unknown => None,
        LimitUntil::EpochMs(ms) => Some(ms),
        LimitUntil::AfterFirstInvocation { ms } => Some(invocation.first_ms.saturating_add(ms)),
    };
    if until_ms.is_some_and(|until| now_ms() >= until) {
        return Ok(ControlFlow::Continue(()));
    }
    speaker.say(&Line::Limit { until_ms })?;
    Ok(ControlFlow::Break(1))
}

/// Two sleepers with everything closed, the second also without the environment, and one that keeps standard output open. Each is
/// orphaned at once and leads a session of its own.
fn leave_daemons(speaker: &mut Speaker<'_>, ledger: Option<&Ledger>) -> Result<(), SessionError> {
    const SCRIPT: &str = "(setsid sleep 600 <&- >&- 2>&- & echo $! >&2)
        (setsid env -i sleep 600 <&- >&- 2>&- & echo $! >&2)
        (setsid sleep 600 </dev/null 2>&- & echo $! >&2)";
    // The process ids come over standard error, because standard output is the one thing a sleeper must inherit.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).stdin(Stdio::null()).stdout(Stdio::inherit()).stderr(Stdio::piped());
    let output = command.spawn().and_then(std::process::Child::wait_with_output)?;
    let pids: Vec<u32> =
        String::from_utf8_lossy(&output.stderr).lines().filter_map(|line| line.trim().parse().ok()).collect();
    speaker.text(&format!("left daemons behind: {pids:?}"))?;
    if let Some(ledger) = ledger {
        ledger.daemons(&pids)?;
    }
    Ok(())
}

/// Does nothing any more, and ends on TERM.
pub(super) fn sleep_for_ever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// Becomes a program that ignores TERM and INT: ignored signals stay ignored over exec. Returns only when that fails.
fn sleep_through_signals(ledger: Option<&Ledger>) -> io::Error {
    if let Some(Err(error)) = ledger.map(Ledger::keep_over_exec) {
        return error;
    }
    Command::new("/bin/sh").args(["-c", "trap '' TERM INT; exec sleep 2147483647"]).exec()
}

fn stop() -> io::Result<()> {
    kill_process(getpid(), Signal::STOP)?;
    // With several threads the kernel may stop another one first; this one must not get far meanwhile.
    std::thread::sleep(Duration::from_millis(200));
    Ok(())
}
