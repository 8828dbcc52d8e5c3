//! Reads single keys from the terminal: turns line mode and echo off while the viewer runs, and leaves signals on.
//! Used by `follow`. Ctrl+C stays a signal and is not read here. In the background the terminal is never touched.

use std::io::IsTerminal;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use tokio::sync::mpsc;

/// How often a viewer in the background checks whether it is in the foreground.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The key itself, and the first byte of keys that send several.
pub(crate) const ESCAPE: u8 = 0x1b;

/// The keyboard while a viewer runs; restores the terminal when dropped.
pub(crate) struct Keys {
    before: Option<Termios>,
    pressed: mpsc::UnboundedReceiver<u8>,
}

impl Keys {
    /// Listens if standard input is a terminal and this process is in its foreground; otherwise there are no keys.
    pub(crate) fn listen() -> Keys {
        let (send, pressed) = mpsc::unbounded_channel();
        let stdin = std::io::stdin();
        let before = if stdin.is_terminal() && in_foreground() { tcgetattr(&stdin).ok() } else { None };
        let keys = Keys { before, pressed };
        if keys.before.is_some() {
            keys.quiet();
            std::thread::spawn(move || read_keys(&send));
        }
        keys
    }

    /// Turns line mode and echo off, also again after the shell turned them on while the viewer was stopped.
    pub(crate) fn quiet(&self) {
        let Some(before) = self.before.as_ref().filter(|_| in_foreground()) else { return };
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Now, &quiet).ok();
    }

    /// Gives the terminal back as it was, until `quiet`.
    pub(crate) fn restore(&self) {
        if let Some(before) = self.before.as_ref().filter(|_| in_foreground()) {
            tcsetattr(std::io::stdin(), OptionalActions::Now, before).ok();
        }
    }

    /// The next key. Keys that send several bytes, such as arrows, mean nothing here and are dropped.
    pub(crate) async fn next(&mut self) -> u8 {
        match self.pressed.recv().await {
            Some(key) => key,
            None => std::future::pending().await,
        }
    }
}

/// Whether this process can use the terminal without being stopped: only the controlling terminal stops a process, and only
/// outside its foreground group.
fn in_foreground() -> bool {
    tcgetpgrp(std::io::stdin()).map_or(true, |group| group == getpgrp())
}

fn read_keys(send: &mpsc::UnboundedSender<u8>) {
    let stdin = std::io::stdin();
    let mut keys = [0; 32];
    loop {
        // Waiting for a key is harmless in the background, reading it is not.
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], None) {
            Ok(_) if !in_foreground() => {
                std::thread::sleep(POLL_INTERVAL);
                continue;
            }
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return,
        }
        match rustix::io::read(&stdin, &mut keys) {
            Ok(read @ 1..) if single(&keys[..read]).all(|key| send.send(key).is_ok()) => {}
            Err(Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// The keys that send one byte; an escape alone is one of them.
fn single(read: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = read;
    std::iter::from_fn(move || {
        while let [ESCAPE, introducer, more @ ..] = rest {
            let length = match introducer {
                b'[' => more.iter().position(|byte| (0x40..0x7f).contains(byte)).map_or(more.len(), |at| at + 1),
                b'O' => 1.min(more.len()),
                _ => 0,
            };
            rest = &more[length..];
        }
        let (key, more) = rest.split_first()?;
        rest = more;
        Some(*key)
    })
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.restore();
    }
}

#[cfg(test)]
mod tests {
    use super::{ESCAPE, single};

    #[test]
    fn arrows_and_function_keys_are_no_letters() {
        let keys = |read: &[u8]| single(read).collect::<Vec<u8>>();
        assert_eq!(keys(b"x\x7f\x1b[Dp"), b"x\x7fp");
        assert_eq!(keys(b"\x1bOA\x1b[3~\x1b[1;5Cq"), b"q");
        assert_eq!(keys(b"\x1bp"), b"", "Alt and a letter");
        assert_eq!(keys(b"\x1b"), [ESCAPE]);
        assert_eq!(keys(b"\x1b["), b"");
    }
}
