//! One event of a task's history, as lists and streams of events show it: a sentence for people, and a few named facts for programs.
//! The stored event itself is never sent: it contains prompts, addresses and definitions that belong to whoever submitted the task.

use longhaul_core::task::{
    Actor, Channel, Event, Evidence, Observation, Report, RoundOutcome, SessionRun, Submission, Then, Until, narrate,
};
use longhaul_core::time::Time;
use longhaul_store::StoredEvent;
use schemars::JsonSchema;
use serde::Serialize;

use super::usd;
use crate::operation::View;
use crate::report::{session_error, session_outcome};

/// Something that happened to a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EventView {
    /// Counts from 1 within the task, without gaps.
    pub seq: u64,
    /// When it was stored.
    pub at: String,
    /// Who did it.
    pub actor: ActorView,
    /// The stored name of what happened, such as `session_started`.
    pub kind: &'static str,
    /// What happened, for people.
    pub sentence: String,
    /// The same for programs.
    #[serde(flatten)]
    pub facts: EventFacts,
}

/// Who did something.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ActorView {
    /// A user name, or `worker`.
    pub principal: String,
    /// `person`, `worker`, `workspace`, `session` or `unknown`.
    pub scope: String,
    /// The agent session that it came from.
    pub session_id: Option<String>,
    /// The server that it came through: `mcp` or `http`; null for the command line and for Longhaul itself.
    pub channel: Option<&'static str>,
    /// The id of the API key that it came with.
    pub key_id: Option<String>,
}

/// What an event says, field by field. A field that does not apply to the kind is null.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct EventFacts {
    /// The number of the session within the task.
    pub session: Option<u32>,
    /// The id of the session.
    pub session_id: Option<String>,
    /// Purpose of the session: `plan`, `work`, `fix`, `check` or `setup`; for a finished check, `check` or `setup`.
    pub purpose: Option<String>,
    /// The agent that it is about.
    pub agent: Option<String>,
    /// The agent's own id of its conversation.
    pub conversation: Option<String>,
    /// How the session ended, in a few words.
    pub outcome: Option<&'static str>,
    /// How its program ended, such as `exit code 0`.
    pub exit: Option<String>,
    /// How long it ran.
    pub lasted_ms: Option<u64>,
    /// Tokens that a part of the session's output reported.
    pub tokens: Option<u64>,
    /// Cost that a part of the session's output reported.
    pub cost_usd: Option<f64>,
    /// The revision of the plan.
    pub revision: Option<u32>,
    /// Numbers of the steps that were newly ticked.
    pub ticked: Option<Vec<u32>>,
    /// The number of the round of checks.
    pub round: Option<u32>,
    /// The command of the check.
    pub check: Option<String>,
    /// Whether the check, or every check of the round, passed.
    pub passed: Option<bool>,
    /// The git tree that was checked.
    pub tree: Option<String>,
    /// `verified`, `not_verified` or `no_checks`.
    pub result: Option<&'static str>,
    /// The worker that took the task.
    pub worker_id: Option<String>,
    /// The commit that a follow-up lands.
    pub commit: Option<String>,
    /// The branch that the agent works on.
    pub branch: Option<String>,
    /// Why it happened, or what went wrong.
    pub reason: Option<String>,
    /// What the task's agent, or the outside program of a tracked run, said.
    pub summary: Option<String>,
    /// When a wait or a usage limit ends.
    pub until: Option<String>,
}

impl View for EventView {
    const KIND: &'static str = "event";
}

impl EventView {
    /// An event as stored.
    pub(crate) fn new(stored: &StoredEvent) -> EventView {
        EventView {
            seq: stored.seq,
            at: stored.at.rfc3339(),
            actor: ActorView::new(&stored.actor),
            kind: stored.event.kind(),
            sentence: narrate(&stored.event),
            facts: facts(&stored.event),
        }
    }
}

impl ActorView {
    pub(crate) fn new(actor: &Actor) -> ActorView {
        let scope = serde_json::to_value(actor.scope).ok();
        ActorView {
            principal: actor.principal.clone(),
            scope: scope.and_then(|scope| Some(scope.as_str()?.to_owned())).unwrap_or_default(),
            session_id: actor.session.map(|session| session.to_string()),
            channel: actor.channel.map(|channel| match channel {
                Channel::Mcp => "mcp",
                Channel::Http => "http",
            }),
            key_id: actor.key.clone(),
        }
    }

    /// Who it was, and how they reached Longhaul unless on the command line.
    pub fn words(&self) -> String {
        let who = match self.key_id {
            Some(_) => format!("the key `{}`", self.principal),
            None => self.principal.clone(),
        };
        match self.channel {
            Some(channel) => format!("{who} through {}", channel.to_uppercase()),
            None => who,
        }
    }
}

impl EventFacts {
    fn because(reason: &(impl ToString + ?Sized)) -> EventFacts {
        EventFacts { reason: Some(reason.to_string()), ..EventFacts::default() }
    }

    fn of_session(session: &impl ToString) -> EventFacts {
        EventFacts { session_id: Some(session.to_string()), ..EventFacts::default() }
    }
}

/// The facts of every kind of event. What is not named here stays in the store.
fn facts(event: &Event) -> EventFacts {
    let none = EventFacts::default();
    match event {
        Event::Submitted { submission } => EventFacts { agent: agent_of(submission), ..none },
        Event::Claimed { worker, .. } => EventFacts { worker_id: Some(worker.to_string()), ..none },
        Event::SessionStarted { session } => started(session),
        Event::SessionRead { session, said, .. } => EventFacts {
            conversation: said.conversation.clone(),
            tokens: said.usage.total(),
            cost_usd: said.usage.cost_micros.map(usd),
            ..EventFacts::of_session(session)
        },
        Event::SessionEnded { session, ended, .. } => EventFacts {
            outcome: Some(session_outcome(ended, ended.printed.is_none())),
            exit: Some(ended.exit.to_string()),
            lasted_ms: Some(ended.lasted_ms),
            reason: session_error(ended),
            ..EventFacts::of_session(session)
        },
        Event::PlanRevised { revision, ticked, .. } => {
            EventFacts { revision: Some(*revision), ticked: Some(ticked.clone()), ..none }
        }
        Event::PlanRefused { unreadable: Some(why), .. } => EventFacts::because(why),
        Event::PlanRefused { refused, unreadable: None, .. } => {
            EventFacts::because(&refused.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        }
        Event::WaitStarted { why, until, .. } => {
            EventFacts { until: until.map(Time::rfc3339), ..EventFacts::because(why) }
        }
        Event::StopAsked { then: Then::Stop { reached }, .. } | Event::Stopped { reached } => {
            EventFacts::because(reached)
        }
        Event::StopAsked { then: Then::Cancel { reason, .. }, .. }
        | Event::Paused { why: reason }
        | Event::Resumed { reason }
        | Event::Failed { reason }
        | Event::Cancelled { reason, .. } => EventFacts { reason: reason.clone(), ..none },
        Event::HelpNeeded { reason } | Event::StopAsked { then: Then::Ask { reason }, .. } => {
            EventFacts::because(reason)
        }
        Event::Reported { report } | Event::Checkpointed { report } | Event::SaidDone { report } => reported(report),
        Event::HelpAsked { reason, report, .. } => EventFacts { reason: Some(reason.clone()), ..reported(report) },
        Event::HelpAnswered { reason, .. } => EventFacts::because(reason),
        Event::Blocked { cause } => EventFacts::because(cause),
        Event::Merged { merge } => EventFacts { commit: Some(merge.commit.clone()), ..none },
        Event::LandingStarted { landing } => EventFacts { commit: Some(landing.commit.clone()), ..none },
        Event::Placed { workspace } => EventFacts { branch: workspace.branch.clone(), ..none },
        Event::PlanAccepted { revision, .. } => EventFacts { revision: Some(*revision), ..none },
        Event::RoundStarted { number, tree, .. } => EventFacts { round: Some(*number), tree: tree.clone(), ..none },
        Event::Checked { evidence } => checked(evidence),
        Event::RoundEnded { outcome } => round_ended(outcome),
        Event::AgentLimited { agent, until: Until::Person { why }, .. } => {
            EventFacts { agent: Some(agent.clone()), ..EventFacts::because(why) }
        }
        Event::AgentLimited { agent, until: Until::Time { at, .. }, .. } => {
            EventFacts { agent: Some(agent.clone()), until: Some(at.rfc3339()), ..none }
        }
        Event::Finished { verdict } => EventFacts { result: Some(verdict.kind().word()), ..none },
        Event::Noted { observation } => {
            let Observation::CannotPrepare { cause } = &**observation else { return none };
            EventFacts::because(cause)
        }
        Event::StopAsked { then: Then::Pause | Then::Hold { .. } | Then::GoOn, .. }
        | Event::PlanRestored
        | Event::WaitEnded
        | Event::Held { .. }
        | Event::Released { .. }
        | Event::Driven { .. }
        | Event::Unblocked
        | Event::Edited { .. }
        | Event::Told { .. }
        | Event::AfterMet
        | Event::TargetMoved
        | Event::Forced { .. } => none,
    }
}

fn checked(evidence: &Evidence) -> EventFacts {
    EventFacts {
        purpose: Some(evidence.role.name().to_owned()),
        session: Some(evidence.number),
        check: Some(evidence.command.clone()),
        passed: Some(evidence.failure.is_none()),
        exit: Some(evidence.exit.to_string()),
        lasted_ms: Some(evidence.lasted_ms),
        reason: evidence.failure.clone(),
        ..EventFacts::of_session(&evidence.session)
    }
}

/// None if an outside program executes the task.
fn agent_of(submission: &Submission) -> Option<String> {
    Some(submission.agent.clone()).filter(|agent| !agent.is_empty())
}

fn reported(report: &Report) -> EventFacts {
    EventFacts { summary: report.summary.clone(), ..EventFacts::default() }
}

fn started(run: &SessionRun) -> EventFacts {
    EventFacts {
        session: Some(run.number),
        purpose: Some(run.purpose.to_string()),
        agent: run.purpose.is_agent().then(|| run.agent.clone()),
        conversation: run.resumes.clone(),
        check: run.command.clone(),
        ..EventFacts::of_session(&run.id)
    }
}

fn round_ended(outcome: &RoundOutcome) -> EventFacts {
    let passed = |passed| EventFacts { passed: Some(passed), ..EventFacts::default() };
    match outcome {
        RoundOutcome::Passed { tree } => EventFacts { tree: tree.clone(), ..passed(true) },
        RoundOutcome::TreeChanged => {
            EventFacts { reason: Some("files changed while the checks ran".into()), ..passed(true) }
        }
        RoundOutcome::Failed { why } => EventFacts { reason: Some(why.clone()), ..passed(false) },
    }
}
