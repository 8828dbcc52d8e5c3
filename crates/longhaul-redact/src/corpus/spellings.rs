//! The spellings in which a known value turns up, and line breaks that are none of a secret's business.
//! Every spelling must be masked whole, and what is around it must stay.

use super::{leaks, redacted, seed};
use crate::corpus::formats::{FORMATS, sample};
use crate::tests::Random;
use crate::{Secrets, redact_text};

const VALUE: &str = "s3cr/t<va+lue>&\"q'uoted\"";

#[test]
fn a_known_value_is_found_in_every_spelling() {
    let secrets = Secrets::default().with("MY_KEY", VALUE);
    let html = VALUE
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;");
    let url = "s3cr%2ft%3Cva%2Blue%3e%26%22q%27uoted%22";
    let json = serde_json::to_string(VALUE).unwrap();
    let spellings = [
        VALUE.to_owned(),
        html.clone(),
        html.replace("&#39;", "&#x27;").replace('/', "&#x2F;"),
        url.to_owned(),
        url.to_ascii_lowercase(),
        url.to_ascii_uppercase()
            .replace("S3CR", "s3cr")
            .replace("TED", "ted")
            .replace("VA", "va")
            .replace("LUE", "lue")
            .replace("QQ", "q")
            .replace("UO", "uo")
            .replace("%22Q", "%22q")
            .replace("FT", "Ft"),
        json.clone(),
        serde_json::to_string(&json).unwrap(),
        VALUE.replace('/', "\\/"),
        VALUE.replace("va", "v\x1b[31ma"),
        VALUE.replace("va", "v\\u001b[31ma"),
        VALUE.replace("va", "v\u{200b}a"),
        VALUE.replace("va", "v\na"),
        VALUE.replace("va", "v\r\na"),
        VALUE.replace("va", "v\\na"),
        VALUE.replace("va", "v\\\na"),
        VALUE.replace("s3", "s\n3"),
        html.replace("va", "v\x1b[0ma"),
        format!("\\{VALUE}"),
    ];
    for spelling in spellings {
        let (masked, hits) = redact_text(&secrets, &format!("it is {spelling} and\nmore\n"));
        assert!(
            hits == 1 && masked.contains("[redacted:MY_KEY]") && masked.ends_with(" and\nmore\n"),
            "{spelling:?}: {masked:?}"
        );
    }
}

#[test]
fn a_value_behind_a_backslash_is_found() {
    for value in ["nightly-secret-1", "release-secret-1", "tonight-secret-1"] {
        let (masked, hits) = redact_text(&Secrets::default().with("MY_KEY", value), &format!("C:\\{value}\\x"));
        assert!(hits == 1 && !masked.contains("secret"), "{masked}");
    }
}

/// A token at the end of a line leaves the line break and the next line as they are.
#[test]
fn no_line_break_is_eaten() {
    let mut random = Random(seed());
    let next_lines =
        ["The next line", "following words", "README.md", "and so on", "error: no", "src/main.rs:12:5", "done"];
    for format in FORMATS.iter().filter(|format| !format.contains('\n')) {
        for (number, next) in next_lines.iter().enumerate() {
            let token = sample(format, &mut random);
            let before = "-".repeat(random.below(80));
            let text = format!("{before} {}\n{next}\n", token.text);
            let output = String::from_utf8(redacted(&[text.as_bytes()])).unwrap();
            assert!(output.ends_with(&format!("\n{next}\n")), "{format}, {number}: {text}{output}");
            assert!(!leaks(token.secret(), output.as_bytes()), "{format}: {output}");
        }
    }
}

#[test]
fn tokens_in_lines_of_their_own_stay_in_lines_of_their_own() {
    let mut random = Random(seed());
    for format in FORMATS.iter().filter(|format| !format.contains('\n')) {
        let tokens: Vec<String> = (0..3).map(|_| sample(format, &mut random).text).collect();
        let output = redacted(&[format!("{}\n", tokens.join("\n")).as_bytes()]);
        let lines = output.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines, 3, "{format}: {}", String::from_utf8_lossy(&output));
    }
}

/// What was masked in one line has no say about the next.
#[test]
fn no_token_hides_the_one_in_the_next_line() {
    let mut random = Random(seed());
    let mut leaked = Vec::new();
    for (row, first) in FORMATS.iter().enumerate() {
        for (column, second) in FORMATS.iter().enumerate() {
            let (one, other) = (sample(first, &mut random), sample(second, &mut random));
            let between = ["\n", "\nx", "\r\n", "\n\n", "\n  ", "\n- ", " \n", "\\n", "\\nx"][(row + column) % 9];
            let text = format!("{}{between}{}\n", one.text, other.text);
            let output = redacted(&[text.as_bytes()]);
            if leaks(one.secret(), &output) || leaks(other.secret(), &output) {
                leaked.push(format!("{first}, {second}: {text}{}", String::from_utf8_lossy(&output)));
            }
        }
    }
    assert!(leaked.is_empty(), "{}:\n{}", leaked.len(), leaked.join("\n"));
}

/// The rest of a wrapped value is part of it, also when it reads like words: up to the quote that closes it, or because no
/// word has its capitals there.
#[test]
fn a_wrapped_value_is_masked_to_its_end() {
    let first = "kJ8_wq2Lm9Zr";
    for (name, rest, behind) in [
        ("\"api_key\": \"", "WfSptNblzgBfxynurlYW-PtbFw", "\" and more\n"),
        ("client_secret: \"", "YauznAN4", "\" and more\n"),
        ("client_secret: '", "handover", "'\n"),
        ("DB_PASSWORD=", "xccoeBAa", " and more\n"),
        ("DB_PASSWORD=", "yoxrBZsfmSKya", "\n"),
    ] {
        let before = " ".repeat(80 - name.len() - first.len());
        let text = format!("{before}{name}{first}\n{rest}{behind}");
        let output = redact_text(&Secrets::default(), &text).0;
        assert_eq!(output, format!("{before}{name}[redacted:assignment]{behind}"));
    }
}

/// Few random characters look like words by their capitals and digits; their spelling or a full line before them tells.
#[test]
fn the_rest_of_a_value_is_masked_although_it_has_the_capitals_of_words() {
    let first = "kJ8_wq2Lm9Zr".repeat(5);
    for (lines, rest) in
        [(0, "gh4+Svqoit"), (0, "Svqoitgh"), (0, "xkqlmzrwtp"), (1, "cece/Eadcy"), (1, "pr/Cvxuvh"), (2, "handover")]
    {
        for (name, mask) in [("AWS_SECRET_ACCESS_KEY=", "[redacted:assignment]"), ("fm2_", "[redacted:fly-token]")] {
            let shown = if name.ends_with('=') { name } else { "" };
            let before = " ".repeat(80 - name.len() - 58);
            let full = format!("    {}\n", "aB3/dE6+".repeat(10).split_at(76).0).repeat(lines);
            let text = format!("{before}{name}{}\n{full}    {rest} and more\n", &first[..58]);
            let output = redact_text(&Secrets::default(), &text).0;
            assert_eq!(output, format!("{before}{shown}{mask} and more\n"));
        }
    }
}

/// Chance puts a short prefix at the beginning of the next line.
#[test]
fn an_incomplete_token_continues_with_what_looks_like_another() {
    let (first, rest) = ("A3-XVITNB-Y2SHZA3LG", "A3-4UREV-DZ5XH-YUF5I");
    for before in ["", &"-".repeat(79 - first.len())] {
        let output = redact_text(&Secrets::default(), &format!("{before} {first}\n    {rest} and more\n")).0;
        assert_eq!(output, format!("{before} [redacted:1password-key] and more\n"));
    }
}

/// Chance makes `KEY` in random characters, and letters of which a third are capitals.
#[test]
fn a_random_value_is_no_name() {
    for value in [
        "jXVOp-BUokwX0sdqxjYRtKEYjsBzxjhmORS4_Qsb",
        "oudezMyaFvsfdQtRedZkDXfdzyKfbbRgQzHnPezG",
        "UOlQCtEJTut7ab607paDuZBJBGprnR-lmG_KeyCS",
    ] {
        let masked = redact_text(&Secrets::default(), &format!("\"api_key\": \"{value}\"\n")).0;
        assert_eq!(masked, "\"api_key\": \"[redacted:assignment]\"\n");
    }
}

#[test]
fn what_follows_a_value_of_a_full_line_stays() {
    for next in [
        "README.md",
        "and so on",
        "OTHER_NAME=1",
        "otherName2: x",
        "parseHtmlTreeNode(x)",
        "file1234",
        "following words",
        "restart-worker",
        "Handover12",
    ] {
        let text = format!("{}DB_PASSWORD=kJ8_wq2Lm9Zr\n{next}\n", "-".repeat(56));
        let output = redact_text(&Secrets::default(), &text).0;
        assert!(output.ends_with(&format!("[redacted:assignment]\n{next}\n")), "{output}");
    }
}
