//! `longhaul config`: every key with its value and where it comes from, which files are used, and changes of these files.
//! The output of `show` is itself a valid configuration file with the same settings.

use longhaul_app::config::{page, schema};
use longhaul_app::operation::NoInput;
use longhaul_app::operations::{
    self, ConfigChange, ConfigChangeInput, ConfigChanged, ConfigInput, ConfigPath, ConfigView,
};
use longhaul_app::{AppError, ErrorKind};
use longhaul_core::fingerprint::of_bytes as fingerprint_of;
use serde_json::Value;

use super::choose::answer_to;
use crate::cli::{Config, ConfigPlace, ConfigVerb};
use crate::command_line::CommandLine;
use crate::editor::Draft;
use crate::exit::Code;
use crate::out;
use crate::viewer::Signals;

pub(crate) async fn config(line: &CommandLine, args: &Config) -> Result<Code, AppError> {
    match &args.verb {
        ConfigVerb::Show { origin, json } => {
            let answer = line.call()?.perform::<operations::Config>(ConfigInput::default()).await?;
            out::answer(&answer, *json, |view| print(view, *origin))
        }
        ConfigVerb::Get { key, json } => {
            let input = ConfigInput { name: Some(key.clone()) };
            let answer = line.call()?.perform::<operations::Config>(input).await?;
            out::answer(&answer, *json, |view| match view.keys.as_slice() {
                [only] if only.key == *key => out::data(&out::safe_lines(&plain(&only.value))),
                _ => print(view, false),
            })
        }
        ConfigVerb::Set { key, values, place } => {
            let set = [(key.clone(), values.join("\n"))].into();
            change(line, place, ConfigChangeInput { set, ..ConfigChangeInput::default() }).await
        }
        ConfigVerb::Unset { keys, place } => {
            change(line, place, ConfigChangeInput { unset: keys.clone(), ..ConfigChangeInput::default() }).await
        }
        ConfigVerb::Edit { project } => edit(line, *project).await,
        ConfigVerb::Path { json } => {
            let answer = line.call()?.perform::<ConfigPath>(NoInput {}).await?;
            out::answer(&answer, *json, |view| {
                for file in &view.files {
                    out::data(&out::safe(&format!("{:10} {} ({})", file.layer, file.path, file.state)));
                }
            })
        }
        ConfigVerb::Reference => {
            out::data(page().trim_end());
            Ok(Code::Done)
        }
        ConfigVerb::Schema => {
            out::data(&format!("{:#}", schema()));
            Ok(Code::Done)
        }
    }
}

fn print(view: &ConfigView, origin: bool) {
    for entry in &view.keys {
        let origin = if origin { format!("  # {}", entry.origin) } else { String::new() };
        out::data(&out::safe(&format!("{} = {}{origin}", entry.key, entry.written)));
    }
}

/// A value as `config set` takes it, a list with one item per line.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

async fn change(line: &CommandLine, place: &ConfigPlace, input: ConfigChangeInput) -> Result<Code, AppError> {
    let input = ConfigChangeInput { project: place.project, ..input };
    out::answer(&line.call()?.perform::<ConfigChange>(input).await?, place.json, print_change)
}

pub(super) fn print_change(view: &ConfigChanged) {
    let what = if view.changed { "wrote" } else { "nothing to change in" };
    out::note(&out::safe(&format!("{what} `{}`", view.path)));
}

/// The person edits a copy. The file itself changes once, to something valid.
async fn edit(line: &CommandLine, project: bool) -> Result<Code, AppError> {
    let call = line.call()?;
    let mut signals = Signals::listen()?;
    let layer = if project { "workspace" } else { "user" };
    let paths = call.perform::<ConfigPath>(NoInput {}).await?.view.files;
    let path = paths.into_iter().find(|file| file.layer == layer).map(|file| file.path).unwrap_or_default();
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let draft = Draft::new("config.toml", &before)?;
    loop {
        let text = draft.edit(&line.system.environment).await?;
        let sha256 = Some(fingerprint_of(before.as_bytes()));
        let input = ConfigChangeInput { project, text: Some(text), sha256, ..ConfigChangeInput::default() };
        let refused = match call.perform::<ConfigChange>(input).await {
            Ok(answer) => {
                draft.discard();
                return out::answer(&answer, false, print_change);
            }
            Err(refused) => refused.hint(format!("your text is in `{}`", draft.path().display())),
        };
        if refused.kind != ErrorKind::Usage {
            return Err(refused);
        }
        out::note(&out::safe_lines(&refused.text()));
        if !matches!(answer_to("Edit it again? [Y/n]", &mut signals).await?.as_str(), "" | "y" | "Y" | "yes") {
            return Ok(Code::Usage);
        }
    }
}
