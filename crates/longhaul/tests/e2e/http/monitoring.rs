//! What a monitor asks: whether anybody answers, whether tasks can be carried out, and the figures.

use serde_json::json;

use crate::env::TestEnv;

use super::client::Serving;
use super::{key, reader, runner};

#[test]
fn ready_means_that_a_worker_lives() {
    let env = TestEnv::new();
    let key = reader(&env);
    let mut idle = Serving::start(&env, &["--no-worker"]);
    assert_eq!(idle.send("GET", "/healthz", &[], "").status, 200);
    assert_eq!(idle.get(&key, "/readyz").error(), (503, "no_worker".to_owned()));
    let mut working = Serving::start(&env, &[]);
    let ready =
        crate::env::wait_for("the worker", || Some(idle.get(&key, "/readyz")).filter(|answer| answer.status == 200));
    assert_eq!(ready.body, "ready\n");
    assert_eq!(working.stop().0, Some(0));
    assert_eq!(idle.get(&key, "/readyz").error(), (503, "no_worker".to_owned()));
    assert_eq!(idle.stop().0, Some(0));
}

#[test]
fn figures_are_those_of_the_tenant_and_grow() {
    let env = TestEnv::new();
    let (runner, foreign) = (runner(&env), key(&env, "foreign", "run", "acme"));
    let admin = key(&env, "admin", "admin", "default");
    let serving = Serving::start(&env, &["--no-worker"]);
    let run = serving.post(&runner, "/api/v1/runs", &json!({ "goal": "g" })).data();
    let id = run["task_run"]["run_id"].as_str().unwrap();
    let figure = |key: &str, name: &str| {
        let answer = serving.get(key, "/metrics");
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.ends_with("# EOF\n") && answer.head.contains("application/openmetrics-text"), "{answer:?}");
        let line = answer.body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(|value| value.parse::<f64>().unwrap())
    };
    let submitted = "longhaul_events_total{kind=\"submitted\"}";
    let tracked = "longhaul_unfinished_tasks{state=\"tracked\"}";
    let ended = "longhaul_task_seconds_count{end=\"no_checks\"}";
    assert_eq!((figure(&runner, submitted), figure(&runner, tracked)), (Some(1.0), Some(1.0)));
    assert_eq!((figure(&foreign, submitted), figure(&foreign, tracked)), (None, None));
    serving.post(&runner, &format!("/api/v1/runs/{id}/complete"), &json!({})).data();
    serving.post(&foreign, "/api/v1/runs", &json!({ "goal": "g" })).data();
    assert_eq!((figure(&runner, ended), figure(&runner, tracked)), (Some(1.0), None));
    assert_eq!((figure(&runner, submitted), figure(&foreign, submitted)), (Some(1.0), Some(1.0)));
    assert_eq!((figure(&admin, submitted), figure(&admin, ended)), (Some(2.0), Some(1.0)), "the whole home");
    assert_eq!(figure(&runner, submitted), Some(1.0), "nothing is counted twice");
}
