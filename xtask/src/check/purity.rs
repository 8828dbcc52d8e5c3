//! Rule: who may do what. Input and output, processes, SQL, printing and unsafe code have their places.
//! Called by `check`; it looks for words in code, so it stops slips, not someone who wants to get round it.
//! It never looks at comments or literals.

use super::Violation;
use super::source::{SourceFile, line_of};

/// Which code of a file a ban looks at.
enum Reach {
    Shipped,
    TestsToo,
}

/// Where a ban holds, as prefixes of paths.
enum Place {
    OnlyBelow(&'static [&'static str]),
    EverywhereBut(&'static [&'static str]),
}

struct Ban {
    words: &'static [&'static str],
    place: Place,
    reach: Reach,
    what: &'static str,
    remedy: &'static str,
}

const BANS: &[Ban] = &[
    Ban {
        words: &[
            "std::fs",
            "std::process",
            "std::net",
            "std::env",
            "std::thread",
            "SystemTime",
            "Instant::now",
            "Timestamp::now",
            "Zoned::now",
            "TimeZone::system",
            "Uuid::new_v4",
            "Uuid::now_v7",
            "tokio",
            "rand",
            "getrandom",
        ],
        place: Place::OnlyBelow(&["crates/longhaul-core/", "crates/longhaul-redact/", "crates/longhaul-agents/"]),
        reach: Reach::Shipped,
        what: "does input or output, reads a clock or draws a random number in a pure crate",
        remedy: "take the value as an argument, or return data that the worker carries out",
    },
    Ban {
        words: &["Command::new", "fork(", "posix_spawn", "posix_spawnp"],
        place: Place::EverywhereBut(&[
            "crates/longhaul-keeper/",
            "crates/longhaul-worker/src/effects",
            "crates/longhaul-git/src/command.rs",
            "crates/longhaul/src/start.rs",
            // An agent, and so a program of its own: it runs git and the test of what it made.
            "crates/longhaul/src/demo_agent/",
            "xtask/",
        ]),
        reach: Reach::Shipped,
        what: "starts a process outside keeper, worker effects, git wrapper and `start.rs`",
        remedy: "start an agent through a keeper, git through the wrapper, anything else as an effect",
    },
    Ban {
        words: &["rusqlite"],
        place: Place::EverywhereBut(&["crates/longhaul-store/", "xtask/src/bench"]),
        reach: Reach::Shipped,
        what: "speaks SQL outside the store",
        remedy: "add a method to the `Store` trait and call it",
    },
    Ban {
        words: &["WholeStore", "whole_store", "of_all_tenants", "SqliteStore"],
        place: Place::EverywhereBut(&[
            "crates/longhaul-store/",
            "crates/longhaul-worker/",
            // Finds out whose key it is, before there is a tenant to bind it to.
            "crates/longhaul-app/src/api_keys.rs",
            // Opens it, and binds what everybody else gets to a tenant.
            "crates/longhaul-app/src/app.rs",
            // Runs in a worker, which binds it to the tenant of whoever handed the task over.
            "crates/longhaul-app/src/handover.rs",
            // Measures the whole home for administrators.
            "crates/longhaul-app/src/meter.rs",
            "crates/longhaul-app/src/operations/doctor",
            "crates/longhaul-app/src/operations/gc",
            "crates/longhaul-app/src/operations/keys_create.rs",
            "crates/longhaul-app/src/operations/keys_list.rs",
            "crates/longhaul-app/src/operations/keys_revoke.rs",
            "crates/longhaul-app/src/operations/store_backup.rs",
            "crates/longhaul-app/src/operations/store_check.rs",
            // Both are workers.
            "crates/longhaul/src/commands/run_session.rs",
            "crates/longhaul/src/commands/worker.rs",
            "xtask/",
        ]),
        reach: Reach::Shipped,
        what: "holds the store of all tenants",
        remedy: "use `Call::store` or `App::store_for`, which are bound to the caller's tenant",
    },
    Ban {
        words: &["println!", "eprintln!", "print!", "eprint!"],
        place: Place::EverywhereBut(&["crates/longhaul/", "e2e/model/src/bin/", "xtask/"]),
        reach: Reach::Shipped,
        what: "prints outside the binary",
        remedy: "return the text or an error; the binary decides what is shown",
    },
    Ban {
        words: &["remove_dir_all"],
        // A clean checkout that no repository knows any more: ours by its path, and nothing in it is work.
        place: Place::EverywhereBut(&["crates/longhaul-app/src/checkouts.rs"]),
        reach: Reach::Shipped,
        what: "deletes a whole directory tree",
        remedy: "delete only files made by us, by exact name, below a directory handle",
    },
    Ban {
        words: &["unsafe"],
        place: Place::EverywhereBut(&["crates/longhaul-keeper/src/os"]),
        reach: Reach::TestsToo,
        what: "is unsafe code outside the keeper's `os`",
        remedy: "use `rustix` or `nix`, or put a safe function into the keeper's `os`",
    },
];

/// Finds code that does what its place may not do.
pub(super) fn violations(files: &[SourceFile]) -> Vec<Violation> {
    let pairs = files.iter().flat_map(|file| BANS.iter().map(move |ban| (file, ban)));
    pairs.filter(|(file, ban)| ban.holds_for(file)).flat_map(|(file, ban)| ban.violations(file)).collect()
}

impl Ban {
    fn holds_for(&self, file: &SourceFile) -> bool {
        match self.place {
            Place::OnlyBelow(prefixes) => file.is_below(prefixes),
            Place::EverywhereBut(prefixes) => !file.is_below(prefixes),
        }
    }

    fn violations(&self, file: &SourceFile) -> Vec<Violation> {
        let code = match self.reach {
            Reach::Shipped => &file.shipped_code,
            Reach::TestsToo => &file.code,
        };
        let found = self.words.iter().flat_map(|word| occurrences(code, word).into_iter().map(move |at| (at, word)));
        let violation = |(at, word)| Violation {
            rule: "purity",
            place: format!("{}:{}", file.path, line_of(code, at)),
            what: format!("`{word}` {}", self.what),
            remedy: self.remedy.to_owned(),
        };
        found.map(violation).collect()
    }
}

/// Finds `word` as whole words, and `a::b` also in a grouped import `a::{b, c}`.
fn occurrences(code: &str, word: &str) -> Vec<usize> {
    let plain = code.match_indices(word).map(|(at, _)| at).filter(|&at| is_whole(code, at, word));
    plain.chain(in_groups(code, word)).collect()
}

fn is_whole(code: &str, at: usize, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let goes_on_before = code[..at].chars().next_back().is_some_and(is_name);
    let behind = code[at + word.len()..].chars().next();
    let goes_on_behind = word.ends_with(is_name) && behind.is_some_and(is_name);
    !goes_on_before && !goes_on_behind
}

fn in_groups(code: &str, word: &str) -> Vec<usize> {
    let Some((parent, member)) = word.split_once("::") else { return Vec::new() };
    let opening = format!("{parent}::{{");
    let groups = code.match_indices(&opening).filter(|&(at, _)| is_whole(code, at, &opening));
    let members = groups.flat_map(|(at, _)| member_places(code, at + opening.len() - 1));
    members.filter(|&place| starts_with(code, place, member)).collect()
}

fn starts_with(code: &str, place: usize, member: &str) -> bool {
    code[place..].starts_with(member) && is_whole(code, place, member)
}

/// Returns where the direct members of the group that opens at `open` begin.
fn member_places(code: &str, open: usize) -> Vec<usize> {
    let mut depth = 0_i32;
    let mut places = Vec::new();
    for (offset, c) in code[open..].char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            break;
        }
        if depth == 1 && (c == '{' || c == ',') {
            let rest = &code[open + offset + 1..];
            places.push(open + offset + 1 + rest.len() - rest.trim_start().len());
        }
    }
    places
}

#[cfg(test)]
mod tests;
