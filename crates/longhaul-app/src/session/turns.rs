//! What a session printed, as turns that people read: the agent's words, what it did in one line each, notices; a check's output as it is.
//! Used by `logs` and by every viewer. All of it is made safe here; nothing of it is ever taken for a fact.

use crate::{Home, now};
use jiff::tz::TimeZone;
use longhaul_agents::{Agent, Chosen, Moment, Reader, Shown};
use longhaul_core::task::{Event, Purpose, SessionRun};
use longhaul_keeper::{SessionDir, Stream};

use super::agents::Agents;
use super::output::{OutputLine, SessionOutput};
use crate::text;

/// What a tool was used on is told in so many characters.
const DETAIL: usize = 400;

/// Reads the lines of one session.
pub struct Listener {
    /// None for a check: its output is no agent's dialect.
    agent: Option<Chosen>,
    reader: Reader,
}

impl Listener {
    /// For a session of this agent.
    pub fn new(agent: Option<Chosen>) -> Listener {
        Listener { agent, reader: Reader::default() }
    }

    /// What one line of output says, as lines for people.
    pub fn hear(&mut self, line: &OutputLine) -> Vec<String> {
        let text = String::from_utf8_lossy(&line.bytes);
        match (line.stream, self.agent.clone()) {
            (Stream::Out, Some(agent)) => self.read(&*agent, &line.bytes, &text),
            (Stream::Out, None) => vec![text::readable(&text)],
            (Stream::Err, _) => vec![format!("  2> {}", text::readable(&text))],
        }
    }

    /// What the agent's own file makes of a line; what it does not know is shown as it is.
    fn read(&mut self, agent: &dyn Agent, line: &[u8], text: &str) -> Vec<String> {
        let unknown = self.reader.unknown_lines;
        let mut lines = Vec::new();
        let zone = TimeZone::system();
        for shown in agent.read_line(&mut self.reader, &Moment { now: now(), zone: &zone }, line).shown {
            match shown {
                Shown::Text(text) => lines.extend(text::readable_lines(&text).lines().map(str::to_owned)),
                Shown::Tool { name, detail } => {
                    lines.push(format!("  [{}] {}", text::readable(&name), one_line(&detail)));
                }
                Shown::Notice(text) => lines.push(format!("  ! {}", one_line(&text))),
            }
        }
        if self.reader.unknown_lines > unknown {
            lines.push(format!("  ? {}", text::readable(text)));
        }
        lines
    }
}

fn one_line(text: &str) -> String {
    cut(&text::readable(&text.lines().collect::<Vec<_>>().join(" ")), DETAIL)
}

/// A text, at most so many characters of it.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The line that stands above a check's output; none for a session of the agent.
pub fn heading(run: &SessionRun) -> Option<String> {
    let command = run.command.as_ref().filter(|_| run.purpose == Purpose::Check)?;
    Some(format!("$ {}", text::readable(command)))
}

/// The turns of a task's sessions for a viewer, who hears of events as they come.
pub struct Turns<'a> {
    home: &'a Home,
    agents: Agents,
    live: Option<(SessionOutput, Listener)>,
}

impl<'a> Turns<'a> {
    /// Nothing is shown until a session starts.
    pub fn new(home: &'a Home, agents: Agents) -> Turns<'a> {
        Turns { home, agents, live: None }
    }

    /// What was printed before this event.
    pub fn before(&mut self, event: &Event, print: &mut dyn FnMut(String)) {
        self.agents.note(event);
        if let Event::SessionEnded { .. } = event {
            if let Some((output, listener)) = &mut self.live {
                output.rest(&mut |line| listener.hear(&line).into_iter().for_each(&mut *print));
            }
            self.live = None;
        }
    }

    /// What is printed from this event on.
    pub fn after(&mut self, event: &Event, print: &mut dyn FnMut(String)) {
        if let Event::SessionStarted { session } = event {
            heading(session).into_iter().for_each(&mut *print);
            let directory = SessionDir::at(&self.home.session(session.id)).ok();
            self.live = directory.map(|dir| (SessionOutput::new(&dir), Listener::new(self.agents.of(session))));
        }
    }

    /// What was printed since the last look.
    pub fn look(&mut self, print: &mut dyn FnMut(String)) {
        if let Some((output, listener)) = &mut self.live {
            output.whole_lines(&mut |line| listener.hear(&line).into_iter().for_each(&mut *print));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::mint_session;
    use longhaul_core::task::SessionRun;
    use longhaul_core::time::Time;

    use super::*;

    fn heard(purpose: Purpose, stream: Stream, line: &str) -> Vec<String> {
        let mut run = SessionRun::new(mint_session(), 1, purpose, Time(0));
        run.agent = "demo".into();
        let mut listener = Listener::new(Agents::default().of(&run));
        listener.hear(&OutputLine { stream, bytes: line.as_bytes().to_vec() })
    }

    #[test]
    fn an_agent_speaks_its_dialect_and_a_check_does_not() {
        let said = r#"{"type":"text","text":"one\ntwo \u001b[31mred"}"#;
        assert_eq!(heard(Purpose::Work, Stream::Out, said), ["one", "two red"]);
        assert_eq!(heard(Purpose::Check, Stream::Out, said), [said]);
        let did = r#"{"type":"tool","name":"sh","detail":"a\nb\u001b]0;t\u0007"}"#;
        assert_eq!(heard(Purpose::Fix, Stream::Out, did), ["  [sh] a b\\u{1b}]0;t\\u{7}"]);
        assert_eq!(heard(Purpose::Work, Stream::Out, "noise"), ["  ? noise"]);
        assert_eq!(heard(Purpose::Check, Stream::Err, "oops"), ["  2> oops"]);
    }

    #[test]
    fn a_cut_never_falls_into_a_character() {
        assert_eq!(cut("ééé", 2), "éé…");
        assert_eq!(cut("é", 2), "é");
    }
}
