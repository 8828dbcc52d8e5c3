//! Reads the runs that OpenChrome keeps as files: `<run id>/meta.json`, `events.jsonl` and `checkpoints/*.json`.
//!
//! What cannot be read is counted by its kind and left out. Links are not followed, and files are read within a bound. Called by the import.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use longhaul_core::task::ReferenceKind;
use longhaul_core::time::Time;
use serde_json::{Map, Value};

use super::wire::{Evidence, FailedItem};

/// The most bytes of one file.
const MOST: u64 = 16 << 20;

/// What was left out: how often each kind of thing, and the first of each.
#[derive(Debug, Default)]
pub(super) struct Skips(pub(super) BTreeMap<String, (u64, String)>);

impl Skips {
    pub(super) fn count(&mut self, what: impl Into<String>, example: &Path) {
        let entry = self.0.entry(what.into()).or_insert_with(|| (0, example.display().to_string()));
        entry.0 += 1;
    }
}

/// One JSON object, and what of it was used.
pub(super) struct Record {
    fields: Map<String, Value>,
    path: PathBuf,
}

/// Something that happened to a run.
pub(super) struct Happened {
    pub(super) at: Time,
    pub(super) kind: String,
    pub(super) data: Record,
}

/// One run.
pub(super) struct Found {
    /// Its id, lower-case.
    pub(super) alias: String,
    pub(super) meta: Record,
    pub(super) events: Vec<Happened>,
    /// The oldest first.
    pub(super) checkpoints: Vec<Record>,
}

/// The directories of runs below this one, by name. It is OpenChrome's home, or its directory of runs.
pub(super) fn directories(home: &Path) -> std::io::Result<Vec<PathBuf>> {
    let runs = home.join("task-runs");
    let within = if runs.is_dir() { runs } else { home.to_owned() };
    let mut found: Vec<PathBuf> =
        fs::read_dir(within)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    found.sort();
    Ok(found)
}

/// The run in a directory, if its record can be read.
pub(super) fn read(directory: &Path, skips: &mut Skips) -> Option<Found> {
    let alias = directory.file_name()?.to_str().map(str::to_ascii_lowercase);
    let is_id = |id: &String| id.len() == 16 && id.bytes().all(|digit| digit.is_ascii_hexdigit());
    let Some(alias) = alias.filter(is_id).filter(|_| is_plain(directory, fs::Metadata::is_dir)) else {
        skips.count("not the directory of a run", directory);
        return None;
    };
    let path = directory.join("meta.json");
    let meta = text(&path).and_then(|text| Record::parse(&text, &path)).filter(|meta| meta.is_of(&alias));
    let Some(meta) = meta else {
        skips.count("unreadable record", &path);
        return None;
    };
    let (events, checkpoints) = (events(directory, skips), checkpoints(directory, &alias, skips));
    Some(Found { alias, meta, events, checkpoints })
}

fn events(directory: &Path, skips: &mut Skips) -> Vec<Happened> {
    let path = directory.join("events.jsonl");
    let Some(text) = text(&path) else {
        if path.symlink_metadata().is_ok() {
            skips.count("unreadable list of events", &path);
        }
        return Vec::new();
    };
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match event(line, &path, skips) {
            Some(event) => found.push(event),
            None => skips.count("torn or malformed event", &path),
        }
    }
    found
}

fn event(line: &str, path: &Path, skips: &mut Skips) -> Option<Happened> {
    let mut event = Record::parse(line, path)?;
    let (at, kind) = (event.time("ts", skips)?, event.text("kind", skips)?);
    let data = match event.fields.remove("data") {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    event.fields.remove("seq");
    event.finish("event", skips);
    Some(Happened { at, kind, data: Record { fields: data, path: path.to_owned() } })
}

fn checkpoints(directory: &Path, alias: &str, skips: &mut Skips) -> Vec<Record> {
    let Ok(entries) = fs::read_dir(directory.join("checkpoints")) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        match text(&path).and_then(|text| Record::parse(&text, &path)).filter(|record| record.is_of(alias)) {
            Some(record) => found.push(record),
            None => skips.count("unreadable checkpoint", &path),
        }
    }
    found.sort_by_key(|record| record.fields.get("created_at").and_then(Value::as_i64));
    found
}

fn is_plain(path: &Path, is: impl FnOnce(&fs::Metadata) -> bool) -> bool {
    path.symlink_metadata().is_ok_and(|meta| is(&meta))
}

/// The text of a regular file that is not too large; bytes that are no text make a line unreadable, not the file.
fn text(path: &Path) -> Option<String> {
    if !is_plain(path, |meta| meta.is_file() && meta.len() <= MOST) {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

impl Record {
    fn parse(text: &str, path: &Path) -> Option<Record> {
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Some(Record { fields, path: path.to_owned() }),
            Ok(_) | Err(_) => None,
        }
    }

    fn is_of(&self, alias: &str) -> bool {
        self.fields.get("run_id").and_then(Value::as_str).is_some_and(|id| id.eq_ignore_ascii_case(alias))
    }

    fn take<T>(&mut self, name: &str, skips: &mut Skips, read: impl FnOnce(Value) -> Option<T>) -> Option<T> {
        let value = self.fields.remove(name).filter(|value| !value.is_null())?;
        let found = read(value);
        if found.is_none() {
            skips.count(format!("field `{name}` of the wrong type"), &self.path);
        }
        found
    }

    pub(super) fn text(&mut self, name: &str, skips: &mut Skips) -> Option<String> {
        self.take(name, skips, |value| value.as_str().map(str::to_owned))
    }

    /// A time in unix milliseconds.
    pub(super) fn time(&mut self, name: &str, skips: &mut Skips) -> Option<Time> {
        self.take(name, skips, |value| value.as_i64().and_then(|millis| millis.checked_mul(1_000)).map(Time))
    }

    pub(super) fn number(&mut self, name: &str, skips: &mut Skips) -> u64 {
        self.take(name, skips, |value| value.as_u64()).unwrap_or_default()
    }

    pub(super) fn texts(&mut self, name: &str, skips: &mut Skips) -> Vec<String> {
        self.list(name, skips, |value| value.as_str().map(str::to_owned))
    }

    pub(super) fn failed(&mut self, name: &str, skips: &mut Skips) -> Vec<FailedItem> {
        self.list(name, skips, |value| serde_json::from_value(value).ok())
    }

    pub(super) fn evidence(&mut self, name: &str, skips: &mut Skips) -> Vec<Evidence> {
        let is_known = |value: &Value| ReferenceKind::WORDS.iter().any(|kind| value["kind"] == *kind);
        self.list(name, skips, |value| is_known(&value).then(|| serde_json::from_value(value).ok())?)
    }

    fn list<T>(&mut self, name: &str, skips: &mut Skips, read: impl Fn(Value) -> Option<T>) -> Vec<T> {
        let listed = self.take(name, skips, |value| if let Value::Array(list) = value { Some(list) } else { None });
        let mut found = Vec::new();
        for value in listed.into_iter().flatten() {
            match read(value) {
                Some(value) => found.push(value),
                None => skips.count(format!("entry of `{name}` that cannot be read"), &self.path),
            }
        }
        found
    }

    /// An object within.
    pub(super) fn within(&mut self, name: &str, skips: &mut Skips) -> Option<Record> {
        let path = self.path.clone();
        self.take(
            name,
            skips,
            |value| if let Value::Object(fields) = value { Some(Record { fields, path }) } else { None },
        )
    }

    /// Counts what nobody asked for.
    pub(super) fn finish(&self, of: &str, skips: &mut Skips) {
        for name in self.fields.keys().filter(|name| *name != "run_id") {
            skips.count(format!("unknown field `{name}` of {of}"), &self.path);
        }
    }
}
