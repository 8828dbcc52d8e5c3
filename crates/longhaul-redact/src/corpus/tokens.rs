//! Every format in every context, whole and cut. What takes long looks at a part in which each format and each context comes up.
//! Leaks are looked for by `leaks`, which knows nothing of rules; a redactor without hold-back is the control.

use super::contexts::CONTEXTS;
use super::formats::{FORMATS, Sample, sample};
use super::{leaks, redacted, seed};
use crate::tests::Random;

/// One placement in `every`; which, the seed says.
fn each_placement(every: usize, mut check: impl FnMut(&str, &str, &Sample, &[u8])) {
    let mut random = Random(seed());
    let offset = random.below(every);
    for (row, format) in FORMATS.iter().enumerate() {
        for (column, (context, place)) in CONTEXTS.iter().enumerate() {
            if (row + column) % every == offset {
                let sample = sample(format, &mut random);
                check(format, context, &sample, &place(&sample.text));
            }
        }
    }
}

#[test]
fn no_format_leaks_in_any_context() {
    let mut leaked = Vec::new();
    let mut placements = 0;
    each_placement(1, |format, context, sample, text| {
        placements += 1;
        let output = redacted(&[text]);
        if leaks(sample.secret(), &output) {
            leaked.push(format!("{format} in {context}: {}", String::from_utf8_lossy(&output)));
        }
    });
    assert!(placements > 6_000, "{placements}");
    assert_eq!(leaked.len(), 0, "{} of {placements}:\n{}", leaked.len(), leaked.join("\n"));
}

#[test]
fn records_stay_records() {
    each_placement(1, |format, context, _, text| {
        if context.contains("record") || context.contains("JSON") || context.contains("escaped") {
            let output = String::from_utf8(redacted(&[text])).unwrap();
            let parsed = serde_json::from_str::<serde_json::Value>(&output);
            assert!(parsed.is_ok(), "{format} in {context}: {output}");
        }
    });
}

#[test]
fn cuts_change_nothing() {
    let mut random = Random(seed());
    let mut number = 0;
    each_placement(5, |format, context, sample, text| {
        let whole = redacted(&[text]);
        number += 1;
        // Every cut of some of them.
        if number % 41 == 0 {
            for cut in 1..text.len() {
                let output = redacted(&[&text[..cut], &text[cut..]]);
                assert!(output == whole, "{format} in {context} cut at {cut}: {}", String::from_utf8_lossy(&output));
            }
        }
        for _ in 0..2 {
            let (one, other) = (random.below(text.len() + 1), random.below(text.len() + 1));
            let (first, last) = (one.min(other), one.max(other));
            let output = redacted(&[&text[..first], &text[first..last], &text[last..]]);
            assert!(output == whole, "{format} in {context} cut at {first} and {last}");
            assert!(!leaks(sample.secret(), &output), "{format} in {context}: {}", String::from_utf8_lossy(&output));
        }
    });
}

#[test]
fn byte_by_byte_is_the_same_as_whole() {
    each_placement(1, |format, context, _, text| {
        if context == "record" || context == "colour inside" || context == "noise" {
            let bytes: Vec<&[u8]> = text.chunks(1).collect();
            assert!(redacted(&bytes) == redacted(&[text]), "{format} in {context}");
        }
    });
}

/// The control: a redactor that forgets between writes.
#[test]
fn the_cut_test_catches_a_redactor_without_hold_back() {
    let (mut cuts, mut leaked) = (0, 0);
    each_placement(1, |_, context, sample, text| {
        if context == "blank" {
            let middle = text.len() / 2;
            let output = [redacted(&[&text[..middle]]), redacted(&[&text[middle..]])].concat();
            cuts += 1;
            leaked += u32::from(leaks(sample.secret(), &output));
        }
    });
    assert!(leaked > cuts / 2, "{leaked} of {cuts}");
}
