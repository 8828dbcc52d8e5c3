//! The agents' own conversations over sessions: what each session left of its agent's, and how the next one opens. Pure rules, folded by
//! `apply` and asked by `decide`: the exact id is resumed, or a fresh conversation starts with a note; nothing in between.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Context, Delivered, Ended, Exit, Failure, Outcome, Purpose, SessionRun, Task};
use crate::time::Time;

/// Resumed sessions that may fail in a row before their conversation is given up.
const RESUME_FAILURES: u32 = 2;

/// A conversation that the next session of its agent can resume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Whose it is.
    pub agent: String,
    /// The agent's own id of it.
    pub id: String,
    /// Whether it contains the last prompt.
    pub delivered: Delivered,
    /// What that prompt was for.
    pub purpose: Option<Purpose>,
    /// Counters of the agent's reader, carried over to the next session.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub carry: Value,
    /// Sessions in a row that resumed it and failed.
    pub failed: u32,
}

/// How a session begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opening {
    /// In a new conversation, with the whole prompt.
    #[default]
    Fresh,
    /// In a new conversation although the work was under way: with the whole prompt and a note why.
    Handover {
        /// Why not in the old one.
        why: String,
    },
    /// In its own new conversation, because another agent ran the last session: as a person chose.
    TakeOver {
        /// Which agent.
        from: String,
    },
    /// In the old conversation, which has the prompt: the agent is asked to continue.
    Continue,
    /// In the old conversation, which never got the prompt: the whole prompt is sent.
    Again,
    /// In the old conversation, which may or may not have the prompt: the prompt sent is safe to read twice.
    Unsure,
}

/// How the next session of an agent begins.
pub(super) struct Start {
    pub(super) resumes: Option<String>,
    pub(super) opening: Opening,
    pub(super) carry: Value,
}

impl Conversation {
    fn opening(&self, purpose: Purpose) -> Opening {
        match self.delivered {
            // Another purpose is another prompt, whatever became of the last one.
            _ if self.purpose.is_some_and(|last| last != purpose) => Opening::Again,
            Delivered::Yes => Opening::Continue,
            Delivered::No | Delivered::NoTranscript => Opening::Again,
            Delivered::Unknown => Opening::Unsure,
        }
    }
}

impl Task {
    /// How a session of this agent begins.
    pub(super) fn start_of(&self, agent: &str, purpose: Purpose) -> Start {
        let fresh = |opening| Start { resumes: None, opening, carry: Value::Null };
        match (self.conversation_of(agent), self.conversations.last(), &self.lost) {
            // There is one only when the choice was made after the session that left it.
            (_, Some(_), _) if self.submission.context == Context::Fresh => {
                fresh(Opening::Handover { why: "from now on every session starts a new conversation".into() })
            }
            (Some(talk), _, _) => {
                Start { resumes: Some(talk.id.clone()), opening: talk.opening(purpose), carry: talk.carry.clone() }
            }
            (None, _, Some(why)) => fresh(Opening::Handover { why: why.clone() }),
            (None, Some(last), None) => fresh(Opening::TakeOver { from: last.agent.clone() }),
            (None, None, None) => fresh(Opening::Fresh),
        }
    }

    /// Why the next session cannot resume the work under way; none if it can, or if no work is under way.
    pub fn handover(&self, now: Time) -> Option<&str> {
        self.lost.as_deref().filter(|_| self.conversation_of(self.next_agent(now)).is_none())
    }

    fn conversation_of(&self, agent: &str) -> Option<&Conversation> {
        self.conversations.iter().find(|talk| talk.agent == agent)
    }

    /// Folds a session's end: what the next one of its agent can resume, and if nothing, why.
    pub(super) fn count_conversation(&mut self, run: &SessionRun, ended: &Ended, progress: bool) {
        // What never ran has changed no conversation, and made none.
        if matches!(ended.exit, Exit::NeverStarted | Exit::NotExecutable(_)) {
            return;
        }
        let after = self.conversation_after(run, ended, progress);
        self.conversations.retain(|talk| talk.agent != run.agent);
        self.outdate_conversations(run, ended, progress);
        self.lost = None;
        match after {
            Ok(conversation) => self.conversations.extend(conversation),
            Err(why) => self.lost = Some(why),
        }
    }

    /// What other agents were in the middle of is over when a session completes. One that only did something changed what they know, so
    /// that they need the whole prompt again; one that did nothing costs them nothing.
    fn outdate_conversations(&mut self, run: &SessionRun, ended: &Ended, progress: bool) {
        let completed = ended.outcome == Outcome::Completed;
        match self.submission.context {
            Context::Auto | Context::Fresh if completed => self.conversations.clear(),
            Context::Auto | Context::Fresh | Context::Resume if progress || !run.did_nothing(ended) => {
                self.conversations.iter_mut().for_each(|talk| talk.delivered = Delivered::No);
            }
            Context::Auto | Context::Fresh | Context::Resume => {}
        }
    }

    fn conversation_after(
        &self,
        run: &SessionRun,
        ended: &Ended,
        progress: bool,
    ) -> Result<Option<Conversation>, String> {
        // One that asked a person was in the middle of its work, also if its turn ended in time.
        let asked = self.state.question().is_some();
        let completed = ended.outcome == Outcome::Completed && !asked;
        let stopped = if asked { "asked for help" } else { "was interrupted" };
        let Some(id) = run.conversation.as_ref().or(run.resumes.as_ref()) else {
            return match ended.delivered {
                Delivered::NoTranscript if !completed => {
                    Err(format!("the agent keeps no conversations, and the last session {stopped}"))
                }
                // It died before it had a conversation; nothing is known that a note could tell.
                Delivered::Yes | Delivered::No | Delivered::NoTranscript | Delivered::Unknown => Ok(None),
            };
        };
        match (&ended.outcome, self.submission.context) {
            (Outcome::Completed, Context::Auto | Context::Fresh) if completed => return Ok(None),
            (Outcome::Failed(Failure::BadConversation), _) => {
                return Err(format!("conversation {id} cannot be resumed"));
            }
            (Outcome::Failed(Failure::ContextFull), _) => return Err(format!("conversation {id} is full")),
            (_, Context::Fresh) => {
                return Err(format!("every session starts a new conversation, and the last one {stopped}"));
            }
            (_, Context::Auto | Context::Resume) => {}
        }
        if ended.delivered == Delivered::NoTranscript {
            return Err(format!("the agent had not stored conversation {id}"));
        }
        let before = self.conversations.iter().find(|talk| talk.id == *id && run.resumes.is_some());
        let failed = if ended.burns_attempt() && !progress { before.map_or(0, |talk| talk.failed + 1) } else { 0 };
        if failed >= RESUME_FAILURES {
            return Err(format!("conversation {id} was resumed {failed} times and failed each time"));
        }
        Ok(Some(Conversation {
            agent: run.agent.clone(),
            id: id.clone(),
            // After a completed session the next prompt is a new one.
            delivered: if completed { Delivered::No } else { delivered(run, ended) },
            purpose: Some(run.purpose),
            carry: ended.carry.clone(),
            failed,
        }))
    }
}

/// A session that only asked the agent to continue leaves the first prompt where it was.
fn delivered(run: &SessionRun, ended: &Ended) -> Delivered {
    match (&run.opening, ended.delivered) {
        (Opening::Continue, Delivered::No | Delivered::Unknown) => Delivered::Yes,
        (_, delivered) => delivered,
    }
}

impl SessionRun {
    /// Whether the agent was turned away before the model answered it, as far as can be seen.
    fn did_nothing(&self, ended: &Ended) -> bool {
        let changed = matches!((&self.tree, &ended.tree), (Some(before), Some(after)) if before != after);
        let turned_away = match &ended.outcome {
            Outcome::Failed(
                Failure::Limited(_) | Failure::Exhausted(_) | Failure::Auth(_) | Failure::Configuration(_),
            ) => true,
            Outcome::Completed
            | Outcome::Failed(
                Failure::Crashed
                | Failure::Retryable(_)
                | Failure::Permission(_)
                | Failure::ContextFull
                | Failure::BadConversation,
            ) => false,
        };
        turned_away && !changed && self.usage.total().unwrap_or(0) == 0
    }

    /// Whether the agent used a different conversation from the one it was asked to resume.
    pub fn strayed(&self) -> bool {
        matches!((&self.resumes, &self.conversation), (Some(asked), Some(got)) if asked != got)
    }
}
