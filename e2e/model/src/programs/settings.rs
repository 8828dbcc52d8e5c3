//! The settings with which each agent talks to a scripted model, gives up early and asks no other host.
//! Called by `programs`; every file lies below the home directory of the setup.
//! It never touches settings of the person who runs the tests.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Agent, EnvironmentError, Login, Setup};

type Variables = Vec<(String, String)>;

/// Writes an agent's files and returns its variables.
pub(super) fn write(agent: Agent, setup: &Setup) -> Result<Variables, EnvironmentError> {
    match agent {
        Agent::Codex => codex(setup),
        Agent::Claude => claude(setup),
        Agent::OpenCode => opencode(setup),
        Agent::Pi => pi(setup),
        Agent::Gemini => gemini(setup),
    }
}

fn codex(setup: &Setup) -> Result<Variables, EnvironmentError> {
    let home = setup.home.join(".codex");
    let settings = format!(
        r#"model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false
# What is typed by a script comes as fast as what is pasted, and Enter would not end it.
disable_paste_burst = true

[analytics]
enabled = false

[features]
plugins = false
apps = false
unbounded_connection_retries = false

# Its interface would begin with the offer of a newer model.
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"

[model_providers.scripted]
name = "scripted"
base_url = "{}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 1
stream_idle_timeout_ms = 300000
"#,
        setup.server_url
    );
    write_file(&home.join("config.toml"), &settings)?;
    Ok(variables(&[("CODEX_HOME", &home.display().to_string()), ("SCRIPTED_KEY", "scripted-key")]))
}

fn claude(setup: &Setup) -> Result<Variables, EnvironmentError> {
    let home = setup.home.join(".claude");
    // Its interface would begin with a tour, and ask whether the key is meant.
    let state = json!({"hasCompletedOnboarding": true, "theme": "dark",
        "customApiKeyResponses": {"approved": ["scripted-key"], "rejected": []}});
    write_json(&home.join(".claude.json"), &state)?;
    let login = match setup.login {
        Login::Key => ("ANTHROPIC_API_KEY", "scripted-key"),
        Login::Subscription => ("CLAUDE_CODE_OAUTH_TOKEN", "scripted-token"),
    };
    Ok(variables(&[
        ("CLAUDE_CONFIG_DIR", &home.display().to_string()),
        ("ANTHROPIC_BASE_URL", &setup.server_url),
        login,
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
        // Without it root may not skip permissions, and tests in containers are root.
        ("IS_SANDBOX", "1"),
    ]))
}

fn opencode(setup: &Setup) -> Result<Variables, EnvironmentError> {
    let options = json!({"baseURL": format!("{}/v1", setup.server_url), "apiKey": "scripted-key",
        "headerTimeout": 60000, "chunkTimeout": 60000});
    let model = json!({"tool_call": true, "limit": {"context": 100_000, "output": 4096},
        "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}});
    let provider = json!({"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": options,
        "models": {"m1": model}});
    let settings = json!({"autoupdate": false, "share": "disabled", "model": "scripted/m1",
        "small_model": "scripted/m1", "provider": {"scripted": provider}});
    // Named, because the person who runs the tests may have other places for them.
    let place = |below: &str| setup.home.join(below).display().to_string();
    seed_opencode_plugin(&setup.home.join(".config").join("opencode"))?;
    Ok(variables(&[
        ("XDG_CONFIG_HOME", &place(".config")),
        ("XDG_DATA_HOME", &place(".local/share")),
        ("XDG_STATE_HOME", &place(".local/state")),
        ("XDG_CACHE_HOME", &place(".cache")),
        ("OPENCODE_CONFIG_CONTENT", &settings.to_string()),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ]))
}

/// Each start would install this package from the network; what looks installed is left alone (1.18.33).
fn seed_opencode_plugin(directory: &Path) -> Result<(), EnvironmentError> {
    let wanted = json!({"dependencies": {"@opencode-ai/plugin": "1.18.33"}});
    let modules = directory.join("node_modules");
    fs::create_dir_all(&modules).map_err(|source| EnvironmentError { path: modules.clone(), source })?;
    write_json(&directory.join("package.json"), &wanted)?;
    write_json(&directory.join("package-lock.json"), &json!({"lockfileVersion": 3, "packages": {"": wanted}}))
}

fn pi(setup: &Setup) -> Result<Variables, EnvironmentError> {
    let directory = setup.home.join(".pi").join("agent");
    let model = json!({"id": "m1", "contextWindow": 100_000, "maxTokens": 4096,
        "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}});
    let provider = json!({"baseUrl": format!("{}/v1", setup.server_url), "api": "openai-completions",
        "apiKey": "scripted-key", "models": [model]});
    write_json(&directory.join("models.json"), &json!({"providers": {"scripted": provider}}))?;
    let settings = json!({"retry": {"enabled": false}, "defaultProvider": "scripted", "defaultModel": "m1",
        "quietStartup": true});
    write_json(&directory.join("settings.json"), &settings)?;
    Ok(variables(&[
        ("PI_CODING_AGENT_DIR", &directory.display().to_string()),
        ("PI_OFFLINE", "1"),
        ("PI_TELEMETRY", "0"),
    ]))
}

fn gemini(setup: &Setup) -> Result<Variables, EnvironmentError> {
    let general = json!({"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 2});
    let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}, "general": general,
        "model": {"name": "m1", "maxSessionTurns": 50}});
    write_json(&setup.home.join(".gemini").join("settings.json"), &settings)?;
    Ok(variables(&[
        ("GEMINI_API_KEY", "scripted-key"),
        ("GOOGLE_GEMINI_BASE_URL", &setup.server_url),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ]))
}

fn variables(pairs: &[(&str, &str)]) -> Variables {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn write_json(path: &Path, value: &Value) -> Result<(), EnvironmentError> {
    write_file(path, &value.to_string())
}

fn write_file(path: &Path, text: &str) -> Result<(), EnvironmentError> {
    let failed = |source| EnvironmentError { path: path.to_path_buf(), source };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}
