//! Every format in every context, whole and cut.
//! Leaks are looked for by `leaks`, which knows nothing of rules; a redactor without hold-back is the control.

use super::contexts::CONTEXTS;
use super::formats::{FORMATS, Sample, sample};
use super::{leaks, redacted};
use crate::redact::tests::Random;

/// Behind a letter these are words or chance in a blob of base64.
const NOT_WHEN_GLUED: [&str; 4] = ["cio", "cmVmd", "EAAA", "ZXlK"];

/// Of these the break falls into what tells them: they are found only when that is in one line.
const NOT_WHEN_WRAPPED: [&str; 5] = ["{a14}.atlasv1", "M{a23}.", "hooks.slack", "discord.com", "acme.webhook"];

fn is_exempt(format: &str, context: &str) -> bool {
    let is_one_of = |beginnings: &[&str]| beginnings.iter().any(|beginning| format.starts_with(beginning));
    (context == "glued" && is_one_of(&NOT_WHEN_GLUED)) || (context == "wrapped" && is_one_of(&NOT_WHEN_WRAPPED))
}

fn each_placement(samples: usize, mut check: impl FnMut(&str, &str, &Sample, &[u8])) {
    let mut random = Random(11);
    for format in FORMATS {
        for (context, place) in CONTEXTS {
            for _ in 0..samples {
                let sample = sample(format, &mut random);
                if !is_exempt(format, context) {
                    check(format, context, &sample, &place(&sample.text));
                }
            }
        }
    }
}

#[test]
fn no_format_leaks_in_any_context() {
    let mut leaked = Vec::new();
    let mut placements = 0;
    each_placement(3, |format, context, sample, text| {
        placements += 1;
        let output = redacted(&[text]);
        if leaks(sample.secret(), &output) {
            leaked.push(format!("{format} in {context}: {}", String::from_utf8_lossy(&output)));
        }
    });
    assert!(placements > 14_000, "{placements}");
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
    let mut random = Random(12);
    let mut number = 0;
    each_placement(1, |format, context, sample, text| {
        let whole = redacted(&[text]);
        number += 1;
        // Every cut of a sample of the placements; each format and each context has some.
        if number % 29 == 0 {
            for cut in 1..text.len() {
                let output = redacted(&[&text[..cut], &text[cut..]]);
                assert!(output == whole, "{format} in {context} cut at {cut}: {}", String::from_utf8_lossy(&output));
            }
        }
        for _ in 0..4 {
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
