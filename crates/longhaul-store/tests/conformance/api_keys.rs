//! Promises about API keys: found by the digest alone, revoked for good, and named once among the usable ones of a tenant.

use longhaul_core::time::Time;
use longhaul_store::{ApiKey, Tenant, WholeStore};

use super::Harness;

const CREATED: Time = Time(1_000);

fn key(id: &str, name: &str) -> ApiKey {
    let rights = "read,run,approve".parse().expect("rights");
    let (id, tenant, name) = (id.to_owned(), Tenant::new("mine"), name.to_owned());
    ApiKey { id, tenant, name, rights, created: CREATED, expires: None, revoked: None }
}

async fn create(store: &dyn WholeStore, key: ApiKey) -> bool {
    let digest = ApiKey::digest(&key.id);
    store.create_api_key(key, &digest).await.expect("an answer")
}

async fn find(store: &dyn WholeStore, text: &str) -> Option<ApiKey> {
    store.find_api_key(&ApiKey::digest(text)).await.expect("an answer")
}

pub(crate) async fn an_api_key_is_found_by_its_digest_alone(harness: &dyn Harness) {
    let store = harness.open().await;
    let plain = key("1", "plain");
    let full = ApiKey { expires: Some(Time(2_000)), tenant: Tenant::default(), ..key("2", "full") };
    assert!(create(&*store, plain.clone()).await && create(&*store, full.clone()).await);
    let store = harness.open().await;
    assert_eq!(find(&*store, "1").await.as_ref(), Some(&plain));
    assert_eq!(find(&*store, "2").await.as_ref(), Some(&full));
    assert_eq!(find(&*store, "3").await, None);
    assert_eq!(store.find_api_key("1").await.expect("an answer"), None, "an id opens nothing");
    assert_eq!(store.api_keys().await.expect("a list"), [plain, full.clone()]);
    assert!(full.is_usable(Time(1_999)) && !full.is_usable(Time(2_000)));
}

pub(crate) async fn an_api_key_is_revoked_for_good(harness: &dyn Harness) {
    let store = harness.open().await;
    assert!(create(&*store, key("1", "one")).await && create(&*store, key("2", "two")).await);
    let listener = harness.open().await;
    let mut bell = listener.changes().expect("a bell");
    let revoked = ApiKey { revoked: Some(Time(5_000)), ..key("1", "one") };
    assert_eq!(store.revoke_api_key("1", Time(5_000)).await.expect("an answer"), Some(revoked.clone()));
    bell.rung().await;
    assert_eq!(store.revoke_api_key("1", Time(6_000)).await.expect("an answer"), Some(revoked.clone()));
    assert_eq!(store.revoke_api_key("3", Time(6_000)).await.expect("an answer"), None);
    let store = harness.open().await;
    assert_eq!(find(&*store, "1").await.as_ref(), Some(&revoked));
    assert!(!revoked.is_usable(Time(0)) && find(&*store, "2").await.is_some_and(|other| other.is_usable(Time(9_000))));
}

pub(crate) async fn usable_api_keys_of_a_tenant_have_different_names(harness: &dyn Harness) {
    let store = harness.open().await;
    let short = ApiKey { expires: Some(Time(2_000)), ..key("1", "ci") };
    assert!(create(&*store, short).await);
    assert!(!create(&*store, key("2", "ci")).await);
    assert_eq!(store.api_keys().await.expect("a list").len(), 1, "nothing was written");
    assert!(create(&*store, ApiKey { tenant: Tenant::new("theirs"), ..key("3", "ci") }).await);
    assert!(create(&*store, ApiKey { created: Time(2_000), ..key("4", "ci") }).await, "the first one has expired");
    assert!(!create(&*store, ApiKey { created: Time(2_000), ..key("5", "ci") }).await);
    store.revoke_api_key("4", Time(3_000)).await.expect("an answer");
    assert!(create(&*store, ApiKey { created: Time(3_000), ..key("6", "ci") }).await);
}
