//! One run of the demo agent: reads its input, starts its conversation, then plays its role.
//!
//! Called by `lib.rs`. Everything that can be refused is refused before anything is written.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use super::arguments::Arguments;
use super::dialect::{Line, Speaker};
use super::memory::{Conversation, Memory};
use super::prompt::{Prompt, Role};
use super::settings::Settings;
use super::{plan, work};

/// A result whose error is only printed.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The validated input of a run.
pub struct Request {
    /// The command line.
    pub arguments: Arguments,
    /// The environment.
    pub settings: Settings,
    /// Standard input.
    pub prompt: Prompt,
    /// The current directory.
    pub workspace: PathBuf,
}

impl Request {
    /// Reads these arguments and this process's environment, directory and standard input.
    pub fn read(args: impl Iterator<Item = OsString>) -> Outcome<Self> {
        let arguments = Arguments::parse(args)?;
        let settings = Settings::read(&|name| std::env::var_os(name))?;
        let workspace = std::env::current_dir()?;
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(|error| format!("failed to read the prompt: {error}"))?;
        let prompt = Prompt::parse(&workspace, &bytes)?;
        Ok(Self { arguments, settings, prompt, workspace })
    }
}

/// A run whose conversation is known and announced.
pub struct Session<'a> {
    pub(super) workspace: PathBuf,
    pub(super) settings: Settings,
    pub(super) goal: Option<String>,
    pub(super) prompt_length: usize,
    pub(super) speaker: Speaker<'a>,
    role: Role,
}

impl<'a> Session<'a> {
    /// Starts or resumes the conversation; `None` when the one to resume is unknown, which is then reported.
    pub fn begin(request: Request, out: &'a mut dyn Write) -> Outcome<Option<Self>> {
        let Request { arguments, settings, prompt, workspace } = request;
        let memory = Memory::open(&settings.home)?;
        let mut speaker = Speaker::new(out);
        let (id, known) = match &arguments.resume {
            Some(id) => (id.clone(), memory.recall(id)?),
            None => (Memory::new_id(), Some(Conversation::default())),
        };
        let Some(mut conversation) = known else {
            let message = format!("no conversation `{id}`");
            speaker.say(&Line::Error { class: "bad_conversation", message: &message })?;
            return Ok(None);
        };
        conversation.turns += 1;
        conversation.goal = prompt.goal.or(conversation.goal);
        // Stored before the id is printed: a reader of the line may resume it, even if this process dies next.
        memory.remember(&id, &conversation)?;
        speaker.say(&Line::Session { id: &id })?;
        introduce(&mut speaker, &arguments, conversation.turns)?;
        let (goal, prompt_length) = (conversation.goal, prompt.text.len());
        Ok(Some(Self { workspace, settings, goal, prompt_length, speaker, role: prompt.role }))
    }

    /// Does what the prompt asks for and gives the exit code.
    pub fn play(mut self) -> Outcome<u8> {
        match std::mem::replace(&mut self.role, Role::Answer) {
            Role::Plan(task_directory) => plan::run(&mut self, &task_directory)?,
            Role::Work(task_directory) => work::run(&mut self, &task_directory)?,
            Role::Fix(task_directory) => work::fix(&mut self, &task_directory)?,
            Role::Answer => {
                let length = self.prompt_length;
                self.speaker.text(&format!(
                    "I am a demo: I plan and I work. I read {length} bytes and found no role in them."
                ))?;
                self.speaker.usage(length / 4 + 1, 20)?;
            }
        }
        self.speaker.say(&Line::Done)?;
        Ok(0)
    }
}

/// Prints the options of the command line.
fn introduce(speaker: &mut Speaker<'_>, arguments: &Arguments, turn: u64) -> io::Result<()> {
    if arguments.resume.is_some() {
        speaker.text(&format!("Resuming with turn {turn}; I continue from the files."))?;
    }
    if let Some(model) = &arguments.model {
        speaker.text(&format!("Model {model}."))?;
    }
    if let Some(mode) = &arguments.sandbox {
        speaker.text(&format!("Sandbox {mode}."))?;
    }
    if arguments.network {
        speaker.text("Network open.")?;
    }
    Ok(())
}
