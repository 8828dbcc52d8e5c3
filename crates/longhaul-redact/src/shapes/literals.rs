//! The literals that shapes begin with, found in one pass.
//!
//! A table of bits says which three bytes some literal begins with, letters in either case; only there the literals
//! themselves are compared. It has eight kilobytes, takes microseconds to build and costs about a nanosecond a byte.

use std::sync::OnceLock;

use super::infix::Infix;
use super::table::{FORMATS, Format};
use crate::view::decoded_behind_backslash;

/// Which rule judges a hit.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    Token(&'static Format),
    Assignment(Ending),
    Authorization,
    Bearer,
    Cookie,
    Url,
    PrivateKey,
    Jwt,
    Curl,
    KubernetesData,
    Infix(Infix),
}

impl Rule {
    /// The name of a rule whose candidates are nothing but secret.
    pub(super) fn of_token(self) -> Option<&'static str> {
        match self {
            Rule::Token(format) => Some(format.name),
            Rule::Jwt => Some("jwt"),
            Rule::Infix(infix) => Some(infix.name()),
            Rule::Assignment(_) | Rule::Authorization | Rule::Bearer | Rule::Cookie | Rule::Url => None,
            Rule::PrivateKey | Rule::Curl | Rule::KubernetesData => None,
        }
    }
}

/// The last word of a name that secrets are assigned to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Key,
    Token,
    Secret,
    Password,
}

/// A literal of a rule in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) rule: Rule,
}

/// The index.
pub(super) struct Literals {
    is_beginning: Box<[u64; 1 << 10]>,
    by_beginning: Vec<(u16, Literal)>,
    /// Where the literals of the hashes with these twelve first bits begin.
    groups: Box<[u16; (1 << 12) + 1]>,
}

struct Literal {
    text: Vec<u8>,
    case: Case,
    rule: Rule,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Exact,
    Either,
}

const STRUCTURES: &[(&str, Case, Rule)] = &[
    ("key", Case::Either, Rule::Assignment(Ending::Key)),
    ("_auth", Case::Exact, Rule::Assignment(Ending::Key)),
    ("token", Case::Either, Rule::Assignment(Ending::Token)),
    ("secret", Case::Either, Rule::Assignment(Ending::Secret)),
    ("password", Case::Either, Rule::Assignment(Ending::Password)),
    ("passwd", Case::Either, Rule::Assignment(Ending::Password)),
    ("passphrase", Case::Either, Rule::Assignment(Ending::Password)),
    ("credential", Case::Either, Rule::Assignment(Ending::Token)),
    ("credentials", Case::Either, Rule::Assignment(Ending::Token)),
    ("authorization", Case::Either, Rule::Authorization),
    ("bearer", Case::Either, Rule::Bearer),
    ("cookie", Case::Either, Rule::Cookie),
    ("://", Case::Exact, Rule::Url),
    ("-----BEGIN", Case::Exact, Rule::PrivateKey),
    ("eyJ", Case::Exact, Rule::Jwt),
    ("eyA", Case::Exact, Rule::Jwt),
    ("ewo", Case::Exact, Rule::Jwt),
    ("ewog", Case::Exact, Rule::Jwt),
    ("curl", Case::Exact, Rule::Curl),
    ("data", Case::Exact, Rule::KubernetesData),
    ("stringData", Case::Exact, Rule::KubernetesData),
    (".atlasv1.", Case::Exact, Rule::Infix(Infix::Terraform)),
    ("0Q~", Case::Exact, Rule::Infix(Infix::Azure)),
    ("1Q~", Case::Exact, Rule::Infix(Infix::Azure)),
    ("2Q~", Case::Exact, Rule::Infix(Infix::Azure)),
    ("3Q~", Case::Exact, Rule::Infix(Infix::Azure)),
    ("4Q~", Case::Exact, Rule::Infix(Infix::Azure)),
    ("5Q~", Case::Exact, Rule::Infix(Infix::Azure)),
    ("6Q~", Case::Exact, Rule::Infix(Infix::Azure)),
    ("7Q~", Case::Exact, Rule::Infix(Infix::Azure)),
    ("8Q~", Case::Exact, Rule::Infix(Infix::Azure)),
    ("9Q~", Case::Exact, Rule::Infix(Infix::Azure)),
];

impl Literals {
    /// The one index, built when it is first needed.
    pub(super) fn get() -> &'static Literals {
        static LITERALS: OnceLock<Literals> = OnceLock::new();
        LITERALS.get_or_init(Literals::build)
    }

    fn build() -> Literals {
        let structures = STRUCTURES.iter().map(|(text, case, rule)| (text.as_bytes(), *case, *rule));
        let tokens = FORMATS.iter().flat_map(|format| {
            format.prefixes.iter().map(move |prefix| (prefix.as_bytes(), Case::Exact, Rule::Token(format)))
        });
        let mut is_beginning = Box::new([0; 1 << 10]);
        let mut by_beginning = Vec::new();
        for (text, case, rule) in structures.chain(tokens) {
            let behind_backslash = decoded_behind_backslash(text).filter(|_| matches!(rule, Rule::Token(_)));
            for text in [text.to_vec()].into_iter().chain(behind_backslash) {
                let hash = hash(text[0], text[1], text[2]);
                is_beginning[usize::from(hash >> 6)] |= 1 << (hash & 63);
                by_beginning.push((hash, Literal { text, case, rule }));
            }
        }
        by_beginning.sort_by_key(|(hash, _)| *hash);
        let mut groups = Box::new([0; (1 << 12) + 1]);
        for (group, begin) in groups.iter_mut().enumerate() {
            *begin = by_beginning.partition_point(|(hash, _)| usize::from(*hash >> 4) < group) as u16;
        }
        Literals { is_beginning, by_beginning, groups }
    }

    /// Calls `take` for every literal that begins at `from` or later, and for every dot and colon that a token without
    /// prefix may stand around.
    pub(super) fn each_hit(&self, bytes: &[u8], from: usize, mut take: impl FnMut(Hit)) {
        let mut look = |start: usize, hash: u16| {
            let is_mark = matches!(bytes[start], b'.' | b':');
            if let Some(infix) = is_mark.then(|| Infix::around(bytes, start)).flatten() {
                take(Hit { start, end: start + 1, rule: Rule::Infix(infix) });
            }
            if self.may_begin(hash) {
                self.compare(bytes, start, hash, &mut take);
            }
        };
        for (start, beginning) in (from..).zip(bytes[from..].windows(3)) {
            let hash = hash(beginning[0], beginning[1], beginning[2]);
            if self.may_begin(hash) | matches!(beginning[0], b'.' | b':') {
                look(start, hash);
            }
        }
        (bytes.len().saturating_sub(2).max(from)..bytes.len()).for_each(|start| look(start, 0));
    }

    fn may_begin(&self, hash: u16) -> bool {
        self.is_beginning[usize::from(hash >> 6)] & (1 << (hash & 63)) != 0
    }

    fn compare(&self, bytes: &[u8], start: usize, hash: u16, take: &mut impl FnMut(Hit)) {
        let group = usize::from(hash >> 4);
        let literals = usize::from(self.groups[group])..usize::from(self.groups[group + 1]);
        for (_, literal) in self.by_beginning[literals].iter().filter(|(other, _)| *other == hash) {
            let end = start + literal.text.len();
            if bytes.get(start..end).is_some_and(|found| literal.is(found)) {
                take(Hit { start, end, rule: literal.rule });
            }
        }
    }
}

impl Literal {
    fn is(&self, found: &[u8]) -> bool {
        match self.case {
            Case::Exact => found == self.text,
            Case::Either => found.eq_ignore_ascii_case(&self.text),
        }
    }
}

/// The same for letters in either case.
fn hash(first: u8, second: u8, third: u8) -> u16 {
    let folded = u32::from(first | 0x20) << 16 | u32::from(second | 0x20) << 8 | u32::from(third | 0x20);
    (folded.wrapping_mul(0x9e37_79b1) >> 16) as u16
}
