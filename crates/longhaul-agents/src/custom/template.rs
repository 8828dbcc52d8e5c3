//! An argv template of a declared agent: a program, and arguments with placeholders. Filled in one pass, so that a value which looks
//! like a placeholder stays as it is.

use serde::Deserialize;

use crate::declared::Program;
use crate::launch::LaunchSpec;

/// The placeholders of a declared agent's command line, with their meanings.
pub const PLACEHOLDERS: &[(&str, &str)] = &[
    ("cwd", "the directory the agent starts in"),
    ("model", "the chosen model; may have no value"),
    ("session", "a new UUID as the id of a new conversation"),
    ("resume", "the id of the conversation to resume"),
    ("prompt_file", "the file with the prompt"),
    ("writable", "a directory outside `{cwd}` that must be writable; may have no value"),
    ("mark", "the mark that identifies the prompt"),
];

/// Those that may have no value.
const OPTIONAL: &[&str] = &["model", "writable"];

/// Arguments as they were written.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "an argument is neither a text nor a list of texts")]
enum Written {
    /// One that is always there.
    Alone(String),
    /// Those of an inner list, which are kept or dropped together.
    Together(Vec<String>),
}

/// A program and its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<Written>")]
pub(crate) struct Template {
    program: String,
    /// Arguments that are kept or dropped together.
    groups: Vec<Vec<String>>,
}

impl TryFrom<Vec<Written>> for Template {
    type Error = String;

    fn try_from(written: Vec<Written>) -> Result<Template, String> {
        let mut written = written.into_iter();
        let Some(Written::Alone(program)) = written.next() else {
            return Err("it does not start with a program".to_owned());
        };
        let Program(program) = program.try_into()?;
        if let Some(name) = placeholders(&program).next() {
            return Err(format!("the program must not contain the placeholder `{{{name}}}`"));
        }
        let group = |written: Written| match written {
            Written::Alone(argument) => {
                check(&argument).and_then(|()| always_there(&argument)).map(|()| vec![argument])
            }
            Written::Together(all) if all.is_empty() => Err("an inner list is empty".to_owned()),
            Written::Together(all) => all.iter().try_for_each(|argument| check(argument)).map(|()| all),
        };
        Ok(Template { program, groups: written.map(group).collect::<Result<_, String>>()? })
    }
}

impl Template {
    /// The program.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// Whether it contains a placeholder.
    pub(crate) fn uses(&self, name: &str) -> bool {
        self.groups.iter().flatten().flat_map(|argument| placeholders(argument)).any(|used| used == name)
    }

    /// The command line of a session.
    pub(crate) fn fill(&self, spec: &LaunchSpec<'_>) -> Vec<String> {
        let filled = self
            .groups
            .iter()
            .filter_map(|group| group.iter().map(|argument| filled(argument, spec)).collect::<Option<Vec<String>>>());
        std::iter::once(self.program.clone()).chain(filled.flatten()).collect()
    }
}

fn check(argument: &str) -> Result<(), String> {
    let is_known = |name: &&str| PLACEHOLDERS.iter().any(|(known, _)| known == name);
    let Some(name) = placeholders(argument).find(|name| !is_known(name)) else { return Ok(()) };
    let known: Vec<String> = PLACEHOLDERS.iter().map(|(known, _)| format!("`{{{known}}}`")).collect();
    Err(format!("unknown placeholder `{{{name}}}`; known: {}", known.join(", ")))
}

fn always_there(argument: &str) -> Result<(), String> {
    let Some(name) = placeholders(argument).find(|name| OPTIONAL.contains(name)) else { return Ok(()) };
    Err(format!(
        "`{{{name}}}` is outside an inner list: it may have no value, so put it into an inner list together with its flag, \
         as in `[\"--{name}\", \"{{{name}}}\"]`"
    ))
}

fn value<'a>(name: &str, spec: &LaunchSpec<'a>) -> Option<&'a str> {
    match name {
        "cwd" => Some(spec.cwd),
        "model" => spec.model,
        "session" => Some(spec.session),
        "resume" => spec.resumes,
        "prompt_file" => Some(spec.prompt_file),
        "writable" => spec.writable,
        "mark" => Some(spec.mark),
        _ => None,
    }
}

/// An argument with its values filled in; `None` if one has no value.
fn filled(argument: &str, spec: &LaunchSpec<'_>) -> Option<String> {
    let mut out = String::with_capacity(argument.len());
    let mut rest = argument;
    while let Some((before, name, after)) = next(rest) {
        out.push_str(before);
        out.push_str(value(name, spec)?);
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

fn placeholders(argument: &str) -> impl Iterator<Item = &str> {
    let mut rest = argument;
    std::iter::from_fn(move || {
        let (_, name, after) = next(rest)?;
        rest = after;
        Some(name)
    })
}

/// The text before the first placeholder, its name, and the text after it. Braces around anything but a lower-case word are text.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find('{') {
        let begin = from + at + 1;
        let length = text[begin..].find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(text.len() - begin);
        if length > 0 && text[begin + length..].starts_with('}') {
            return Some((&text[..begin - 1], &text[begin..begin + length], &text[begin + length + 1..]));
        }
        from = begin;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::spec;

    fn alone(argument: &str) -> Written {
        Written::Alone(argument.to_owned())
    }

    fn template(arguments: Vec<Written>) -> Result<Template, String> {
        [alone("tool")].into_iter().chain(arguments).collect::<Vec<Written>>().try_into()
    }

    #[test]
    fn values_are_filled_in_once_and_groups_without_a_value_are_left_out() {
        let model = Written::Together(vec!["--model".into(), "{model}".into()]);
        let made = template(vec![alone("--cd={cwd}"), model, alone("{\"a\":1}{")]).unwrap();
        assert_eq!(made.fill(&spec()), ["tool", "--cd=/project", "{\"a\":1}{"]);
        let asked = LaunchSpec { model: Some("{cwd}"), ..spec() };
        assert_eq!(made.fill(&asked), ["tool", "--cd=/project", "--model", "{cwd}", "{\"a\":1}{"]);
    }

    #[test]
    fn an_unknown_placeholder_and_a_bare_optional_one_are_refused() {
        assert!(template(vec![alone("{sesion}")]).unwrap_err().contains("`{session}`"));
        let bare = template(vec![alone("--model"), alone("{model}")]);
        assert!(bare.unwrap_err().contains("[\"--model\", \"{model}\"]"));
        assert!(Template::try_from(vec![alone("{cwd}")]).is_err());
    }

    #[test]
    fn braces_around_anything_else_are_text() {
        for text in ["{}", "{Model}", "{a b}", "{model", "é{ü}", "{{model}}"] {
            let names: Vec<&str> = placeholders(text).collect();
            assert_eq!(names, if text == "{{model}}" { vec!["model"] } else { Vec::new() }, "{text}");
        }
    }
}
