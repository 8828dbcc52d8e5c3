//! Changes the text of a configuration file: sets a key, removes one, or takes a whole new text. Comments, order and spelling of everything
//! else stay. What would not be valid is refused. Called by the operation `config_change`, which writes the file.

use std::path::PathBuf;

use toml_edit::{Document, DocumentMut, Item, Table, TableLike, TomlError, Value};

use super::agent_tables::SECTION as AGENTS;
use super::file::{Layer, PROFILES, WORKSPACE_FILE};
use super::key::Key;
use super::load::{Sources, bad_value, unknown_key};
use super::origin::Origin;
use super::value::Raw;
use crate::error::{AppError, ErrorKind};

/// One change of a file.
pub(crate) enum Edit<'a> {
    /// Sets a key to a value, spelled as in a variable.
    Set(&'a str, &'a str),
    /// Removes a key.
    Unset(&'a str),
    /// Takes this text for the whole file.
    Replace(&'a str),
}

/// The file of a layer.
pub(crate) struct Place {
    pub(crate) layer: Layer,
    pub(crate) path: PathBuf,
}

/// Where the file of this layer is, whether it exists or not.
pub(crate) fn place_of(sources: &Sources, layer: Layer) -> Result<Place, AppError> {
    let path = match layer {
        Layer::User => sources.user.as_ref().map(|(path, _)| path.clone()),
        Layer::Workspace => sources.project.as_ref().map(|project| project.join(WORKSPACE_FILE)),
    };
    match (path, layer) {
        (Some(path), _) if path.as_os_str() == "/dev/null" => {
            Err(AppError::new(ErrorKind::Usage, "LONGHAUL_CONFIG is /dev/null, so there is no file to change")
                .hint("unset it, or name a file"))
        }
        (Some(path), layer) => Ok(Place { layer, path }),
        (None, Layer::User) => Err(AppError::new(ErrorKind::Usage, "there is no place for your configuration file")
            .hint("set HOME, XDG_CONFIG_HOME or LONGHAUL_CONFIG")),
        (None, Layer::Workspace) => {
            Err(AppError::new(ErrorKind::Usage, "this directory belongs to a task; its configuration does not count")
                .hint("run the command in your own checkout"))
        }
    }
}

/// The text after these changes, which is valid.
pub(crate) fn edited(sources: &Sources, place: &Place, before: &str, edits: &[Edit<'_>]) -> Result<String, AppError> {
    let mut text = before.to_owned();
    for edit in edits {
        text = match edit {
            Edit::Set(name, word) => set(&text, name, word)?,
            Edit::Unset(name) => unset(&text, name)?,
            Edit::Replace(whole) => (*whole).to_owned(),
        };
    }
    sources.check(place.layer, &place.path, &text)?;
    Ok(text)
}

fn set(text: &str, name: &str, word: &str) -> Result<String, AppError> {
    let parts = parts(name)?;
    let value = value_of(name, &parts, word)?;
    let mut document: DocumentMut = text.parse().map_err(|error| broken(&error))?;
    let is_empty = document.as_table().is_empty();
    if is_empty {
        document = DocumentMut::new();
    }
    let (last, sections) = parts.split_last().ok_or_else(|| no_key(name))?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for section in sections {
        table = section_of(table, section).ok_or_else(|| not_a_table(section))?;
    }
    match table.get_mut(last).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => drop(table.insert(last, Item::Value(value))),
    }
    // The comments of a file without keys are not part of its tables; they stay in front.
    let comments = if is_empty && !text.is_empty() { format!("{}\n", text.trim_end()) } else { String::new() };
    Ok(format!("{comments}{document}"))
}

/// The section of this name; a new one gets its header with its first key.
fn section_of<'a>(table: &'a mut dyn TableLike, name: &str) -> Option<&'a mut dyn TableLike> {
    let mut section = Table::new();
    section.set_implicit(true);
    table.entry(name).or_insert(Item::Table(section)).as_table_like_mut()
}

/// The value as the file has it. What agents declare is checked with the whole file, so there a word that is not TOML is a string.
fn value_of(name: &str, parts: &[String], word: &str) -> Result<Value, AppError> {
    if parts[0] == AGENTS {
        let written = word.parse::<Value>().unwrap_or_else(|_| word.into());
        return Ok(written.decorated(" ", ""));
    }
    let key = known(name, parts)?;
    let raw = Raw::Word(word.to_owned());
    let value = key.read(&raw).ok_or_else(|| {
        let refused = AppError::from(bad_value(Origin::Flag { flag: key.name }, key, &raw));
        AppError { hints: vec![format!("`{}`: {}", key.name, key.doc)], ..refused }
    })?;
    let written: Value = key.kind.show(&value).parse().map_err(|error| broken(&error))?;
    Ok(written.decorated(" ", ""))
}

fn known(name: &str, parts: &[String]) -> Result<&'static Key, AppError> {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let parts = if let [PROFILES, _, parts @ ..] = parts.as_slice() { parts } else { &parts };
    Key::find(parts).ok_or_else(|| no_key(name))
}

/// The lines without the one of this key. A comment above it stays: it may be about more than this key.
fn unset(text: &str, name: &str) -> Result<String, AppError> {
    let parts = parts(name)?;
    let document = Document::parse(text).map_err(|error| broken(&error))?;
    let (last, sections) = parts.split_last().ok_or_else(|| no_key(name))?;
    let section = sections.iter().try_fold(document.as_item(), |item, part| item.get(part));
    let found = section.and_then(Item::as_table_like).and_then(|table| table.get_key_value(last));
    let (Some(section), Some((key, item))) = (section, found) else {
        // A key that is not set needs no change, but a slip should be known.
        return if parts[0] == AGENTS { Ok(text.to_owned()) } else { known(name, &parts).map(|_| text.to_owned()) };
    };
    let line = key.span().zip(item.as_value().and_then(Value::span)).filter(|_| !section.is_inline_table());
    if let Some((key, value)) = line {
        let start = text[..key.start].rfind('\n').map_or(0, |end| end + 1);
        let end = text[value.end..].find('\n').map_or(text.len(), |at| value.end + at + 1);
        let is_last =
            section.as_table().is_some_and(|table| !sections.is_empty() && !table.is_dotted() && table.len() == 1);
        let before = if is_last { without_header(&text[..start]) } else { text[..start].to_owned() };
        return Ok(before + &text[end..]);
    }
    let mut document: DocumentMut = text.parse().map_err(|error| broken(&error))?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for section in sections {
        table = section_of(table, section).ok_or_else(|| not_a_table(section))?;
    }
    table.remove(last);
    Ok(document.to_string())
}

/// The text without the header of a section at its end, unless something else is written below or beside the header.
fn without_header(text: &str) -> String {
    let end = text.trim_end();
    let (before, header) = end.rsplit_once('\n').unwrap_or(("", end));
    match header.starts_with('[') && header.ends_with(']') {
        true if before.trim_end().is_empty() => before.trim_end().to_owned(),
        true => format!("{}\n", before.trim_end()),
        false => text.to_owned(),
    }
}

/// The parts of a dotted name, of which some may be quoted.
fn parts(name: &str) -> Result<Vec<String>, AppError> {
    let keys = toml_edit::Key::parse(name).map_err(|_| no_key(name))?;
    Ok(keys.iter().map(|key| key.get().to_owned()).collect())
}

/// There is no such key; with what was probably meant.
pub(crate) fn no_key(name: &str) -> AppError {
    unknown_key(Origin::Flag { flag: "KEY" }, name).into()
}

fn not_a_table(section: &str) -> AppError {
    AppError::new(ErrorKind::Usage, format!("`{section}` is not a section in this file"))
        .hint("correct the file with `longhaul config edit`")
}

fn broken(error: &TomlError) -> AppError {
    AppError::new(ErrorKind::Usage, "the file is not valid TOML, so nothing was changed")
        .because(error)
        .hint("correct the file with `longhaul config edit`")
}

#[cfg(test)]
mod tests {
    use super::{set, unset};

    #[test]
    fn comments_and_order_stay() {
        let file = "#:schema x\n# mine\nagent = \"codex\" # fast\n\n# limits\n[limits]\nmax_time = \"8h\"\n# end\n";
        let changed = set(file, "agent", "claude").unwrap();
        assert_eq!(changed, file.replace("\"codex\"", "\"claude\""));
        let more = set(file, "limits.max_cost", "20").unwrap();
        assert_eq!(more, file.replace("\"8h\"\n", "\"8h\"\nmax_cost = \"20\"\n"));
        let section = set(file, "session.delay", "9s").unwrap();
        assert!(section.contains("\n[session]\ndelay = \"9s\"\n") && section.contains("# end"), "{section}");
        assert_eq!(unset(file, "agent").unwrap(), file.replace("agent = \"codex\" # fast\n", ""));
        assert_eq!(unset(file, "limits.max_time").unwrap(), file.replace("[limits]\nmax_time = \"8h\"\n", ""));
        assert_eq!(unset(file, "model").unwrap(), file, "it is not set");
    }

    #[test]
    fn every_spelling_of_a_section_is_changed() {
        for (file, after) in [
            ("limits.max_time = \"8h\"\n", "limits.max_time = \"9h\"\n"),
            ("limits = { max_time = \"8h\", attempts = 2 }\n", "limits = { max_time = \"9h\", attempts = 2 }\n"),
            ("[limits]\nmax_time = '8h'\n", "[limits]\nmax_time = \"9h\"\n"),
        ] {
            assert_eq!(set(file, "limits.max_time", "9h").unwrap(), after);
            assert!(!unset(after, "limits.max_time").unwrap().contains("9h"), "{after}");
        }
        assert_eq!(
            unset("limits = { max_time = \"9h\", attempts = 2 }\n", "limits.max_time").unwrap(),
            "limits = { attempts = 2 }\n"
        );
    }

    #[test]
    fn a_file_of_comments_keeps_them_in_front() {
        assert_eq!(set("#:schema x\n", "agent", "demo").unwrap(), "#:schema x\nagent = \"demo\"\n");
        assert_eq!(set("", "limits.attempts", "2").unwrap(), "[limits]\nattempts = 2\n");
        assert_eq!(set("", "profile.night.agent", "codex").unwrap(), "[profile.night]\nagent = \"codex\"\n");
        let lists = set("", "verify.commands", "cargo test\ncargo clippy").unwrap();
        assert_eq!(lists, "[verify]\ncommands = [\"cargo test\", \"cargo clippy\"]\n");
        assert_eq!(set("", "agents.mine.argv", "[\"a\"]").unwrap(), "[agents.mine]\nargv = [\"a\"]\n");
        assert_eq!(
            set("", "agents.codex.program", "/opt/codex").unwrap(),
            "[agents.codex]\nprogram = \"/opt/codex\"\n"
        );
    }

    #[test]
    fn what_is_no_key_or_no_value_is_refused() {
        for (key, value, words) in [
            ("agnet", "x", "did you mean `agent`"),
            ("limits.max_time", "potatoes", "`limits.max_time` cannot be `potatoes`"),
            ("limits", "8h", "no key `limits`"),
            ("profile.night.modle", "x", "did you mean `model`"),
            ("", "x", "no key"),
        ] {
            let refused = set("", key, value).unwrap_err();
            assert!(refused.text().contains(words), "{key}: {}", refused.text());
        }
        assert!(unset("", "agnet").unwrap_err().text().contains("did you mean"));
        assert!(set("limits = 3\n", "limits.max_time", "8h").unwrap_err().text().contains("not a section"));
        assert!(set("agent = \n", "model", "x").unwrap_err().text().contains("not valid TOML"));
        assert_eq!(unset("agnet = 3\nmodel = 'x'\n", "agnet").unwrap(), "model = 'x'\n", "a wrong key can be removed");
    }
}
