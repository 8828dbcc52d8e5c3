//! Two real programs on one task: while the first has reached its limit the second goes on by the handover files, and the first
//! returns when its quota is back.

use std::time::{Duration, UNIX_EPOCH};

use std::sync::OnceLock;
use std::time::Instant;

use longhaul_scripted_model::{
    Agent, Answer, Dialect, Login, Place, Refusal, Reply, Script, Turn, limited_for, worker,
};

use super::world::{PATIENCE, World, wait_for};

const SPAN: Duration = Duration::from_secs(10);

/// Codex is limited for a while; claude plans and does a step, and its last words of that wait for the test.
fn script() -> impl Script {
    let codex = limited_for(SPAN, worker);
    move |turn: &Turn| match turn.dialect {
        Dialect::Responses => codex.answer(turn),
        _ => match worker(turn) {
            Reply::Answer(answer) if answer.text.as_deref() == Some("done") => {
                Reply::Hang { at: Place::BeforeHeaders, then: Answer::text("done") }
            }
            reply => reply,
        },
    }
}

#[test]
fn another_agent_goes_on_until_the_quota_is_back() {
    let world = World::with(&[Agent::Codex, Agent::Claude], Login::Key, script());
    let task = world.submit_to(&["--agents", "codex,claude", "--on-limit", "switch", "--in-place"], &[]);
    assert!(world.server.wait_until_hanging(PATIENCE, 1), "claude works: {}", world.story(&task));
    let until = world.task(&task)["limited"]["codex"]["until"].as_i64().unwrap();
    wait_for("the quota", || (i64::try_from(UNIX_EPOCH.elapsed().ok()?.as_micros()).ok()? > until).then_some(()));
    world.server.release();
    world.finish(&task);
    let sessions = world.agent_sessions(&task);
    let agents: Vec<_> = sessions.iter().map(|session| session.run["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["codex", "claude", "claude", "codex"], "{}", world.story(&task));
    assert_eq!(sessions[1].run["opening"]["take_over"]["from"], "codex", "{:?}", sessions[1]);
    assert!(sessions[1..].iter().all(|session| session.ended["outcome"] == "completed"), "{sessions:?}");
    assert_eq!(world.task(&task)["tally"]["failures"], 0);
    let report = world.env.ok(&["report", &task]);
    assert!(report.contains("codex") && report.contains("claude"), "{report}");
    world.assert_no_prompt_twice(&task);
}

/// Codex is limited for a while in the middle of its first step; claude is limited for longer, at its first request.
fn both_limited() -> impl Script {
    let end = OnceLock::new();
    move |turn: &Turn| {
        if turn.dialect == Dialect::Messages {
            return Refusal::UsageLimit { resets_in: Duration::from_secs(600) }.into();
        }
        let in_mid_step = turn.results_since_prompt().any(|result| result.output.contains("made one.txt"));
        let end: Option<&Instant> =
            if in_mid_step { Some(end.get_or_init(|| Instant::now() + SPAN)) } else { end.get() };
        match end.and_then(|end| end.checked_duration_since(Instant::now())) {
            Some(left) => Refusal::UsageLimit { resets_in: left }.into(),
            None => worker(turn),
        }
    }
}

#[test]
fn a_stand_in_that_did_nothing_costs_nobody_a_conversation() {
    let world = World::with(&[Agent::Codex, Agent::Claude], Login::Subscription, both_limited());
    let task = world.submit_to(&["--agents", "codex,claude", "--on-limit", "switch", "--in-place"], &[]);
    world.finish(&task);
    let sessions = world.agent_sessions(&task);
    let agents: Vec<_> = sessions.iter().map(|session| session.run["agent"].as_str().unwrap()).collect();
    assert_eq!(agents[..4], ["codex", "codex", "claude", "codex"], "{}", world.story(&task));
    assert_eq!(sessions[3].run["resumes"], sessions[1].told, "{}", world.story(&task));
    assert_eq!(sessions[3].run["opening"], "continue", "{:?}", sessions[3].run);
    world.assert_no_prompt_twice(&task);
}
