//! The channel of the desktop, by the system's own program: notify-send on Linux, osascript on macOS.
//! Texts are escaped for what reads them: markup there, a script here.

use std::time::Duration;

use super::message::Message;
use crate::effects::program::{ProgramError, command, run};
use longhaul_app::{Home, desktop_program};

pub(super) async fn send(home: &Home, message: &Message, within: Duration) -> Result<(), ProgramError> {
    let arguments = if cfg!(target_os = "macos") {
        osascript_arguments(&message.title, &message.message)
    } else {
        notify_send_arguments(&message.title, &message.message)
    };
    let mut command = command(desktop_program(), &message.environment)?;
    command.args(arguments).current_dir(home.root());
    run(desktop_program(), command, Vec::new(), within).await
}

/// Neither text begins with a hyphen, because a task's name never does.
fn notify_send_arguments(title: &str, body: &str) -> Vec<String> {
    let body = body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    vec!["--app-name=longhaul".to_owned(), title.to_owned(), body]
}

fn osascript_arguments(title: &str, body: &str) -> Vec<String> {
    let script = format!("display notification {} with title {}", script_text(body), script_text(title));
    vec!["-e".to_owned(), script]
}

/// A text of AppleScript: nothing in it can end it.
fn script_text(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text() {
        let arguments = notify_send_arguments("t is done", "<b>a & b</b>");
        assert_eq!(arguments, ["--app-name=longhaul", "t is done", "&lt;b&gt;a &amp; b&lt;/b&gt;"]);
    }

    #[test]
    fn a_text_does_not_leave_the_script() {
        let arguments = osascript_arguments("t", "a\" & (do shell script \"id\") & \"\\\nb");
        assert_eq!(
            arguments,
            ["-e", "display notification \"a\\\" & (do shell script \\\"id\\\") & \\\"\\\\ b\" with title \"t\""]
        );
    }
}
