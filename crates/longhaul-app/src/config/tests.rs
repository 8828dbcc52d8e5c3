//! Tests of the layers, driven by the table of keys: what is true of one key must be true of every one.
//! They use real files in scratch directories and an environment handed in.

mod agents;
mod hostile;
mod layers;
mod reference;
mod strangers;
mod untrusted;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::key::Key;
use super::keys::KEYS;
use super::kind::Kind;
use super::load::{ConfigError, Loaded, Named, Overrides, Sources};
use super::value::{Raw, Value};
use crate::trust::{self, Trusted, fingerprint};

/// A scratch world with every layer.
struct World {
    dir: TempDir,
    environment: Vec<(OsString, OsString)>,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        World { dir, environment: Vec::new() }
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn user_file(&self) -> PathBuf {
        self.dir.path().join("config.toml")
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn workspace_file(&self) -> PathBuf {
        self.project().join("longhaul.toml")
    }

    fn user(self, text: &str) -> World {
        std::fs::write(self.user_file(), text).unwrap();
        self
    }

    fn workspace(self, text: &str) -> World {
        std::fs::write(self.workspace_file(), text).unwrap();
        self
    }

    fn trusted(self, text: &str) -> World {
        let path = self.workspace_file().to_str().unwrap().to_owned();
        let trusted = Trusted { path, sha256: fingerprint(text.as_bytes()), since: String::new() };
        trust::add(&self.home(), trusted).unwrap();
        self.workspace(text)
    }

    fn var(mut self, name: &str, value: &str) -> World {
        self.environment.push((name.into(), value.into()));
        self
    }

    fn sources(&self) -> Sources {
        Sources {
            user: Some((self.user_file(), Named::ByCustom)),
            project: Some(self.project()),
            home: self.home(),
            environment: self.environment.clone(),
        }
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        self.sources().load(&Overrides::default())
    }

    fn error(&self) -> String {
        self.load().map(|loaded| panic!("{loaded:?}")).unwrap_err().to_string()
    }
}

/// A line of a file that sets a key.
fn line(key: &Key, word: &str) -> String {
    format!("{} = {}\n", key.name, key.kind.show(&value(key, word)))
}

fn value(key: &Key, word: &str) -> Value {
    key.read(&Raw::Word(word.to_owned())).unwrap_or_else(|| panic!("`{}` does not take `{word}`", key.name))
}

/// Two values of a key, neither its default where there is a choice. The first is the lower one, if there is an order.
fn samples(key: &Key) -> [&'static str; 2] {
    match key.kind {
        Kind::Agent | Kind::Agents => ["demo", "demo"],
        Kind::Choice(words) => [words[0], words[words.len() - 1]],
        Kind::Hours => ["08:00-12:00", "22:00-07:00"],
        Kind::Model => ["small", "large"],
        Kind::Flag => ["true", "false"],
        Kind::Count { .. } => ["2", "7"],
        Kind::Span { .. } => ["1s", "1h"],
        Kind::Size { .. } => ["8KiB", "512MiB"],
        Kind::Money => ["0.5", "12.25"],
        Kind::Command => ["make deps", "npm ci && npm run build"],
        Kind::Commands => ["make check", "make test\nmake lint, twice"],
        Kind::Patterns => [".env", ".env*\n!*.md"],
        Kind::Names => ["HOME", "PATH,TERM"],
        Kind::Name => ["HOME", "PATH"],
        Kind::Words(_) => ["done", "done,failed"],
        Kind::Argv => ["tell-me", "/usr/bin/tell\n--loud\na b"],
        Kind::File => ["/a/b", "/a/{name}.{occasion}"],
        Kind::Projects => ["/work", "/work/a=b\nacme=/srv/acme"],
        Kind::Url => ["https://a.example/x?y=1", "$MY_HOOK"],
    }
}

fn key(name: &str) -> &'static Key {
    KEYS.iter().find(|key| key.name == name).unwrap()
}

fn set(loaded: &mut Loaded, key: &Key) -> Value {
    key.value(&mut loaded.settings)
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
