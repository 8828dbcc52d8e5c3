//! The part of its lists that one answer has: at most a number of items and of bytes, and where the next answer continues.
//! Used by every operation whose lists can grow. Lists of one answer follow each other, so that one position is enough for all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most items of one answer, and how many an answer has unless asked otherwise.
const MOST: u32 = 1_000;
/// An answer ends with the item that brings its lists to so many bytes of JSON.
const BYTES: usize = 1 << 20;

/// Which part of its lists an operation answers with.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PageInput {
    /// Where the last answer ended: its `next`.
    pub after: u64,
    /// At most this many items, in all lists together; never more than 1,000.
    pub limit: Option<u32>,
}

impl PageInput {
    /// The most items of the answer.
    pub(crate) fn most(self) -> u32 {
        self.limit.unwrap_or(MOST).clamp(1, MOST)
    }
}

/// One answer's part of its lists.
pub(crate) struct Page {
    after: u64,
    /// Items that were offered so far, up to the end of the page.
    passed: u64,
    room: u32,
    bytes: usize,
    is_cut: bool,
}

impl Page {
    pub(crate) fn new(input: PageInput) -> Page {
        Page { after: input.after, passed: 0, room: input.most(), bytes: 0, is_cut: false }
    }

    /// Leaves in the list what belongs to the page. The lists of an answer come in a fixed order.
    pub(crate) fn cut<T: Serialize>(&mut self, list: &mut Vec<T>) {
        list.retain(|item| self.takes(item));
    }

    /// Where the next page begins; none at the end of the lists.
    pub(crate) fn next(&self) -> Option<u64> {
        self.is_cut.then_some(self.passed)
    }

    fn takes(&mut self, item: &impl Serialize) -> bool {
        self.is_cut |= self.room == 0 || self.bytes >= BYTES;
        if self.is_cut {
            return false;
        }
        self.passed += 1;
        if self.passed <= self.after {
            return false;
        }
        self.room -= 1;
        self.bytes += serde_json::to_string(item).map_or(0, |text| text.len());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(limit: Option<u32>, lists: &[Vec<String>]) -> Vec<Vec<String>> {
        let (mut found, mut after) = (Vec::new(), Some(0));
        while let Some(from) = after {
            let mut page = Page::new(PageInput { after: from, limit });
            let mut lists = lists.to_vec();
            lists.iter_mut().for_each(|list| page.cut(list));
            found.push(lists.concat());
            after = page.next();
        }
        found
    }

    #[test]
    fn pages_follow_each_other_without_a_gap_across_lists() {
        let list = |names: &str| names.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let lists = [list("a b c"), list(""), list("d e")];
        assert_eq!(pages(Some(2), &lists), [list("a b"), list("c d"), list("e")]);
        assert_eq!(pages(Some(5), &lists), [list("a b c d e")], "nothing follows, so `next` is null");
        assert_eq!(pages(Some(0), &lists).len(), 5, "every page has an item");
        assert_eq!(pages(None, &[vec![String::new(); 1_001]]).iter().map(Vec::len).collect::<Vec<_>>(), [1_000, 1]);
    }

    #[test]
    fn a_page_ends_with_the_item_that_fills_its_bytes() {
        let long = vec!["x".repeat(BYTES / 2); 5];
        assert_eq!(pages(None, &[long]).iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    }
}
