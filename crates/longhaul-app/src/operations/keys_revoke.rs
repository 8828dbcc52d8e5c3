//! `keys_revoke`: ends an API key for good.
//! The server asks the store again with every request and while a stream is open, so both end with the key.

use longhaul_core::task::Action;
use longhaul_store::ApiKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::keys_list::{ApiKeyView, all};
use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};
use crate::text;

/// The operation `keys_revoke`.
pub struct KeysRevoke;

/// What `keys_revoke` takes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeysRevokeInput {
    /// The id of the key, or the name of a key that works.
    pub api_key: String,
}

impl View for ApiKeyView {
    const KIND: &'static str = "api_key";
}

impl Operation for KeysRevoke {
    const ABOUT: About =
        About::new("keys_revoke", "Revoke an API key", Action::Manage("revoke an API key"), COMMAND_LINE)
            .destroys()
            .by_hand("keys revoke KEY");
    type Input = KeysRevokeInput;
    type Output = ApiKeyView;

    async fn run(call: &Call, _: Permit, input: KeysRevokeInput) -> Result<Answer<ApiKeyView>, AppError> {
        let unknown = || {
            let what = format!("there is no API key `{}`", text::safe(&input.api_key));
            AppError::new(ErrorKind::NotFound, what).hint("`longhaul keys list` shows every key")
        };
        let id = find(all(call).await?, &input.api_key, call)?.ok_or_else(unknown)?.id;
        let revoked = call.app.whole_store()?.revoke_api_key(&id, call.now()).await?.ok_or_else(unknown)?;
        Ok(Answer::new(ApiKeyView::new(revoked, call.now())))
    }
}

/// The key with this id, or the one that works and has this name; each tenant may have one.
fn find(keys: Vec<ApiKey>, wanted: &str, call: &Call) -> Result<Option<ApiKey>, AppError> {
    let (now, is_meant) = (call.now(), |key: &&ApiKey| key.id == wanted);
    if let Some(key) = keys.iter().find(is_meant) {
        return Ok(Some(key.clone()));
    }
    let mut named: Vec<ApiKey> = keys.into_iter().filter(|key| key.name == wanted && key.is_usable(now)).collect();
    if named.len() > 1 {
        let ids: Vec<String> = named.iter().map(|key| format!("{} ({})", key.id, key.tenant.name())).collect();
        let what = format!("several tenants have an API key `{}`", text::safe(wanted));
        return Err(AppError::new(ErrorKind::Usage, what).hint(format!("give the id of one: {}", ids.join(", "))));
    }
    Ok(named.pop())
}
