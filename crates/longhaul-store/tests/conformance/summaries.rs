//! Promises about summaries: a list is shown from them alone, filtered and page by page.

use longhaul_core::task::{AgentLimit, Event, State, Usage, Wait, Workspace};
use longhaul_store::{Cursor, Filter, Store, Stored, Summaries, TaskSummary};

use super::Harness;
use super::sample::{
    advance, by_person, cancelled, claimed, ended, lease, mark, now, planned, started, submission, submit, submitted,
    task_id, waiting,
};

async fn page(store: &dyn Store, filter: Filter) -> Summaries {
    let page = store.summaries(filter).await.expect("summaries");
    assert_eq!(page.damaged, []);
    page
}

async fn summary_of(store: &dyn Store, seen: &Stored) -> TaskSummary {
    let filter = Filter { id_prefix: Some(seen.task.id.to_string()), ..Filter::default() };
    page(store, filter).await.tasks.into_iter().next().expect("a summary")
}

fn names(page: &Summaries) -> Vec<&str> {
    page.tasks.iter().map(|summary| summary.name.as_str()).collect()
}

pub(crate) async fn a_summary_carries_what_a_list_shows(harness: &dyn Harness) {
    let store = harness.open().await;
    let mut wanted = submission("one");
    wanted.goal = format!("\n port the parser\nand {}", "more ".repeat(100));
    let task = store.commit(submit(task_id(), wanted)).await.expect("a submission").stored;
    let bare = summary_of(&*store, &task).await;
    assert_eq!((bare.goal.as_str(), bare.agent.as_str()), ("port the parser", "codex"));
    assert_eq!((bare.branch, bare.step, bare.cost_micros, bare.worked_ms), (None, None, None, 0));
    let task = store.claim(task.task.id, 0, lease(), now()).await.expect("a claim").stored;
    let branch = Some("longhaul/one".to_owned());
    let (root, cwd) = ("/worktree".to_owned(), "/worktree".to_owned());
    let workspace = Workspace { root, cwd, branch: branch.clone(), base: None, git: None };
    let task = advance(&*store, &task, Event::Placed { workspace }).await;
    let task = store.commit(by_person(&task, vec![planned()])).await.expect("a plan").stored;
    let Event::SessionStarted { mut session } = started() else { panic!("a session") };
    session.usage = Usage { input: Some(5), output: Some(2), cost_micros: Some(70) };
    let task = advance(&*store, &task, Event::SessionStarted { session: session.clone() }).await;
    let task = advance(&*store, &task, ended(session.id)).await;
    let shown = summary_of(&*store, &task).await;
    assert_eq!((shown.branch, shown.step.as_deref()), (branch, Some("step 2")));
    assert_eq!((shown.tokens, shown.cost_micros, shown.worked_ms), (Some(7), Some(70), 1_000));
    let long = submission("long");
    let goal = "ä".repeat(300);
    let long = store.commit(submit(task_id(), longhaul_core::task::Submission { goal, ..long })).await;
    assert_eq!(summary_of(&*store, &long.expect("a submission").stored).await.goal, "ä".repeat(200));
}

pub(crate) async fn a_summary_says_what_its_task_waits_for(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = claimed(&*store, "one").await;
    assert_eq!(summary_of(&*store, &task).await.wait, None);
    let until = now();
    let limited =
        Event::AgentLimited { agent: "codex".into(), until, told: true, gone: None, account: None, found_by: None };
    let task = advance(&*store, &task, limited).await;
    assert!(matches!(task.task.limited.get("codex"), Some(AgentLimit { told: true, .. })));
    let task = advance(&*store, &task, waiting(Wait::Limit, until)).await;
    let shown = summary_of(&*store, &task).await;
    assert_eq!((shown.wait.as_ref(), shown.wait_agent.as_deref()), (Some(&task.task.state), Some("codex")));
    assert!(matches!(shown.wait, Some(State::Waiting { why: Wait::Limit, until: Some(at), .. }) if at == until));
    let task = store.commit(by_person(&task, vec![cancelled()])).await.expect("a cancel").stored;
    let shown = summary_of(&*store, &task).await;
    assert_eq!((shown.wait, shown.wait_agent), (None, None));
}

pub(crate) async fn a_summary_says_since_when_its_task_is_in_its_state(harness: &dyn Harness) {
    let store = harness.open().await;
    let task = claimed(&*store, "one").await;
    assert_eq!(summary_of(&*store, &task).await.since, task.task.created);
    let task = advance(&*store, &task, started()).await;
    let began = task.task.updated;
    let task = store.commit(by_person(&task, vec![mark("x")])).await.expect("a change").stored;
    let shown = summary_of(&*store, &task).await;
    assert_eq!(shown.since, began);
    assert!(shown.updated > began, "control");
}

pub(crate) async fn pages_follow_each_other_whatever_happens_between(harness: &dyn Harness) {
    let store = harness.open().await;
    for name in ["a", "b", "c", "d", "e"] {
        submitted(&*store, name).await;
    }
    let of = |after: Option<Cursor>| Filter { limit: Some(2), after, ..Filter::default() };
    let first = page(&*store, of(None)).await;
    assert_eq!((names(&first), first.next), (vec!["e", "d"], first.tasks.last().map(TaskSummary::cursor)));
    submitted(&*store, "new").await;
    let text = first.next.expect("more").to_string();
    let second = page(&*store, of(text.parse().ok())).await;
    assert_eq!(names(&second), ["c", "b"]);
    let last = page(&*store, of(second.next)).await;
    assert_eq!((names(&last), last.next), (vec!["a"], None));
    let all = page(&*store, Filter { limit: Some(6), ..Filter::default() }).await;
    assert_eq!((all.tasks.len(), all.next), (6, None), "a full page is the last one if nothing follows");
    for bad in ["", "7", "x.y", "7.y"] {
        assert!(bad.parse::<Cursor>().is_err(), "{bad}");
    }
}

pub(crate) async fn summaries_are_filtered_by_agent_and_by_last_event(harness: &dyn Harness) {
    let store = harness.open().await;
    let old = submitted(&*store, "old").await;
    let mut other = submission("other");
    other.agent = "claude".into();
    let other = store.commit(submit(task_id(), other)).await.expect("a submission").stored;
    let of = |agent: &str| Filter { agent: Some(agent.into()), ..Filter::default() };
    assert_eq!(names(&page(&*store, of("codex")).await), ["old"]);
    assert_eq!(names(&page(&*store, of("claude")).await), ["other"]);
    assert!(page(&*store, of("none")).await.tasks.is_empty());
    let recent = |since| Filter { updated_since: Some(since), ..Filter::default() };
    assert_eq!(names(&page(&*store, recent(other.task.updated)).await), ["other"]);
    assert_eq!(names(&page(&*store, recent(old.task.updated)).await), ["other", "old"]);
    store.commit(by_person(&old, vec![mark("x")])).await.expect("a change");
    assert_eq!(names(&page(&*store, recent(other.task.updated)).await), ["other", "old"]);
}
