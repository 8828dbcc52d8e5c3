//! What an operation is: a name, what it needs and does at worst, who may offer it, an input, a view, and the function that carries it out.
//!
//! The command line performs operations typed; servers perform them through the table in `operations`, from JSON to JSON. Either way
//! `Call::perform` asks for permission first: only it can make the [`Permit`] that every operation needs.

use std::future::Future;
use std::pin::Pin;

use longhaul_core::task::{Action, Need, Refusal, Right, permit_with};
use longhaul_store::{Earlier, Key, Stored};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::app::Call;
use crate::caller::Caller;
use crate::error::{AppError, ErrorKind};
use crate::request_key::{earlier, key_of};
use crate::text::Document;
use crate::unknown_fields;

/// What everybody can know of an operation before they perform it.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Its name: the verb of the command line, and of tools and routes.
    pub name: &'static str,
    /// One sentence for help and tool lists.
    pub summary: &'static str,
    /// What the core's permission check is asked.
    pub action: Action<'static>,
    /// What the caller must have been given.
    pub right: Right,
    /// What a person runs instead of a caller without the right, after `longhaul`; none if no verb does the same.
    pub by_hand: Option<&'static str>,
    /// What it does at worst.
    pub effect: Effect,
    /// Whether it is a verb, a tool, or both.
    offered_by: &'static [FrontEnd],
    /// Where it is offered over HTTP, below `/api/v1`: a path whose `{parameters}` are fields of the input. Without one it is not.
    pub route: Option<&'static str>,
}

impl About {
    /// An operation that needs and does at worst what its action says.
    pub(crate) const fn new(
        name: &'static str,
        summary: &'static str,
        action: Action<'static>,
        offered_by: &'static [FrontEnd],
    ) -> About {
        let (effect, right) = match action {
            Action::Read => (Effect::Reads, Right::Read),
            Action::ReadAll(_) => (Effect::Reads, Right::Admin),
            Action::Submit(_) | Action::Command(_) | Action::Report(_) | Action::Input(..) => {
                (Effect::Changes, Right::Run)
            }
            Action::Manage(_) => (Effect::Changes, Right::Admin),
        };
        // What the command line offers is listed first. Only whoever executes a task can report on it.
        let by_hand = match (action, offered_by) {
            (Action::Report(_), _) => None,
            (_, [FrontEnd::CommandLine, ..]) => Some(name),
            _ => None,
        };
        About { name, summary, action, right, by_hand, effect, offered_by, route: None }
    }

    /// The same, offered over HTTP too: reading with GET, everything else with POST.
    pub(crate) const fn route(self, path: &'static str) -> About {
        About { route: Some(path), ..self }
    }

    /// The same with another right.
    pub(crate) const fn needs(self, right: Right) -> About {
        About { right, ..self }
    }

    /// The same for one that a person runs under another name.
    pub(crate) const fn by_hand(self, by_hand: &'static str) -> About {
        About { by_hand: Some(by_hand), ..self }
    }

    /// The same for one that starts a worker, though it changes no task itself.
    pub(crate) const fn changes(self) -> About {
        About { effect: Effect::Changes, ..self }
    }

    /// The same for one that removes or ends something for good.
    pub(crate) const fn destroys(self) -> About {
        About { effect: Effect::Destroys, ..self }
    }

    /// The same for one that lets an agent work.
    pub(crate) const fn runs_agents(self) -> About {
        About { effect: Effect::RunsAgents, ..self }
    }

    /// Whether this front end offers it.
    pub fn is_offered_by(&self, front_end: FrontEnd) -> bool {
        match front_end {
            FrontEnd::CommandLine | FrontEnd::Mcp => self.offered_by.contains(&front_end),
            FrontEnd::Http => self.route.is_some(),
        }
    }

    /// Whether this caller may perform it, as far as that does not depend on the input. What it may not do is not offered to it.
    pub fn permit(&self, caller: &Caller) -> Result<(), AppError> {
        self.permit_for(caller, Need { right: self.right, verb: self.action.verb() }, &self.action)
    }

    fn permit_for(&self, caller: &Caller, need: Need, action: &Action<'_>) -> Result<(), AppError> {
        if !self.is_offered_by(caller.channel) {
            let refused = AppError::new(ErrorKind::Forbidden, format!("`{}` is not offered here", self.name));
            return Err(self.with_hint(refused));
        }
        let permitted = permit_with(&caller.actor, caller.rights, need, action);
        permitted.map_err(|refusal| match refusal {
            Refusal::Right { .. } => self.with_hint(refusal.into()),
            refusal => refusal.into(),
        })
    }

    /// Names the command of a person, if there is one.
    fn with_hint(&self, refused: AppError) -> AppError {
        match self.by_hand {
            Some(by_hand) => refused.hint(format!("ask a person to run `longhaul {by_hand}`")),
            None => refused,
        }
    }
}

/// The input of an operation that takes none.
#[derive(Debug, Default, Serialize, serde::Deserialize, JsonSchema)]
pub struct NoInput {}

/// What an operation does at worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It commits nothing and starts no worker.
    Reads,
    /// It changes a task or starts a worker, and agents may act on that.
    Changes,
    /// It removes or ends something for good.
    Destroys,
    /// It lets an agent work, which may do anything that its sandbox allows.
    RunsAgents,
}

/// Who may offer an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontEnd {
    /// The command line.
    CommandLine,
    /// The MCP server.
    Mcp,
    /// The HTTP server.
    Http,
}

impl FrontEnd {
    /// Every one.
    pub const ALL: [FrontEnd; 3] = [FrontEnd::CommandLine, FrontEnd::Mcp, FrontEnd::Http];
}

/// A verb for people, and a tool for assistants.
pub(crate) const VERB_AND_TOOL: &[FrontEnd] = &[FrontEnd::CommandLine, FrontEnd::Mcp];
/// A verb only. Without a route it is only for whoever has a shell on this machine.
pub(crate) const COMMAND_LINE: &[FrontEnd] = &[FrontEnd::CommandLine];
/// A tool only.
pub(crate) const TOOL: &[FrontEnd] = &[FrontEnd::Mcp];

/// Proof that the caller may perform the operation, and that the request was not carried out before under its key.
#[derive(Debug)]
pub struct Permit {
    key: Option<Key>,
}

impl Permit {
    /// The key to commit the change under.
    pub(crate) fn key(self) -> Option<Key> {
        self.key
    }
}

/// What an operation answers: its view, and what a person should know besides.
#[derive(Debug)]
pub struct Answer<T> {
    /// What was asked for.
    pub view: T,
    /// What was done or decided besides what the view shows, in sentences.
    pub notes: Vec<String>,
    /// Sentences that people should read; they change nothing.
    pub warnings: Vec<String>,
    /// The same request was carried out before under its key; nothing was done now.
    pub repeated: bool,
    /// That it is the same is a guess, because the caller gave neither a key nor an id.
    pub deduplicated: bool,
}

impl<T> Answer<T> {
    /// An answer without warnings.
    pub fn new(view: T) -> Answer<T> {
        Answer { view, notes: Vec::new(), warnings: Vec::new(), repeated: false, deduplicated: false }
    }

    /// The same with these notes.
    pub fn note(mut self, notes: impl IntoIterator<Item = String>) -> Answer<T> {
        self.notes.extend(notes);
        self
    }

    /// The same with these warnings.
    pub fn warn(mut self, warnings: impl IntoIterator<Item = String>) -> Answer<T> {
        self.warnings.extend(warnings);
        self
    }

    fn deduplicated(self) -> Answer<T> {
        let why = "the same call came less than a minute ago, so nothing was started now; pass a new `key` to start another task";
        Answer { deduplicated: true, ..self }.note([why.to_owned()])
    }
}

impl<T: View> Answer<T> {
    /// The answer as one JSON document.
    pub fn document(&self) -> Result<String, AppError> {
        let document = Document {
            notes: &self.notes,
            warnings: &self.warnings,
            repeated: self.repeated,
            deduplicated: self.deduplicated,
            ..Document::new(T::KIND, &self.view)
        };
        document.text().map_err(|error| not_json(&error))
    }
}

/// What front ends show: versioned data with units in the field names and RFC 3339 times.
pub trait View: Serialize + JsonSchema + Send + Sized {
    /// The `kind` of its JSON documents; one shape has one kind.
    const KIND: &'static str;

    /// What a repeated request is answered with: the task that the first one changed, as it is now. Views of operations that take keys
    /// have it.
    fn of_repeat(_: &Call, _: Stored) -> impl Future<Output = Result<Answer<Self>, AppError>> + Send {
        async { Err(AppError::new(ErrorKind::Failure, format!("`{}` does not show a task", Self::KIND))) }
    }
}

/// One thing that a front end can ask for.
pub trait Operation {
    /// What everybody can know of it.
    const ABOUT: About;
    /// What it takes.
    type Input: Serialize + DeserializeOwned + JsonSchema + Send;
    /// What it answers with.
    type Output: View;

    /// What the core's permission check is asked, if that depends on the input.
    fn action(_: &Self::Input) -> Action<'static> {
        Self::ABOUT.action
    }

    /// The right that the caller needs, and what for, if that depends on the input.
    fn need(_: &Self::Input) -> Need {
        Need { right: Self::ABOUT.right, verb: Self::ABOUT.action.verb() }
    }

    /// The caller's idempotency key. Only operations that change something take one.
    fn key(_: &Self::Input) -> Option<&str> {
        None
    }

    /// Answers a request that was carried out before under its key. Nothing is asked for again.
    fn repeat(
        call: &Call,
        _: Self::Input,
        earlier: Earlier,
    ) -> impl Future<Output = Result<Answer<Self::Output>, AppError>> + Send {
        Self::Output::of_repeat(call, earlier.stored)
    }

    /// Carries it out.
    fn run(
        call: &Call,
        permit: Permit,
        input: Self::Input,
    ) -> impl Future<Output = Result<Answer<Self::Output>, AppError>> + Send;
}

impl Call {
    /// Performs an operation if the caller may. The key comes first: later the same words may mean another task.
    pub async fn perform<O: Operation>(&self, input: O::Input) -> Result<Answer<O::Output>, AppError> {
        permit_input::<O>(&self.caller, &input)?;
        let key = key_of::<O>(self, &input)?;
        let is_guess = key.as_ref().is_some_and(|key| key.guessed_after.is_some());
        let call = self.fresh();
        let answer = match earlier(&call, key.as_ref()).await? {
            Some(earlier) => Answer { repeated: true, ..O::repeat(&call, input, earlier).await? },
            None => O::run(&call, Permit { key }, input).await?,
        };
        let answer = answer.warn(call.damage());
        Ok(if is_guess && answer.repeated { answer.deduplicated() } else { answer })
    }
}

/// An answer on its way, from an operation whose types are forgotten.
pub type Performed<'a> = Pin<Box<dyn Future<Output = Result<String, AppError>> + Send + 'a>>;

/// Makes the schema of a type.
pub type SchemaOf = fn() -> Schema;

/// An operation as servers see it.
pub struct Entry {
    /// What everybody can know of it.
    pub about: About,
    /// The kind of document that it answers with.
    pub kind: &'static str,
    /// The schema of its input.
    pub input_schema: SchemaOf,
    /// The schema of its view.
    pub view_schema: SchemaOf,
    /// Whether this caller may perform it with this input. `perform` asks the same first.
    pub permit: fn(&Caller, Value) -> Result<(), AppError>,
    /// From a JSON input to a JSON document.
    pub perform: for<'a> fn(&'a Call, Value) -> Performed<'a>,
}

/// The entry of an operation.
pub(crate) const fn entry<O: Operation>() -> Entry {
    Entry {
        about: O::ABOUT,
        kind: O::Output::KIND,
        input_schema: schema_of::<O::Input>,
        view_schema: schema_of::<O::Output>,
        permit: permit_json::<O>,
        perform: perform_json::<O>,
    }
}

/// The schema of a type, as one document.
pub(crate) fn schema_of<T: JsonSchema>() -> Schema {
    schemars::SchemaGenerator::default().into_root_schema_for::<T>()
}

fn permit_input<O: Operation>(caller: &Caller, input: &O::Input) -> Result<(), AppError> {
    O::ABOUT.permit_for(caller, O::need(input), &O::action(input))
}

fn permit_json<O: Operation>(caller: &Caller, input: Value) -> Result<(), AppError> {
    permit_input::<O>(caller, &read::<O>(input)?)
}

fn perform_json<O: Operation>(call: &Call, input: Value) -> Performed<'_> {
    let ignored = unknown_fields::warnings(O::ABOUT.name, &schema_of::<O::Input>(), &input);
    Box::pin(async move { call.perform::<O>(read::<O>(input)?).await?.warn(ignored).document() })
}

fn read<O: Operation>(input: Value) -> Result<O::Input, AppError> {
    serde_path_to_error::deserialize(input).map_err(|error| {
        AppError::new(ErrorKind::Usage, format!("the input of `{}` is invalid", O::ABOUT.name)).because(&error)
    })
}

fn not_json(error: &serde_json::Error) -> AppError {
    AppError::new(ErrorKind::Failure, "the answer cannot be written as JSON").because(error)
}
