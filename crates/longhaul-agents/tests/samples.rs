//! Every recorded sample of every agent through its reader: what it comes to, that adoption in the middle changes nothing, that no
//! cut line panics, and that the redactor leaves it as it is. Driven by `samples/<agent>/<version>/cases.json`.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails loudly, which is what it is for")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use longhaul_agents::{Agent, Moment, Reader, TurnEnd, find};
use longhaul_core::task::{Exit, Failure, Outcome, Usage};
use longhaul_core::time::Time;
use longhaul_redact::{Redactor, Secrets};
use serde::Deserialize;
use serde_json::Value;

/// 2026-11-15T19:00:00Z: shortly before the samples were taken.
const RECORDED: Time = Time(1_794_769_200_000_000);

/// One way a sample is read.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Case {
    case: String,
    /// The file, when it is not named like the case.
    sample: Option<String>,
    /// A sample that is the program's own transcript, read after the end.
    transcript: Option<String>,
    /// The counters of the conversation's last session.
    #[serde(default)]
    carry: Value,
    exit: ExitOf,
    #[serde(default)]
    stderr: String,
    expect: Expect,
}

/// An exit code as a bare number, or any exit as it is stored.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
enum ExitOf {
    Code(i32),
    Any(Exit),
}

#[derive(Deserialize, Clone, Debug, PartialEq, Default)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    /// `completed`, or the failure in snake case.
    outcome: String,
    /// Until when, for a limit.
    until: Option<String>,
    /// What the failure's text has to contain.
    why: Option<String>,
    conversation: Option<String>,
    input: Option<u64>,
    output: Option<u64>,
    cost_micros: Option<u64>,
    unknown_lines: u64,
    denied: Vec<String>,
    over: Option<TurnEnd>,
}

/// What was read so far; an adopting worker has all of it.
#[derive(Clone)]
struct Run {
    reader: Reader,
    conversation: Option<String>,
    usage: Usage,
}

struct Directory {
    agent: &'static dyn Agent,
    path: PathBuf,
    cases: Vec<Case>,
}

fn moment() -> Moment<'static> {
    static ZONE: TimeZone = TimeZone::UTC;
    Moment { now: RECORDED, zone: &ZONE }
}

fn directories() -> Vec<Directory> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let mut found = Vec::new();
    for agent in fs::read_dir(root).unwrap() {
        let agent = agent.unwrap();
        for version in fs::read_dir(agent.path()).unwrap() {
            let path = version.unwrap().path();
            let text = fs::read(path.join("cases.json")).unwrap();
            let cases = serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            found.push(Directory { agent: find(agent.file_name().to_str().unwrap()).unwrap(), path, cases });
        }
    }
    found
}

impl Directory {
    fn lines(&self, sample: &str) -> Vec<Vec<u8>> {
        let path = self.path.join(format!("{sample}.jsonl"));
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
    }

    fn files(&self) -> BTreeSet<String> {
        let names = fs::read_dir(&self.path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter_map(|name| name.strip_suffix(".jsonl").map(str::to_owned)).collect()
    }
}

impl Case {
    fn sample(&self) -> &str {
        self.sample.as_deref().unwrap_or(&self.case)
    }

    fn exit(&self) -> Exit {
        match &self.exit {
            ExitOf::Code(code) => Exit::Code(*code),
            ExitOf::Any(exit) => exit.clone(),
        }
    }
}

impl Run {
    fn new(case: &Case) -> Run {
        Run { reader: Reader::carrying(case.carry.clone()), conversation: None, usage: Usage::default() }
    }

    fn read(&mut self, agent: &dyn Agent, lines: &[Vec<u8>]) {
        for line in lines {
            let reading = agent.read_line(&mut self.reader, &moment(), line);
            self.conversation = reading.conversation.or(self.conversation.take());
            self.usage = self.usage.plus(reading.usage);
        }
    }

    fn adopted(&self) -> Run {
        let stored = serde_json::to_string(&self.reader).unwrap();
        assert!(stored.len() < 8192, "a reader is small: {stored}");
        Run { reader: serde_json::from_str(&stored).unwrap(), ..self.clone() }
    }

    fn end(mut self, directory: &Directory, case: &Case) -> Expect {
        for line in case.transcript.iter().flat_map(|sample| directory.lines(sample)) {
            let recorded = directory.agent.read_transcript(&mut self.reader, &moment(), &line);
            self.usage = self.usage.plus(recorded);
        }
        let end = directory.agent.read_end(&self.reader, &case.exit(), &case.stderr);
        let (outcome, until, why) = told(&end.outcome);
        Expect {
            outcome,
            until,
            why,
            conversation: self.conversation,
            input: self.usage.input,
            output: self.usage.output,
            cost_micros: self.usage.cost_micros,
            unknown_lines: self.reader.unknown_lines,
            denied: end.denied,
            over: self.reader.over,
        }
    }
}

fn told(outcome: &Outcome) -> (String, Option<String>, Option<String>) {
    let (word, until, why) = match outcome {
        Outcome::Completed => ("completed", None, None),
        Outcome::Failed(Failure::Crashed) => ("crashed", None, None),
        Outcome::Failed(Failure::ContextFull) => ("context_full", None, None),
        Outcome::Failed(Failure::BadConversation) => ("bad_conversation", None, None),
        Outcome::Failed(Failure::Limited(until)) => ("limited", until.map(Time::rfc3339), None),
        Outcome::Failed(Failure::Retryable(why)) => ("retryable", None, Some(why.clone())),
        Outcome::Failed(Failure::Exhausted(why)) => ("exhausted", None, Some(why.clone())),
        Outcome::Failed(Failure::Auth(why)) => ("auth", None, Some(why.clone())),
        Outcome::Failed(Failure::Configuration(why)) => ("configuration", None, Some(why.clone())),
        Outcome::Failed(Failure::Permission(why)) => ("permission", None, Some(why.clone())),
    };
    (word.to_owned(), until, why)
}

/// What is wrong with this case: nothing, if it comes to what it expects.
fn complaint(directory: &Directory, case: &Case) -> Option<String> {
    let mut run = Run::new(case);
    run.read(directory.agent, &directory.lines(case.sample()));
    let mut came_to = run.end(directory, case);
    // The text of a failure is for people: it must be there, and say the part that the case names.
    let text = came_to.why.take();
    let said = match (&case.expect.why, &text) {
        (Some(part), Some(text)) => text.contains(part),
        (Some(_), None) => false,
        (None, text) => text.as_ref().is_none_or(|text| !text.is_empty()),
    };
    let expected = Expect { why: None, ..case.expect.clone() };
    let name = format!("{} of {}", case.case, directory.path.display());
    (came_to != expected || !said)
        .then(|| format!("{name}: came to {came_to:?} ({text:?}), expected {:?}", case.expect))
}

/// Samples nobody reads, and cases without a sample.
fn unmatched(files: &BTreeSet<String>, cases: &[Case]) -> Vec<String> {
    let named = cases.iter().flat_map(|case| [Some(case.sample()), case.transcript.as_deref()]).flatten();
    let named: BTreeSet<String> = named.map(str::to_owned).collect();
    files.symmetric_difference(&named).cloned().collect()
}

#[test]
fn every_sample_comes_to_what_its_case_says() {
    let complaints: Vec<String> = directories()
        .iter()
        .flat_map(|directory| directory.cases.iter().filter_map(|case| complaint(directory, case)).collect::<Vec<_>>())
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_sample_has_a_case_and_every_case_a_sample() {
    for directory in directories() {
        assert_eq!(
            unmatched(&directory.files(), &directory.cases),
            Vec::<String>::new(),
            "{}",
            directory.path.display()
        );
        let version = directory.path.file_name().unwrap().to_str().unwrap();
        assert!(directory.agent.about().version.known.contains(&version), "{version} is not told in about()");
    }
}

#[test]
fn a_wrong_case_a_missing_one_and_a_missing_sample_are_found() {
    let directory = directories().remove(0);
    let mut case = directory.cases[0].clone();
    case.expect.outcome = "something else".into();
    assert!(complaint(&directory, &case).is_some());
    let mut case = directory.cases[0].clone();
    case.expect.unknown_lines += 1;
    assert!(complaint(&directory, &case).is_some());
    let files = BTreeSet::from([case.sample().to_owned(), "nobody-reads-me".to_owned()]);
    assert_eq!(unmatched(&files, std::slice::from_ref(&case)), ["nobody-reads-me"]);
    assert_eq!(unmatched(&BTreeSet::new(), std::slice::from_ref(&case)), [case.sample()]);
}

#[test]
fn an_adopting_reader_comes_to_the_same_from_every_line() {
    for directory in directories() {
        for case in &directory.cases {
            let lines = directory.lines(case.sample());
            let mut whole = Run::new(case);
            whole.read(directory.agent, &lines);
            let whole = whole.end(&directory, case);
            for cut in 0..=lines.len() {
                let mut run = Run::new(case);
                run.read(directory.agent, &lines[..cut]);
                let mut run = run.adopted();
                run.read(directory.agent, &lines[cut..]);
                assert_eq!(run.end(&directory, case), whole, "{} cut at line {cut}", case.case);
            }
        }
    }
}

#[test]
fn no_sample_that_stops_early_is_a_success() {
    for directory in directories() {
        for case in &directory.cases {
            let mut run = Run::new(case);
            for line in directory.lines(case.sample()) {
                if run.reader.over.is_none() {
                    let early = run.clone().end(
                        &directory,
                        &Case { transcript: None, exit: ExitOf::Any(Exit::Signal(9)), ..case.clone() },
                    );
                    assert_ne!(early.outcome, "completed", "{} killed early", case.case);
                }
                let unknown = run
                    .clone()
                    .end(&directory, &Case { transcript: None, exit: ExitOf::Any(Exit::Unknown), ..case.clone() });
                assert_ne!(unknown.outcome, "completed", "{} with an unknown exit", case.case);
                run.read(directory.agent, &[line]);
            }
        }
    }
}

#[test]
fn cut_lines_never_panic() {
    for directory in directories() {
        for case in &directory.cases {
            let mut reader = Reader::default();
            for line in directory.lines(case.sample()) {
                for cut in (0..line.len()).step_by(61) {
                    directory.agent.read_line(&mut reader, &moment(), &line[..cut]);
                    directory.agent.read_transcript(&mut reader, &moment(), &line[..cut]);
                }
            }
        }
    }
}

#[test]
fn the_redactor_leaves_every_sample_as_it_is() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    for directory in directories() {
        for file in directory.files() {
            let bytes = fs::read(directory.path.join(format!("{file}.jsonl"))).unwrap();
            for most in [usize::MAX, 1, 7, 300] {
                let mut redactor = Redactor::new(Arc::new(Secrets::new([7; 32])));
                let (mut out, mut rest) = (Vec::new(), &bytes[..]);
                while !rest.is_empty() {
                    let (chunk, later) = rest.split_at(1 + random(rest.len().min(most)));
                    redactor.push(chunk, &mut out);
                    rest = later;
                }
                redactor.finish(&mut out);
                assert!(out == bytes, "{file} of {} was changed", directory.path.display());
            }
        }
    }
}

#[test]
fn the_redactor_would_change_a_sample_with_a_secret() {
    let mut redactor = Redactor::new(Arc::new(Secrets::new([7; 32]).with("CODEX_API_KEY", "planted-secret-value")));
    let mut out = Vec::new();
    redactor.push(br#"{"type":"error","message":"key planted-secret-value"}"#, &mut out);
    redactor.finish(&mut out);
    assert!(!String::from_utf8(out).unwrap().contains("planted-secret-value"));
}
