//! Carries out the faults that happen at the start of a session, replace its work, or end the process.
//!
//! Called by `main.rs` and the output. Signals go only to this process itself.

use std::io;
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use demo_agent::Role;
use rustix::process::{Signal, getpid, kill_process};

use crate::faults::{Fault, LimitUntil};
use crate::invocation::{Invocation, now_ms};
use crate::ledger::Ledger;
use crate::output::Output;

/// Does what the faults ask for right after the session line, in their order; breaks with the exit code when that is the end.
pub(crate) fn at_start(
    faults: &[Fault],
    output: &Output,
    ledger: Option<&Ledger>,
    invocation: Invocation,
) -> io::Result<ControlFlow<u8>> {
    for fault in faults {
        let flow = match fault {
            Fault::Exit(code) => ControlFlow::Break(*code),
            Fault::Limit(until) => report_limit(output, *until, invocation)?,
            Fault::Auth => report(output, "auth", "not logged in")?,
            Fault::ServerError => report(output, "server", "the server answered with an error")?,
            Fault::ContextFull => report(output, "context_full", "the conversation is too long")?,
            Fault::Permission => report(output, "permission", "wants to run `rm`, which needs an approval")?,
            Fault::Exhausted => report(output, "exhausted", "the credit balance is zero")?,
            Fault::Daemon => ControlFlow::Continue(leave_daemons(output, ledger)?),
            Fault::Hang => sleep_for_ever(),
            Fault::Busy => loop {
                std::hint::spin_loop();
            },
            Fault::HangHard => return Err(sleep_through_signals(ledger)),
            Fault::Stop => ControlFlow::Continue(stop()?),
            _ => ControlFlow::Continue(print(fault, output)?),
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Does what the faults ask for in place of a role's work; tells whether they ask for anything.
pub(crate) fn in_place_of(role: &Role, faults: &[Fault], output: &Output) -> io::Result<bool> {
    let words = match role {
        Role::Plan(_) if faults.contains(&Fault::NoPlan) => "The plan is ready.",
        Role::Fix(_) if faults.contains(&Fault::NoFix) => "I see nothing that I could fix.",
        Role::Work(directory) if lie(&directory.join("task_list.md"), faults, output)? => {
            "Everything is done and all tests pass."
        }
        Role::Plan(_) | Role::Work(_) | Role::Fix(_) | Role::Answer => return Ok(false),
    };
    output.text(words)?;
    Ok(true)
}

/// Changes the list as the `lie` faults ask for; tells whether there are any.
fn lie(path: &Path, faults: &[Fault], output: &Output) -> io::Result<bool> {
    let list = std::fs::read_to_string(path).unwrap_or_default();
    let mut lied = faults.contains(&Fault::Lie);
    for fault in faults {
        let changed = match fault {
            Fault::LieDelete => list.split_inclusive('\n').filter(|line| !line.starts_with("- [ ] Task ")).collect(),
            Fault::LieUntick => list.replace("- [x] Task ", "- [ ] Task "),
            Fault::LieGarbageList => "lorem ipsum \u{0}\n- [maybe] Task one: ???\n".to_owned(),
            _ => continue,
        };
        std::fs::write(path, changed)?;
        output.say("tool", &[("name", "write".into()), ("detail", path.display().to_string().into())])?;
        lied = true;
    }
    Ok(lied)
}

/// Ends this process as a crash would: nothing after this call happens.
pub(crate) fn die() -> ! {
    // Were the kill refused, hanging would still be closer to the fault than working.
    let _ = kill_process(getpid(), Signal::KILL);
    sleep_for_ever()
}

/// The faults that only print; all others print nothing.
fn print(fault: &Fault, output: &Output) -> io::Result<()> {
    match fault {
        Fault::Says(text) => output.text(text),
        Fault::Tokens(count) => output.say("usage", &[("input", (*count).into()), ("output", 0.into())]),
        Fault::Cost(micros) => {
            output.say("usage", &[("input", 0.into()), ("output", 0.into()), ("cost_micros", (*micros).into())])
        }
        Fault::EnvDump => std::env::vars_os().try_for_each(|(name, value)| {
            output.text(&format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
        }),
        Fault::Flood(bytes) => {
            print_repeated(output, b"junk junk junk junk junk junk junk junk junk junk junk junk junk junk\n", *bytes)
        }
        Fault::LongLine(bytes) => print_repeated(output, b"long", *bytes),
        Fault::Garbage => print_garbage(output),
        _ => Ok(()),
    }
}

fn print_repeated(output: &Output, pattern: &[u8], bytes: u64) -> io::Result<()> {
    let block = pattern.repeat(1024);
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
    while left > 0 {
        let take = block.len().min(left);
        output.raw(&block[..take])?;
        left -= take;
    }
    // What is cut must not run into the next line of the dialect.
    output.raw(b"\n")
}

fn print_garbage(output: &Output) -> io::Result<()> {
    output.raw(b"\xff\xfe not utf-8 \xc3\x28\n\0nul\0\n{\"type\":\"done\"\n{\"type\":\"text\"}\n[]\nnull\n\r\n")?;
    output.raw(b"\x1b]52;c;cm0gLXJmIH4=\x07\x1b]0;owned title\x07\x1b[2J\x1b[31mred\x1b[0m\n")?;
    output.text("\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}]0;owned title\u{7}\u{1b}[2J\u{202e}\u{0}escapes inside JSON")?;
    output.raw(&b"[".repeat(100_000))?;
    output.raw(b"\n")
}

fn report(output: &Output, class: &str, message: &str) -> io::Result<ControlFlow<u8>> {
    output.say("error", &[("class", class.into()), ("message", message.into())])?;
    Ok(ControlFlow::Break(1))
}

fn report_limit(output: &Output, until: LimitUntil, invocation: Invocation) -> io::Result<ControlFlow<u8>> {
    let until_ms = match until {
        LimitUntil::Unknown => None,
        LimitUntil::EpochMs(ms) => Some(ms),
        LimitUntil::AfterFirstInvocation { ms } => Some(invocation.first_ms.saturating_add(ms)),
    };
    if until_ms.is_some_and(|until| now_ms() >= until) {
        return Ok(ControlFlow::Continue(()));
    }
    output.say("limit", &[("until_ms", until_ms.into())])?;
    Ok(ControlFlow::Break(1))
}

/// Two sleepers with everything closed, the second also without the environment, and one that keeps standard output open. Each is
/// orphaned at once and leads a session of its own.
fn leave_daemons(output: &Output, ledger: Option<&Ledger>) -> io::Result<()> {
    const SCRIPT: &str = "(setsid sleep 600 <&- >&- 2>&- & echo $! >&2)
        (setsid env -i sleep 600 <&- >&- 2>&- & echo $! >&2)
        (setsid sleep 600 </dev/null 2>&- & echo $! >&2)";
    // The process ids come over standard error, because standard output is the one thing a sleeper must inherit.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).stdin(Stdio::null()).stdout(Stdio::inherit()).stderr(Stdio::piped());
    let ended = command.spawn().and_then(std::process::Child::wait_with_output)?;
    let pids: Vec<u32> =
        String::from_utf8_lossy(&ended.stderr).lines().filter_map(|line| line.trim().parse().ok()).collect();
    output.text(&format!("left daemons behind: {pids:?}"))?;
    if let Some(ledger) = ledger {
        ledger.daemons(&pids)?;
    }
    Ok(())
}

/// Does nothing any more, and ends on TERM.
pub(crate) fn sleep_for_ever() -> ! {
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
