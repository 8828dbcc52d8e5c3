//! How the agent of a session reaches Longhaul: the MCP server that its program is told about and starts, and the command for its shell. A
//! session works without either. Called when a session is launched.

use longhaul_agents::SessionServer;
use longhaul_core::task::SessionRun;
use longhaul_keeper::{Environment, HOME_VARIABLE, SESSION_VARIABLE};
use longhaul_redact::Secrets;
use serde_json::Value;

use super::Job;

/// What a session's server is started with.
pub(super) struct Server {
    program: String,
    environment: Vec<(String, String)>,
    inherited: Vec<String>,
}

impl Server {
    /// None for a task of the runner, whose agents are started as the shell runner starts them, and if our executable was removed.
    pub(super) fn of(job: &Job, session: &SessionRun) -> Option<Server> {
        if job.task.submission.driver.conduct().prompt_as_argument {
            return None;
        }
        let Some(program) = job.context.executable.path().and_then(|path| path.to_str()) else {
            job.report("the agent gets no tools of Longhaul: the program was removed or replaced; restart the worker");
            return None;
        };
        let home = job.context.home.root().display().to_string();
        let environment = [(HOME_VARIABLE, home), (SESSION_VARIABLE, session.id.to_string())]
            .map(|(name, value)| (name.to_owned(), value));
        let inherited = secret_names(&job.environment, &job.task.submission.secret_names);
        Some(Server { program: program.to_owned(), environment: environment.into(), inherited })
    }

    pub(super) fn spec(&self) -> SessionServer<'_> {
        let Server { program, environment, inherited } = self;
        SessionServer { program, arguments: &["mcp"], environment, inherited }
    }
}

/// How the agent's shell finds this program.
pub(super) fn command_for_shells(job: &Job) -> String {
    match (job.environment.find_program("longhaul"), job.context.executable.path()) {
        (None, Some(path)) => path.display().to_string(),
        (Some(_), _) | (None, None) => "longhaul".to_owned(),
    }
}

/// The variables that have something to mask.
fn secret_names(environment: &Environment, named: &[String]) -> Vec<String> {
    let texts = environment.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let secret = texts.filter(|(name, value)| {
        let is_secret = || !Secrets::from_env([((*name).to_owned(), (*value).to_owned())]).is_empty();
        named.iter().any(|one| one == name) || is_secret()
    });
    secret.map(|(name, _)| name.to_owned()).collect()
}

/// The environment with these objects merged into those that it has. A value that is no JSON object is the user's affair and stays as it is.
pub(super) fn merged(environment: &Environment, objects: &[(String, Value)]) -> Environment {
    let merge = |environment: Environment, (name, ours): &(String, Value)| {
        let theirs = environment.get(name).filter(|value| !value.is_empty());
        let mut whole = match theirs.map(|value| value.to_str().map(serde_json::from_str::<Value>)) {
            None => Value::Object(serde_json::Map::new()),
            Some(Some(Ok(theirs))) if theirs.is_object() => theirs,
            Some(_) => return environment,
        };
        add(&mut whole, ours);
        environment.with(name, whole.to_string())
    };
    objects.iter().fold(environment.clone(), merge)
}

/// Adds what an object does not have yet, and replaces the rest, except that objects are merged.
fn add(whole: &mut Value, more: &Value) {
    match (whole, more) {
        (Value::Object(whole), Value::Object(more)) => {
            for (name, value) in more {
                add(whole.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (whole, more) => *whole = more.clone(),
    }
}

#[cfg(test)]
mod tests {
    use longhaul_keeper::Environment;
    use serde_json::{Value, json};

    use super::{merged, secret_names};

    fn merge(theirs: Option<&str>, ours: Value) -> Option<String> {
        let environment = Environment::from(Vec::new());
        let environment = theirs.map_or(environment.clone(), |text| environment.clone().with("CONTENT", text));
        let merged = merged(&environment, &[("CONTENT".to_owned(), ours)]);
        merged.get("CONTENT").map(|value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn the_users_own_settings_stay() {
        let ours = json!({ "mcp": { "ours": { "enabled": true } } });
        let theirs = r#"{"model":"m","mcp":{"theirs":{},"ours":{"enabled":false,"x":1}}}"#;
        let both = json!({ "model": "m", "mcp": { "theirs": {}, "ours": { "enabled": true, "x": 1 } } });
        assert_eq!(merge(Some(theirs), ours.clone()), Some(both.to_string()));
        assert_eq!(merge(None, ours.clone()), Some(ours.to_string()));
        assert_eq!(merge(Some(""), ours.clone()), Some(ours.to_string()));
        for odd in ["{ // a comment\n}", "[1]", "text"] {
            assert_eq!(merge(Some(odd), ours.clone()).as_deref(), Some(odd), "left alone");
        }
    }

    #[test]
    fn only_variables_with_something_to_mask_are_named() {
        let variables = [
            ("API_TOKEN", "hunter2-hunter2"),
            ("PATH", "/bin"),
            ("DATABASE", "postgres://me:correct-horse@db/x"),
            ("PLAIN", "battery-staple"),
            ("LESS", "-R"),
        ];
        let environment: Environment = variables.map(|(name, value)| (name.into(), value.into())).into_iter().collect();
        assert_eq!(secret_names(&environment, &["PLAIN".to_owned()]), ["API_TOKEN", "DATABASE", "PLAIN"]);
    }
}
