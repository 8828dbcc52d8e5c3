//! The counters of a task and everything else an event changes beside the state. Called by `apply` only.
//! Counters hold over restarts because they are folded from the events like the state itself.

use std::sync::Arc;

use super::session::{Ended, Failure, Outcome, StoppedBy};
use super::{Accepted, Driver, Event, Exit, Purpose, Round, SessionRun, Setting, State, Task};
use crate::ids::SessionId;

impl Task {
    pub(super) fn count(&mut self, event: &Event) {
        match event {
            Event::SessionStarted { session } => self.count_start(session),
            Event::SessionEnded { session, ended, progress } => self.count_end(*session, ended, *progress),
            Event::PlanRevised { revision, plan, hash, .. } => {
                self.plan = Some(Accepted { revision: *revision, plan: plan.clone(), hash: hash.clone() }.into());
            }
            Event::PlanAccepted { revision, plan, hash, restore } => {
                self.plan = Some(Accepted { revision: *revision, plan: plan.clone(), hash: hash.clone() }.into());
                self.restore.clone_from(restore);
                self.tally.rejected = restore.as_ref().map_or(self.tally.rejected, |restore| restore.keep_as);
                self.round = None;
            }
            Event::PlanRefused { restore, .. } => {
                self.tally.rejected = restore.keep_as;
                self.plan_notice = Some(super::narrate(event));
                self.restore = Some(restore.clone());
            }
            Event::PlanRestored => self.restore = None,
            Event::Resumed { .. } => self.begin_anew(),
            Event::Driven { run } => {
                self.run = Some(run.clone());
                self.tally.interrupted = 0;
            }
            Event::Placed { workspace } => self.workspace = Some(workspace.clone()),
            Event::Edited { settings } => settings.iter().for_each(|setting| self.change_setting(setting)),
            Event::Told { text } => self.guidance.push(text.clone()),
            Event::RoundStarted { number, again, files, tree } => {
                self.tally.rounds = *number;
                self.round = Some(Round::new(*number, *again, files.clone(), tree.clone()));
            }
            Event::Checked { evidence } => {
                if let Some(round) = &mut self.round {
                    round.evidence.push(evidence.clone());
                }
            }
            Event::RoundEnded { outcome } => {
                if let Some(round) = &mut self.round {
                    round.outcome = Some(outcome.clone());
                }
            }
            Event::AfterMet => self.after_met = true,
            Event::AgentLimited { agent, until, told, .. } => {
                self.limited.insert(agent.clone(), *until);
                self.tally.probes = if *told { 0 } else { self.tally.probes + 1 };
                self.tally.limits += 1;
            }
            Event::Submitted { .. }
            | Event::Claimed { .. }
            | Event::SessionRead { .. }
            | Event::StopAsked { .. }
            | Event::WaitStarted { .. }
            | Event::WaitEnded
            | Event::Paused { .. }
            | Event::Held { .. }
            | Event::Released { .. }
            | Event::HelpNeeded { .. }
            | Event::Stopped { .. }
            | Event::Blocked { .. }
            | Event::Unblocked
            | Event::Finished { .. }
            | Event::Cancelled { .. }
            | Event::Forced { .. }
            | Event::Noted { .. } => {}
        }
    }

    /// A person says that something changed, so the breakers start anew and the checks from the first.
    fn begin_anew(&mut self) {
        self.tally.failures = 0;
        self.tally.idle = 0;
        self.tally.interrupted = 0;
        self.forget_limits();
        if matches!(self.state, State::NeedsHelp { .. }) {
            self.tally.fixes = 0;
            self.round = None;
            self.after_met = true;
        }
    }

    /// Other checks are other evidence: a round that was begun with the old ones says nothing any more.
    fn change_setting(&mut self, setting: &Setting) {
        Arc::make_mut(&mut self.submission).set(setting);
        match setting {
            Setting::Checks(_) => self.round = None,
            // Where the runner was started says nothing about a supervised task.
            Setting::Driver(Driver::Supervised) => self.run = None,
            // What a person chose is tried at once, whatever was known of limits.
            Setting::Agent(name) => {
                self.limited.remove(name);
            }
            Setting::Limit(..)
            | Setting::Attempts(_)
            | Setting::IdleSessions(_)
            | Setting::FixAttempts(_)
            | Setting::Silence(_)
            | Setting::Wall(_)
            | Setting::Delay(_)
            | Setting::Once(_)
            | Setting::Fallbacks(_)
            | Setting::Sandbox(_)
            | Setting::Network(_)
            | Setting::Context(_)
            | Setting::OnLimit(_)
            | Setting::Hours(_)
            | Setting::Declared(_)
            | Setting::NeedsEnv(_)
            | Setting::Model(_)
            | Setting::Priority(_)
            | Setting::Driver(Driver::Runner) => {}
        }
    }

    fn count_start(&mut self, session: &SessionRun) {
        self.tally.sessions = session.number;
        if session.purpose.is_agent() {
            self.tally.guided = u32::try_from(self.guidance.len()).unwrap_or(u32::MAX);
        }
        // What was checked before new work says nothing about the work after it; a fixing session is told of it.
        if session.purpose == Purpose::Work {
            self.round = None;
        }
    }

    fn count_end(&mut self, session: SessionId, ended: &Ended, progress: bool) {
        let Some(run) = self.state.live(session).cloned() else { return };
        self.tally.usage = self.tally.usage.plus(run.usage);
        self.tally.interrupted = if ended.says_nothing(run.purpose) { self.tally.interrupted + 1 } else { 0 };
        if run.purpose.is_agent() {
            self.count_agent_end(&run, ended, progress);
        }
    }

    fn count_agent_end(&mut self, run: &SessionRun, ended: &Ended, progress: bool) {
        self.count_conversation(run, ended, progress);
        self.count_runner(run, ended);
        if !matches!(ended.outcome, Outcome::Failed(Failure::Limited(_) | Failure::Exhausted(_))) {
            self.limited.remove(&run.agent);
            self.tally.probes = 0;
            self.tally.limits = 0;
        }
        if ended.exit != Exit::NeverStarted {
            self.tally.tries = if ended.outcome == Outcome::Completed { 0 } else { self.tally.tries + 1 };
        }
        self.tally.worked_ms = self.tally.worked_ms.saturating_add(ended.lasted_ms);
        if !matches!(ended.exit, Exit::NeverStarted | Exit::NotExecutable(_)) {
            self.tally.agent_sessions += 1;
        }
        // A session that came to nothing may not have read what it was told; the next one is told again.
        if progress || ended.outcome == Outcome::Completed {
            self.plan_notice = None;
            self.guidance.drain(..self.guidance.len().min(self.tally.guided as usize));
        }
        self.tally.guided = 0;
        if run.purpose == Purpose::Fix && ended.outcome == Outcome::Completed {
            self.tally.fixes += 1;
            self.round = None;
        }
        if progress {
            self.tally.failures = 0;
            self.tally.idle = 0;
        } else if ended.outcome == Outcome::Completed {
            self.tally.idle += 1;
        } else if ended.burns_attempt() {
            self.tally.failures += 1;
        }
    }
}

impl Ended {
    /// Whether this end counts against the task's attempts. Limits, shutdowns and our own stops do not.
    pub fn burns_attempt(&self) -> bool {
        if self.came_to_nothing() || self.stopped_by == StoppedBy::Task || self.starved.is_some() {
            return false;
        }
        !matches!(self.outcome, Outcome::Completed | Outcome::Failed(Failure::Limited(_) | Failure::Exhausted(_)))
    }

    /// Never started, or interrupted from outside.
    pub fn came_to_nothing(&self) -> bool {
        self.exit == Exit::NeverStarted || self.stopped_by == StoppedBy::Shutdown
    }

    /// Whether the end tells nothing of what the session was for; a check whose exit nobody saw is simply run again.
    pub fn says_nothing(&self, purpose: Purpose) -> bool {
        self.came_to_nothing() || (purpose == Purpose::Check && self.exit == Exit::Unknown)
    }
}
