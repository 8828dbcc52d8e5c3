//! `keys_list`: every API key of the home, without the keys themselves.
//! Only reads; without a home there are no keys.

use longhaul_core::task::Action;
use longhaul_core::time::Time;
use longhaul_store::ApiKey;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};
use crate::views::{Page, PageInput};

/// The operation `keys_list`.
pub struct KeysList;

/// The API keys of a home.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApiKeys {
    /// The oldest first.
    pub api_keys: Vec<ApiKeyView>,
    /// Pass it as `after` to get the next page; null at the end.
    pub next: Option<u64>,
}

/// What is known of an API key.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ApiKeyView {
    /// Names it in lists and in the history.
    pub id: String,
    /// What its creator calls it.
    pub name: String,
    /// Whose tasks it reaches.
    pub tenant: String,
    /// What it allows: `read`, `run`, `approve`, `admin`.
    pub rights: Vec<String>,
    /// When it was created.
    pub created: String,
    /// When it stops working; null if it never does.
    pub expires: Option<String>,
    /// When it was revoked.
    pub revoked: Option<String>,
    /// Whether it works now.
    pub is_usable: bool,
}

impl ApiKeyView {
    pub(crate) fn new(key: ApiKey, now: Time) -> ApiKeyView {
        ApiKeyView {
            is_usable: key.is_usable(now),
            id: key.id,
            name: key.name,
            tenant: key.tenant.name().to_owned(),
            rights: key.rights.to_string().split(',').map(str::to_owned).collect(),
            created: key.created.rfc3339(),
            expires: key.expires.map(Time::rfc3339),
            revoked: key.revoked.map(Time::rfc3339),
        }
    }
}

impl View for ApiKeys {
    const KIND: &'static str = "api_keys";
}

impl Operation for KeysList {
    const ABOUT: About = About::new("keys_list", "List the API keys", Action::ReadAll("list API keys"), COMMAND_LINE)
        .by_hand("keys list");
    type Input = PageInput;
    type Output = ApiKeys;

    async fn run(call: &Call, _: Permit, input: PageInput) -> Result<Answer<ApiKeys>, AppError> {
        let mut api_keys = all(call).await?.into_iter().map(|key| ApiKeyView::new(key, call.now())).collect();
        let mut page = Page::new(input);
        page.cut(&mut api_keys);
        Ok(Answer::new(ApiKeys { api_keys, next: page.next() }))
    }
}

/// Every API key.
pub(super) async fn all(call: &Call) -> Result<Vec<ApiKey>, AppError> {
    match call.app.whole_store() {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(Vec::new()),
        store => Ok(store?.api_keys().await?),
    }
}
