//! `keys_create`: a new API key for the HTTP server.
//! Its answer is the only place where the key itself appears; the store keeps a digest.

use longhaul_core::task::{Action, Rights};
use longhaul_core::time::Time;
use longhaul_keeper::random;
use longhaul_store::ApiKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::keys_list::ApiKeyView;
use crate::api_keys::{is_name, mint};
use crate::app::Call;
use crate::config::read_span;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};
use crate::{Tenant, text};

/// The operation `keys_create`.
pub struct KeysCreate;

/// What `keys_create` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct KeysCreateInput {
    /// The name of the key. History names it as who did something.
    pub name: String,
    /// Whose tasks it reaches; by default those of the person at the command line.
    #[serde(default)]
    pub tenant: Option<String>,
    /// What it allows, such as `read,run`, which is the default.
    #[serde(default)]
    pub rights: Option<String>,
    /// How long it works, such as `30d`; by default until it is revoked.
    #[serde(default)]
    pub expires: Option<String>,
}

/// A new key.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewApiKey {
    /// What is known of it.
    pub api_key: ApiKeyView,
    /// The key itself. It is shown only here.
    pub secret: String,
}

impl View for NewApiKey {
    const KIND: &'static str = "new_api_key";
}

impl Operation for KeysCreate {
    const ABOUT: About = About::new(
        "keys_create",
        "Create an API key for the HTTP server",
        Action::Manage("create an API key"),
        COMMAND_LINE,
    )
    .by_hand("keys create NAME");
    type Input = KeysCreateInput;
    type Output = NewApiKey;

    async fn run(call: &Call, _: Permit, input: KeysCreateInput) -> Result<Answer<NewApiKey>, AppError> {
        let key = read(&input, call.now())?;
        call.app.create()?;
        let secret = mint();
        if !call.app.whole_store()?.create_api_key(key.clone(), &ApiKey::digest(&secret)).await? {
            let what = format!("the tenant `{}` already has an API key `{}`", key.tenant.name(), key.name);
            let hint = format!("choose another name, or run `longhaul keys revoke {}` first", key.name);
            return Err(AppError::new(ErrorKind::Conflict, what).hint(hint));
        }
        Ok(Answer::new(NewApiKey { api_key: ApiKeyView::new(key, call.now()), secret }))
    }
}

fn read(input: &KeysCreateInput, now: Time) -> Result<ApiKey, AppError> {
    let tenant = input.tenant.as_deref().unwrap_or(Tenant::DEFAULT);
    for (what, text) in [("an API key", &*input.name), ("a tenant", tenant)] {
        check_name(what, text)?;
    }
    let id = random::<6>().map(|byte| format!("{byte:02x}")).concat();
    let (tenant, name, rights) = (Tenant::new(tenant), input.name.clone(), rights(input.rights.as_deref())?);
    let expires = input.expires.as_deref().map(|span| expires(now, span)).transpose()?;
    Ok(ApiKey { id, tenant, name, rights, created: now, expires, revoked: None })
}

fn check_name(what: &str, name: &str) -> Result<(), AppError> {
    if is_name(name) {
        return Ok(());
    }
    Err(AppError::new(ErrorKind::Usage, format!("`{}` cannot be the name of {what}", text::safe(name))).hint(
        "a name has 1 to 64 letters, digits, dots, underscores and hyphens (ASCII), and begins with a letter or a digit",
    ))
}

fn rights(text: Option<&str>) -> Result<Rights, AppError> {
    let refused = |what: String| AppError::new(ErrorKind::Usage, what).hint("write them as in `read,run`");
    let rights: Rights = text.unwrap_or("read,run").parse().map_err(|error| refused(format!("{error}")))?;
    if rights == Rights::NONE { Err(refused("a key without rights allows nothing".to_owned())) } else { Ok(rights) }
}

fn expires(now: Time, span: &str) -> Result<Time, AppError> {
    let unreadable = || {
        let what = format!("`{}` is not a span of time", text::safe(span));
        AppError::new(ErrorKind::Usage, what).hint("write it as in `12h` or `30d`")
    };
    read_span(span).map(|span| now.after(span)).ok_or_else(unreadable)
}
