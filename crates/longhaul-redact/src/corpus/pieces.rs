//! Texts in pieces: what a reader joins must be masked, what is clean must stay, and nothing may be late.
//! Special cases beside `matrix`: interruptions, texts side by side, known values.

use std::sync::Arc;

use super::dialects::{DIALECTS, Dialect};
use super::formats::sample;
use super::{leaks, redacted, seed};
use crate::tests::Random;
use crate::{Redactor, Secrets};

fn in_pieces() -> impl Iterator<Item = &'static Dialect> {
    DIALECTS.iter().filter(|dialect| dialect.in_pieces)
}

fn chunks(text: &str, length: usize) -> Vec<&str> {
    text.as_bytes().chunks(length).map(|piece| std::str::from_utf8(piece).unwrap()).collect()
}

#[test]
fn known_values_cut_across_records_do_not_leak() {
    let secrets = Arc::new(Secrets::new([5; 32]).with("MY_PASSWORD", "correct horse battery staple"));
    for dialect in in_pieces() {
        let input = dialect.records(&chunks("it is correct horse battery staple, he said", 9));
        let (mut redactor, mut out) = (Redactor::new(Arc::clone(&secrets)), Vec::new());
        redactor.push(input.as_bytes(), &mut out);
        redactor.finish(&mut out);
        let seen = dialect.joined(&out);
        assert!(seen.starts_with("it is [redacted:MY_PASSWORD:") && seen.ends_with("], he said"), "{seen}");
        assert_eq!(redactor.hits(), 1);
    }
}

#[test]
fn a_record_that_is_no_piece_is_never_late() {
    let mut random = Random(seed());
    for dialect in in_pieces() {
        for format in
            ["ghp_{a36}", "hf_{a34}", "-----BEGIN PRIVATE KEY-----\n{b64}\n{b64}\n{b64}\n{b64}\n", "API_KEY={b40}"]
        {
            let token = sample(format, &mut random);
            let (mut redactor, mut out) = (Redactor::new(Arc::new(Secrets::default())), Vec::new());
            for (number, piece) in chunks(&token.text, 30).into_iter().enumerate() {
                redactor.push((dialect.write)(number, piece).as_bytes(), &mut out);
                redactor.push(b"{\"type\":\"result\"}\n", &mut out);
                assert!(out.ends_with(b"{\"type\":\"result\"}\n"), "{}", String::from_utf8_lossy(&out));
            }
            redactor.finish(&mut out);
            let seen = dialect.joined(&out);
            assert!(!leaks(token.secret(), seen.as_bytes()), "{format} in {}: {seen}", dialect.name);
        }
    }
}

#[test]
fn clean_records_stay_byte_identical_in_any_cut() {
    let text = "I will read `src/main.rs` and sk- the task-list: commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904, \
                100% of C:\\new\\table &amp; \u{e9}\u{1f600} \x1b[31mred\x1b[0m, ok?\n";
    for dialect in in_pieces() {
        let pieces: Vec<String> =
            text.chars().collect::<Vec<_>>().chunks(5).map(|piece| piece.iter().collect()).collect();
        let input = dialect.records(&pieces.iter().map(String::as_str).collect::<Vec<_>>());
        for length in [1, 17, 1000] {
            let writes: Vec<&[u8]> = input.as_bytes().chunks(length).collect();
            assert_eq!(String::from_utf8(redacted(&writes)).unwrap(), input, "{}", dialect.name);
        }
    }
}

#[test]
fn two_texts_side_by_side_are_kept_apart() {
    let token = sample("ghp_{a36}", &mut Random(seed()));
    let record = |index: usize, text: &str| {
        format!(
            "{{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n"
        )
    };
    let input: String =
        chunks(&token.text, 5).into_iter().map(|piece| record(0, piece) + &record(1, "clean text ")).collect();
    let output = String::from_utf8(redacted(&[input.as_bytes()])).unwrap();
    let joined: String = output
        .lines()
        .filter(|line| line.contains("\"index\":0"))
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["delta"]["text"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(!leaks(token.secret(), joined.as_bytes()), "{joined}");
    assert_eq!(output.matches("clean text ").count(), input.matches("clean text ").count());
}
