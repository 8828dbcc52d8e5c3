//! Sets of bytes that runs are made of, as bits of one table, so that a test is one lookup.
//! The table of formats and all rules name them; nothing here knows what they are for.

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Charset(u32);

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

/// Each row is a set, the number of its bit, and whether a byte belongs to it.
macro_rules! charsets {
    ($byte:ident: $($(#[$doc:meta])+ $name:ident($bit:literal) = $has:expr;)+) => {
        $($(#[$doc])+ pub(crate) const $name: Charset = Charset(1 << $bit);)+

        const fn sets_of($byte: u8) -> u32 {
            0 $(| if $has { $name.0 } else { 0 })+
        }
    };
}

charsets! { byte:
    /// `0-9a-f` in either case.
    HEX(0) = byte.is_ascii_hexdigit();
    /// Hexadecimal digits and `-`, as in a UUID.
    HEX_DASH(1) = byte.is_ascii_hexdigit() || byte == b'-';
    /// Upper case letters and digits.
    UPPER(2) = upper(byte);
    /// Upper case letters, digits and `-`.
    UPPER_DASH(3) = upper(byte) || byte == b'-';
    /// Letters and digits.
    ALNUM(4) = byte.is_ascii_alphanumeric();
    /// Letters, digits and `_`.
    WORD(5) = byte.is_ascii_alphanumeric() || byte == b'_';
    /// Letters, digits, `_` and `-`: URL-safe base64.
    URL_SAFE(6) = url_safe(byte);
    /// URL-safe base64 in parts joined by dots.
    DOTTED(7) = url_safe(byte) || byte == b'.';
    /// Both alphabets of base64 and the padding.
    BASE64(8) = base64(byte);
    /// The characters in the path of a webhook address.
    PATH(9) = url_safe(byte) || matches!(byte, b'/' | b'@' | b'.' | b'%');
    /// What an unquoted value is made of.
    VALUE(10) = value(byte);
    /// What a password in a URL is made of.
    USERINFO(11) = byte.is_ascii_graphic()
        && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'/' | b'@' | b'<' | b'>' | b'{' | b'}' | b'#');
    /// What literals are made of; a stream never shows half a word of these.
    HELD_WORD(12) = value(byte) || byte == b'\\';
    /// What is still masked behind a candidate of the greatest length.
    SWALLOWED(13) = base64(byte) || matches!(byte, b'.' | b'~' | b'%');
    /// What is still masked behind a private key of the greatest length.
    SWALLOWED_LINES(14) = base64(byte) || matches!(byte, b'\r' | b'\n' | b'\\');
    /// The standard alphabet of base64 and the padding.
    STANDARD_BASE64(15) = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    /// Lower case letters and digits.
    LOWER(16) = byte.is_ascii_lowercase() || byte.is_ascii_digit();
    /// Everything but a line feed.
    LINE(17) = byte != b'\n';
}

const fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

const fn url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

const fn base64(byte: u8) -> bool {
    url_safe(byte) || matches!(byte, b'+' | b'/' | b'=')
}

const fn value(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>')
        && !matches!(byte, b',' | b';' | b'|' | b'&')
}
