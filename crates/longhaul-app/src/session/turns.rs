//! Makes turns of what a session printed, as it grows: an agent's lines are read by the agent's own file, a check's are taken as they are.
//! Used by everyone who follows a task or reads its logs.

use jiff::tz::TimeZone;
use longhaul_agents::{Agent, Chosen, Moment, Reader, Shown};
use longhaul_core::task::SessionRun;
use longhaul_core::time::Time;
use longhaul_keeper::{SessionDir, Stream};

use super::output::{OutputLine, OutputPlace, SessionOutput};
use crate::Home;
use crate::views::{TurnRole, TurnView};

/// The output of one session as turns.
pub(crate) struct SessionTurns {
    output: SessionOutput,
    lines: TurnReader,
}

impl SessionTurns {
    /// The output of this session from a place on; without an agent every line is a turn. None if the session has no directory.
    /// The agent's reader has no memory of what came before, so at worst a notice is repeated.
    pub(crate) fn new(
        home: &Home,
        run: &SessionRun,
        agent: Option<Chosen>,
        root: Option<&str>,
        from: OutputPlace,
    ) -> Option<SessionTurns> {
        let directory = SessionDir::at(&home.session(run.id)).ok()?;
        let lines = TurnReader::new(run.number, agent, root);
        Some(SessionTurns { output: SessionOutput::new(&directory, from), lines })
    }

    /// Where another reader would continue.
    pub(crate) fn place(&self) -> Option<OutputPlace> {
        self.output.place()
    }

    /// The next turns, as many as one chunk of the log has; none at the end of what was printed so far.
    pub(crate) fn more(&mut self, now: Time) -> Option<Vec<TurnView>> {
        let lines = self.output.more()?;
        Some(lines.iter().flat_map(|line| self.lines.read(line, now)).collect())
    }

    /// The session has ended: what was printed without the end of a line is whole.
    pub(crate) fn end(&mut self) {
        self.output.end();
    }
}

/// The turns that come before a session's output: where it starts, and the command of a check.
pub(crate) fn opening(run: &SessionRun) -> Vec<TurnView> {
    let at = Some(run.started.rfc3339());
    let turn = |role, text| TurnView { session: run.number, at: at.clone(), role, text, tool: None };
    let command = run.command.clone().filter(|_| !run.purpose.is_agent());
    let start = format!("{}, started {}", run.purpose, run.started.rfc3339());
    [turn(TurnRole::Session, start)].into_iter().chain(command.map(|text| turn(TurnRole::Command, text))).collect()
}

/// Reads the lines of one session.
struct TurnReader {
    session: u32,
    /// None for a check: its output is no agent's format.
    agent: Option<Chosen>,
    reader: Reader,
    /// The workspace and a slash: paths inside are shown without it.
    inside: Option<String>,
    /// When the line that is read was printed.
    at: Option<String>,
}

impl TurnReader {
    fn new(session: u32, agent: Option<Chosen>, root: Option<&str>) -> TurnReader {
        let inside = root.filter(|root| root.len() > 1).map(|root| format!("{}/", root.trim_end_matches('/')));
        TurnReader { session, agent, reader: Reader::default(), inside, at: None }
    }

    fn read(&mut self, line: &OutputLine, now: Time) -> Vec<TurnView> {
        self.at = line.at.map(Time::rfc3339);
        let text = || String::from_utf8_lossy(&line.bytes).into_owned();
        match (line.stream, self.agent.clone()) {
            (Stream::Out, Some(agent)) => self.parse(&*agent, line, now),
            (Stream::Out, None) => vec![self.turn(TurnRole::Output, text(), None)],
            (Stream::Err, _) => vec![self.turn(TurnRole::Stderr, text(), None)],
        }
    }

    /// What the agent's own file makes of a line; one that it does not know stays as it is.
    fn parse(&mut self, agent: &dyn Agent, line: &OutputLine, now: Time) -> Vec<TurnView> {
        let unknown = self.reader.unknown_lines;
        let zone = TimeZone::system();
        let shown = agent.read_line(&mut self.reader, &Moment { now, zone: &zone }, &line.bytes).shown;
        let mut turns: Vec<TurnView> = shown.into_iter().map(|shown| self.shown(shown)).collect();
        if self.reader.unknown_lines > unknown {
            turns.push(self.turn(TurnRole::Unknown, String::from_utf8_lossy(&line.bytes).into_owned(), None));
        }
        turns
    }

    fn shown(&self, shown: Shown) -> TurnView {
        match shown {
            Shown::Text(text) => self.turn(TurnRole::Text, text, None),
            Shown::Tool { name, detail } => self.turn(TurnRole::Tool, self.relative(detail), Some(name)),
            Shown::Result(text) => self.turn(TurnRole::Result, self.relative(text), None),
            Shown::Notice(text) => self.turn(TurnRole::Notice, text, None),
        }
    }

    fn relative(&self, text: String) -> String {
        match &self.inside {
            Some(inside) => text.replace(inside, ""),
            None => text,
        }
    }

    fn turn(&self, role: TurnRole, text: String, tool: Option<String>) -> TurnView {
        TurnView { session: self.session, at: self.at.clone(), role, text, tool }
    }
}

/// At most this many characters of a text.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use longhaul_core::task::Purpose;

    use super::*;
    use crate::mint_session;
    use crate::session::agents::Agents;

    fn heard(purpose: Purpose, stream: Stream, line: &str) -> Vec<String> {
        let mut run = SessionRun::new(mint_session(), 1, purpose, Time(0));
        run.agent = "demo".into();
        let mut reader = TurnReader::new(1, Agents::default().of(&run), Some("/home/ann/work"));
        let turns = reader.read(&OutputLine { at: None, stream, bytes: line.as_bytes().to_vec() }, Time(0));
        turns.iter().flat_map(TurnView::lines).collect()
    }

    #[test]
    fn an_agent_speaks_its_dialect_and_a_check_does_not() {
        let said = r#"{"type":"text","text":"one\ntwo \u001b[31mred"}"#;
        assert_eq!(heard(Purpose::Work, Stream::Out, said), ["one", "two red"]);
        assert_eq!(heard(Purpose::Check, Stream::Out, said), [said]);
        let did = r#"{"type":"tool","name":"sh","detail":"a\nb\u001b]0;t\u0007"}"#;
        assert_eq!(heard(Purpose::Fix, Stream::Out, did), ["  [sh] a b\\u{1b}]0;t\\u{7}"]);
        let edited = r#"{"type":"tool","name":"write","detail":"/home/ann/work/src/a.rs and /home/ann/workshop"}"#;
        assert_eq!(heard(Purpose::Fix, Stream::Out, edited), ["  [write] src/a.rs and /home/ann/workshop"]);
        assert_eq!(heard(Purpose::Work, Stream::Out, "noise"), ["  ? noise"]);
        assert_eq!(heard(Purpose::Check, Stream::Err, "oops"), ["  2> oops"]);
    }

    #[test]
    fn a_cut_never_falls_into_a_character() {
        assert_eq!(cut("ééé", 2), "éé…");
        assert_eq!(cut("é", 2), "é");
    }
}
