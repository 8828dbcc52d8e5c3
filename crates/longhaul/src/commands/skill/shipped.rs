//! The files of the skills in this binary, and the hash of every version that ever shipped.
//! Used by `skill`: a file with one of these hashes is ours and may be replaced; any other belongs to a person.

/// One file of a skill.
#[derive(Debug)]
pub(super) struct File {
    pub(super) skill: &'static str,
    /// Below the skill's directory.
    pub(super) path: &'static str,
    pub(super) text: &'static str,
    pub(super) mode: u32,
    /// SHA-256 of every version that shipped; the last one is this one.
    pub(super) versions: &'static [&'static str],
}

/// Every file.
pub(super) const FILES: &[File] = &[
    File {
        skill: "longhaul",
        path: "SKILL.md",
        text: include_str!("../../../../../skills/longhaul/SKILL.md"),
        mode: 0o644,
        versions: &[
            "6fa34dd2d84efb986a25f605499ea7c3c54bff6e8152b033123f4000485eccd3",
            "3eec9d9c4dcc6794b5db68bf003c27e8df2b771c7fd5dcb9cf51e4f06c572377",
            "6e441cf2d7503023cb1368f1253b33e17b9cdfdabd8469d9eaa3e97faace0f22",
            "4c5260ded0dd2c3e4f71769a6862fb1010ca40d1f193020bb129f736abf8df4e",
            "440bc135a8b57aaa8ffc18aeee03b90730bc02b1663f3d8e67940ce90c6cd746",
        ],
    },
    File {
        skill: "autonomous-skill",
        path: "SKILL.md",
        text: include_str!("../../../../../skills/autonomous-skill/SKILL.md"),
        mode: 0o644,
        versions: &[
            "5fd4a1906c95546c9f1faf77d80df079764444b9172baa4dfa794dadfa1ddf80",
            "440b56368d78bfac3779cdbdaabe66432234cb9b0dd6a9e5669b5c80ede5a468",
        ],
    },
    File {
        skill: "autonomous-skill",
        path: "scripts/run-session.sh",
        text: include_str!("../../../../../skills/autonomous-skill/scripts/run-session.sh"),
        mode: 0o755,
        versions: &["49d5054477949fa0f50786a4669d91161065b26584d314d657ab08d964925045"],
    },
];

/// The names of the skills, without repeats.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = FILES.iter().map(|file| file.skill).collect();
    names.dedup();
    names
}

impl File {
    /// Whether any version shipped with this content.
    pub(super) fn is_ours(&self, content: &[u8]) -> bool {
        self.versions.contains(&longhaul_app::fingerprint(content).as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::FILES;

    #[test]
    fn the_last_hash_of_each_file_is_that_of_its_text() {
        for file in FILES {
            let hash = longhaul_app::fingerprint(file.text.as_bytes());
            assert_eq!(file.versions.last(), Some(&hash.as_str()), "{}/{}: add {hash}", file.skill, file.path);
        }
    }

    #[test]
    fn a_skill_has_its_name_and_a_description() {
        for file in FILES.iter().filter(|file| file.path == "SKILL.md") {
            let front = file.text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n")).unwrap().0;
            let lines: Vec<&str> = front.lines().collect();
            assert_eq!(lines[0], format!("name: {}", file.skill));
            let description = lines[1].strip_prefix("description: ").unwrap();
            assert!(description.len() < 1024 && !description.contains(": "), "a plain YAML text: {description}");
            assert_eq!(lines.len(), 2);
        }
    }

    #[test]
    fn the_shim_is_two_lines_and_loses_no_word() {
        let shim = FILES.iter().find(|file| file.path == "scripts/run-session.sh").unwrap();
        assert_eq!(shim.text, "#!/bin/sh\nexec longhaul run-session \"$@\"\n");
        assert_eq!(shim.mode, 0o755);
    }
}
