//! `longhaul trust`: says that a project's `longhaul.toml`, as it is now, may run its commands and choose its agent.
//! Shows what that means, with the content's hash; a change of the file asks again. Refused below an agent session.

use std::path::{Path, PathBuf};

use longhaul_app::Home;
use serde_json::json;

use crate::cli::Trust;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::config::{AgentTable, Layer, Untrusted, WORKSPACE_FILE, Written, read_entries, read_workspace_file};
use longhaul_app::submit::files::utf8;
use longhaul_app::trust::{Trusted, add, fingerprint, list, remove};
use longhaul_app::{AppError, ErrorKind, Project};

pub(crate) fn trust(line: &CommandLine, args: &Trust) -> Result<Code, AppError> {
    match (&args.path, &args.remove) {
        (Some(path), _) => give(line, path, args),
        (None, Some(path)) => take_back(line, path),
        (None, None) => show_all(line, args),
    }
}

fn give(line: &CommandLine, path: &Path, args: &Trust) -> Result<Code, AppError> {
    let project = project(path)?;
    let file = project.join(WORKSPACE_FILE);
    let home = Home::create(&line.home()?)?;
    refuse_inside(&home, &project)?;
    let Some(bytes) = read_workspace_file(&project)? else {
        return Err(AppError::new(ErrorKind::Usage, format!("there is no `{}`", file.display()))
            .hint("name the directory of a project that has one"));
    };
    let written = read_entries(Layer::Workspace, &file, &bytes)?;
    let trusted =
        Trusted { path: utf8(&file)?, sha256: fingerprint(&bytes), since: jiff::Timestamp::now().to_string() };
    if let Some(expected) = args.sha256.as_ref().filter(|expected| !expected.eq_ignore_ascii_case(&trusted.sha256)) {
        return Err(AppError::new(ErrorKind::Conflict, format!("`{}` is not what you expect", file.display()))
            .hint(format!("its SHA-256 is {}, not {}; read it again", trusted.sha256, out::safe(expected))));
    }
    add(home.root(), trusted.clone())?;
    if args.json {
        out::json("trusted", &json!({ "trusted": trusted, "keys": keys(&written) }));
    } else {
        show(&trusted, &written);
    }
    out::note("trusted as it is now; when it changes, it must be trusted again");
    Ok(Code::Done)
}

/// What the file sets, as JSON.
fn keys(written: &Written) -> serde_json::Map<String, serde_json::Value> {
    let keys = written.entries.iter().map(|entry| (entry.key.name.to_owned(), entry.key.kind.json(&entry.value)));
    let agents = written.agents.iter().map(|table| (format!("agents.{}", table.name), table.json()));
    keys.chain(agents).collect()
}

fn show(trusted: &Trusted, written: &Written) {
    out::data(&out::safe(&trusted.path));
    out::data(&format!("sha256 {}", trusted.sha256));
    for entry in &written.entries {
        let needed = if entry.key.untrusted == Untrusted::Any { "" } else { "  # by your trust" };
        out::data(&out::safe(&format!("  {} = {}{needed}", entry.key.name, entry.key.kind.show(&entry.value))));
    }
    for (key, value, _) in written.agents.iter().flat_map(AgentTable::lines) {
        out::data(&out::safe(&format!("  {key} = {value}  # by your trust")));
    }
}

/// A task's worktree is written by its agent; nobody can read it faster than it changes.
fn refuse_inside(home: &Home, project: &Path) -> Result<(), AppError> {
    let root = home.root().canonicalize().unwrap_or_else(|_| home.root().to_owned());
    if project.starts_with(root) {
        return Err(AppError::new(
            ErrorKind::Usage,
            "what lies inside Longhaul's home belongs to agents and is not trusted",
        )
        .hint("trust the file in your own checkout"));
    }
    Ok(())
}

/// The project meant by its directory, one below it, or the file itself.
fn project(path: &Path) -> Result<PathBuf, AppError> {
    let names_file = path.file_name().is_some_and(|name| name == WORKSPACE_FILE) && !path.is_dir();
    if !names_file {
        return Ok(Project::of(path)?.root);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let place = Project::of(parent)?;
    if place.directory != place.root {
        return Err(AppError::new(ErrorKind::Usage, format!("`{}` is not at the root of its project", path.display()))
            .hint(format!("only `{}` counts", place.root.join(WORKSPACE_FILE).display())));
    }
    Ok(place.root)
}

fn take_back(line: &CommandLine, path: &Path) -> Result<Code, AppError> {
    let home = line.home()?;
    // What was trusted may be gone; then its path counts as it is written.
    let project = project(path).or_else(|_| gone(path))?;
    let file = project.join(WORKSPACE_FILE);
    let known = list(&home)?.iter().any(|trusted| Some(trusted.path.as_str()) == file.to_str());
    if !known || !remove(&home, &utf8(&file)?)? {
        return Err(AppError::new(ErrorKind::Usage, format!("`{}` is not trusted", file.display()))
            .hint("`longhaul trust --list` shows what is"));
    }
    out::note(&format!("`{}` is no longer trusted", out::safe(&file.display().to_string())));
    Ok(Code::Done)
}

fn gone(path: &Path) -> Result<PathBuf, AppError> {
    let absolute = std::path::absolute(path)
        .map_err(|error| AppError::new(ErrorKind::Usage, format!("cannot use `{}`", path.display())).because(&error))?;
    let names_file = absolute.file_name().is_some_and(|name| name == WORKSPACE_FILE);
    Ok(if names_file { absolute.parent().unwrap_or(&absolute).to_owned() } else { absolute })
}

fn show_all(line: &CommandLine, args: &Trust) -> Result<Code, AppError> {
    let all = list(&line.home()?)?;
    if args.json {
        out::json("trust", &json!({ "trusted": all }));
        return Ok(Code::Done);
    }
    for trusted in &all {
        out::data(&out::safe(&format!("{}  {}  {}", trusted.sha256, trusted.since, trusted.path)));
    }
    if all.is_empty() {
        out::note("nothing is trusted");
    }
    Ok(Code::Done)
}
