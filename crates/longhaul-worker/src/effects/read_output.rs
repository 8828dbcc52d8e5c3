//! Reading a session's output as it grows: lines go to the agent's own reader, what is worth keeping to the hub, the rest to the
//! view in the workspace. Called by the attend effect; continues at the byte of the last commit, with the reader's memory from then.

use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use longhaul_agents::{Chosen, End, Moment, Reader, TurnEnd};
use longhaul_core::task::{Actor, Exit, Failure, Observation, Outcome, ReadTo, Said, SessionRun, Usage};
use longhaul_keeper::{SessionDir, Stream, fail_point, read_tail};
use serde_json::Value;

use super::Job;
use super::transcript::{self, ReadTranscript};
use crate::watch::{Line, Tail};
use longhaul_app::{TaskDir, now, time_of};

const STDERR_TAIL: usize = 4096;

/// One session's output.
pub(super) struct Listener<'a> {
    job: &'a Job,
    session: &'a SessionRun,
    /// None when this binary does not know the agent: then nothing is known about the output except that it exists.
    agent: Option<Chosen>,
    view: Option<&'a TaskDir>,
    reader: Reader,
    /// The agent's own conversation, as far as it is known.
    conversation: Option<String>,
    /// When the last line was read.
    heard: Instant,
    /// None when the session's directory can not be named, so that there is nothing to read.
    directory: Option<SessionDir>,
    tail: Option<Tail>,
    /// What the program complains about: for people to see, in the order in which it was found.
    errors: Option<Tail>,
}

impl<'a> Listener<'a> {
    pub(super) fn new(
        job: &'a Job,
        session: &'a SessionRun,
        agent: Option<Chosen>,
        view: Option<&'a TaskDir>,
    ) -> Listener<'a> {
        let committed = &session.read.reader;
        let reader = if committed.is_null() {
            Reader::carrying(session.carry.clone())
        } else {
            serde_json::from_value(committed.clone()).unwrap_or_default()
        };
        let conversation = session.conversation.clone().or_else(|| session.resumes.clone());
        let directory = SessionDir::at(&job.context.home.session(session.id)).ok();
        let follow = |stream, from| directory.as_ref().map(|directory| Tail::new(directory, stream, from));
        let (tail, errors) = (follow(Stream::Out, session.read.offset), follow(Stream::Err, session.read.errors));
        Listener { job, session, agent, view, reader, conversation, heard: Instant::now(), directory, tail, errors }
    }

    /// How long the program may still run; none while it has reason to.
    pub(super) fn patience(&self) -> Option<Duration> {
        if !self.job.task.submission.driver.conduct().ends_lingering_programs {
            return None;
        }
        let grace = match self.reader.over? {
            TurnEnd::Done => Duration::from_millis(self.job.task.submission.patience.linger_ms),
            TurnEnd::Unrecoverable => Duration::ZERO,
        };
        Some(grace.saturating_sub(self.heard.elapsed()))
    }

    /// Reads all there is now.
    pub(super) async fn read_on(&mut self) {
        self.read_errors();
        loop {
            match self.tail.as_mut().map_or(Ok(None), Tail::next) {
                Ok(Some(lines)) => self.take(&lines).await,
                Ok(None) => return,
                Err(error) => {
                    self.job.report(&format!("session {}: {error}", self.session.id));
                    return;
                }
            }
        }
    }

    /// Reads the rest, once no more will come, and returns the outcome of the session.
    pub(super) async fn finish(mut self, exit: &Exit) -> Heard {
        self.read_on().await;
        if let Some(line) = self.errors.as_mut().and_then(Tail::last) {
            self.show(&[line]);
        }
        if let Some(line) = self.tail.as_mut().and_then(Tail::last) {
            self.take(&[line]).await;
        }
        let Some(agent) = self.agent.clone() else { return Heard::nothing() };
        let transcript = transcript::read(self.job, self.session, &agent, self.conversation.clone()).await;
        let zone = TimeZone::system();
        let moment = Moment { now: self.written(), zone: &zone };
        let recorded = transcript.last_lines().map(|line| agent.read_transcript(&mut self.reader, &moment, line));
        let usage = recorded.fold(Usage::default(), Usage::plus);
        if usage != Usage::default() {
            self.commit(Said { usage, ..Said::default() }).await;
        }
        let end = agent.read_end(&self.reader, exit, &self.stderr_tail());
        Heard { end, over: self.reader.over, transcript, carry: self.reader.carry }
    }

    async fn take(&mut self, lines: &[Line]) {
        self.show(lines);
        let mut said = Said::default();
        let zone = TimeZone::system();
        let moment = Moment { now: self.written(), zone: &zone };
        self.heard = Instant::now();
        for line in lines {
            match line {
                Line::Whole(line) => self.understand(line, &moment, &mut said),
                Line::Oversize { .. } => self.reader.unknown_lines += 1,
                Line::Gap { .. } => {}
            }
        }
        if said != Said::default() {
            self.commit(said).await;
        }
    }

    fn understand(&mut self, line: &[u8], moment: &Moment<'_>, said: &mut Said) {
        let Some(agent) = &self.agent else { return };
        let reading = agent.read_line(&mut self.reader, moment, line);
        said.usage = said.usage.plus(reading.usage);
        said.conversation = said.conversation.take().or(reading.conversation);
    }

    /// A stream that can not be read now is read at the end, or by the next worker.
    fn read_errors(&mut self) {
        while let Some(Ok(Some(lines))) = self.errors.as_mut().map(Tail::next) {
            self.show(&lines);
        }
    }

    /// To the log in the workspace, and to whoever watches.
    fn show(&self, lines: &[Line]) {
        let mut text = Vec::new();
        lines.iter().for_each(|line| line.show(&mut text));
        if let Some(dir) = self.view {
            dir.append_log(&text);
        }
        if let Some(watcher) = self.job.context.watcher.as_ref().filter(|_| !text.is_empty()) {
            watcher.printed(&text);
        }
    }

    async fn commit(&mut self, said: Said) {
        fail_point::reach("worker.output_read");
        if let Some(id) = &said.conversation {
            self.conversation = Some(id.clone());
            if let Some(dir) = self.view {
                dir.write_conversation(id).ok();
            }
        }
        let reader = serde_json::to_value(&self.reader).unwrap_or_default();
        let offset = self.tail.as_ref().map_or(self.session.read.offset, Tail::offset);
        let errors = self.errors.as_ref().map_or(self.session.read.errors, Tail::offset);
        let read = ReadTo { offset, errors, reader };
        self.job.answer(Observation::SessionRead { session: self.session.id, read, said }, Actor::worker()).await;
        fail_point::reach("worker.output_committed");
    }

    /// When the newest output was written: an adopter reads it much later.
    fn written(&self) -> longhaul_core::time::Time {
        let written = self.directory.as_ref().and_then(SessionDir::last_output);
        written.and_then(time_of).unwrap_or_else(now)
    }

    fn stderr_tail(&self) -> String {
        let tail = self.directory.as_ref().map(|directory| read_tail(directory, Stream::Err, STDERR_TAIL));
        String::from_utf8_lossy(&tail.and_then(Result::ok).unwrap_or_default()).into_owned()
    }
}

/// What was heard of a session until its end.
pub(super) struct Heard {
    pub(super) end: End,
    pub(super) over: Option<TurnEnd>,
    pub(super) transcript: ReadTranscript,
    pub(super) carry: Value,
}

impl Heard {
    fn nothing() -> Heard {
        let end = Outcome::Failed(Failure::Crashed).into();
        Heard { end, over: None, transcript: ReadTranscript::default(), carry: Value::Null }
    }
}
