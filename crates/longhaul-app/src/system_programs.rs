//! Programs of the system that workers run for tasks and `doctor` looks for.
//! Names only: nothing is run here.

/// The program that shows a notification on this kind of machine.
pub fn desktop_program() -> &'static str {
    if cfg!(target_os = "macos") { "osascript" } else { "notify-send" }
}

/// The program that keeps this kind of machine awake while its own program runs, with its arguments and that program.
/// Only sleep is prevented: the screen may go dark.
pub fn sleep_inhibitor() -> &'static [&'static str] {
    if cfg!(target_os = "macos") {
        &["caffeinate", "-i", "cat"]
    } else {
        &["systemd-inhibit", "--what=sleep", "--who=longhaul", "--why=an agent is working", "--mode=block", "cat"]
    }
}
