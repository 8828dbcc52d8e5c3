//! Everything that happens to one task, as it happens: events, what its sessions print, waits in line, and at last the settled task.
//!
//! Used by every verb and server that follows a task. It commits nothing; it starts a worker only if asked to keep one alive. Dropping
//! [`Follow::next`] half-way loses nothing, so it can be raced against keys, signals and deadlines.

use std::collections::VecDeque;
use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Action, Event, SessionRun, State, permit};
use longhaul_store::{Changes, Stored, StoredEvent};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::View;
use crate::ownership::{self, WorkerKeepalive};
use crate::session::agents::Agents;
use crate::session::output::OutputPlace;
use crate::session::position::LogPosition;
use crate::session::turns::{SessionTurns, opening};
use crate::slot_wait;
use crate::text::document;
use crate::views::{EventView, StatusKind, StatusView, TaskView, TurnView};

/// How often output and the worker's life are checked: neither rings the store's bell.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
const PAGE: u32 = 200;

/// So many of the newest sessions are looked through for one of an agent.
const RECENT_SESSIONS: u32 = 50;

/// The position before the newest session of an agent: whoever follows the task from there sees its last work and the checks after it.
pub async fn before_newest_work(call: &Call, task: TaskId) -> Result<u64, AppError> {
    let started = call.store()?.newest_events(task, &["session_started"], RECENT_SESSIONS).await?.events;
    let is_work =
        |event: &&StoredEvent| matches!(&event.event, Event::SessionStarted { session } if session.purpose.is_agent());
    let newest = started.iter().filter(is_work).max_by_key(|event| event.seq);
    let oldest = || started.iter().min_by_key(|event| event.seq);
    Ok(newest.or_else(oldest).map_or(0, |event| event.seq - 1))
}

/// One piece of news about a followed task.
#[derive(Debug)]
pub enum Item {
    /// Something happened to the task.
    Event(Box<EventView>),
    /// A session printed something.
    Turn(TurnView),
    /// News that no event records.
    Status(StatusView),
    /// Everything so far was handed out; this is the task after it, and the next item may take long.
    UpToDate(Box<Stored>),
    /// The task at the end; nothing follows.
    Settled(Box<TaskView>),
}

impl Item {
    /// The item as one JSON document; none if it is no news.
    pub fn document(&self) -> Option<String> {
        match self {
            Item::Event(event) => Some(document(EventView::KIND, event)),
            Item::Turn(turn) => Some(document(TurnView::KIND, turn)),
            Item::Status(status) => Some(document(StatusView::KIND, status)),
            Item::UpToDate(_) => None,
            Item::Settled(task) => Some(document(TaskView::KIND, task)),
        }
    }
}

/// What someone who follows a task wants of it. By default only its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interest {
    /// Nothing up to and including this event.
    pub after: u64,
    /// Whether events are wanted.
    pub events: bool,
    /// What is wanted of the output of sessions.
    pub output: Output,
    /// Only the output of this session.
    pub session: Option<u32>,
    /// How long it is followed.
    pub until: Until,
    /// Whether a worker is started if the task has none that is alive.
    pub keeps_worker: bool,
}

impl Interest {
    /// Whether the history has to be read for it.
    fn reads(&self) -> bool {
        self.events || self.output != Output::None
    }
}

/// What is wanted of the output of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// Nothing.
    #[default]
    None,
    /// As turns, whatever agent printed them.
    Turns,
    /// Line by line, as printed.
    Lines,
}

/// How long a task is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Until {
    /// Only what happened so far.
    Now,
    /// Until it is done or needs someone.
    #[default]
    Settled,
    /// Until it has ended for good.
    Finished,
}

impl Until {
    /// Whether a task in this state is followed no further.
    pub fn is_over(self, state: &State) -> bool {
        match self {
            Until::Now => true,
            Until::Settled => state.is_final() || state.waits_for_person(),
            Until::Finished => state.is_final(),
        }
    }
}

/// What is done when everything found so far has been handed out.
enum Step {
    ReadEvents,
    ReadOutput,
    LoadTask,
    Wait,
    End,
}

/// A task that is followed.
pub struct Follow {
    call: Call,
    interest: Interest,
    /// The task when it was last loaded.
    stored: Stored,
    changes: Changes,
    step: Step,
    /// The last event that was read.
    read: u64,
    /// Events that were read and not handed out yet.
    events: VecDeque<StoredEvent>,
    agents: Agents,
    /// Where the agent works, once that is known.
    root: Option<String>,
    live: Option<SessionTurns>,
    items: VecDeque<Item>,
    worker: WorkerKeepalive,
    /// What was last reported about a wait in line.
    in_line: Option<String>,
    output: OutputMark,
}

/// Where the output was read to.
#[derive(Default)]
struct OutputMark {
    /// The last event that was handed out, and the one that started the live session.
    taken: u64,
    started: u64,
    /// A place that a reader can continue from, and the turns that were handed out since.
    position: LogPosition,
    /// What is still to be passed over, to be where an earlier reader was.
    skip: u64,
    resume: Option<OutputPlace>,
}

impl Follow {
    /// Follows a task that the caller may see.
    pub fn new(call: &Call, stored: Stored, interest: Interest) -> Result<Follow, AppError> {
        permit(&call.caller.actor, &Action::Read)?;
        Ok(Follow {
            changes: call.store()?.changes()?,
            agents: Agents::of_task(&stored.task.submission),
            root: stored.task.workspace.as_ref().map(|workspace| workspace.root.clone()),
            step: Step::ReadEvents,
            read: interest.after,
            call: call.clone(),
            interest,
            stored,
            events: VecDeque::new(),
            live: None,
            items: VecDeque::new(),
            worker: WorkerKeepalive::default(),
            in_line: None,
            output: OutputMark { taken: interest.after, ..OutputMark::default() },
        })
    }

    /// Continues with the output after this position.
    pub(crate) fn continue_from(&mut self, position: LogPosition) {
        self.read = position.event;
        let LogPosition { event, turns, output } = position;
        self.output = OutputMark { taken: event, started: 0, position, skip: turns, resume: output };
        self.output.position.turns = 0;
    }

    /// The position after what was handed out so far.
    pub(crate) fn position(&self) -> LogPosition {
        self.output.position
    }

    /// The task when it was last loaded.
    pub fn stored(&self) -> &Stored {
        &self.stored
    }

    /// The next item; none after [`Item::Settled`].
    pub async fn next(&mut self) -> Result<Option<Item>, AppError> {
        loop {
            if let Some(item) = self.items.pop_front() {
                if let Item::Turn(_) = item {
                    self.output.position.turns += 1;
                    if self.output.skip > 0 {
                        self.output.skip -= 1;
                        continue;
                    }
                }
                return Ok(Some(item));
            }
            self.mark();
            match self.step {
                Step::ReadEvents => self.read_events().await?,
                Step::ReadOutput => self.read_output(),
                Step::LoadTask => self.load_task().await?,
                Step::Wait => {
                    tokio::time::timeout(LOOK_AGAIN, self.changes.rung()).await.ok();
                    self.step = Step::ReadEvents;
                }
                Step::End => return Ok(None),
            }
        }
    }

    /// Moves the position to where the reader is, if another one could continue there.
    fn mark(&mut self) {
        let mark = &mut self.output;
        match &self.live {
            Some(live) => {
                if let Some(place) = live.place() {
                    mark.position = LogPosition { event: mark.started - 1, turns: 0, output: Some(place) };
                }
            }
            None => mark.position = LogPosition { event: mark.taken, turns: 0, output: None },
        }
    }

    async fn read_events(&mut self) -> Result<(), AppError> {
        if let Some(event) = self.events.pop_front() {
            self.take(event);
            return Ok(());
        }
        if self.interest.reads() {
            self.events = self.call.store()?.events(self.stored.task.id, self.read, PAGE).await?.into();
        }
        match self.events.back() {
            Some(last) => self.read = last.seq,
            None => self.step = Step::ReadOutput,
        }
        Ok(())
    }

    /// Hands out an event between what was printed before and after it.
    fn take(&mut self, event: StoredEvent) {
        self.agents.note(&event.event);
        if let Event::Placed { workspace } = &event.event {
            self.root = Some(workspace.root.clone());
        }
        if let (Event::SessionEnded { .. }, Some(live)) = (&event.event, &mut self.live) {
            live.end();
            match live.more(self.call.now()) {
                Some(turns) => {
                    self.items.extend(turns.into_iter().map(Item::Turn));
                    return self.events.push_front(event);
                }
                None => self.live = None,
            }
        }
        if self.interest.events {
            self.items.push_back(Item::Event(Box::new(EventView::new(&event))));
        }
        self.output.taken = event.seq;
        if let Event::SessionStarted { session } = &event.event {
            self.output.started = event.seq;
            let resume = self.output.resume.take();
            self.open(session, resume);
        }
    }

    /// Reads a session, from its beginning or from where an earlier reader was.
    fn open(&mut self, session: &SessionRun, resume: Option<OutputPlace>) {
        let is_wanted = self.interest.session.is_none_or(|only| only == session.number);
        let agent = match self.interest.output {
            Output::Turns if is_wanted => self.agents.of(session),
            Output::Lines if is_wanted => None,
            Output::None | Output::Turns | Output::Lines => return,
        };
        if resume.is_none() {
            self.items.extend(opening(session).into_iter().map(Item::Turn));
        }
        let root = self.root.as_deref();
        self.live = SessionTurns::new(self.call.home(), session, agent, root, resume.unwrap_or_default());
    }

    fn read_output(&mut self) {
        match self.live.as_mut().and_then(|live| live.more(self.call.now())) {
            Some(turns) => self.items.extend(turns.into_iter().map(Item::Turn)),
            None => self.step = Step::LoadTask,
        }
    }

    /// The task is handed out only after everything that it went through.
    async fn load_task(&mut self) -> Result<(), AppError> {
        let stored = self.load().await?;
        if self.interest.reads() && stored.task.version > self.read {
            self.step = Step::ReadEvents;
            return Ok(());
        }
        self.stored = stored;
        if self.interest.until.is_over(&self.stored.task.state) {
            let view = TaskView::of(&self.call, self.stored.task.id).await?;
            self.items.extend([Item::UpToDate(Box::new(self.stored.clone())), Item::Settled(Box::new(view))]);
            self.step = Step::End;
            return Ok(());
        }
        if ownership::is_left_by_runner(&self.call, &self.stored).await? {
            return Err(ownership::left_by_runner(&self.stored));
        }
        let wait = slot_wait::wait_of(&self.call, &self.stored).await?.map(|waiting| waiting.in_line());
        // Its session may have started after it was loaded, and then the slot in use is its own.
        if wait.is_some() && wait != self.in_line && self.load().await?.task.version != self.stored.task.version {
            self.step = Step::ReadEvents;
            return Ok(());
        }
        self.keep_worker().await?;
        // From here on nothing can interrupt it: what is handed out is remembered as such.
        self.tell_wait(wait);
        self.items.push_back(Item::UpToDate(Box::new(self.stored.clone())));
        self.step = Step::Wait;
        Ok(())
    }

    async fn load(&self) -> Result<Stored, AppError> {
        let gone = || AppError::new(ErrorKind::NotFound, "the task no longer exists");
        self.call.load(self.stored.task.id).await?.ok_or_else(gone)
    }

    /// What a task in line waits for, once for each reason: no event records it. All other waits are events.
    fn tell_wait(&mut self, wait: Option<String>) {
        if !slot_wait::is_in_line(&self.stored) {
            self.in_line = None;
        }
        if let Some(text) = wait.filter(|text| self.in_line.as_ref() != Some(text)) {
            self.in_line = Some(text.clone());
            self.items.push_back(Item::Status(StatusView::new(self.call.now(), StatusKind::InLine, text)));
        }
    }

    async fn keep_worker(&mut self) -> Result<(), AppError> {
        if self.interest.keeps_worker && self.worker.tick(&self.call, &self.stored).await? {
            let text = match self.stored.owner {
                Some(_) => "its worker is dead; another one was started",
                None => "it had no worker; one was started",
            };
            self.items.push_back(Item::Status(StatusView::new(self.call.now(), StatusKind::WorkerStarted, text)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Servers follow a task on any thread.
    #[test]
    fn whoever_follows_can_move_between_threads() {
        fn is_send<T: Send>(_: &T) {}
        fn check(follow: &mut Follow) {
            is_send(follow);
            is_send(&follow.next());
        }
        let _: fn(&mut Follow) = check;
    }
}
