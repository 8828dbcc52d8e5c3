//! `longhaul logs`: what the agent printed, session by session, read from the keepers' files. Needs no worker.
//! Output becomes turns in `turns`; `--raw` and `--json` hand on the lines themselves, made safe for a terminal.

use std::collections::VecDeque;
use std::time::Duration;

use longhaul_agents::Chosen;
use longhaul_core::ids::TaskId;
use longhaul_core::task::{Event, SessionRun};
use longhaul_keeper::{SessionDir, Stream};
use serde_json::json;

use crate::cli::Logs;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::rung_or;
use longhaul_app::Call;
use longhaul_app::lookup;
use longhaul_app::session::agents::Agents;
use longhaul_app::session::output::{OutputLine, SessionOutput};
use longhaul_app::session::turns::{Listener, heading};
use longhaul_app::{AppError, ErrorKind};

/// How often a growing log is looked at: output rings no bell.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

pub(crate) async fn logs(line: &CommandLine, args: &Logs) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
    let id = stored.task.id;
    let mut printer =
        Printer { call: &call, agents: Agents::default(), args, seen: 0, sessions: VecDeque::new(), shown: 0 };
    let mut changes = call.store()?.changes()?;
    loop {
        let settled = call.store()?.load(id).await?.is_none_or(|stored| !stored.task.state.wants_owner());
        printer.catch_up(id).await?;
        if !args.follow || settled || out::nobody_reads() {
            return printer.finish();
        }
        rung_or(&mut changes, LOOK_AGAIN).await;
    }
}

/// A session that is not printed to its end.
struct Open {
    run: SessionRun,
    agent: Option<Chosen>,
    ended: bool,
    /// None until its turn has come.
    output: Option<(SessionOutput, Listener)>,
}

struct Printer<'a> {
    call: &'a Call,
    agents: Agents,
    args: &'a Logs,
    /// The last event read.
    seen: u64,
    sessions: VecDeque<Open>,
    /// How many sessions were begun to be shown.
    shown: u32,
}

impl Printer<'_> {
    /// Prints everything there is now.
    async fn catch_up(&mut self, task: TaskId) -> Result<(), AppError> {
        for event in self.call.store()?.events(task, self.seen, u32::MAX).await? {
            self.seen = event.seq;
            self.note(event.event);
        }
        while let Some(mut open) = self.sessions.pop_front() {
            self.print_new(&mut open);
            if !open.ended {
                self.sessions.push_front(open);
                break;
            }
        }
        Ok(())
    }

    fn note(&mut self, event: Event) {
        self.agents.note(&event);
        match event {
            Event::SessionStarted { session } if self.args.session.is_none_or(|only| only == session.number) => {
                let agent = self.agents.of(&session);
                self.sessions.push_back(Open { run: session, agent, ended: false, output: None });
            }
            Event::SessionEnded { session, .. } => {
                if let Some(open) = self.sessions.iter_mut().find(|open| open.run.id == session) {
                    open.ended = true;
                }
            }
            _ => {}
        }
    }

    fn print_new(&mut self, open: &mut Open) {
        if open.output.is_none() {
            let Ok(session) = SessionDir::at(&self.call.home().session(open.run.id)) else { return };
            self.shown += 1;
            self.begin(&open.run);
            open.output = Some((SessionOutput::new(&session), Listener::new(open.agent.clone())));
        }
        let Some((output, listener)) = &mut open.output else { return };
        let mut print = |line: OutputLine| self.print_line(open.run.number, listener, &line);
        if open.ended { output.rest(&mut print) } else { output.whole_lines(&mut print) }
    }

    fn begin(&self, run: &SessionRun) {
        if self.args.json {
            return;
        }
        out::note(&format!("--- session {} ({}) {}", run.number, run.purpose, run.started.rfc3339()));
        if let Some(heading) = heading(run).filter(|_| !self.args.raw) {
            out::data(&heading);
        }
    }

    fn print_line(&self, session: u32, listener: &mut Listener, line: &OutputLine) {
        let text = || String::from_utf8_lossy(&line.bytes);
        match line.stream {
            _ if self.args.json => {
                let stream = if line.stream == Stream::Out { "out" } else { "err" };
                out::json("line", &json!({ "session": session, "stream": stream, "line": text() }));
            }
            Stream::Out if self.args.raw => out::data(&out::safe(&text())),
            // As the agent printed it: whoever reads its dialect from our standard output gets nothing else there.
            Stream::Err if self.args.raw => out::note(&out::safe(&text())),
            Stream::Out | Stream::Err => listener.hear(line).iter().for_each(|shown| out::data(shown)),
        }
    }

    fn finish(&self) -> Result<Code, AppError> {
        match self.args.session {
            Some(number) if self.shown == 0 => {
                Err(AppError::new(ErrorKind::NotFound, format!("the task has no session {number}")))
            }
            Some(_) | None => Ok(Code::Done),
        }
    }
}
