//! The result of a round of checks: pass, fail with the reason, or a tree that changed during the checks. Called by `decide` only.
//!
//! A pass is an observed exit 0 of a run that ran something; everything else fails. Nothing an agent said counts.

use std::mem::discriminant;

use crate::task::{CheckOutput, Doubt, Evidence, Exit, FileHash, NameList, Round, RoundOutcome, StoppedBy};

/// Why a check did not pass; none for a pass.
pub fn failure(exit: &Exit, stopped_by: StoppedBy, output: &CheckOutput) -> Option<String> {
    match (exit, stopped_by) {
        (_, StoppedBy::Wall) => Some("timed out".into()),
        (Exit::Code(0), _) if output.nothing_run => Some("passed without running any test".into()),
        (Exit::Code(0), StoppedBy::Itself) => None,
        (Exit::Code(_) | Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown, _) => {
            Some(exit.to_string())
        }
    }
}

/// The result of a round, once every check has run.
pub fn judge(round: &Round) -> RoundOutcome {
    let missing = round.files.iter().filter(|file| file.sha256.is_none()).map(missing);
    let failed = round.evidence.iter().filter_map(failed);
    let problems: Vec<String> = round.basis.problem.iter().cloned().chain(missing).chain(failed).collect();
    if !problems.is_empty() {
        return RoundOutcome::Failed { why: problems.join("; ") };
    }
    let mut trees = round.evidence.iter().flat_map(|check| [&check.tree_before, &check.tree_after]);
    match trees.all(|tree| *tree == round.tree) {
        true => RoundOutcome::Passed { tree: round.tree.clone() },
        false => RoundOutcome::TreeChanged,
    }
}

/// Why a round that changed its own tree twice cannot be run.
pub fn changes_what_it_judges(round: &Round) -> String {
    let changed = |check: &Evidence| {
        let names = &check.files.changed;
        (!names.is_empty()).then(|| format!("`{}` changed {names}", check.command))
    };
    let changes: Vec<String> = round.evidence.iter().filter_map(changed).collect();
    match changes.is_empty() {
        true => "files changed while the checks ran, twice".to_owned(),
        false => format!("a check changes the files that it checks: {}", changes.join("; ")),
    }
}

/// Why a round that passed proves less than it seems to.
pub fn doubts(round: &Round) -> Vec<Doubt> {
    let up_to_date = |evidence: &Evidence| {
        let line = evidence.output.up_to_date.clone()?;
        Some(Doubt::UpToDate { check: evidence.command.clone(), line })
    };
    let before = round.basis.doubts.iter().cloned();
    before.chain(beside_the_tree(round)).chain(round.evidence.iter().filter_map(up_to_date)).collect()
}

/// What checks changed where the tree cannot show it, unless it was doubted before they ran.
fn beside_the_tree(round: &Round) -> impl Iterator<Item = Doubt> {
    let first = |doubt: fn(NameList) -> Doubt, names: fn(&Evidence) -> &NameList| {
        round.evidence.iter().map(names).find(|names| !names.is_empty()).cloned().map(doubt)
    };
    let found = [
        first(Doubt::FilteredFiles, |check| &check.files.filtered),
        first(Doubt::ConvertedFiles, |check| &check.files.converted),
        first(Doubt::Submodules, |check| &check.files.submodules),
    ];
    let is_known = |doubt: &Doubt| round.basis.doubts.iter().any(|known| discriminant(known) == discriminant(doubt));
    found.into_iter().flatten().filter(move |doubt| !is_known(doubt))
}

fn missing(file: &FileHash) -> String {
    format!("expected file `{}` is missing", file.path)
}

/// What failed, and how; none for a pass.
pub fn failed(check: &Evidence) -> Option<String> {
    check.failure.as_ref().map(|why| format!("{}: {why}", check.title()))
}
