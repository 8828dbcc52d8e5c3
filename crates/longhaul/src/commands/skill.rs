//! `longhaul skill`: installs the skills of this binary into an agent's skill directory, lists them, and removes them.
//! Never overwrites a changed file without `--force`, and never removes one. Refused below an agent session.

mod folder;
mod shipped;

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;

use crate::cli::{Skill, SkillClient, SkillPlace, SkillVerb};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::{AppError, ErrorKind, locations};
use longhaul_keeper::Environment;

use folder::{Folder, Force, Removal};
use shipped::FILES;

pub(crate) fn skill(line: &CommandLine, args: &Skill) -> Result<Code, AppError> {
    let own = &line.system.environment;
    match &args.verb {
        SkillVerb::Install { place, force } => install(own, place, if *force { Force::Overwrite } else { Force::Keep }),
        SkillVerb::List { client, dir, json } => list(own, *client, dir.as_ref(), *json),
        SkillVerb::Uninstall { place } => uninstall(own, place),
    }
}

fn install(own: &Environment, place: &SkillPlace, force: Force) -> Result<Code, AppError> {
    for path in folder(own, place)?.write(FILES, force)? {
        out::data(&out::safe(&format!("wrote `{}`", path.display())));
    }
    if own.find_program("longhaul").is_none() {
        out::note("warning: `longhaul` is not on PATH; the skills need it there");
    }
    Ok(Code::Done)
}

fn uninstall(own: &Environment, place: &SkillPlace) -> Result<Code, AppError> {
    let folder = folder(own, place)?;
    for file in FILES {
        let path = folder.path(file);
        let shown = path.display();
        match folder.remove(file)? {
            Removal::Removed => out::data(&out::safe(&format!("removed `{shown}`"))),
            Removal::Missing => {}
            Removal::Changed => out::note(&out::safe(&format!("kept `{shown}`: it was changed"))),
        }
    }
    folder.remove_empty(FILES);
    Ok(Code::Done)
}

/// The given directory, or else the client's own.
fn folder(own: &Environment, place: &SkillPlace) -> Result<Folder, AppError> {
    match (&place.dir, place.client) {
        (Some(dir), _) => Ok(Folder(dir.clone())),
        (None, Some(client)) => Ok(Folder(directory(own, client)?)),
        (None, None) => Err(AppError::new(ErrorKind::Usage, "give --client or --dir")),
    }
}

/// Where each agent looks for a person's skills, by its own documentation and, for codex 0.166, by its program's output.
///
/// codex: `$CODEX_HOME/skills` (developers.openai.com/codex/skills); claude: `~/.claude/skills` (code.claude.com/docs/en/skills);
/// opencode: `~/.config/opencode/skills` (opencode.ai/docs/skills); pi: `~/.pi/agent/skills` (pi.dev/docs/latest/skills).
fn directory(own: &Environment, client: SkillClient) -> Result<PathBuf, AppError> {
    let home = |variable: &str, default: &str| match locations::named_directory(own, variable) {
        Some(named) => Ok(named),
        None => Ok::<_, AppError>(locations::user_directory(own)?.join(default)),
    };
    let root = match client {
        SkillClient::Codex => home("CODEX_HOME", ".codex")?,
        SkillClient::Claude => home("CLAUDE_CONFIG_DIR", ".claude")?,
        SkillClient::Opencode => locations::config_directory(own)?.join("opencode"),
        SkillClient::Pi => home("PI_CODING_AGENT_DIR", ".pi/agent")?,
    };
    Ok(root.join("skills"))
}

fn list(
    own: &Environment,
    client: Option<SkillClient>,
    dir: Option<&PathBuf>,
    as_json: bool,
) -> Result<Code, AppError> {
    let mut places: Vec<(String, Folder)> = Vec::new();
    match dir {
        Some(dir) => places.push(("directory".to_owned(), Folder(dir.clone()))),
        None => {
            let wanted =
                SkillClient::value_variants().iter().filter(|have| client.is_none_or(|client| client == **have));
            for client in wanted {
                let name = client.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
                places.push((name, Folder(directory(own, *client)?)));
            }
        }
    }
    let mut rows = Vec::new();
    for (name, folder) in &places {
        for skill in shipped::names() {
            let state = folder.state(FILES.iter().filter(|file| file.skill == skill))?;
            let path = folder.0.join(skill);
            if !as_json {
                out::data(&out::safe(&format!("{name:9} {skill:17} {:13} {}", state.words(), path.display())));
            }
            rows.push(json!({ "client": name, "skill": skill, "state": state.words(), "path": path }));
        }
    }
    if as_json {
        out::json("skills", &json!({ "skills": rows }));
    }
    Ok(Code::Done)
}
