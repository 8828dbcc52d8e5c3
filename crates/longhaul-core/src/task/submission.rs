//! What was asked for: everything that is fixed when a task is made, stored before any agent starts.
//! Made by the worker from what a front end handed over; changed only by a person's `edit`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ChecksIn, Context, Conversation, Destination, FollowUp, Hours, Links, Notify, OnLimit, Patience, Place, Sandbox,
};
use crate::ids::TaskId;
use crate::names::TaskName;

/// A goal and the choices that came with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// What is to be reached, redacted at intake.
    pub goal: String,
    /// Unique among the unfinished tasks of the project. A person can change it.
    pub name: TaskName,
    /// The user's checkout: git top level, else the directory.
    pub project: String,
    /// The directory the agent works in.
    pub workspace: String,
    /// The agent's name in the AGENTS table.
    pub agent: String,
    /// Agents to continue with when the first one hits a usage limit, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<String>,
    /// Agents as the configuration declared them at submit, by name; read by the agents' crate alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub declared: BTreeMap<String, Value>,
    /// What the agents may write.
    pub sandbox: Sandbox,
    /// Whether the network is opened to the agents' tools.
    pub network: bool,
    /// When a session continues the conversation of the last one.
    pub context: Context,
    /// What a usage limit means.
    pub on_limit: OnLimit,
    /// The hours of the day in which sessions may start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<Hours>,
    /// Prompt templates in place of the built-in ones, by name, as they were at submit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, String>,
    /// The model to ask the agent for; none leaves it to the agent's own configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The task this one is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// Names of variables the agent needs that were set at submit; never their values.
    pub needs_env: Vec<String>,
    /// Who carries the task out.
    pub driver: Driver,
    /// How patient the task is.
    #[serde(rename = "policy")]
    pub patience: Patience,
    /// Where the agent is to work.
    pub place: Place,
    /// Commands that must all pass once every step is ticked.
    pub checks: Vec<String>,
    /// Where they run.
    pub checks_in: ChecksIn,
    /// The command that makes a new worktree or a clean checkout usable, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Patterns of ignored files that are copied from the project into a new worktree and into clean checkouts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy: Vec<String>,
    /// What must hold in the end.
    pub criteria: Vec<Criterion>,
    /// Rules the agent must follow.
    pub constraints: Vec<String>,
    /// Files to start from, as they were at submit.
    pub inputs: Vec<InputFile>,
    /// Files that must be there in the end, by their path in the workspace.
    pub expects: Vec<String>,
    /// Who is served first: higher before lower.
    pub priority: i64,
    /// Starts when that task is verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<TaskId>,
    /// The finished task that this one retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<TaskId>,
    /// The finished task whose work this one continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopens: Option<TaskId>,
    /// Names of further variables whose values are secrets; never the values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_names: Vec<String>,
    /// The only variables the agent gets, in strict mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_only: Option<Vec<String>>,
    /// Who is notified of the result.
    #[serde(default, skip_serializing_if = "Notify::is_empty")]
    pub notify: Notify,
    /// Where the work is to land.
    #[serde(default, skip_serializing_if = "Destination::is_unknown")]
    pub destination: Destination,
    /// What it does with the work of a finished task, if it is a follow-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_up: Option<FollowUp>,
    /// The agents' conversations that a reopened task continues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversations: Vec<Conversation>,
    /// The name that its files were made with, if it was renamed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_name: Option<TaskName>,
    /// What a tracked run belongs to in other systems.
    #[serde(default, skip_serializing_if = "Links::is_empty")]
    pub links: Links,
}

/// Something that must hold in the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// In words.
    pub text: String,
    /// The command that shows it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// A file to start from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Its absolute path.
    pub path: String,
    /// SHA-256 of its bytes at submit.
    pub sha256: String,
}

impl Submission {
    /// A bare goal for an agent in a directory: everything else as it is by default.
    pub fn new(goal: String, name: TaskName, directory: String, agent: String) -> Submission {
        Submission {
            goal,
            name,
            project: directory.clone(),
            workspace: directory,
            agent,
            fallbacks: Vec::new(),
            declared: BTreeMap::new(),
            sandbox: Sandbox::default(),
            network: false,
            context: Context::default(),
            on_limit: OnLimit::default(),
            hours: None,
            prompts: BTreeMap::new(),
            model: None,
            parent: None,
            needs_env: Vec::new(),
            driver: Driver::Supervised,
            patience: Patience::default(),
            place: Place::default(),
            checks: Vec::new(),
            checks_in: ChecksIn::default(),
            setup: None,
            copy: Vec::new(),
            criteria: Vec::new(),
            constraints: Vec::new(),
            inputs: Vec::new(),
            expects: Vec::new(),
            priority: 0,
            after: None,
            retry_of: None,
            reopens: None,
            secret_names: Vec::new(),
            env_only: None,
            notify: Notify::default(),
            destination: Destination::default(),
            follow_up: None,
            conversations: Vec::new(),
            files_name: None,
            links: Links::default(),
        }
    }

    /// The person's directory that the agent works in; none if the task has its own worktree, or no agent of
    /// ours, or is a follow-up.
    pub fn directory(&self) -> Option<&str> {
        match self.place {
            _ if self.driver == Driver::External || self.follow_up.is_some() => None,
            Place::InPlace => Some(&self.project),
            Place::Worktree { .. } => None,
        }
    }

    /// Every command to run, those of the criteria too, each once.
    pub fn commands(&self) -> Vec<&str> {
        let own = self.checks.iter().map(String::as_str);
        let criteria = self.criteria.iter().filter_map(|criterion| criterion.check.as_deref());
        let mut commands: Vec<&str> = Vec::new();
        for command in own.chain(criteria) {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        commands
    }

    /// Whether checks run in a clean checkout. Without git they run in the workspace all the same.
    pub fn checks_clean(&self) -> bool {
        match self.checks_in {
            ChecksIn::Auto => self.setup.is_some(),
            ChecksIn::Workspace => false,
            ChecksIn::Clean => true,
        }
    }

    /// Whether there is anything to verify the result by.
    pub fn can_be_verified(&self) -> bool {
        !self.commands().is_empty() || !self.expects.is_empty()
    }
}

/// Who carries a task out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// A worker of ours, session after session.
    Supervised,
    /// An invocation of `run-session`, by the rules of the existing shell runner.
    Runner,
    /// A program outside, which reports here. Nothing is ever started for it.
    External,
}

spelled!(Driver: Supervised = "supervised", Runner = "runner", External = "external");

impl Driver {
    /// Whether it is an invocation of `run-session`. Where the drivers only differ in what they do, ask for their conduct.
    pub fn is_runner(self) -> bool {
        self == Driver::Runner
    }

    /// How it carries a task out.
    pub fn conduct(self) -> Conduct {
        match self {
            Driver::Supervised => Conduct {
                any_worker: true,
                takes_turns: true,
                checks_everything_first: true,
                heeds_shared_limits: true,
                ends_lingering_programs: true,
                keeps_conversation_file: false,
                prompt_as_argument: false,
                warns_of_every_session: false,
                takes_existing_directories: false,
            },
            // As the shell runner does: it waits for nobody, looks for the program alone, and the exit status is all that counts. A
            // tracked run has no sessions; for it only the first two are ever asked.
            Driver::Runner | Driver::External => Conduct {
                any_worker: false,
                takes_turns: false,
                checks_everything_first: false,
                heeds_shared_limits: false,
                ends_lingering_programs: false,
                keeps_conversation_file: true,
                prompt_as_argument: true,
                warns_of_every_session: true,
                takes_existing_directories: true,
            },
        }
    }
}

/// What differs between the drivers, as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conduct {
    /// Any worker may carry the task out. Else a worker only ends a session that was asked to stop.
    pub any_worker: bool,
    /// Its sessions wait for a free slot and a free directory, and count for the cap.
    pub takes_turns: bool,
    /// Login, sandbox and variables are checked before a session, and not the program alone.
    pub checks_everything_first: bool,
    /// It waits for usage limits that other tasks have reached.
    pub heeds_shared_limits: bool,
    /// A program that outlives its turn is ended.
    pub ends_lingering_programs: bool,
    /// The id of the conversation is saved in the task directory.
    pub keeps_conversation_file: bool,
    /// The agent gets a short prompt as an argument, which names the file with the whole one.
    pub prompt_as_argument: bool,
    /// It warns of its mode with every session, and so not at submit.
    pub warns_of_every_session: bool,
    /// A task may begin in a task directory that exists.
    pub takes_existing_directories: bool,
}
