//! `longhaul logs`: what the agent printed, session by session, read from the keepers' files. Needs no worker.
//! Agent output is read by its own agent file and made safe before it is printed.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use longhaul_agents::{Agent, Reader, Shown};
use longhaul_core::ids::TaskId;
use longhaul_core::task::SessionRecord;
use serde_json::json;

use super::show::sessions_of;
use super::{Opened, open_existing};
use crate::cli::Logs;
use crate::error::CliError;
use crate::exit::Code;
use crate::viewer::rung_or;
use crate::{lookup, out};

pub(crate) async fn logs(args: &Logs) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find_to_read(&*opened.store, args.which.task.as_deref()).await?;
    let agent = longhaul_agents::find(&stored.task.submission.agent)
        .map_err(|error| CliError::new(Code::Usage, error.to_string()))?;
    let mut printer = Printer { opened: &opened, agent, args, open: None };
    let mut changes = opened.store.changes()?;
    loop {
        let settled = opened.store.load(stored.task.id).await?.is_none_or(|stored| !stored.task.state.wants_owner());
        printer.catch_up(stored.task.id).await?;
        if !args.follow || settled {
            return printer.finish(stored.task.id).await;
        }
        rung_or(&mut changes, std::time::Duration::from_millis(100)).await;
    }
}

/// A session's log that is being printed.
struct Open {
    number: u32,
    log: Option<BufReader<File>>,
    path: PathBuf,
    reader: Reader,
    partial: Vec<u8>,
}

struct Printer<'a> {
    opened: &'a Opened,
    agent: &'static dyn Agent,
    args: &'a Logs,
    open: Option<Open>,
}

impl Printer<'_> {
    /// Prints everything there is now.
    async fn catch_up(&mut self, task: TaskId) -> Result<(), CliError> {
        let events = self.opened.store.events(task, 0, u32::MAX).await?;
        for record in sessions_of(&events) {
            let number = record.run.number;
            let done = self.open.as_ref().map_or(0, |open| open.number);
            if number < done || self.args.session.is_some_and(|only| only != number) {
                continue;
            }
            if number > done {
                self.begin(&record);
            }
            self.print_new();
        }
        Ok(())
    }

    async fn finish(&mut self, task: TaskId) -> Result<Code, CliError> {
        self.catch_up(task).await?;
        match (&self.open, self.args.session) {
            (None, Some(number)) => Err(CliError::new(Code::NotFound, format!("the task has no session {number}"))),
            _ => Ok(Code::Done),
        }
    }

    fn begin(&mut self, record: &SessionRecord) {
        let run = &record.run;
        if !self.args.json {
            out::note(&format!("--- session {} ({}) {}", run.number, run.purpose, run.started.rfc3339()));
        }
        let path = self.opened.home.session(run.id).join("out.log");
        self.open = Some(Open { number: run.number, log: None, path, reader: Reader::default(), partial: Vec::new() });
    }

    fn print_new(&mut self) {
        let Some(open) = &mut self.open else { return };
        if open.log.is_none() {
            open.log = File::open(&open.path).ok().map(BufReader::new);
        }
        let Some(log) = &mut open.log else { return };
        // A torn last line is kept until the rest of it comes.
        while log.read_until(b'\n', &mut open.partial).is_ok_and(|read| read > 0) && open.partial.ends_with(b"\n") {
            let line = std::mem::take(&mut open.partial);
            print_line(self.agent, self.args, open.number, &mut open.reader, &line);
        }
    }
}

fn print_line(agent: &dyn Agent, args: &Logs, session: u32, reader: &mut Reader, line: &[u8]) {
    let line = line.trim_ascii_end();
    let text = String::from_utf8_lossy(line);
    if args.json {
        return out::json("line", &json!({ "session": session, "line": text }));
    }
    if args.raw {
        return out::data(&out::safe(&text));
    }
    let unknown = reader.unknown_lines;
    let reading = agent.read_line(reader, line);
    for shown in reading.shown {
        match shown {
            Shown::Text(text) => out::data(&out::safe_lines(&text)),
            Shown::Tool { name, detail } => out::data(&format!("  [{}] {}", out::safe(&name), out::safe(&detail))),
            Shown::Notice(text) => out::data(&format!("  ! {}", out::safe(&text))),
        }
    }
    if reader.unknown_lines > unknown {
        out::data(&format!("  ? {}", out::safe(&text)));
    }
}
