//! Promises about usage limits of accounts: written with the change that reports them, kept over openings, cleared by those who knew them.

use longhaul_core::task::{AccountLimit, Event, Setting, Until};
use longhaul_core::time::Time;
use longhaul_store::{Change, CommitError, Guard, Store, Stored};

use super::Harness;
use super::sample::{advance, by_owner, by_person, cancelled, claimed};

const SOON: Time = Time(2_000_000_000_000_000);
const LATER: Time = Time(2_000_000_001_000_000);

fn limited(account: &str, until: Time) -> Event {
    let (agent, account) = ("codex".to_owned(), Some(account.to_owned()));
    Event::AgentLimited { agent, until: Until::Time { at: until, told: true }, account, found_by: None }
}

/// A limit whose end was not reported.
fn guessed(account: &str, until: Time) -> Event {
    let (agent, account) = ("codex".to_owned(), Some(account.to_owned()));
    Event::AgentLimited { agent, until: Until::Time { at: until, told: false }, account, found_by: None }
}

fn limit(account: &str, until: Time, by: &Stored) -> AccountLimit {
    AccountLimit { account: account.into(), agent: "codex".into(), until, told: true, task: by.task.id }
}

async fn limits(store: &dyn Store) -> Vec<AccountLimit> {
    store.account_limits().await.expect("limits")
}

pub(crate) async fn a_limit_is_shared_with_the_change_that_reports_it(harness: &dyn Harness) {
    let store = harness.open().await;
    let (one, other) = (claimed(&*store, "one").await, claimed(&*store, "other").await);
    let stale = Change { guard: Guard::Version(99), ..by_owner(&one, vec![limited("a", SOON)]) };
    assert!(matches!(store.commit(stale).await, Err(CommitError::Conflict)));
    assert_eq!(limits(&*store).await, [], "what was refused reports nothing");
    advance(&*store, &one, limited("a", SOON)).await;
    advance(&*store, &other, limited("b", SOON)).await;
    let store = harness.open().await;
    assert_eq!(limits(&*store).await, [limit("a", SOON, &one), limit("b", SOON, &other)]);
    let third = claimed(&*store, "third").await;
    let third = advance(&*store, &third, limited("a", LATER)).await;
    assert_eq!(limits(&*store).await[0], limit("a", LATER, &third), "an account has one limit, the last reported");
    store.commit(by_person(&third, vec![cancelled()])).await.expect("a cancel");
    assert_eq!(limits(&*store).await.len(), 2, "it is the account's, not the task's");
}

pub(crate) async fn a_limit_is_cleared_by_whoever_knew_it(harness: &dyn Harness) {
    let store = harness.open().await;
    let (one, other) = (claimed(&*store, "one").await, claimed(&*store, "other").await);
    let one = advance(&*store, &one, limited("a", SOON)).await;
    let chosen = Event::Edited { settings: vec![Setting::Agent("codex".into())], by: None };
    store.commit(by_person(&other, vec![chosen.clone()])).await.expect("an edit");
    assert_eq!(limits(&*store).await, [limit("a", SOON, &one)], "this task knew of none");
    store.commit(by_person(&one, vec![chosen.clone()])).await.expect("an edit");
    assert_eq!(limits(&*store).await, []);
    let two = claimed(&*store, "two").await;
    let two = advance(&*store, &two, limited("a", SOON)).await;
    let three = claimed(&*store, "three").await;
    let three = advance(&*store, &three, limited("a", LATER)).await;
    store.commit(by_person(&two, vec![chosen])).await.expect("an edit");
    assert_eq!(limits(&*store).await, [limit("a", LATER, &three)], "a later one was reported meanwhile");
}

pub(crate) async fn a_guess_does_not_shorten_a_reported_limit(harness: &dyn Harness) {
    let store = harness.open().await;
    let (one, other) = (claimed(&*store, "one").await, claimed(&*store, "other").await);
    let one = advance(&*store, &one, limited("a", LATER)).await;
    advance(&*store, &other, guessed("a", SOON)).await;
    assert_eq!(limits(&*store).await, [limit("a", LATER, &one)]);
    let last = Time(LATER.0 + 1);
    let third = claimed(&*store, "third").await;
    let third = advance(&*store, &third, guessed("a", last)).await;
    assert_eq!(limits(&*store).await, [AccountLimit { told: false, ..limit("a", last, &third) }], "it ends later");
    let fourth = claimed(&*store, "fourth").await;
    let fourth = advance(&*store, &fourth, limited("a", SOON)).await;
    assert_eq!(limits(&*store).await, [limit("a", SOON, &fourth)], "a report replaces a guess");
}
