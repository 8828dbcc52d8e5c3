//! Every format in every context and every dialect, whole and in pieces of several sizes, in writes cut at random.
//!
//! A sample with every format, context and dialect in it runs with the other tests; all of it with
//! `cargo xtask bench redaction`, which prints the seed and what leaked where. A seed chooses the tokens and the cuts.

use std::collections::{BTreeMap, BTreeSet};

use super::contexts::CONTEXTS;
use super::dialects::{DIALECTS, Dialect};
use super::formats::{FORMATS, sample};
#[cfg(test)]
use super::seed;
use super::{Random, leaks, redacted};

/// How long the pieces of a text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pieces {
    Whole,
    Of(usize),
    Random,
}

const PIECES: [Pieces; 6] =
    [Pieces::Whole, Pieces::Of(1), Pieces::Of(4), Pieces::Of(20), Pieces::Of(100), Pieces::Random];

fn cut<'a>(text: &'a str, pieces: Pieces, random: &mut Random) -> Vec<&'a str> {
    let (mut rest, mut cut) = (text, Vec::new());
    while !rest.is_empty() {
        let length = match pieces {
            Pieces::Whole => rest.len(),
            Pieces::Of(length) => length,
            Pieces::Random => 1 + random.below(40),
        };
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(length.min(rest.len())));
        cut.push(piece);
        rest = after;
    }
    cut
}

/// How many placements were looked at, and which leaked.
#[derive(Default)]
pub struct Tally {
    /// Placements of a secret.
    pub placements: usize,
    /// Each leak: format, context, dialect, pieces and what a reader sees.
    pub leaks: Vec<String>,
    /// The formats that occurred.
    pub formats: BTreeSet<&'static str>,
    /// Leaks and placements of each context.
    pub by_context: BTreeMap<&'static str, (usize, usize)>,
    /// Leaks and placements of each dialect.
    pub by_dialect: BTreeMap<&'static str, (usize, usize)>,
}

impl Tally {
    fn count(&mut self, context: &'static str, dialect: &'static str, leaked: Option<String>) {
        self.placements += 1;
        for (key, map) in [(context, &mut self.by_context), (dialect, &mut self.by_dialect)] {
            let (leaks, all) = map.entry(key).or_default();
            *leaks += usize::from(leaked.is_some());
            *all += 1;
        }
        self.leaks.extend(leaked);
    }
}

/// Looks at one placement in `every`; the seed chooses which.
pub fn run_matrix(every: usize, seed: u64) -> Tally {
    let (mut random, mut tally, mut number) = (Random(seed), Tally::default(), 0);
    let offset = random.below(every);
    for format in FORMATS {
        for (context, place) in CONTEXTS {
            for dialect in DIALECTS {
                for pieces in PIECES.into_iter().filter(|pieces| dialect.in_pieces || *pieces == Pieces::Whole) {
                    number += 1;
                    if number % every == offset {
                        tally.formats.insert(format);
                        tally.count(
                            context,
                            dialect.name,
                            leak(format, (context, *place), dialect, pieces, &mut random),
                        );
                    }
                }
            }
        }
    }
    tally
}

fn leak(
    format: &str,
    (context, place): (&str, fn(&str) -> Vec<u8>),
    dialect: &Dialect,
    pieces: Pieces,
    random: &mut Random,
) -> Option<String> {
    let sample = sample(format, random);
    let bytes = place(&sample.text);
    let text = String::from_utf8_lossy(&bytes);
    let input = dialect.records(&cut(&text, pieces, random));
    let middle = random.below(input.len());
    let output = redacted(&[&input.as_bytes()[..middle], &input.as_bytes()[middle..]]);
    let seen = dialect.joined(&output);
    let has_leaked = leaks(sample.secret(), seen.as_bytes());
    has_leaked.then(|| format!("{format} in {context}, {}, {pieces:?}: {seen}", dialect.name))
}

#[test]
fn no_sample_of_the_matrix_leaks() {
    let tally = run_matrix(499, seed());
    assert_eq!(tally.formats.len(), FORMATS.iter().collect::<BTreeSet<_>>().len());
    assert_eq!((tally.by_context.len(), tally.by_dialect.len()), (CONTEXTS.len(), DIALECTS.len()));
    assert!(tally.leaks.is_empty(), "{} of {}:\n{}", tally.leaks.len(), tally.placements, tally.leaks.join("\n"));
}

/// The control: a redactor that looks at each record by itself.
#[test]
fn the_matrix_catches_a_redactor_that_does_not_join() {
    let mut random = Random(seed());
    let token = sample("ghp_{a36}", &mut random);
    let dialect = &DIALECTS[3];
    let input = dialect.records(&cut(&token.text, Pieces::Of(4), &mut random));
    let output: Vec<u8> = input.lines().flat_map(|line| redacted(&[format!("{line}\n").as_bytes()])).collect();
    assert!(leaks(token.secret(), dialect.joined(&output).as_bytes()));
}
