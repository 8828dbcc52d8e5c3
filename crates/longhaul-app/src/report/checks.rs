//! What the checks showed: criteria, commands and expected files, each pass, fail or unknown, with the evidence that says so.
//! Only the round that counts now decides; earlier rounds are listed and prove nothing any more.

use crate::Home;
use longhaul_core::task::{CheckRole, Event, Evidence, FileEffects, Round, RoundOutcome, Task, narrate};
use longhaul_store::StoredEvent;
use schemars::JsonSchema;
use serde::Serialize;

use crate::describe::Names;

/// The evidence for and against the result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checks {
    /// Whether anything can verify the result.
    pub possible: bool,
    /// The round that counts; null if none does.
    pub round: Option<RoundFacts>,
    /// What must be true in the end.
    pub criteria: Vec<CriterionFacts>,
    /// The setup and every check.
    pub checks: Vec<CheckFacts>,
    /// Files that must exist in the end.
    pub expected_files: Vec<ExpectedFile>,
    /// Rounds that no longer count.
    pub earlier_rounds: Vec<EarlierRound>,
}

/// Pass, fail, or unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    Pass,
    Fail,
    Unknown,
}

impl Shown {
    pub fn word(self) -> &'static str {
        match self {
            Shown::Pass => "pass",
            Shown::Fail => "fail",
            Shown::Unknown => "unknown",
        }
    }
}

/// One round of the checks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RoundFacts {
    pub number: u32,
    /// Null while it runs.
    pub outcome: Option<String>,
}

/// An earlier round, which no longer counts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EarlierRound {
    #[serde(flatten)]
    pub round: RoundFacts,
    /// What was run in it.
    pub checks: Vec<CheckFacts>,
}

impl EarlierRound {
    /// What its checks did to the files, each with its command.
    pub fn effects(&self) -> impl Iterator<Item = (&str, &'static str, &Names)> {
        let runs = self.checks.iter().filter_map(|check| Some((check.command.as_str(), check.evidence.as_ref()?)));
        runs.flat_map(|(command, evidence)| evidence.effects().map(move |(what, names)| (command, what, names)))
    }
}

/// Something that must be true in the end.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CriterionFacts {
    pub text: String,
    /// The command that checks it; null if only a person can decide.
    pub check: Option<String>,
    pub result: Shown,
}

/// One command.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckFacts {
    pub command: String,
    pub result: Shown,
    /// Null when it was not run in this round.
    pub evidence: Option<EvidenceFacts>,
}

/// One run of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EvidenceFacts {
    pub session: u32,
    pub exit: String,
    pub failure: Option<String>,
    pub lasted_ms: u64,
    pub at: String,
    pub output_sha256: Option<String>,
    pub output_bytes: u64,
    pub output_tail: String,
    pub tree_before: Option<String>,
    pub tree_after: Option<String>,
    /// Files of the tree that it changed, and new ones that it left behind.
    pub files: CheckedFiles,
    /// The directory that holds the whole output.
    pub artifact: String,
}

impl EvidenceFacts {
    /// What it did to the files, in words.
    pub fn effects(&self) -> impl Iterator<Item = (&'static str, &Names)> {
        let all = [("changed files", &self.files.changed), ("left behind", &self.files.left)];
        all.into_iter().filter(|(_, names)| !names.is_empty())
    }
}

/// What a check did to the files of its tree.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedFiles {
    /// Files of the tree that were changed or deleted.
    pub changed: Names,
    /// New files that are not ignored.
    pub left: Names,
    /// Files under a git filter that differ from what git stored.
    pub filtered: Names,
    /// Files whose bytes differ from what git checks out.
    pub converted: Names,
    /// Submodules whose files differ from their commit.
    pub submodules: Names,
}

impl From<&FileEffects> for CheckedFiles {
    fn from(effects: &FileEffects) -> CheckedFiles {
        CheckedFiles {
            changed: Names::from(&effects.changed),
            left: Names::from(&effects.left),
            filtered: Names::from(&effects.filtered),
            converted: Names::from(&effects.converted),
            submodules: Names::from(&effects.submodules),
        }
    }
}

/// A file that must exist in the end.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExpectedFile {
    pub path: String,
    pub result: Shown,
    pub sha256: Option<String>,
}

/// What is known of the result.
pub(crate) fn checks(home: &Home, task: &Task, events: &[StoredEvent]) -> Checks {
    let submission = &task.submission;
    let round = task.round.as_ref();
    let criteria = submission.criteria.iter().map(|criterion| CriterionFacts {
        text: criterion.text.clone(),
        check: criterion.check.clone(),
        result: criterion.check.as_deref().map_or(Shown::Unknown, |command| result(round, command)),
    });
    let setup = round.and_then(|round| round.evidence.iter().find(|evidence| evidence.role == CheckRole::Setup));
    let setup = setup.map(|evidence| run(home, evidence));
    let commands = submission.commands().into_iter().map(|command| CheckFacts {
        command: command.to_owned(),
        result: result(round, command),
        evidence: find(round, command).map(|evidence| facts(home, evidence)),
    });
    Checks {
        possible: submission.can_be_verified(),
        round: round.map(|round| RoundFacts { number: round.number, outcome: round.outcome.as_ref().map(words) }),
        criteria: criteria.collect(),
        checks: setup.into_iter().chain(commands).collect(),
        expected_files: submission.expects.iter().map(|path| expected(round, path)).collect(),
        earlier_rounds: earlier(home, events, round.map(|round| round.number)),
    }
}

/// One run by itself, whatever its round came to.
fn run(home: &Home, evidence: &Evidence) -> CheckFacts {
    CheckFacts {
        command: match evidence.role {
            CheckRole::Setup => format!("setup: {}", evidence.command),
            CheckRole::Check => evidence.command.clone(),
        },
        result: if evidence.failure.is_some() { Shown::Fail } else { Shown::Pass },
        evidence: Some(facts(home, evidence)),
    }
}

fn find<'a>(round: Option<&'a Round>, command: &str) -> Option<&'a Evidence> {
    round?.evidence.iter().find(|evidence| evidence.role == CheckRole::Check && evidence.command == command)
}

/// A pass on a tree that changed under the checks proves nothing.
fn result(round: Option<&Round>, command: &str) -> Shown {
    let changed = matches!(round, Some(Round { outcome: Some(RoundOutcome::TreeChanged), .. }));
    match find(round, command) {
        Some(evidence) if evidence.failure.is_some() => Shown::Fail,
        Some(_) if !changed => Shown::Pass,
        Some(_) | None => Shown::Unknown,
    }
}

fn expected(round: Option<&Round>, path: &str) -> ExpectedFile {
    let seen = round.and_then(|round| round.files.iter().find(|file| file.path == path));
    let result = match seen {
        None => Shown::Unknown,
        Some(file) if file.sha256.is_none() => Shown::Fail,
        Some(_) => Shown::Pass,
    };
    ExpectedFile { path: path.to_owned(), result, sha256: seen.and_then(|file| file.sha256.clone()) }
}

fn facts(home: &Home, evidence: &Evidence) -> EvidenceFacts {
    EvidenceFacts {
        session: evidence.number,
        exit: evidence.exit.to_string(),
        failure: evidence.failure.clone(),
        lasted_ms: evidence.lasted_ms,
        at: evidence.at.rfc3339(),
        output_sha256: evidence.output.sha256.clone(),
        output_bytes: evidence.output.bytes,
        output_tail: evidence.output.tail.clone(),
        tree_before: evidence.tree_before.clone(),
        tree_after: evidence.tree_after.clone(),
        files: CheckedFiles::from(&evidence.files),
        artifact: home.session(evidence.session).display().to_string(),
    }
}

fn words(outcome: &RoundOutcome) -> String {
    narrate(&Event::RoundEnded { outcome: outcome.clone() })
}

fn earlier(home: &Home, events: &[StoredEvent], now: Option<u32>) -> Vec<EarlierRound> {
    let mut rounds: Vec<EarlierRound> = Vec::new();
    for event in events {
        match (&event.event, rounds.last_mut()) {
            (Event::RoundStarted { number, .. }, _) => {
                let round = RoundFacts { number: *number, outcome: None };
                rounds.push(EarlierRound { round, checks: Vec::new() });
            }
            (Event::Checked { evidence }, Some(last)) => last.checks.push(run(home, evidence)),
            (Event::RoundEnded { outcome }, Some(last)) => last.round.outcome = Some(words(outcome)),
            _ => {}
        }
    }
    rounds.retain(|earlier| Some(earlier.round.number) != now);
    rounds
}
