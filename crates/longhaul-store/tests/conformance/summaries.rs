//! Promises about summaries: a list is shown from them alone, filtered and page by page.

use longhaul_core::names::TaskName;
use longhaul_core::task::{
    AgentLimit, Driver, Event, Links, Report, RunStatus, State, Submission, Until, Usage, Verdict, Wait, Workspace,
};
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
    let told = Until::Time { at: until, told: true };
    let limited = Event::AgentLimited { agent: "codex".into(), until: told, account: None, found_by: None };
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

async fn tracked(store: &dyn Store, name: &str) -> Stored {
    let valid = TaskName::new(name).expect("a valid name");
    let run = Submission::tracked("crawl", valid, "/project".into(), &[], Links::default());
    store.commit(submit(task_id(), run)).await.expect("a run").stored
}

/// The columns say of every task what `RunStatus::of` says of it.
pub(crate) async fn tasks_are_filtered_by_status_driver_and_age(harness: &dyn Harness) {
    let store = harness.open().await;
    let send =
        async |seen: &Stored, event: Event| store.commit(by_person(seen, vec![event])).await.expect("a change").stored;
    let mut tasks = vec![submitted(&*store, "queued").await, claimed(&*store, "preparing").await];
    let paused = submitted(&*store, "paused").await;
    tasks.push(send(&paused, Event::Paused { why: None }).await);
    let ran = claimed(&*store, "ran").await;
    let ran = advance(&*store, &ran, started()).await;
    let session = ran.task.state.session().expect("a session").id;
    let ran = advance(&*store, &ran, ended(session)).await;
    let ran = send(&ran, Event::Paused { why: None }).await;
    tasks.push(send(&ran, Event::Resumed { reason: None }).await);
    let gone = submitted(&*store, "gone").await;
    tasks.push(send(&gone, cancelled()).await);
    let middle = tasks.last().expect("a task").task.created;
    tasks.push(tracked(&*store, "running").await);
    let asking = tracked(&*store, "asking").await;
    let help = Event::HelpAsked { reason: "no password".into(), hint: None, report: Report::default() };
    tasks.push(send(&asking, help).await);
    let failed = tracked(&*store, "failed").await;
    tasks.push(send(&failed, Event::Failed { reason: None }).await);
    let done = tracked(&*store, "done").await;
    tasks.push(send(&done, Event::Finished { verdict: Verdict::NoChecks }).await);
    let mut seen = 0;
    for status in RunStatus::ALL {
        let found = page(&*store, Filter { status: Some(status), ..Filter::default() }).await;
        let mut expected: Vec<&str> = tasks
            .iter()
            .filter(|stored| RunStatus::of(&stored.task) == status)
            .map(|stored| stored.task.submission.name.as_str())
            .collect();
        expected.reverse();
        assert!(!expected.is_empty(), "{status:?}: the control");
        assert_eq!(names(&found), expected, "{status:?}");
        seen += expected.len();
    }
    assert_eq!(seen, tasks.len(), "every task has one status");
    let external = Filter { driver: Some(Driver::External), ..Filter::default() };
    assert_eq!(names(&page(&*store, external).await), ["done", "failed", "asking", "running"]);
    let since = Filter { created_since: Some(middle), ..Filter::default() };
    assert_eq!(names(&page(&*store, since).await), ["done", "failed", "asking", "running", "gone"]);
}

pub(crate) async fn a_tracked_run_is_never_claimed(harness: &dyn Harness) {
    let store = harness.open().await;
    let run = tracked(&*store, "run").await;
    let report = Report { summary: Some("page 2\nof 9".into()), ..Report::default() };
    let run = store.commit(by_person(&run, vec![Event::Reported { report }])).await.expect("a report").stored;
    let shown = summary_of(&*store, &run).await;
    assert_eq!((shown.step.as_deref(), shown.wait.as_ref()), (Some("page 2"), Some(&run.task.state)));
    assert_eq!((shown.driver, shown.wants_owner, shown.waits_for_person), (Driver::External, false, false));
    assert!(store.candidates().await.expect("candidates").is_empty());
    assert!(store.claim(run.task.id, 0, lease(), now()).await.is_err());
    assert_eq!(store.works_in("/project").await.expect("an answer"), None, "it works in no directory of ours");
}
