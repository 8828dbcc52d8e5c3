//! The value layer against random secrets, encodings and cuts; encoders and oracles here are written apart from `encodings`.
//! Random secrets in every encoding, cut at every byte; a redactor without hold-back is the negative control.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

pub(super) use super::corpus::Random;
use super::find::LONGEST_CANDIDATE;
use super::{Redactor, Secrets, redact_json, redact_text};

const KEY: [u8; 32] = [7; 32];

impl Random {
    /// A value of 8 to 4096 bytes; one in forty may be longer than 128.
    fn secret(&mut self) -> String {
        let palette: Vec<char> =
            ('!'..='~').chain("\n\n\t\r \"\\/<>&%+$^*()[]{}|?é修😀\u{1}\u{2028}".chars()).collect();
        let longest: usize = 8 << if self.below(40) == 0 { 9 } else { self.below(5) };
        let mut secret = String::new();
        // Line breaks and backslashes at the ends are no part of what is masked.
        let is_plain = |c: char| !"\n\r\\".contains(c);
        while secret.chars().filter(|c| is_plain(*c)).count() < 8
            || (secret.len() < longest - 4 && self.below(longest) != 0)
        {
            secret.push(palette[self.below(palette.len())]);
        }
        secret.trim_matches(|c| !is_plain(c)).to_owned()
    }
}

/// A debug build, which is many times slower, looks at a quarter.
fn rounds(all: usize) -> usize {
    if cfg!(debug_assertions) { all / 4 } else { all }
}

fn in_json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

fn in_ascii_json(text: &str) -> String {
    let escape = |c: char| {
        if c.is_ascii() {
            c.to_string()
        } else {
            c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04x}")).collect()
        }
    };
    in_json(text).chars().map(escape).collect()
}

fn in_url(text: &str) -> String {
    let byte = |b: u8| {
        if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }
    };
    text.bytes().map(byte).collect()
}

fn in_hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn in_base64(bytes: &[u8]) -> String {
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let mut encoded = String::new();
    for group in bits.as_bytes().chunks(6) {
        let padded = format!("{:0<6}", std::str::from_utf8(group).unwrap());
        let value = u8::from_str_radix(&padded, 2).unwrap();
        encoded.push(match value {
            0..26 => char::from(b'A' + value),
            26..52 => char::from(b'a' + value - 26),
            52..62 => char::from(b'0' + value - 52),
            62 => '+',
            _ => '/',
        });
    }
    encoded + ["", "==", "="][bytes.len() % 3]
}

/// Encodings that must vanish to the last character.
fn exact_encodings(secret: &str) -> Vec<String> {
    let base64 = in_base64(secret.as_bytes());
    vec![
        secret.to_owned(),
        in_json(secret),
        in_json(&in_json(secret)),
        in_ascii_json(secret),
        in_url(secret),
        in_url(secret).replace("%20", "+"),
        in_hex(secret),
        in_hex(secret).to_uppercase(),
        base64.replace('+', "-").replace('/', "_"),
        base64,
    ]
}

/// Base64 of a longer text with the secret inside, at each alignment, in both alphabets.
fn embedded_encodings(secret: &str) -> Vec<String> {
    let at = |before: &str| in_base64(format!("{before}{secret};t").as_bytes());
    let standard = ["", "a", "ab", "abc", "abcd"].map(at);
    let url_safe = standard.clone().map(|text| text.replace('+', "-").replace('/', "_"));
    standard.into_iter().chain(url_safe).collect()
}

fn secrets(value: &str) -> Arc<Secrets> {
    Arc::new(Secrets::new(KEY).with("API_KEY", value))
}

fn replacement(secrets: &Secrets, value: &str) -> String {
    let (masked, hits) = redact_text(secrets, value);
    assert!(hits == 1 && masked.starts_with("[redacted:API_KEY:") && masked.len() == 27, "{masked}");
    masked
}

fn pushed(secrets: &Arc<Secrets>, writes: &[&[u8]]) -> String {
    let mut redactor = Redactor::new(Arc::clone(secrets));
    let mut out = Vec::new();
    for write in writes {
        redactor.push(write, &mut out);
    }
    redactor.finish(&mut out);
    String::from_utf8(out).unwrap()
}

/// A redactor that forgets between writes what it has seen.
fn pushed_without_hold_back(form: &str, writes: &[&[u8]]) -> String {
    writes.iter().map(|write| String::from_utf8_lossy(write).replace(form, "[redacted]")).collect()
}

fn shows_eight_of(form: &str, output: &str) -> bool {
    let seen: std::collections::HashSet<&[u8]> = output.as_bytes().windows(8).collect();
    form.as_bytes().windows(8).any(|window| seen.contains(window))
}

#[test]
fn values_vanish_in_every_encoding() {
    let mut random = Random(1);
    for _ in 0..rounds(400) {
        let value = random.secret();
        let secrets = secrets(&value);
        let replacement = replacement(&secrets, &value);
        for form in exact_encodings(&value) {
            let (masked, hits) = redact_text(&secrets, &format!("before {form} after"));
            assert_eq!((masked, hits), (format!("before {replacement} after"), 1), "{value:?} as {form:?}");
        }
        for form in embedded_encodings(&value) {
            let (masked, hits) = redact_text(&secrets, &format!("before {form} after"));
            assert!(hits > 0 && !shows_eight_of(&form, &masked), "{value:?} as {form:?} gave {masked:?}");
        }
    }
}

/// Calls `check` with a secret's form, the text around it, and that text cut into writes.
fn for_each_cut(mut check: impl FnMut(&Arc<Secrets>, &str, &str, &[&[u8]])) {
    let mut random = Random(2);
    for round in 0..rounds(150) {
        let value = random.secret();
        let secrets = secrets(&value);
        for form in exact_encodings(&value).into_iter().chain(embedded_encodings(&value)) {
            let text = format!(">{form}<\n");
            let bytes = text.as_bytes();
            if text.len() < 100 && round < rounds(30) {
                for cut in 0..=bytes.len() {
                    check(&secrets, &form, &text, &[&bytes[..cut], &bytes[cut..]]);
                }
            }
            for _ in 0..3 {
                let (one, other) = (random.below(bytes.len() + 1), random.below(bytes.len() + 1));
                let (first, last) = (one.min(other), one.max(other));
                check(&secrets, &form, &text, &[&bytes[..first], &bytes[first..last], &bytes[last..]]);
            }
        }
    }
}

#[test]
fn cuts_never_show_a_part() {
    for_each_cut(|secrets, form, text, writes| {
        let masked = pushed(secrets, writes);
        assert_eq!(masked, redact_text(secrets, text).0, "{text:?} cut as {writes:?}");
        assert!(!shows_eight_of(form, &masked), "{form:?} gave {masked:?}");
    });
}

#[test]
fn the_cut_test_catches_a_redactor_without_hold_back() {
    let (mut cuts, mut leaks) = (0, 0);
    for_each_cut(|_, form, _, writes| {
        cuts += 1;
        leaks += u32::from(shows_eight_of(form, &pushed_without_hold_back(form, writes)));
    });
    assert!(leaks > cuts / 2, "{leaks} of {cuts}");
}

#[test]
fn byte_by_byte_is_the_same() {
    let mut random = Random(3);
    let values: Vec<String> = (0..50).map(|_| random.secret()).filter(|value| value.len() <= 512).collect();
    for value in values {
        let secrets = secrets(&value);
        let text = format!("x{value}{}y{value}", in_json(&value));
        let writes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(pushed(&secrets, &writes), redact_text(&secrets, &text).0);
    }
}

/// All occurrences marked by brute force, overlapping ones as one, named after the first and then longest.
fn masked_by_brute_force(values: &[String], text: &str) -> String {
    let occurrences = |value: &String| {
        let at = |start: &usize| text[*start..].starts_with(value.as_str());
        (0..text.len()).filter(at).map(|start| (start, start + value.len())).collect::<Vec<_>>()
    };
    let mut found: Vec<(usize, usize)> = values.iter().flat_map(occurrences).collect();
    found.sort_by_key(|(start, end)| (*start, usize::MAX - end));
    let (mut masked, mut shown) = (String::new(), 0);
    for (start, end) in found {
        if start >= shown {
            masked += &text[shown..start];
            masked += &format!("[redacted:{}]", text[start..end].replace('a', "x").replace('b', "y"));
        }
        shown = shown.max(end);
    }
    masked + &text[shown..]
}

proptest! {
    #[test]
    fn overlapping_secrets_are_masked_as_one(
        values in proptest::collection::btree_set("[ab]{8,11}", 1..5),
        text in "[ab]{0,80}",
        cuts in proptest::collection::vec(0usize..80, 0..6),
    ) {
        let values: Vec<String> = values.into_iter().collect();
        let name = |value: &String| value.replace('a', "x").replace('b', "y");
        let secrets = values.iter().fold(Secrets::default(), |secrets, value| secrets.with(&name(value), value));
        let text = text + "\n";
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let writes: Vec<&[u8]> = cuts.windows(2).map(|cut| &text.as_bytes()[cut[0]..cut[1]]).collect();
        prop_assert_eq!(pushed(&Arc::new(secrets), &writes), masked_by_brute_force(&values, &text));
    }
}

#[test]
fn shows_at_once_what_is_safe() {
    let mut redactor = Redactor::new(secrets("hunter2hunter2!"));
    let mut out = Vec::new();
    redactor.push(b"plain text, hunt", &mut out);
    assert_eq!(out, b"plain text, ");
    redactor.push(b"ers\n", &mut out);
    assert_eq!(out, b"plain text, hunters\n");
    redactor.push(b"hunter2hunter2!\n", &mut out);
    assert!(out.ends_with(b"]\n"), "a secret waits only for the end of its word");
    assert_eq!(redactor.hits(), 1);
}

#[test]
fn a_secret_cut_off_by_the_end_is_masked() {
    let secrets = secrets("hunter2hunter2!");
    assert_eq!(redact_text(&secrets, "x hunter2").0, "x hunter2");
    assert_eq!(redact_text(&secrets, "x hunter2hun").1, 1);
    assert!(!redact_text(&secrets, "x hunter2hun").0.contains("hunter"));
}

#[test]
fn very_long_secrets_are_masked_in_bounded_memory() {
    let value: String = (0..rounds(60_000)).map(|n| format!("{n:05}")).collect();
    let secrets = secrets(&value);
    let replacement = replacement(&secrets, &value);
    for form in exact_encodings(&value) {
        let text = format!("before {form} lost\nafter {value}{value}\n");
        let (mut redactor, mut out) = (Redactor::new(Arc::clone(&secrets)), Vec::new());
        let mut pushed = 0;
        for write in text.as_bytes().chunks(1000) {
            redactor.push(write, &mut out);
            pushed += write.len();
            assert!(
                redactor.hits() > 0 || pushed - out.len() <= 4 * LONGEST_CANDIDATE,
                "{pushed} in, {} out",
                out.len()
            );
        }
        redactor.finish(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), format!("before {replacement}\nafter {replacement}\n"));
    }
}

#[test]
fn lines_of_a_block_are_secret_but_not_its_fences() {
    let line = |seed: u64| in_base64(&seed.to_le_bytes().repeat(6));
    let (first, second) = (line(0x1234_5678_9abc_def0), line(0x0fed_cba9_8765_4321));
    let block = format!("-----BEGIN PRIVATE KEY-----\n{first}\n{second}\n-----END PRIVATE KEY-----\n");
    let secrets = secrets(&block);
    let (masked, hits) = redact_text(&secrets, &format!("+ {first}\r\n+ {second}\r\n-----BEGIN PRIVATE KEY-----\r\n"));
    assert_eq!(hits, 2);
    assert!(
        masked.ends_with("\r\n-----BEGIN PRIVATE KEY-----\r\n") && !shows_eight_of(&block, &masked[..60]),
        "{masked}"
    );

    let encoded = in_base64(block.as_bytes());
    let wrapped: Vec<&str> = encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    assert!(!shows_eight_of(&encoded, &redact_text(&secrets, &wrapped.join("\n")).0));
}

#[test]
fn clean_text_stays_byte_identical() {
    let secrets = Secrets::new(KEY)
        .with("A_KEY", concat!("sk-ant", "-api03-abcdefghijklmnop"))
        .with("B_TOKEN", concat!("gh", "p_0123456789abcdefghijklmnopqrstuvwxyz"))
        .with("C_SECRET", "de0b295669a9fd93d5f28d9ec85e40f4cb697bae0");
    for text in [
        "commit de0b295669a9fd93d5f28d9ec85e40f4cb697bae\n",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty\n",
        "0190a6b2-7c1e-7b3a-9f00-1234567890ab",
        "The token validation uses basic authentication; author: sk-ant, ghp_ and token_count=12.\n",
        "{\"usage\":{\"input_tokens\":12},\"text\":\"line\\nline \\u00e9 \\\"quoted\\\"\"}\n",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\n",
    ] {
        assert_eq!(redact_text(&secrets, text), (text.to_owned(), 0));
    }
}

#[test]
fn json_stays_json() {
    let mut random = Random(4);
    for _ in 0..rounds(200) {
        let value = random.secret();
        let secrets = secrets(&value);
        let inner = json!({"output": format!("x={value}\nnext"), "ok": true}).to_string();
        let document = json!({"type": "tool", value.as_str(): [value, 1], "inner": inner});
        let (masked, hits) = redact_text(&secrets, &document.to_string());
        let parsed: Value = serde_json::from_str(&masked).unwrap_or_else(|error| panic!("{error}: {masked}"));
        assert!(hits >= 3 && parsed["type"] == "tool");
        let inner: Value = serde_json::from_str(parsed["inner"].as_str().unwrap()).unwrap();
        assert_eq!(inner["output"], format!("x={}\nnext", replacement(&secrets, &value)));
    }
}

#[test]
fn json_values_are_masked_in_strings_keys_and_numbers() {
    let secrets = Secrets::default().with("a \"name\"\n", "12345678");
    let mut value = json!({"n": 123456789, "k12345678": [null, true, "12345678", 5], "clean": "1234567"});
    assert_eq!(redact_json(&secrets, &mut value), 3);
    let mask = "[redacted:a__name__]";
    assert_eq!(value, json!({"n": format!("{mask}9"), format!("k{mask}"): [null, true, mask, 5], "clean": "1234567"}));
}

fn env(variables: &[(&str, &str)]) -> Secrets {
    Secrets::from_env(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

#[test]
fn the_environment_is_read_by_name() {
    for name in ["API_KEY", "gh_token", "MY_SECRET", "PGPASSWORD", "Passwd", "AWS_CREDENTIAL", "CREDENTIALS"] {
        assert_eq!(redact_text(&env(&[(name, "value-123")]), "value-123").0, format!("[redacted:{name}]"));
    }
    for name in ["PATH", "KEYBOARD", "TOKENS_USED", "HOME"] {
        assert!(env(&[(name, "value-123")]).is_empty(), "{name}");
    }
    let secrets = env(&[("A_KEY", "short"), ("B_KEY", ""), ("C_KEY", "long enough"), ("D_KEY", "éééééééé")]);
    assert_eq!(secrets.too_short(), ["A_KEY"]);
    assert_eq!(redact_text(&secrets, "short éééééééé").0, "short [redacted:D_KEY]");
    assert_eq!(format!("{secrets:?}"), "[\"C_KEY\", \"D_KEY\"]");
}

#[test]
fn urls_give_up_their_credentials() {
    let secrets = env(&[
        ("DATABASE_URL", "postgres://app:p%40ssw0rd-x@db.example:5432/app?sslmode=require"),
        ("PROXY", "http://me:tiny@proxy.example, https://ghp_abcdefghijklmnop@github.com/x"),
        ("REMOTE", "ssh://git@example.com/a@b:cccccccc"),
        ("EMPTY", "https://someone-without-password:@example.com"),
    ]);
    let masked = |text: &str| redact_text(&secrets, text).0;
    assert_eq!(masked("postgres://app:p%40ssw0rd-x@db"), "postgres://[redacted:DATABASE_URL]@db");
    assert_eq!(masked("is p@ssw0rd-x or p%40ssw0rd-x"), "is [redacted:DATABASE_URL] or [redacted:DATABASE_URL]");
    assert_eq!(
        masked("clone https://ghp_abcdefghijklmnop@github.com/x"),
        "clone https://[redacted:PROXY]@github.com/x"
    );
    assert_eq!(masked("ssh://git@example.com/a@b:cccccccc"), "ssh://git@example.com/a@b:cccccccc");
    assert_eq!(secrets.too_short(), ["PROXY"]);
    assert!(!masked("someone-without-password").contains("redacted"));
}

#[test]
fn tags_are_keyed_and_stable() {
    let masked = |key: [u8; 32], value: &str| redact_text(&Secrets::new(key).with("API_KEY", value), value).0;
    assert_eq!(masked(KEY, "value-123"), masked(KEY, "value-123"));
    assert_ne!(masked(KEY, "value-123"), masked([8; 32], "value-123"));
    assert_ne!(masked(KEY, "value-123"), masked(KEY, "value-124"));
    let later = env(&[("API_KEY", "value-123")]).with_key(KEY);
    assert_eq!(redact_text(&later, "value-123").0, masked(KEY, "value-123"));
}

#[test]
fn no_secrets_pass_everything_through() {
    let bytes: Vec<u8> = (0..=255).collect();
    let mut redactor = Redactor::new(Arc::new(Secrets::default()));
    let mut out = Vec::new();
    redactor.push(&bytes, &mut out);
    assert_eq!(out, bytes);
    redactor.finish(&mut out);
    assert_eq!(out, bytes);
}
