//! Stand-ins for programs of the system, on a PATH of their own. Each takes exactly the arguments that its script spells out and refuses
//! every other one with code 64, so that a call the real program would not understand is found.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::env::TestEnv;

/// What every script begins with: a record of the call, and what to do about one that is not understood.
const HEAD: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> "RECORD"
refuse() { echo "stand-in: unexpected arguments: $*" >&2; exit 64; }
"#;

impl TestEnv {
    /// The same world with a directory for stand-ins first on PATH, and a home of the person's own.
    pub(crate) fn with_stand_ins(mut self) -> TestEnv {
        std::fs::create_dir(self.stand_ins()).unwrap();
        std::fs::create_dir(self.user_home()).unwrap();
        let path = format!("{}:{}", self.stand_ins().display(), std::env::var("PATH").unwrap());
        let user_home = self.user_home().display().to_string();
        self.set("PATH", &path);
        self.set("HOME", &user_home);
        self
    }

    pub(crate) fn stand_ins(&self) -> PathBuf {
        self.path().join("stand-ins")
    }

    pub(crate) fn user_home(&self) -> PathBuf {
        self.path().join("person")
    }

    /// Puts a stand-in on PATH, in place of the last one of this name.
    pub(crate) fn stand_in(&self, name: &str, script: &str) {
        let path = self.stand_ins().join(name);
        let text = format!("{}{script}\n", HEAD.replace("RECORD", &self.record(name).display().to_string()));
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The arguments of every call of a stand-in, oldest first.
    pub(crate) fn calls(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.record(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Forgets the calls so far.
    pub(crate) fn forget_calls(&self, name: &str) {
        std::fs::remove_file(self.record(name)).ok();
    }

    fn record(&self, name: &str) -> PathBuf {
        self.path().join(format!("calls-{name}"))
    }
}

#[test]
fn the_control_a_stand_in_records_and_refuses_what_it_does_not_know() {
    let env = TestEnv::new().with_stand_ins();
    env.stand_in("tool", r#"[ "$*" = "good word" ] || refuse "$@""#);
    let status = |word: &str| std::process::Command::new(env.stand_ins().join("tool")).args(["good", word]).output();
    assert_eq!(status("word").unwrap().status.code(), Some(0));
    assert_eq!(status("deed").unwrap().status.code(), Some(64));
    assert_eq!(env.calls("tool"), ["good word", "good deed"]);
    env.forget_calls("tool");
    assert!(env.calls("tool").is_empty());
}
