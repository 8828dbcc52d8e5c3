//! Finds all shapes in a text: looks for literals and asks the rule of each.
//! A candidate that is still open at the greatest length is masked whole, and so is the run that continues it.

use super::charset::{Charset, SWALLOWED, SWALLOWED_LINES};
use super::literals::{Hit, Literals, Rule};
use super::text::{Reading, Text, looks_drawn};
use super::{assignment, curl, header, infix, jwt, kubernetes, private_key, token, url};
use crate::find::{Findings, LONGEST_CANDIDATE, Mask};
use crate::view::More;

/// From here on the beginning of a token gives something away.
const SHORTEST_BEGINNING: usize = 12;

/// Adds the shapes that begin at `from` or later; what is before is context.
pub(crate) fn find(bytes: &[u8], from: usize, more: More, findings: &mut Findings) {
    Literals::get().each_hit(bytes, from, |hit| judge(bytes, more, hit, findings));
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
        Reading::Open { from } => {
            findings.note_open(from);
            if let Some(rule) = hit.rule.of_token().filter(|_| is_beginning(&bytes[from..])) {
                findings.beginning.get_or_insert((from, rule));
            }
        }
    }
}

fn mask_whole(bytes: &[u8], more: More, span: std::ops::Range<usize>, rule: Rule, findings: &mut Findings) {
    let Some((name, charset)) = name_of_long(rule) else { return };
    let end = Text { bytes, more }.run(span.end, charset);
    findings.masks.push(Mask::shape(span.start, end, name));
    if end == bytes.len() && more == More::MayCome {
        findings.swallowing = Some(charset);
    }
}

/// Rules without a name here only look for something further on in the text; giving up hides nothing.
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

/// Whether a text that some token begins with is long and random enough to be one.
fn is_beginning(text: &[u8]) -> bool {
    text.len() >= SHORTEST_BEGINNING && text.iter().all(u8::is_ascii_graphic) && looks_drawn(text)
}
