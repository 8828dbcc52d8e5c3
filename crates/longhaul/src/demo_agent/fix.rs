//! The fixing role: mends what the supervisor's checks found, as far as a demo can: one line in `FIXES.md` and a word in the log.
//!
//! Called by `session.rs`. It ticks nothing, touches no other file, and never looks at what exactly failed.

use std::path::Path;

use super::faults::Fault;
use super::files::{self, Access};
use super::session::{Session, SessionError};
use super::work::{commit, entries};

const FILE: &str = "FIXES.md";

/// Mends the work in the workspace and tells of it in the task directory.
pub(super) fn run(session: &mut Session<'_>, task_directory: &Path) -> Result<(), SessionError> {
    std::thread::sleep(session.settings.pace);
    session.speaker.usage(session.prompt_length / 4 + 1, 10)?;
    if session.faults.contains(&Fault::NoFix) {
        return Ok(session.speaker.text("I see nothing that I could mend.")?);
    }
    let path = session.workspace.join(FILE);
    let earlier = files::read_text(&path)?.unwrap_or_default();
    let number = earlier.lines().count() + 1;
    files::append(&path, &format!("- fix {number}: mended what the checks found\n"), Access::Shared)?;
    session.speaker.tool("write", FILE)?;
    let progress = task_directory.join("progress.md");
    let session_number = entries(&files::read_text(&progress)?.unwrap_or_default()) + 1;
    let entry =
        format!("\n## Session {session_number}\n\n### Mended\n- What the checks found: see {FILE}, fix {number}\n");
    files::append(&progress, &entry, Access::Shared)?;
    commit(session, &[FILE.to_owned()], &format!("demo: fix {number}"))?;
    Ok(session.speaker.text("Mended what the checks found.")?)
}
