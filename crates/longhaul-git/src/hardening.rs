//! What a repository's configuration may not decide: every setting that names a program, opens a connection or starts work of its own.
//!
//! Called for each git that must run with the repository's own configuration. The fixed list is always in force; what the repository
//! names itself (filters, drivers, helpers) is read anew before each call and blanked by name, whichever file or include it came from.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Settings that are the same for every repository.
const FIXED: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.alternateRefsCommand", "true"),
    ("core.gitProxy", ""),
    ("core.splitIndex", "false"),
    ("core.safecrlf", "false"),
    ("core.filesRefLockTimeout", "3000"),
    ("core.packedRefsTimeout", "5000"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultKeyCommand", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("tag.forceSignAnnotated", "false"),
    ("push.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("merge.verifySignatures", "false"),
    ("sequence.editor", "false"),
    ("interactive.diffFilter", ""),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("status.submoduleSummary", "false"),
    ("protocol.allow", "never"),
    ("protocol.ext.allow", "never"),
    ("protocol.file.allow", "never"),
    ("uploadpack.packObjectsHook", ""),
    ("branch.autoSetupMerge", "false"),
    ("worktree.useRelativePaths", "false"),
    ("advice.graftFileDeprecated", "false"),
];

/// Variables that hold a program or a command line in whichever section they stand.
const PROGRAMS: &[&str] = &[
    "clean",
    "smudge",
    "process",
    "textconv",
    "command",
    "cmd",
    "driver",
    "program",
    "helper",
    "uploadpack",
    "receivepack",
    "vcs",
    "packobjectshook",
    "recentobjectshook",
    "defaultkeycommand",
];

/// The settings that a private view of the working tree takes over: they decide how bytes become objects, and name no program.
const TAKEN_OVER: &[&str] = &[
    "core.autocrlf",
    "core.bigfilethreshold",
    "core.checkstat",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.trustctime",
];

/// Of those, the settings that are taken from the person's own configuration too.
const LINE_ENDINGS: &[&str] = &["core.autocrlf", "core.eol"];

/// The configuration of a repository as git lists it, all files and includes together.
pub(super) struct Listed(Vec<(OsString, OsString)>);

impl Listed {
    /// Reads `git config --list -z`.
    pub(super) fn read(output: &[u8]) -> Listed {
        let entries = output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        Listed(entries.map(key_and_value).collect())
    }

    /// Everything that keeps this repository's configuration from running programs.
    pub(super) fn overrides(&self) -> Vec<(OsString, OsString)> {
        let fixed = FIXED.iter().map(|(key, value)| (OsString::from(key), OsString::from(value)));
        fixed.chain(self.0.iter().filter_map(|(key, _)| blanked(key))).collect()
    }

    /// What a private view takes over.
    pub(super) fn taken_over(&self) -> Vec<(OsString, OsString)> {
        self.selected(TAKEN_OVER)
    }

    /// How a person wants line endings.
    pub(super) fn line_endings(&self) -> Vec<(OsString, OsString)> {
        self.selected(LINE_ENDINGS)
    }

    fn selected(&self, keys: &[&str]) -> Vec<(OsString, OsString)> {
        let is_selected = |key: &OsStr| keys.iter().any(|selected| key == *selected);
        self.0.iter().filter(|(key, _)| is_selected(key)).cloned().collect()
    }

    /// The user's ignore file, if this configuration names one.
    pub(super) fn excludes_file(&self) -> Option<OsString> {
        self.0.iter().rev().find(|(key, _)| key == "core.excludesfile").map(|(_, value)| value.clone())
    }
}

/// The fixed list alone, for calls before a repository is known.
pub(super) fn fixed() -> Vec<(OsString, OsString)> {
    Listed(Vec::new()).overrides()
}

/// A key without a value stands alone and means true.
fn key_and_value(entry: &[u8]) -> (OsString, OsString) {
    let own = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    match entry.iter().position(|byte| *byte == b'\n') {
        Some(at) => (own(&entry[..at]), own(&entry[at + 1..])),
        None => (own(entry), "true".into()),
    }
}

fn blanked(key: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = key.as_bytes();
    let section = bytes.split(|byte| *byte == b'.').next()?;
    let variable = bytes.rsplit(|byte| *byte == b'.').next()?;
    let value = match (section, variable) {
        (b"filter", b"required") => "false",
        (b"submodule", b"update") => "none",
        _ if PROGRAMS.iter().any(|program| variable == program.as_bytes()) => "",
        _ => return None,
    };
    // The fixed list has the better answer for these, and it must stay the last word.
    let is_fixed = FIXED.iter().any(|(fixed, _)| fixed.as_bytes().eq_ignore_ascii_case(bytes));
    (!is_fixed).then(|| (key.to_owned(), value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(listed: &[u8]) -> Vec<(String, String)> {
        let text = |text: OsString| text.into_string().unwrap();
        let fixed = FIXED.len();
        let all = Listed::read(listed).overrides().into_iter().skip(fixed);
        all.map(|(key, value)| (text(key), text(value))).collect()
    }

    #[test]
    fn programs_of_every_section_are_blanked_by_their_exact_name() {
        let listed = b"filter.A b=c.clean\nevil\0filter.x.required\nyes\0diff.d.textconv\nevil\0merge.m.driver\nevil\0\
            credential.https://a.b.helper\nevil\0user.name\nme\0filter.alone.process\0";
        let blank = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            overrides(listed),
            [
                blank("filter.A b=c.clean", ""),
                blank("filter.x.required", "false"),
                blank("diff.d.textconv", ""),
                blank("merge.m.driver", ""),
                blank("credential.https://a.b.helper", ""),
                blank("filter.alone.process", ""),
            ]
        );
    }

    #[test]
    fn the_fixed_list_keeps_the_last_word() {
        assert_eq!(overrides(b"gpg.program\nevil\0gpg.ssh.program\nevil\0"), []);
    }

    #[test]
    fn a_view_takes_over_only_what_names_no_program() {
        let listed = Listed::read(b"core.autocrlf\ntrue\0core.fsmonitor\nevil\0filter.x.clean\nevil\0");
        let taken = listed.taken_over();
        assert_eq!(taken[0], ("core.autocrlf".into(), "true".into()));
        assert!(taken.iter().all(|(_, value)| value != "evil"));
    }
}
