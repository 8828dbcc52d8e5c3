//! Reading a session's output as it grows: lines go to the agent's own reader, what is worth keeping to the hub, the rest to the
//! view in the workspace. Called by the attend effect; goes on at the byte of the last commit, with the reader's memory of then.

use longhaul_agents::{Agent, Reader};
use longhaul_core::task::{Actor, Exit, Failure, Observation, Outcome, ReadTo, Said, SessionRun};
use longhaul_keeper::{SessionDir, Stream, fail_point, read_tail};

use super::Job;
use crate::task_dir::TaskDir;
use crate::watch::{Line, Tail};

const STDERR_TAIL: usize = 4096;

/// One session's output.
pub(super) struct Listener<'a> {
    job: &'a Job,
    session: &'a SessionRun,
    /// None when this binary does not know the agent: then nothing can be said about the output but that it is there.
    agent: Option<&'static dyn Agent>,
    view: Option<&'a TaskDir>,
    reader: Reader,
    /// None when the session's directory can not be named, so that there is nothing to read.
    directory: Option<SessionDir>,
    tail: Option<Tail>,
}

impl<'a> Listener<'a> {
    pub(super) fn new(
        job: &'a Job,
        session: &'a SessionRun,
        agent: Option<&'static dyn Agent>,
        view: Option<&'a TaskDir>,
    ) -> Listener<'a> {
        let reader = serde_json::from_value(session.read.reader.clone()).unwrap_or_default();
        let directory = SessionDir::at(&job.context.home.session(session.id)).ok();
        let tail = directory.as_ref().map(|directory| Tail::new(directory, session.read.offset));
        Listener { job, session, agent, view, reader, directory, tail }
    }

    /// Reads all there is now.
    pub(super) async fn read_on(&mut self) {
        loop {
            match self.tail.as_mut().map_or(Ok(None), Tail::next) {
                Ok(Some(lines)) => self.take(&lines).await,
                Ok(None) => return,
                Err(error) => {
                    self.job.context.report(&format!("session {}: {error}", self.session.id));
                    return;
                }
            }
        }
    }

    /// Reads the rest, once no more will come, and tells what the session came to.
    pub(super) async fn finish(mut self, exit: &Exit) -> Outcome {
        self.read_on().await;
        if let Some(line) = self.tail.as_mut().and_then(Tail::last) {
            self.take(&[line]).await;
        }
        match self.agent {
            Some(agent) => agent.read_end(&self.reader, exit, &self.stderr_tail()),
            None => Outcome::Failed(Failure::Crashed),
        }
    }

    async fn take(&mut self, lines: &[Line]) {
        let mut said = Said::default();
        let mut view = Vec::new();
        for line in lines {
            let line = match line {
                Line::Whole(line) => line,
                Line::Oversize { length, hash } => {
                    self.reader.unknown_lines += 1;
                    view.extend_from_slice(format!("=== a line of {length} bytes, SHA-256 {hash} ===\n").as_bytes());
                    continue;
                }
                Line::Gap { bytes } => {
                    view.extend_from_slice(format!("=== {bytes} bytes of output are missing here ===\n").as_bytes());
                    continue;
                }
            };
            view.extend_from_slice(line);
            view.push(b'\n');
            if let Some(agent) = self.agent {
                let reading = agent.read_line(&mut self.reader, line);
                said.usage = said.usage.plus(reading.usage);
                said.conversation = said.conversation.or(reading.conversation);
            }
        }
        if let Some(dir) = self.view {
            dir.append_log(&view);
        }
        if said != Said::default() {
            self.commit(said).await;
        }
    }

    async fn commit(&mut self, said: Said) {
        fail_point::reach("worker.output_read");
        if let (Some(id), Some(dir)) = (&said.conversation, self.view) {
            dir.write_conversation(id).ok();
        }
        let reader = serde_json::to_value(&self.reader).unwrap_or_default();
        let offset = self.tail.as_ref().map_or(self.session.read.offset, Tail::offset);
        let read = ReadTo { offset, reader };
        self.job.answer(Observation::SessionRead { session: self.session.id, read, said }, Actor::worker()).await;
        fail_point::reach("worker.output_committed");
    }

    fn stderr_tail(&self) -> String {
        let tail = self.directory.as_ref().map(|directory| read_tail(directory, Stream::Err, STDERR_TAIL));
        String::from_utf8_lossy(&tail.and_then(Result::ok).unwrap_or_default()).into_owned()
    }
}
