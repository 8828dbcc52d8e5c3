//! Limits that the real programs meet: a rate limit of unknown length is waited out by probes, a usage limit with a time until that
//! time and over a worker's death, and money that is gone is for a person. None of them burns an attempt.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use longhaul_scripted_model::{Agent, Login, Refusal, Reply, Turn, limited_for, sprinter, worker};
use serde_json::{Value, json};

use super::world::World;

/// How long the limits with a time last.
const SPAN: Duration = Duration::from_secs(8);

fn now_us() -> i64 {
    i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_micros()).unwrap()
}

fn assert_no_attempt_burned(world: &World, task: &str) {
    let stored = world.task(task);
    assert_eq!(stored["tally"]["failures"], 0, "{}", world.story(task));
    assert_eq!(world.agent_sessions(task).len(), 1, "{}", world.story(task));
}

fn assert_listed_as_limited(world: &World, task: &str, agent: Agent) {
    let list = world.env.ok(&["list"]);
    let shown = format!("limit of {}", agent.name());
    assert!(list.lines().any(|line| line.contains(task) && line.contains(&shown)), "{list}");
}

/// Refuses for ever. Opencode waits as long as it is told between its six tries, without being told more than a minute in all, and
/// hands on what the last one was told: so that one is told nothing.
fn for_ever(agent: Agent) -> impl Fn(&Turn) -> Reply + Send + Sync + 'static {
    let told = AtomicUsize::new(0);
    move |_: &Turn| {
        let hurries = agent == Agent::OpenCode && told.fetch_add(1, Ordering::SeqCst) < 5;
        Refusal::RateLimited { retry_after: hurries.then_some(Duration::from_secs(1)) }.into()
    }
}

fn a_rate_limit_is_probed(agent: Agent) {
    let world = World::new(agent, for_ever(agent));
    let task = world.submit(agent, &[]);
    let waiting = world.reach(&task, "waiting");
    assert_eq!(waiting["state"]["why"], "limit", "{}", world.story(&task));
    let left = waiting["state"]["until"].as_i64().unwrap() - now_us();
    assert!((100_000_000..302_000_000).contains(&left), "the first probe comes in five minutes: {left}");
    assert_no_attempt_burned(&world, &task);
    assert_listed_as_limited(&world, &task, agent);
    world.env.ok(&["cancel", &task]);
    assert_eq!(world.settle(&task), "cancelled");
}

/// The time is the vendor's, to the second, and not that of the text, which tells minutes.
fn a_usage_limit_is_waited_out(agent: Agent, login: Login) {
    let world = World::with(&[agent], login, limited_for(SPAN, sprinter));
    let task = world.submit(agent, &[]);
    let waiting = world.reach(&task, "waiting");
    assert_eq!(waiting["state"]["why"], "limit", "{}", world.story(&task));
    let until = waiting["state"]["until"].as_i64().unwrap();
    world.env.owner(&task).unwrap().kill_9();
    assert_eq!(world.task(&task)["state"], waiting["state"], "the wait is on disk");
    assert_no_attempt_burned(&world, &task);
    assert_listed_as_limited(&world, &task, agent);
    world.start_worker();
    world.finish(&task);
    let begun = world.server.requests()[0].at.duration_since(UNIX_EPOCH).unwrap();
    let over = i64::try_from((begun + SPAN).as_micros()).unwrap();
    assert!((over..over + 2_100_000).contains(&until), "told {over}, waited until {until}");
    let sessions = world.agent_sessions(&task);
    let [limited, resumed] = &sessions[..] else { panic!("one try after the wait: {}", world.story(&task)) };
    assert!(resumed.stored["at_us"].as_i64().unwrap() >= until, "not before its time");
    assert_eq!(resumed.run["resumes"], limited.told);
    world.assert_no_prompt_twice(&task);
}

fn settled_reason(agent: Agent, refusal: Refusal) -> (World, String, Value) {
    let world = World::new(agent, move |_: &Turn| Reply::from(refusal.clone()));
    let task = world.submit(agent, &[]);
    assert_eq!(world.settle(&task), "needs_help", "{}", world.story(&task));
    assert_no_attempt_burned(&world, &task);
    let reason = world.task(&task)["state"]["reason"].clone();
    (world, task, reason)
}

fn quota_that_is_gone_is_for_a_person(agent: Agent, refusal: Refusal) {
    let (world, task, reason) = settled_reason(agent, refusal);
    assert_eq!(reason["exhausted"]["agent"], agent.name(), "{reason}");
    assert!(world.env.ok(&["why", &task]).contains(agent.name()));
}

#[test]
fn codex_a_rate_limit_is_probed() {
    a_rate_limit_is_probed(Agent::Codex);
}

#[test]
fn claude_a_rate_limit_is_probed() {
    a_rate_limit_is_probed(Agent::Claude);
}

#[test]
fn opencode_a_rate_limit_is_probed() {
    a_rate_limit_is_probed(Agent::OpenCode);
}

#[test]
fn pi_a_rate_limit_is_probed() {
    a_rate_limit_is_probed(Agent::Pi);
}

#[test]
fn gemini_a_rate_limit_is_probed() {
    a_rate_limit_is_probed(Agent::Gemini);
}

#[test]
fn codex_a_usage_limit_is_waited_out() {
    a_usage_limit_is_waited_out(Agent::Codex, Login::Key);
}

/// With a key claude ignores what the limit's headers say; only a subscription knows the time.
#[test]
fn claude_a_usage_limit_is_waited_out() {
    a_usage_limit_is_waited_out(Agent::Claude, Login::Subscription);
}

/// The worker until it has made the first file; then the plan is used up for a long time.
fn limited_after_the_first_step(turn: &Turn) -> Reply {
    match turn.results_since_prompt().any(|result| result.output.contains("made one.txt")) {
        true => Refusal::UsageLimit { resets_in: Duration::from_secs(3600) }.into(),
        false => worker(turn),
    }
}

/// Codex tells the tokens of a turn only when it completes; its own record has them.
#[test]
fn codex_tokens_of_a_session_that_ended_at_a_limit_are_counted() {
    let world = World::new(Agent::Codex, limited_after_the_first_step);
    let task = world.submit(Agent::Codex, &[]);
    world.reach(&task, "waiting");
    let sessions = world.env.json(&["report", &task])["sessions"].as_array().unwrap().clone();
    let tokens: Vec<_> = sessions.iter().map(|session| session["tokens"].clone()).collect();
    assert_eq!(tokens, [220, 110], "the plan took two answers, the step one: {}", world.story(&task));
    world.env.ok(&["cancel", &task]);
    assert_eq!(world.settle(&task), "cancelled");
}

/// What one task found out about the account, the next one knows.
#[test]
fn codex_the_next_task_of_a_limited_account_asks_nothing() {
    let world = World::new(Agent::Codex, limited_for(Duration::from_secs(3600), sprinter));
    let first = world.submit(Agent::Codex, &["--name", "first"]);
    world.reach(&first, "waiting");
    let asked = world.server.turns().len();
    for name in ["second", "third"] {
        let next = world.submit(Agent::Codex, &["--name", name]);
        world.reach(&next, "waiting");
        assert_eq!(world.agent_sessions(&next).len(), 0, "{}", world.story(&next));
        assert!(world.env.ok(&["why", &next]).contains("(usage limit of codex) until "));
    }
    assert_eq!(world.server.turns().len(), asked, "nobody asked the model again");
    let agents = world.env.ok(&["agents"]);
    assert!(agents.contains("usage limit until ") && agents.contains("account: codex, CODEX_HOME="), "{agents}");
    assert!(agents.contains("unknown (SCRIPTED_KEY is set)"), "a provider with its own key: {agents}");
    assert!(!agents.contains("scripted-key"), "{agents}");
    for name in ["first", "second", "third"] {
        world.env.ok(&["cancel", name]);
    }
    assert_eq!(world.settle("third"), "cancelled");
}

#[test]
fn codex_quota_that_is_gone_is_for_a_person() {
    quota_that_is_gone_is_for_a_person(Agent::Codex, Refusal::QuotaGone);
}

#[test]
fn claude_quota_that_is_gone_is_for_a_person() {
    quota_that_is_gone_is_for_a_person(Agent::Claude, Refusal::QuotaGone);
}

/// It tries again as with any 429, so it is told to be quick.
#[test]
fn opencode_quota_that_is_gone_is_for_a_person() {
    let error = json!({"message": "You exceeded your current quota", "type": "insufficient_quota",
        "code": "insufficient_quota"});
    let headers = vec![("retry-after".to_owned(), "1".to_owned())];
    let refusal = Refusal::Raw { status: 429, headers, body: json!({"error": error}) };
    quota_that_is_gone_is_for_a_person(Agent::OpenCode, refusal);
}

#[test]
fn pi_quota_that_is_gone_is_for_a_person() {
    quota_that_is_gone_is_for_a_person(Agent::Pi, Refusal::QuotaGone);
}

/// A quota per day comes back by itself, and nobody says when.
#[test]
fn gemini_a_daily_quota_is_probed() {
    let world = World::new(Agent::Gemini, |_: &Turn| Reply::from(Refusal::QuotaGone));
    let task = world.submit(Agent::Gemini, &[]);
    let waiting = world.reach(&task, "waiting");
    assert_eq!(waiting["state"]["why"], "limit", "{}", world.story(&task));
    assert_no_attempt_burned(&world, &task);
    world.env.ok(&["cancel", &task]);
    assert_eq!(world.settle(&task), "cancelled");
}
