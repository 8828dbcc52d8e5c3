//! Texts that only look like secrets: they must stay byte for byte, whole and in pieces of every size.
//! Compared byte for byte; which piece size a text gets with which dialect rotates, so that all come up.

use super::dialects::DIALECTS;
use super::{redacted, seed};
use crate::tests::Random;

fn look_alikes(random: &mut Random) -> Vec<String> {
    let (hex, base64) = (b"0123456789abcdef", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    let mut draw = |set: &[u8], length: usize| -> String {
        (0..length).map(|_| char::from(set[random.below(set.len())])).collect()
    };
    let mut texts = Vec::new();
    for number in 0..5 {
        texts.extend([
            format!("commit {}\n", draw(hex, 40)),
            format!("{}  dist/file-{number}.tar.gz\n", draw(hex, 64)),
            format!("\"integrity\": \"sha512-{}==\",\n", draw(base64, 86)),
            format!("checksum = \"{}\"\n", draw(hex, 64)),
            format!("id: {}-{}-4{}-8{}-{}\n", draw(hex, 8), draw(hex, 4), draw(hex, 3), draw(hex, 3), draw(hex, 12)),
            format!("index {}..{} 100644\n", draw(hex, 7), draw(hex, 7)),
            format!("h1:{}=\n", draw(base64, 43)),
            format!("{{\"width\":\"{number}920px\",\"key\":\"item-{number}\",\"tokens\":{number}00000}}\n"),
            format!("{{\"cacheKey\":\"build-{number}\",\"publicKeyToken\":null,\"sortKey\":\"created_at\"}}\n"),
            format!("image: 1920x1080px, {number}24px by {number}68px, 0.{number}em\n"),
            format!("data:image/png;base64,iVBORw0KGgo{}=\n", draw(base64, 200)),
            format!("@@ -{number},7 +{number},9 @@ fn token_key() {{\n"),
        ]);
    }
    texts
}

#[test]
fn no_look_alike_is_damaged_whole_or_in_pieces() {
    let mut random = Random(seed());
    let mut damaged = Vec::new();
    for (number, text) in look_alikes(&mut random).iter().enumerate() {
        for (index, dialect) in DIALECTS.iter().enumerate() {
            let lengths: &[usize] = if dialect.in_pieces { &[1, 4, 20, 100, 1000] } else { &[1000] };
            let length = lengths[(number + index) % lengths.len()];
            let pieces: Vec<&str> =
                text.as_bytes().chunks(length).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
            let input = dialect.records(&pieces);
            let output = redacted(&[input.as_bytes()]);
            if output != input.as_bytes() {
                damaged.push(format!("{text} as {} by {length}: {}", dialect.name, dialect.joined(&output)));
            }
        }
    }
    assert!(damaged.is_empty(), "{}:\n{}", damaged.len(), damaged.join("\n"));
}
