//! API keys of the HTTP server: `lh_` and 256 random bits. Whoever presents one is a caller with the key's tenant and rights.
//!
//! The text of a key exists where it is created, until it is printed, and where it is presented. The store keeps its digest.
//! Servers ask again with every request, and while a stream is open: it is one indexed read, and revoking a key rings the store's bell.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use longhaul_keeper::random;
use longhaul_store::ApiKey;

use crate::app::App;
use crate::caller::Caller;
use crate::error::{AppError, ErrorKind};

/// What every key begins with. The redactor knows it too.
const PREFIX: &str = "lh_";
const BYTES: usize = 32;

/// A new key.
#[must_use]
pub fn mint() -> String {
    format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(random::<BYTES>()))
}

/// Whether a text can name a key or a tenant.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.len() <= 64
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Who calls with this text as a key: the caller that a usable key stands for, in the key's tenant and with its rights, through HTTP and
/// from no directory. None for anything else, whatever is wrong with it.
pub async fn authenticate(app: &App, presented: &str) -> Result<Option<Caller>, AppError> {
    if !has_shape(presented) {
        return Ok(None);
    }
    let store = match app.whole_store() {
        // Without a home there are no keys.
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
        store => store?,
    };
    let found = store.find_api_key(&ApiKey::digest(presented)).await?;
    Ok(found.filter(|key| key.is_usable((app.system.clock)())).map(Caller::of_key))
}

fn has_shape(presented: &str) -> bool {
    let bytes = presented.strip_prefix(PREFIX).and_then(|text| BASE64_URL_SAFE_NO_PAD.decode(text).ok());
    bytes.is_some_and(|bytes| bytes.len() == BYTES)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use longhaul_core::task::{Actor, Channel, Scope};
    use longhaul_core::time::Time;
    use longhaul_keeper::Environment;
    use longhaul_redact::{Secrets, redact_text};

    use super::*;
    use crate::operation::FrontEnd;
    use crate::operations::tests::NoProcesses;
    use crate::{System, Tenant};

    fn app(home: &std::path::Path) -> App {
        let clock = || Time(5_000);
        App::new(home, System { environment: Environment::from(Vec::new()), clock, processes: Arc::new(NoProcesses) })
    }

    fn key(id: &str) -> ApiKey {
        let (tenant, rights) = (Tenant::new("acme"), "run".parse().unwrap());
        let (id, name) = (id.to_owned(), format!("name of {id}"));
        ApiKey { id, tenant, name, rights, created: Time(1_000), expires: None, revoked: None }
    }

    #[tokio::test]
    async fn a_key_stands_for_a_caller_of_its_tenant() {
        let directory = tempfile::tempdir().unwrap();
        let app = app(&directory.path().join("home"));
        let text = mint();
        assert!(authenticate(&app, &text).await.unwrap().is_none(), "there is no home");
        assert!(!app.home.root().exists(), "asking creates nothing");
        app.create().unwrap();
        let store = app.whole_store().unwrap();
        assert!(authenticate(&app, &text).await.unwrap().is_none(), "nobody created it");
        assert!(store.create_api_key(key("k1"), &ApiKey::digest(&text)).await.unwrap());
        let caller = authenticate(&app, &text).await.unwrap().expect("a caller");
        let Actor { principal, scope, session, channel, key } = &caller.actor;
        assert_eq!((&**principal, key.as_deref()), ("name of k1", Some("k1")));
        assert_eq!((*scope, *session, *channel), (Scope::Person, None, Some(Channel::Http)));
        assert_eq!(
            (caller.tenant.name(), caller.channel, caller.rights.to_string()),
            ("acme", FrontEnd::Http, "read,run".to_owned())
        );
        assert!(caller.directory().is_err());
        store.revoke_api_key("k1", Time(4_000)).await.unwrap();
        assert!(authenticate(&app, &text).await.unwrap().is_none(), "it was revoked");
    }

    #[tokio::test]
    async fn an_expired_key_and_what_is_no_key_stand_for_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let app = app(&directory.path().join("home"));
        app.create().unwrap();
        let store = app.whole_store().unwrap();
        for (id, expires, works) in [("past", 5_000, false), ("future", 5_001, true)] {
            let (text, key) = (mint(), ApiKey { expires: Some(Time(expires)), ..key(id) });
            assert!(store.create_api_key(key, &ApiKey::digest(&text)).await.unwrap());
            assert_eq!(authenticate(&app, &text).await.unwrap().is_some(), works, "{id}");
        }
        let text = mint();
        assert!(store.create_api_key(key("k1"), &ApiKey::digest(&text)).await.unwrap());
        let spellings = [text.to_uppercase(), format!(" {text}"), format!("{text}0"), text[1..].to_owned()];
        for other in spellings.iter().map(String::as_str).chain(["", "lh_", "k1", &ApiKey::digest(&text)]) {
            assert!(authenticate(&app, other).await.unwrap().is_none(), "{other}");
        }
        assert!(authenticate(&app, &text).await.unwrap().is_some(), "control");
    }

    /// Whatever text a key gets into, the redactor takes it out again before the text is stored.
    #[test]
    fn keys_differ_and_the_redactor_knows_them() {
        assert_ne!(mint(), mint());
        for key in (0..200).map(|_| mint()) {
            assert_eq!(key.len(), 46);
            for text in
                [format!("use {key} here"), format!("\"{key}\","), format!("curl -H 'Authorization: Bearer {key}'")]
            {
                let redacted = redact_text(&Secrets::default(), &text).0;
                assert!(!redacted.contains(&key[PREFIX.len()..][..8]), "{redacted}");
            }
        }
    }
}
