//! Prints what happens during a `run-session`, in the format of the shell runner: banners, progress, the agent's output.
//! The engine reports committed events before it acts on them, so lines and output keep their order.

use std::sync::{Mutex, MutexGuard, PoisonError};

use longhaul_core::task::{
    Ended, Event, Exit, Failure, HelpReason, Outcome, Purpose, SessionRun, StoppedBy, Task, Wait, narrate,
};
use longhaul_worker::Watcher;

use crate::out;

/// The line above and below a title.
const RULE: &str = "==========================================";

/// What happened so far.
#[derive(Debug, Default)]
struct Seen {
    /// How many sessions this invocation has announced.
    sessions: u32,
    /// The session that runs, or ran last.
    session: Option<SessionRun>,
    /// How it ended, and who ended it.
    ended: Option<(Exit, StoppedBy)>,
    /// The next session replaces one that could not resume.
    falls_back: bool,
    /// The events being printed end the invocation with an error.
    gave_up: bool,
    /// The usage limit that the last session ended at.
    limit: Option<String>,
}

/// Prints for one invocation and remembers what it printed.
#[derive(Debug, Default)]
pub(super) struct RunnerPrinter {
    seen: Mutex<Seen>,
}

impl RunnerPrinter {
    /// Announces the live session of an invocation that died.
    pub(super) fn adopt(&self, task: &Task, session: &SessionRun) {
        self.seen().announce(task, session);
        out::note("The session of an earlier runner is still running; continuing it.");
    }

    /// The purpose of the last session, if there was one.
    pub(super) fn last_purpose(&self) -> Option<Purpose> {
        Some(self.seen().session.as_ref()?.purpose)
    }

    /// The usage limit that the last session ended at, in words.
    pub(super) fn last_limit(&self) -> Option<String> {
        self.seen().limit.clone()
    }

    /// How the last session ended, and who ended it.
    pub(super) fn last_end(&self) -> Option<(Exit, StoppedBy)> {
        self.seen().ended.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for RunnerPrinter {
    fn committed(&self, events: &[Event], task: &Task) {
        let mut seen = self.seen();
        seen.gave_up = events.iter().any(|event| matches!(event, Event::Paused { why: Some(_), .. }));
        events.iter().for_each(|event| seen.print_event(event, task));
    }

    fn printed(&self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        out::data(out::safe_lines(text.trim_end_matches('\n')).as_str());
    }
}

impl Seen {
    fn print_event(&mut self, event: &Event, task: &Task) {
        match event {
            Event::SessionStarted { session } => self.announce(task, session),
            Event::SessionRead { said, .. } => self.check_conversation(said.conversation.as_deref()),
            Event::SessionEnded { ended, .. } => self.end(task, ended),
            Event::AgentLimited { .. } => self.limit = Some(narrate(event)),
            Event::WaitStarted { why: Wait::Delay, .. } => {
                let seconds = task.submission.patience.delay_ms / 1000;
                out::data(&format!("Continuing in {seconds} seconds... (Press Ctrl+C to pause)"));
            }
            _ => {}
        }
    }

    /// Codex reads an id that is no UUID as a name, and starts a new conversation if it knows no such name.
    fn check_conversation(&mut self, conversation: Option<&str>) {
        let (Some(session), Some(reported)) = (&mut self.session, conversation) else { return };
        if session.conversation.is_none() && session.resumes.as_deref().is_some_and(|asked| asked != reported) {
            out::note("Resume failed (codex does not know the saved conversation); it started a fresh one.");
        }
        session.conversation.get_or_insert_with(|| reported.to_owned());
    }

    fn announce(&mut self, task: &Task, session: &SessionRun) {
        if !self.falls_back {
            self.sessions += 1;
            banner(&format!("SESSION {} - {}", self.sessions, task.submission.name));
        }
        match session.purpose {
            Purpose::Plan => banner("INITIALIZER SESSION"),
            Purpose::Work | Purpose::Fix | Purpose::Check | Purpose::Setup => {
                out::data(&format!("Progress: {}", task.progress()));
                banner("EXECUTOR SESSION");
            }
        }
        self.session = Some(session.clone());
        self.ended = None;
        self.limit = None;
        self.falls_back = false;
    }

    fn end(&mut self, task: &Task, ended: &Ended) {
        self.ended = Some((ended.exit.clone(), ended.stopped_by));
        let Some(session) = &self.session else { return };
        if let Outcome::Failed(Failure::Exhausted(why)) = &ended.outcome {
            let (agent, why) = (session.agent.clone(), why.clone());
            self.limit = Some(HelpReason::Exhausted { agent, why }.to_string());
        }
        if let Some(id) = &session.conversation {
            out::data(&format!("Session ID saved: {}", out::safe(id)));
        }
        if session.resume_failed(ended) {
            out::note(&format!("Resume failed ({}); starting a fresh session.", ended.exit));
            self.falls_back = true;
            return;
        }
        if ended.exit == Exit::Code(0) && !self.gave_up {
            let which = if session.purpose == Purpose::Plan { "Initializer" } else { "Executor" };
            success(&format!("{which} session complete"));
        }
        out::data(&format!("=== Progress: {} ===", task.progress()));
    }
}

/// Prints a success.
pub(super) fn success(text: &str) {
    out::data(&paint("32", &format!("✓ {text}")));
}

/// Prints a title between two lines.
pub(super) fn banner(title: &str) {
    out::data(&format!("{RULE}\n  {title}\n{RULE}"));
}

/// The text in a colour, if colours are allowed.
pub(super) fn paint(colour: &str, text: &str) -> String {
    if out::coloured() { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
}
