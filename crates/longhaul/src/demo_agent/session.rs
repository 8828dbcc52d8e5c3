//! One run of the demo agent from its arguments to its exit code.
//!
//! Called by `mod.rs`. Everything that can be refused is refused before anything is written; after that every line, fault and file
//! happens in the order of `Started::run`.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::arguments::{ArgumentError, Arguments};
use super::dialect::{AfterTool, Line, Speaker};
use super::faults::{self, Fault};
use super::files::FileError;
use super::ledger::Ledger;
use super::memory::{Conversation, Invocation, Memory};
use super::prompt::{Prompt, PromptError, Role};
use super::settings::{Settings, SettingsError};
use super::{fix, misbehave, plan, work};

/// What the roles work with.
pub(super) struct Session<'a> {
    pub(super) workspace: PathBuf,
    pub(super) settings: Settings,
    pub(super) goal: Option<String>,
    pub(super) prompt_length: usize,
    pub(super) faults: Vec<Fault>,
    pub(super) speaker: Speaker<'a>,
}

/// Something that went wrong after the start.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("failed to speak or to start a program: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    File(#[from] FileError),
}

/// A reason not to start at all.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("failed to read the prompt or the current directory: {0}")]
    Io(#[from] io::Error),
}

/// All that a run depends on, read and accepted.
pub(super) struct Request {
    pub(super) arguments: Arguments,
    pub(super) settings: Settings,
    pub(super) prompt: Prompt,
    pub(super) workspace: PathBuf,
}

/// Runs with this process's environment, directory and streams.
pub(super) fn run_as_program(args: impl Iterator<Item = OsString>) -> u8 {
    let ended = match read_request(args) {
        Ok(request) => run(request, &mut io::stdout().lock()).map_err(|error| (1, error.to_string())),
        Err(refusal) => Err((2, refusal.to_string())),
    };
    ended.unwrap_or_else(|(code, message)| {
        // With standard error gone there is nobody left to tell.
        drop(writeln!(io::stderr(), "demo-agent: {message}"));
        code
    })
}

/// Runs a request and gives the exit code.
pub(super) fn run(request: Request, out: &mut dyn Write) -> Result<u8, SessionError> {
    let memory = Memory::open(&request.settings.home)?;
    let invocation = memory.count_invocation()?;
    let faults = faults::at_invocation(&request.settings.faults, invocation.number);
    let id = match &request.arguments.resume {
        Some(id) if !faults.contains(&Fault::Stray) => id.clone(),
        Some(_) | None => Memory::new_id()?,
    };
    let ledger = open_ledger(&request, invocation, &id)?;
    if faults.contains(&Fault::CrashEarly) {
        misbehave::die();
    }
    let speaker = Speaker::new(out, pause(&faults), after_tool(&faults));
    let code = Started { request, memory, invocation, id, ledger: ledger.as_ref() }.run(faults, speaker)?;
    if let Some(ledger) = &ledger {
        ledger.end(code)?;
    }
    Ok(code)
}

/// A run that has its number and its conversation id.
struct Started<'a> {
    request: Request,
    memory: Memory,
    invocation: Invocation,
    id: String,
    ledger: Option<&'a Ledger>,
}

impl Started<'_> {
    fn run(self, faults: Vec<Fault>, mut speaker: Speaker<'_>) -> Result<u8, SessionError> {
        let Some(conversation) = self.next_turn()? else {
            let message = format!("no conversation `{}`", self.id);
            speaker.say(&Line::Error { class: "bad_conversation", message: &message })?;
            return Ok(1);
        };
        // Remembered before the id is told: whoever reads the line may resume it, even if this process dies next.
        self.memory.remember(&self.id, &conversation)?;
        speaker.say(&Line::Session { id: &self.id })?;
        if self.request.arguments.resume.is_some() {
            speaker.text(&format!("Resuming with turn {}; I go on from the files.", conversation.turns))?;
        }
        if let Some(model) = &self.request.arguments.model {
            speaker.text(&format!("Model {model}."))?;
        }
        if let Some(mode) = &self.request.arguments.sandbox {
            speaker.text(&format!("Sandbox {mode}."))?;
        }
        if self.request.arguments.network {
            speaker.text("Network open.")?;
        }
        if let ControlFlow::Break(code) = misbehave::at_start(&faults, &mut speaker, self.ledger, self.invocation)? {
            return Ok(code);
        }
        let Request { settings, prompt, workspace, .. } = self.request;
        let prompt_length = prompt.text.len();
        let session = Session { workspace, settings, goal: conversation.goal, prompt_length, faults, speaker };
        play(session, &prompt.role)
    }

    /// The conversation with this turn in it; `None` when it should go on but is not known.
    fn next_turn(&self) -> Result<Option<Conversation>, FileError> {
        let known = match &self.request.arguments.resume {
            Some(id) => self.memory.recall(id)?,
            None => Some(Conversation::default()),
        };
        Ok(known.map(|mut conversation| {
            conversation.turns += 1;
            conversation.goal = self.request.prompt.goal.clone().or(conversation.goal);
            conversation.prompts.push(self.request.prompt.sha256.clone());
            conversation
        }))
    }
}

fn play(mut session: Session<'_>, role: &Role) -> Result<u8, SessionError> {
    match role {
        Role::Plan { task_directory } => plan::run(&mut session, task_directory)?,
        Role::Work { task_directory } => work::run(&mut session, task_directory)?,
        Role::Fix { task_directory } => fix::run(&mut session, task_directory)?,
        Role::Answer => {
            let length = session.prompt_length;
            session
                .speaker
                .text(&format!("I am a demo: I plan and I work. I read {length} bytes and found no role in them."))?;
            session.speaker.usage(length / 4 + 1, 20)?;
        }
    }
    if session.faults.contains(&Fault::CrashLate) {
        misbehave::die();
    }
    session.speaker.say(&Line::Done)?;
    if session.faults.contains(&Fault::Linger) {
        misbehave::sleep_for_ever();
    }
    Ok(0)
}

fn read_request(args: impl Iterator<Item = OsString>) -> Result<Request, Refusal> {
    let arguments = Arguments::parse(args)?;
    let settings = Settings::read(&|name| std::env::var_os(name))?;
    let workspace = std::env::current_dir()?;
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    let prompt = Prompt::parse(&workspace, &bytes)?;
    Ok(Request { arguments, settings, prompt, workspace })
}

fn open_ledger(request: &Request, invocation: Invocation, id: &str) -> Result<Option<Ledger>, FileError> {
    let Some(path) = &request.settings.ledger else { return Ok(None) };
    let about = json!({
        "invocation": invocation.number,
        "session": request.settings.session,
        "conversation": id,
        "resume": request.arguments.resume.is_some(),
        "prompt_sha": request.prompt.sha256,
        "prompt_mark": request.prompt.mark,
    });
    let about = if let Value::Object(about) = about { about } else { Map::new() };
    let task_directory = request.prompt.task_directory().map_or(&b""[..], |path| path.as_os_str().as_bytes());
    let place = [request.workspace.as_os_str().as_bytes(), b"\0", task_directory].concat();
    Ledger::start(path, &place, about, &request.prompt.text).map(Some)
}

fn pause(faults: &[Fault]) -> Duration {
    let pauses = faults.iter().map(|fault| if let Fault::Slow(pause) = fault { *pause } else { Duration::ZERO });
    pauses.max().unwrap_or_default()
}

fn after_tool(faults: &[Fault]) -> AfterTool {
    if faults.contains(&Fault::Crash) { AfterTool::Die } else { AfterTool::GoOn }
}
