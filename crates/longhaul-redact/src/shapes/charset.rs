//! Sets of bytes that runs are made of, as bits of one table, so that a test is one lookup.
//! The table of formats and all rules name them; nothing here knows what they are for.

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Charset(u32);

/// `0-9a-f` in either case.
pub(crate) const HEX: Charset = Charset(1);
/// Hexadecimal digits and `-`, as in a UUID.
pub(crate) const HEX_DASH: Charset = Charset(1 << 1);
/// Upper case letters and digits.
pub(crate) const UPPER: Charset = Charset(1 << 2);
/// Upper case letters, digits and `-`.
pub(crate) const UPPER_DASH: Charset = Charset(1 << 3);
/// Letters and digits.
pub(crate) const ALNUM: Charset = Charset(1 << 4);
/// Letters, digits and `_`.
pub(crate) const WORD: Charset = Charset(1 << 5);
/// Letters, digits, `_` and `-`: URL-safe base64.
pub(crate) const URL_SAFE: Charset = Charset(1 << 6);
/// URL-safe base64 in parts joined by dots.
pub(crate) const DOTTED: Charset = Charset(1 << 7);
/// Both alphabets of base64 and the padding.
pub(crate) const BASE64: Charset = Charset(1 << 8);
/// The characters in the path of a webhook address.
pub(crate) const PATH: Charset = Charset(1 << 9);
/// What an unquoted value is made of.
pub(crate) const VALUE: Charset = Charset(1 << 10);
/// What a password in a URL is made of.
pub(crate) const USERINFO: Charset = Charset(1 << 11);
/// What literals are made of; a stream never shows half a word of these.
pub(crate) const HELD_WORD: Charset = Charset(1 << 12);
/// What is still masked behind a candidate of the greatest length.
pub(crate) const SWALLOWED: Charset = Charset(1 << 13);
/// What is still masked behind a private key of the greatest length.
pub(crate) const SWALLOWED_LINES: Charset = Charset(1 << 14);
/// The standard alphabet of base64 and the padding.
pub(crate) const STANDARD_BASE64: Charset = Charset(1 << 15);
/// Lower case letters and digits.
pub(crate) const LOWER: Charset = Charset(1 << 16);

/// Everything but a line feed.
pub(crate) const LINE: Charset = Charset(1 << 17);

const SETS: [u32; 256] = sets();

impl Charset {
    pub(crate) fn has(self, byte: u8) -> bool {
        SETS[usize::from(byte)] & self.0 != 0
    }
}

const fn sets() -> [u32; 256] {
    let mut sets = [0; 256];
    let mut index = 0;
    while index < 256 {
        sets[index] = sets_of(index as u8);
        index += 1;
    }
    sets
}

const fn sets_of(byte: u8) -> u32 {
    let alnum = byte.is_ascii_alphanumeric();
    let hex = byte.is_ascii_hexdigit();
    let upper = byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let url_safe = alnum || matches!(byte, b'_' | b'-');
    let base64 = url_safe || matches!(byte, b'+' | b'/' | b'=');
    let value = byte.is_ascii_graphic()
        && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>')
        && !matches!(byte, b',' | b';' | b'|' | b'&');
    let mut sets = 0;
    let members = [
        (HEX, hex),
        (HEX_DASH, hex || byte == b'-'),
        (UPPER, upper),
        (UPPER_DASH, upper || byte == b'-'),
        (ALNUM, alnum),
        (WORD, alnum || byte == b'_'),
        (URL_SAFE, url_safe),
        (DOTTED, url_safe || byte == b'.'),
        (BASE64, base64),
        (PATH, url_safe || matches!(byte, b'/' | b'@' | b'.' | b'%')),
        (VALUE, value),
        (USERINFO, userinfo(byte)),
        (HELD_WORD, value || matches!(byte, b'\\')),
        (SWALLOWED, base64 || matches!(byte, b'.' | b'~' | b'%')),
        (LOWER, byte.is_ascii_lowercase() || byte.is_ascii_digit()),
        (STANDARD_BASE64, alnum || matches!(byte, b'+' | b'/' | b'=')),
        (LINE, byte != b'\n'),
        (SWALLOWED_LINES, base64 || matches!(byte, b'\r' | b'\n' | b'\\')),
    ];
    let mut index = 0;
    while index < members.len() {
        if members[index].1 {
            sets |= members[index].0.0;
        }
        index += 1;
    }
    sets
}

const fn userinfo(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'/' | b'@' | b'<' | b'>' | b'{' | b'}' | b'#')
}
