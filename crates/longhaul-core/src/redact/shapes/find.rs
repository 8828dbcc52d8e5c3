//! Finds all shapes in a text: looks for literals, asks the rule of each, and brings the masks into order.
//!
//! Called by the stream with what it holds, and by the joiner of deltas with joined text. What it answers for a part of a
//! stream never contradicts what it answers for more of it.

use super::charset::{Charset, SWALLOWED, SWALLOWED_LINES};
use super::literals::{Hit, Literals, Rule};
use super::text::{More, Reading, Text};
use super::{assignment, curl, header, infix, jwt, kubernetes, private_key, token, url};

/// The greatest length of a candidate; one that is still open then is masked whole.
pub(super) const LONGEST_CANDIDATE: usize = 16 * 1024;

/// A part of the text to mask, named after its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mask {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) rule: &'static str,
    /// Where the literal begins that led here; it must be seen again to find the mask again.
    pub(crate) from: usize,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// In order, without overlaps.
    pub(crate) masks: Vec<Mask>,
    /// Where the first open candidate begins.
    pub(crate) open: Option<usize>,
    /// The end of text was reached while masking on behind a candidate of the greatest length.
    pub(crate) swallowing: Option<Charset>,
}

impl Findings {
    /// The greatest position up to `safe` that cuts nothing which is still to be found again.
    pub(crate) fn settled(&self, mut safe: usize) -> usize {
        while let Some(mask) = self.masks.iter().find(|mask| mask.end > safe && mask.from < safe) {
            safe = mask.from;
        }
        safe
    }
}

/// Looks at everything that begins at `from` or later; what stands before is context.
pub(crate) fn find(bytes: &[u8], from: usize, more: More) -> Findings {
    let mut findings = Findings::default();
    Literals::get().each_hit(bytes, from, |hit| judge(bytes, more, hit, &mut findings));
    bring_into_order(&mut findings.masks);
    findings
}

fn judge(bytes: &[u8], more: More, hit: Hit, findings: &mut Findings) {
    let end = bytes.len().min(hit.start + LONGEST_CANDIDATE);
    let is_cut = end == hit.start + LONGEST_CANDIDATE;
    let text = Text { bytes: &bytes[..end], more: if is_cut { More::MayCome } else { more } };
    let masks = &mut findings.masks;
    let known = masks.len();
    let reading = match hit.rule {
        Rule::Token(format) => token::read(&text, hit, format, masks),
        Rule::Assignment(ending) => assignment::read(&text, hit, ending, masks),
        Rule::Authorization => header::read_authorization(&text, hit, masks),
        Rule::Bearer => header::read_bearer(&text, hit, masks),
        Rule::Cookie => header::read_cookies(&text, hit, masks),
        Rule::Url => url::read(&text, hit, masks),
        Rule::PrivateKey => private_key::read(&text, hit, masks),
        Rule::Jwt => jwt::read(&text, hit, masks),
        Rule::Curl => curl::read(&text, hit, masks),
        Rule::KubernetesData => kubernetes::read(&text, hit, masks),
        Rule::Infix(infix) => infix::read(&text, hit, infix, masks),
    };
    masks[known..].iter_mut().for_each(|mask| mask.from = hit.start.min(mask.start));
    match reading {
        Reading::Decided => {}
        Reading::Open { from } if is_cut => mask_whole(bytes, more, from..end, hit.rule, findings),
        Reading::Open { from } => findings.open = Some(findings.open.map_or(from, |open| open.min(from))),
    }
}

fn mask_whole(bytes: &[u8], more: More, span: std::ops::Range<usize>, rule: Rule, findings: &mut Findings) {
    let Some((name, charset)) = name_of_long(rule) else { return };
    let end = Text { bytes, more }.run(span.end, charset);
    findings.masks.push(Mask { start: span.start, end, rule: name, from: span.start });
    if end == bytes.len() && more == More::MayCome {
        findings.swallowing = Some(charset);
    }
}

/// Rules without a name here only look for something further on in the text; their giving up hides nothing.
fn name_of_long(rule: Rule) -> Option<(&'static str, Charset)> {
    match rule {
        Rule::Token(format) => Some((format.name, SWALLOWED)),
        Rule::Assignment(_) => Some(("assignment", SWALLOWED)),
        Rule::Authorization | Rule::Bearer => Some(("authorization", SWALLOWED)),
        Rule::Cookie => Some(("cookie", SWALLOWED)),
        Rule::Url => Some(("url-password", SWALLOWED)),
        Rule::PrivateKey => Some(("private-key", SWALLOWED_LINES)),
        Rule::Jwt => Some(("jwt", SWALLOWED)),
        Rule::KubernetesData => Some(("kubernetes-secret", SWALLOWED)),
        Rule::Infix(infix) => Some((infix.name(), SWALLOWED)),
        Rule::Curl => None,
    }
}

fn bring_into_order(masks: &mut Vec<Mask>) {
    masks.sort_by_key(|mask| (mask.start, usize::MAX - mask.end));
    masks.dedup_by(|later, earlier| {
        let overlap = later.start < earlier.end;
        if overlap {
            earlier.end = earlier.end.max(later.end);
            earlier.from = earlier.from.min(later.from);
        }
        overlap
    });
}
