//! The last words of an invocation, with a real store and other claimers: what is somebody else's holds nobody up.
//! Times are bounded by far less than one try may take, so that a wait on the wrong thing is seen.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_core::names::TaskName;
use longhaul_core::task::{Actor, Event, Notify, Occasion, Submission, Target, Verdict};
use longhaul_keeper::Executable;
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Change, Guard, NewLease, Notice, NoticeState, Stored};

use super::deliver_of;
use crate::worker::Context;
use longhaul_app::{Home, mint_lease, mint_task, now};

/// As long as one try may take here: far longer than any of these tests.
const PATIENCE: Duration = Duration::from_secs(300);

async fn finished(context: &Context, targets: Vec<Target>) -> Stored {
    let timeout_ms = u64::try_from(PATIENCE.as_millis()).unwrap();
    let notify = Notify { on: vec![Occasion::Done], targets, timeout_ms };
    let submission = Submission::new("reach it".into(), TaskName::new("t").unwrap(), "/project".into(), "demo".into());
    let submission = Arc::new(Submission { notify, ..submission });
    let lease = NewLease { id: mint_lease(), worker: context.worker, host: context.host.clone() };
    let change = Change {
        task: mint_task(),
        guard: Guard::New,
        events: vec![Event::Submitted { submission }],
        actor: Actor::person("ann"),
        at: now(),
        key: None,
        claim: Some(lease),
        session_cap: None,
    };
    let stored = context.store.commit(change.clone()).await.unwrap().stored;
    let guard = Guard::Owner { version: stored.task.version, lease: stored.owner.unwrap().lease };
    let events = vec![Event::Finished { verdict: Verdict::NoChecks }];
    let end = Change { task: stored.task.id, guard, events, claim: None, at: now(), ..change };
    context.store.commit(end).await.unwrap().stored
}

fn scene(directory: &Path) -> Arc<Context> {
    let home = Home::create(&directory.join("home")).unwrap();
    let store = Arc::new(SqliteStore::open(home.root()).unwrap());
    Arc::new(Context::new(store, home, Executable::open_own().unwrap(), |_| {}))
}

fn file(directory: &Path, name: &str) -> Target {
    Target::File { path: directory.join(name).display().to_string() }
}

async fn notices(context: &Context, stored: &Stored) -> Vec<Notice> {
    context.store.notices(stored.task.id).await.unwrap()
}

#[tokio::test]
async fn what_another_has_claimed_is_not_waited_for_and_the_rest_is_delivered() {
    let directory = tempfile::tempdir().unwrap();
    let context = scene(directory.path());
    let targets = vec![file(directory.path(), "theirs"), file(directory.path(), "ours")];
    let stored = finished(&context, targets).await;
    let theirs = notices(&context, &stored).await[0].id;
    assert!(context.store.claim_notice(theirs, 0, now().after(PATIENCE)).await.unwrap());
    let begun = Instant::now();
    deliver_of(&context, &stored.task).await;
    assert!(begun.elapsed() < PATIENCE / 3, "it slept on somebody else's claim");
    let states: Vec<_> = notices(&context, &stored).await.iter().map(|notice| (notice.state, notice.tries)).collect();
    assert_eq!(states, [(NoticeState::Pending, 1), (NoticeState::Delivered, 1)]);
    assert!(directory.path().join("ours").is_file() && !directory.path().join("theirs").exists());
}

#[tokio::test]
async fn all_of_its_own_are_delivered_and_then_it_ends() {
    let directory = tempfile::tempdir().unwrap();
    let context = scene(directory.path());
    let stored = finished(&context, vec![file(directory.path(), "one"), file(directory.path(), "other")]).await;
    let begun = Instant::now();
    deliver_of(&context, &stored.task).await;
    assert!(begun.elapsed() < PATIENCE / 3);
    assert!(notices(&context, &stored).await.iter().all(|notice| notice.state == NoticeState::Delivered));
}

#[tokio::test]
async fn what_it_has_no_variable_for_is_given_back_and_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let context = scene(directory.path());
    let url = "$NO_SUCH_VARIABLE_HERE".to_owned();
    let stored = finished(&context, vec![Target::Webhook { url, secret_env: None }]).await;
    let begun = Instant::now();
    deliver_of(&context, &stored.task).await;
    assert!(begun.elapsed() < PATIENCE / 3);
    let notice = &notices(&context, &stored).await[0];
    assert_eq!((notice.state, notice.tries), (NoticeState::Pending, 0));
    assert_eq!(notice.error.as_deref(), Some("variable `NO_SUCH_VARIABLE_HERE` is not set"));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_asked_again_until_its_tries_are_used_up() {
    let directory = tempfile::tempdir().unwrap();
    let context = scene(directory.path());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let stored = finished(&context, vec![Target::Webhook { url, secret_env: None }]).await;
    deliver_of(&context, &stored.task).await;
    let notice = &notices(&context, &stored).await[0];
    assert_eq!((notice.state, notice.tries), (NoticeState::Failed, 5), "{:?}", notice.error);
}
