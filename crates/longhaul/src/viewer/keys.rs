//! Single keys from the terminal, without taking it over: line mode and echo are off while the viewer lives, signals stay.
//! Used by `follow`. Ctrl+C stays a signal and is not seen here.

use std::io::{IsTerminal, Read};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

/// The keyboard while a viewer lives; dropped, the terminal is as before.
pub(super) struct Keys {
    before: Option<Termios>,
    pressed: mpsc::UnboundedReceiver<u8>,
}

impl Keys {
    /// Listens if standard input is a terminal; otherwise no key ever comes.
    pub(super) fn listen() -> Keys {
        let (send, pressed) = mpsc::unbounded_channel();
        let stdin = std::io::stdin();
        let before = if stdin.is_terminal() { tcgetattr(&stdin).ok() } else { None };
        if let Some(before) = &before {
            let mut quiet = before.clone();
            quiet.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            tcsetattr(&stdin, OptionalActions::Now, &quiet).ok();
            std::thread::spawn(move || read_keys(&send));
        }
        Keys { before, pressed }
    }

    /// The next key.
    pub(super) async fn next(&mut self) -> u8 {
        match self.pressed.recv().await {
            Some(key) => key,
            None => std::future::pending().await,
        }
    }
}

fn read_keys(send: &mpsc::UnboundedSender<u8>) {
    for byte in std::io::stdin().lock().bytes() {
        let Ok(byte) = byte else { return };
        if send.send(byte).is_err() {
            return;
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            tcsetattr(std::io::stdin(), OptionalActions::Now, before).ok();
        }
    }
}
