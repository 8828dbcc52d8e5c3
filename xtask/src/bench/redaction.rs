//! What the redactor lets through and what it masks wrongly: made-up secrets in every format, context and dialect, and source trees.
//! Called by `bench` when asked for. Leaks and false hits are printed with the text around them; a seed repeats a run.

use std::fs;

use longhaul_redact::corpus::{false_hits, run_matrix};

use super::agent_text::files_below;
use super::compare::Samples;
use super::scene::{Outcome, Scene};
use super::table::{Bound, Row};

/// One placement in so many is enough for a quick run.
const QUICK: usize = 499;
const LANGUAGES: [&str; 3] = ["rs", "py", "js"];
/// False hits in a megabyte of source.
const MOST_FALSE_HITS: f64 = 0.5;

/// Measures leaks, then false hits in the source trees of the caller.
pub(super) fn measure(scene: &Scene) -> Outcome<Vec<Row>> {
    let mut rows = vec![leaks(scene)];
    if scene.arguments.sources.is_empty() {
        rows.push(Row::not_measured("false hits in source code", "name trees with `--sources DIR`"));
    }
    for language in LANGUAGES.iter().filter(|_| !scene.arguments.sources.is_empty()) {
        rows.push(hits_in(scene, language)?);
    }
    Ok(rows)
}

fn leaks(scene: &Scene) -> Row {
    let seed = scene.arguments.seed;
    let tally = run_matrix(if scene.arguments.quick { QUICK } else { 1 }, seed);
    tally.leaks.iter().for_each(|leak| eprintln!("leak: {leak}"));
    for (name, (leaks, all)) in tally.by_context.iter().chain(&tally.by_dialect).filter(|(_, (leaks, _))| *leaks > 0) {
        eprintln!("{name}: {leaks} of {all} placements leak");
    }
    let [formats, contexts, dialects] = [tally.formats.len(), tally.by_context.len(), tally.by_dialect.len()];
    let what = format!(
        "leaks in {} placements of made-up secrets: {formats} formats, {contexts} contexts, {dialects} dialects, seed {seed}",
        tally.placements
    );
    Row::new(what, "", &Samples::once(tally.leaks.len() as f64)).gate(Bound::FigureAtMost(0.0))
}

fn hits_in(scene: &Scene, language: &str) -> Outcome<Row> {
    let (mut bytes, mut hits) = (0, 0);
    for tree in &scene.arguments.sources {
        for file in files_below(tree, language)? {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let found = false_hits(text.as_bytes());
            found.iter().for_each(|hit| eprintln!("false hit: {}: {hit}", file.display()));
            (bytes, hits) = (bytes + text.len(), hits + found.len());
        }
    }
    let what = format!("false hits in `.{language}` files: {hits} in {bytes} bytes");
    if bytes == 0 {
        return Ok(Row::not_measured(what, "the trees of `--sources` have none"));
    }
    let rate = Samples::once(hits as f64 * 1e6 / bytes as f64);
    Ok(Row::new(what, " per MB", &rate).gate(Bound::FigureAtMost(MOST_FALSE_HITS)))
}
