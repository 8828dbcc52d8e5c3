//! `longhaul config`: what holds here and where it came from, which files count, and the schema for editors.
//! Only reads; what it shows as lines is a file that means the same.

use serde_json::{Value as Json, json};

use crate::cli::{Config, ConfigVerb};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::AppError;
use longhaul_app::config::{
    AgentTable, KEYS, Loaded, Notice, Overrides, Sources, WORKSPACE_FILE, page, read_workspace_file, schema,
};
use longhaul_app::trust;

pub(crate) fn config(line: &CommandLine, args: &Config) -> Result<Code, AppError> {
    match &args.verb {
        ConfigVerb::Show { origin, json } => {
            let mut loaded = line.load(&line.caller.project()?.root, &Overrides::default())?;
            tell(&loaded.notices);
            if *json {
                out::json("config", &document(&mut loaded));
            } else {
                let origin = if *origin { Origins::Shown } else { Origins::Left };
                print(&mut loaded, &origin);
            }
        }
        ConfigVerb::Path { json } => paths(line, *json)?,
        ConfigVerb::Reference => out::data(page().trim_end()),
        ConfigVerb::Schema => out::data(&format!("{:#}", schema())),
    }
    Ok(Code::Done)
}

/// Says what a person should know about the configuration.
pub(crate) fn tell(notices: &[Notice]) {
    notices.iter().for_each(|notice| out::note(&format!("warning: {}", out::safe(&notice.to_string()))));
}

/// Whether each line says where its value came from.
enum Origins {
    Shown,
    Left,
}

fn print(loaded: &mut Loaded, origins: &Origins) {
    for key in KEYS {
        let value = key.kind.show(&key.value(&mut loaded.settings));
        let origin = match origins {
            Origins::Shown => format!("  # {}", loaded.origins[key.name]),
            Origins::Left => String::new(),
        };
        out::data(&out::safe(&format!("{} = {value}{origin}", key.name)));
    }
    for (key, value, origin) in loaded.agents.values().flat_map(AgentTable::lines) {
        let origin = match origins {
            Origins::Shown => format!("  # {origin}"),
            Origins::Left => String::new(),
        };
        out::data(&out::safe(&format!("{key} = {value}{origin}")));
    }
}

fn document(loaded: &mut Loaded) -> Json {
    let keys: Vec<Json> = KEYS
        .iter()
        .map(|key| {
            json!({
                "key": key.name,
                "value": key.kind.json(&key.value(&mut loaded.settings)),
                "origin": loaded.origins[key.name].json(),
            })
        })
        .collect();
    let notices: Vec<String> = loaded.notices.iter().map(ToString::to_string).collect();
    json!({ "keys": keys, "agents": agents(loaded), "notices": notices })
}

/// What is declared about agents, key by key.
fn agents(loaded: &Loaded) -> Vec<Json> {
    let rows = loaded.agents.values().flat_map(|table| {
        table.entries.iter().map(|(key, entry)| {
            json!({ "agent": table.name, "key": key, "value": entry.value, "origin": entry.origin.json() })
        })
    });
    rows.collect()
}

fn paths(line: &CommandLine, json: bool) -> Result<(), AppError> {
    let sources = Sources::of(&line.system.environment, &line.caller, &line.caller.project()?.root)?;
    let mut rows = Vec::new();
    if let Some((path, _)) = &sources.user {
        let state = if path.exists() { "read" } else { "not there" };
        rows.push(("user", path.clone(), state));
    }
    if let Some(project) = &sources.project {
        let path = project.join(WORKSPACE_FILE);
        let state = match read_workspace_file(project)? {
            Some(bytes) => trust::standing(&sources.home, &path, &bytes)?.name(),
            None => "not there",
        };
        rows.push(("workspace", path, state));
    }
    if json {
        let rows: Vec<Json> = rows
            .iter()
            .map(|(layer, path, state)| json!({ "layer": layer, "path": path.display().to_string(), "state": state }))
            .collect();
        out::json("config_paths", &json!({ "files": rows }));
        return Ok(());
    }
    for (layer, path, state) in rows {
        out::data(&out::safe(&format!("{layer:10} {} ({state})", path.display())));
    }
    Ok(())
}
