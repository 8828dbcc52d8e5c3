//! The counters of a task and everything else an event changes beside the state. Called by `apply` only.
//! Counters hold over restarts because they are folded from the events like the state itself.

use std::sync::Arc;

use super::session::{Ended, Failure, Outcome, StoppedBy};
use super::{
    Accepted, AgentLimit, CheckChange, CheckEdit, Driver, Event, Evidence, Exit, HelpReason, Merge, Merging, Purpose,
    Round, RoundOutcome, RunnerOptions, SessionRun, Setting, State, Task, Until, Workspace,
};
use crate::ids::{SessionId, TaskId};

impl Task {
    pub(super) fn fold_facts(&mut self, event: &Event) {
        match event {
            Event::SessionStarted { session } => self.count_start(session),
            Event::SessionEnded { session, ended, progress } => self.count_end(*session, ended, *progress),
            Event::PlanRevised { revision, change, hash, ticked } => {
                let before = self.plan.as_ref().map(|accepted| &accepted.plan);
                let plan = change.apply_to(before, ticked);
                self.plan = Some(Accepted { revision: *revision, plan, hash: hash.clone() }.into());
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
                // The saved conversation's counters outlast an invocation.
                let carry = self.run.take().map(|last| last.carry).unwrap_or_default();
                self.run = Some(RunnerOptions { carry, ..run.clone() });
                self.tally.interrupted = 0;
            }
            Event::Placed { workspace } => self.fold_place(workspace),
            Event::Edited { settings, by } => {
                settings.iter().for_each(|setting| self.change_setting(setting, by.as_deref()));
            }
            Event::Told { text } => self.guidance.push(text.clone()),
            Event::RoundStarted { number, again, files, tree, basis } => {
                self.start_round(Round::new(*number, *again, files.clone(), tree.clone(), basis.clone()));
            }
            Event::Checked { evidence } => self.fold_evidence(evidence),
            Event::RoundEnded { outcome } => self.end_round(outcome),
            Event::AfterMet => self.after_met = true,
            Event::Merged { merge } => self.fold_merge(merge),
            Event::LandingStarted { landing } => self.landing = Some(landing.clone()),
            Event::TargetMoved => {
                self.landing = None;
                self.tally.target_moves += 1;
            }
            Event::Reported { report } => self.fold_report(report),
            Event::SaidDone { report } => self.fold_said_done(report),
            Event::Checkpointed { report } => self.fold_checkpoint(report),
            Event::HelpAsked { report, .. } => self.fold_help(report),
            Event::HelpAnswered { reason, by } => self.fold_answer(reason, by),
            Event::WaitEnded => self.end_waited_limits(),
            Event::AgentLimited { agent, until, account, found_by } => {
                self.fold_limit(agent, until, account.as_ref(), *found_by);
            }
            Event::Noted { observation } if observation.is_git_failure() => self.tally.git_failures += 1,
            Event::Submitted { .. }
            | Event::Claimed { .. }
            | Event::SessionRead { .. }
            | Event::StopAsked { .. }
            | Event::WaitStarted { .. }
            | Event::Paused { .. }
            | Event::Held { .. }
            | Event::Released { .. }
            | Event::HelpNeeded { .. }
            | Event::Stopped { .. }
            | Event::Blocked { .. }
            | Event::Unblocked
            | Event::Failed { .. }
            | Event::Finished { .. }
            | Event::Cancelled { .. }
            | Event::Forced { .. }
            | Event::Noted { .. } => {}
        }
    }

    fn fold_place(&mut self, workspace: &Workspace) {
        self.workspace = Some(workspace.clone());
        if let Some(merging) = &mut self.merging {
            merging.is_placed = true;
        }
    }

    fn fold_merge(&mut self, merge: &Merge) {
        self.merging = Some(Merging::next(self.merging.take(), merge));
        self.round = None;
    }

    /// While checks run on the target alone, the round that failed is kept beside.
    fn start_round(&mut self, round: Round) {
        self.tally.rounds = round.number;
        if let Some(merging) = self.merging.as_mut().filter(|_| round.basis.on_target) {
            merging.failed = self.round.take().or(merging.failed.take());
        }
        self.round = Some(round);
    }

    /// A round on the target alone only says what failures are worth: the round before it counts.
    fn end_round(&mut self, outcome: &RoundOutcome) {
        self.tally.interrupted = 0;
        let Some(round) = &mut self.round else { return };
        round.outcome = Some(outcome.clone());
        if let Some(merging) = self.merging.as_mut().filter(|_| round.basis.on_target) {
            self.round = merging.failed.take();
            merging.is_compared = true;
        }
    }

    /// Outside a round, it is of the setup command in the worktree.
    fn fold_evidence(&mut self, evidence: &Evidence) {
        match self.round.as_mut().filter(|round| round.is_open()) {
            Some(round) => round.evidence.push(evidence.clone()),
            None => {
                self.is_set_up = evidence.failure.is_none();
                self.tally.interrupted = 0;
            }
        }
    }

    fn fold_limit(&mut self, agent: &str, until: &Until, account: Option<&String>, found_by: Option<TaskId>) {
        match until {
            Until::Person { why } => {
                self.unusable.insert(agent.to_owned(), why.clone());
            }
            Until::Time { at, told } => {
                let (until, told, account) = (*at, *told, account.cloned());
                self.reach_limit(agent, AgentLimit { until, told, account, found_by, over: false });
            }
        }
    }

    /// A person says that something changed, so the failure counters restart and the checks run from the first one.
    fn begin_anew(&mut self) {
        self.tally.failures = 0;
        self.tally.idle = 0;
        self.tally.interrupted = 0;
        self.tally.git_failures = 0;
        self.forget_limits();
        if self.is_confirmed() {
            return;
        }
        if matches!(self.state, State::NeedsHelp { .. }) {
            self.tally.fixes = 0;
            self.round = None;
            self.after_met = true;
            if let Some(merging) = &mut self.merging {
                (merging.failed, merging.is_compared) = (None, false);
            }
        }
    }

    /// A person has read what is to land.
    fn is_confirmed(&mut self) -> bool {
        let is_confirmed = matches!(self.state, State::NeedsHelp { reason: HelpReason::ReviewLanding { .. } });
        if let Some(merging) = self.merging.as_mut().filter(|_| is_confirmed) {
            merging.is_unread = false;
        }
        is_confirmed
    }

    /// Checks that are changed after an agent has worked are named with the result: somebody may have made them easier.
    fn note_check_edits(&mut self, new: &[String], by: Option<&str>) {
        let works = self.state.stage().session().is_some_and(|session| session.purpose.is_agent());
        if self.tally.agent_sessions == 0 && !works {
            return;
        }
        let note = |check: &String, change| CheckEdit {
            check: check.clone(),
            change,
            by: by.unwrap_or("an unknown person").to_owned(),
        };
        let old = &self.submission.checks;
        let added = new.iter().filter(|check| !old.contains(check)).map(|check| note(check, CheckChange::Added));
        let removed = old.iter().filter(|check| !new.contains(check)).map(|check| note(check, CheckChange::Removed));
        self.check_edits.extend(added.chain(removed));
    }

    /// Other checks are other evidence: a round that was begun with the old ones says nothing any more.
    fn change_setting(&mut self, setting: &Setting, by: Option<&str>) {
        if let Setting::Checks(checks) = setting {
            self.note_check_edits(checks, by);
        }
        let submission = Arc::make_mut(&mut self.submission);
        if let Setting::Name(_) = setting {
            // Directory, worktree and branch keep the name that they were made with.
            submission.files_name.get_or_insert_with(|| submission.name.clone());
        }
        submission.set(setting);
        match setting {
            Setting::Checks(_) => self.round = None,
            Setting::Setup(_) => {
                self.round = None;
                self.is_set_up = false;
            }
            // Where the runner was started says nothing about a supervised task.
            Setting::Driver(Driver::Supervised) => self.run = None,
            // What a person chose is tried at once, whatever was known of limits.
            Setting::Agent(name) => self.forget_limit(name),
            Setting::Fallbacks(names) => names.iter().for_each(|name| self.forget_limit(name)),
            Setting::Limit(limit, _) if !self.edited_limits.contains(limit) => self.edited_limits.push(*limit),
            Setting::Limit(..)
            | Setting::Name(_)
            | Setting::Driver(_)
            | Setting::Attempts(_)
            | Setting::IdleSessions(_)
            | Setting::FixAttempts(_)
            | Setting::Silence(_)
            | Setting::Wall(_)
            | Setting::Delay(_)
            | Setting::Once(_)
            | Setting::Declared(_)
            | Setting::NeedsEnv(_)
            | Setting::Sandbox(_)
            | Setting::Network(_)
            | Setting::Context(_)
            | Setting::OnLimit(_)
            | Setting::Hours(_)
            | Setting::Model(_)
            | Setting::Priority(_) => {}
        }
    }

    fn count_start(&mut self, session: &SessionRun) {
        self.tally.sessions = session.number;
        self.tally.git_failures = 0;
        if session.purpose.is_agent() {
            self.tally.guided = u32::try_from(self.guidance.len()).unwrap_or(u32::MAX);
        }
        // What was checked before new work says nothing about the work after it; a fixing session is shown it.
        if session.purpose == Purpose::Work {
            self.round = None;
        }
    }

    fn count_end(&mut self, session: SessionId, ended: &Ended, progress: bool) {
        let Some(run) = self.state.live(session).cloned() else { return };
        self.tally.usage = self.tally.usage.plus(run.usage);
        if let Some(round) = self.round.as_mut().filter(|_| !ended.expected.is_empty()) {
            round.files.clone_from(&ended.expected);
        }
        if ended.says_nothing(&run) {
            self.tally.interrupted += 1;
            // A checkout in which something was cut off is not clean any more.
            self.round = self.round.take().filter(|round| !round.is_open() || round.basis.checkout.is_none());
        } else if run.purpose.is_agent() {
            // An interruption runs the checks again from the first, so one that ended proves nothing; a whole round does.
            self.tally.interrupted = 0;
        }
        if run.purpose.is_agent() {
            self.count_agent_end(&run, ended, progress);
        }
    }

    fn count_agent_end(&mut self, run: &SessionRun, ended: &Ended, progress: bool) {
        self.count_conversation(run, ended, progress);
        self.count_runner(run, ended);
        if !matches!(ended.outcome, Outcome::Failed(Failure::Limited(_) | Failure::Exhausted(_))) {
            self.forget_limit(&run.agent);
            self.tally.probes = 0;
            self.tally.limits = 0;
        }
        let refused = matches!(ended.outcome, Outcome::Failed(Failure::Auth(_)));
        self.tally.refusals = if refused { self.tally.refusals + 1 } else { 0 };
        if ended.exit != Exit::NeverStarted {
            self.tally.tries = if ended.outcome == Outcome::Completed { 0 } else { self.tally.tries + 1 };
        }
        self.tally.worked_ms = self.tally.worked_ms.saturating_add(ended.lasted_ms);
        if !matches!(ended.exit, Exit::NeverStarted | Exit::NotExecutable(_)) {
            self.tally.agent_sessions += 1;
            self.tally.unmetered += u32::from(run.usage.input.is_none() || run.usage.output.is_none());
        }
        // A session that did nothing may not have read its guidance; the next one gets it again.
        if progress || ended.outcome == Outcome::Completed {
            self.plan_notice = None;
            self.guidance.drain(..self.guidance.len().min(self.tally.guided as usize));
        }
        self.tally.guided = 0;
        if run.purpose == Purpose::Fix && ended.outcome == Outcome::Completed {
            self.tally.fixes += 1;
            self.round = None;
            if let Some(merging) = &mut self.merging {
                merging.is_unread = true;
            }
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

    /// Whether the end tells nothing of what the session was for. A command of ours is simply run again if its exit is unknown, or if git could
    /// not tell what it did to the files.
    pub fn says_nothing(&self, session: &SessionRun) -> bool {
        let files_unknown = session.tree.is_some() && self.tree.is_none();
        self.came_to_nothing() || (!session.purpose.is_agent() && (self.exit == Exit::Unknown || files_unknown))
    }
}
