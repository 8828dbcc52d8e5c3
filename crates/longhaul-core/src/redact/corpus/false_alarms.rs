//! What must stay: the source of this repository, and generated text full of ids, digests and images.
//! The bound for source is one alarm in two megabytes; for ids, digests and images it is none.

use std::path::{Path, PathBuf};

use super::redacted;
use crate::redact::tests::Random;
use crate::redact::{Secrets, redact_text};

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "toml") {
            found.push(path);
        }
    }
}

/// At most one false alarm in two megabytes; files of tests that hold made-up secrets on purpose are left out by name.
#[test]
fn our_own_source_stays() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    let mut alarms = Vec::new();
    let mut bytes = 0;
    for file in files.iter().filter(|file| !is_about_secrets(file)) {
        let text = std::fs::read_to_string(file).unwrap();
        bytes += text.len();
        let (masked, hits) = redact_text(&Secrets::default(), &text);
        let lines = masked.lines().filter(|line| line.contains("[redacted:") && !text.contains(line));
        alarms.extend(lines.map(|line| format!("{}: {line}", file.display())).take(hits));
    }
    assert!(bytes > 500_000, "there is something to look at: {bytes}");
    assert!(alarms.len() * 2_000_000 <= bytes, "{} in {bytes} bytes:\n{}", alarms.len(), alarms.join("\n"));
}

fn is_about_secrets(file: &Path) -> bool {
    let path = file.to_string_lossy();
    path.contains("redact/corpus/") || path.ends_with("redact/tests.rs") || path.ends_with("e2e/secrets.rs")
}

#[test]
fn ids_digests_and_images_stay() {
    let mut random = Random(41);
    let mut draw = |set: &[u8], length: usize| -> String {
        (0..length).map(|_| char::from(set[random.below(set.len())])).collect()
    };
    let (hex, base64) = (b"0123456789abcdef", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    let mut text = String::new();
    for _ in 0..300 {
        text += &format!("commit {}\n{}  file\n", draw(hex, 40), draw(hex, 64));
        text += &format!("{}-{}-7{}-9{}-{}\n", draw(hex, 8), draw(hex, 4), draw(hex, 3), draw(hex, 3), draw(hex, 12));
        text += &format!("checksum = \"{}\"\n\"integrity\": \"sha512-{}==\"\n", draw(hex, 64), draw(base64, 86));
        text += &format!(
            "h1:{}= sha256:{} index {}..{} 100644\n",
            draw(base64, 43),
            draw(hex, 64),
            draw(hex, 7),
            draw(hex, 7)
        );
    }
    for _ in 0..10 {
        text += &format!("{{\"image\":\"data:image/png;base64,iVBORw0KGgo{}\"}}\n", draw(base64, 40_000));
    }
    let output = redacted(&text.as_bytes().chunks(8192).collect::<Vec<_>>());
    let first = text.bytes().zip(&output).position(|(one, other)| one != *other);
    assert!(
        output == text.as_bytes(),
        "at {first:?}: {}",
        String::from_utf8_lossy(&output[first.unwrap_or(0)..][..80])
    );
}
