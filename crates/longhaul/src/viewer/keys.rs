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

/// The keyboard while a viewer runs; restores the terminal when dropped.
pub(super) struct Keys {
    before: Option<Termios>,
    pressed: mpsc::UnboundedReceiver<u8>,
}

impl Keys {
    /// Listens if standard input is a terminal and this process is in its foreground; otherwise there are no keys.
    pub(super) fn listen() -> Keys {
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
    pub(super) fn quiet(&self) {
        let Some(before) = self.before.as_ref().filter(|_| in_foreground()) else { return };
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Now, &quiet).ok();
    }

    /// The next key.
    pub(super) async fn next(&mut self) -> u8 {
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
            Ok(read @ 1..) if keys[..read].iter().all(|key| send.send(*key).is_ok()) => {}
            Err(Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = self.before.as_ref().filter(|_| in_foreground()) {
            tcsetattr(std::io::stdin(), OptionalActions::Now, before).ok();
        }
    }
}
