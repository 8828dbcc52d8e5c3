//! Tells a person who looks elsewhere that something happened: the terminal's bell, and a notification by terminals that show them (OSC 9).
//! Called when a followed task settles or reaches a usage limit. Nothing is written unless standard error is a terminal.

use std::io::{IsTerminal, Write};

use longhaul_app::Call;
use longhaul_app::config::Overrides;

use crate::out;

/// Rings, unless `notify.terminal` is off; tells whether it did.
pub(crate) fn ring(call: &Call, text: &str) -> bool {
    let is_wanted = || call.load_config(&Overrides::default()).map_or(true, |loaded| loaded.settings.notify.terminal);
    let term = std::env::var("TERM").unwrap_or_default();
    if !std::io::stderr().is_terminal() || term == "dumb" || !is_wanted() {
        return false;
    }
    // The console of Linux would print the text.
    let shown = if term == "linux" { String::new() } else { format!("\u{1b}]9;{}\u{1b}\\", out::safe(text)) };
    let mut stream = std::io::stderr().lock();
    stream.write_all(format!("{shown}\u{7}").as_bytes()).and_then(|()| stream.flush()).is_ok()
}
