//! Every key must change something, and a test must show it. A key without one is listed here by name, until it has one.
//!
//! To add an effect test: write it, put it into `EFFECTS`, take the key out of `WITHOUT_YET`.

mod agents;
mod keys;
mod logs;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::env::TestEnv;
use crate::{checks, children, clean_checks, floors, http, scopes, waiting, workspace_setup};

/// A key and the test that shows what it does.
const EFFECTS: &[(&str, fn())] = &[
    ("agent", logs::agent),
    ("fallbacks", agents::fallbacks),
    ("sandbox", agents::sandbox),
    ("network", agents::network),
    ("model", the_model_reaches_the_task),
    ("workspace.in_place", keys::workspace_in_place),
    ("workspace.setup", clean_checks::setup_comes_first_and_makes_auto_clean),
    ("workspace.copy", workspace_setup::ignored_files_are_copied_and_links_and_others_are_not),
    ("verify.commands", keys::verify_commands),
    ("verify.where", clean_checks::what_git_ignores_is_not_there),
    ("verify.deadline", checks::a_check_that_hangs_is_ended_at_its_deadline_with_all_it_started),
    ("verify.fix_attempts", keys::verify_fix_attempts),
    ("limits.max_sessions", keys::limits_max_sessions),
    ("limits.max_time", keys::limits_max_time),
    ("limits.max_tokens", keys::limits_max_tokens),
    ("limits.max_cost", keys::limits_max_cost),
    ("limits.idle_sessions", keys::limits_idle_sessions),
    ("limits.attempts", keys::limits_attempts),
    ("limits.session_wall", keys::limits_session_wall),
    ("limits.session_silence", keys::limits_session_silence),
    ("limits.spare_busy", keys::limits_spare_busy),
    ("limits.backoff", keys::limits_backoff),
    ("limits.backoff_cap", keys::limits_backoff_cap),
    ("limits.longest_wait", agents::limits_longest_wait),
    ("children.max", children::a_family_is_neither_larger_nor_deeper_than_configured),
    ("children.depth", children::a_family_is_neither_larger_nor_deeper_than_configured),
    ("session.delay", keys::session_delay),
    ("session.context", agents::session_context),
    ("session.on_limit", agents::session_on_limit),
    ("session.hours", agents::session_hours),
    ("session.linger", agents::session_linger),
    ("session.inhibit_sleep", waiting::the_machine_is_kept_awake_exactly_while_a_session_runs),
    ("session.scopes", scopes::a_scope_is_made_only_where_it_is_wanted),
    ("floors.memory", floors::too_little_memory_blocks_and_a_person_may_give_up),
    ("floors.disk", floors::a_full_disk_blocks_before_a_session_and_heals_by_itself),
    ("log.segment", logs::log_segment),
    ("log.cap", logs::log_cap),
    ("env.need", keys::env_need),
    ("env.only", keys::env_only),
    ("redact.extra", logs::redact_extra),
    ("prompts.project", agents::prompts_project),
    ("serve.projects", http::a_task_is_only_submitted_where_the_configuration_allows_it),
    crate::landing::EFFECT,
    crate::gc::EFFECTS[0],
    crate::gc::EFFECTS[1],
    crate::gc::EFFECTS[2],
    crate::gc::EFFECTS[3],
    crate::notify::EFFECTS[0],
    crate::notify::EFFECTS[1],
    crate::notify::EFFECTS[2],
    crate::notify::EFFECTS[3],
    crate::notify::EFFECTS[4],
    crate::notify::EFFECTS[5],
    crate::notify::EFFECTS[6],
    crate::notify::EFFECTS[7],
];

/// Keys whose effect no test shows yet.
const WITHOUT_YET: &[&str] = &[];

/// What is wrong with the two lists, given the keys there are.
fn complaints(keys: &BTreeSet<String>, shown: &BTreeSet<String>, without: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for key in keys.union(shown).chain(without) {
        match (keys.contains(key), shown.contains(key), without.contains(key)) {
            (false, ..) => found.push(format!("`{key}` is no key")),
            (true, true, true) => found.push(format!("`{key}` has its test; take it out of WITHOUT_YET")),
            (true, false, false) => found.push(format!("`{key}` has no test that shows its effect")),
            (true, true, false) | (true, false, true) => {}
        }
    }
    found
}

fn set<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn every_key_has_a_test_of_its_effect_or_is_listed_as_lacking_one() {
    let document = TestEnv::new().json(&["config", "show"]);
    let rows = document["keys"].as_array().unwrap();
    let keys = set(rows.iter().map(|row| row["key"].as_str().unwrap()));
    let shown = set(EFFECTS.iter().map(|(key, _)| *key));
    assert_eq!(shown.len(), EFFECTS.len(), "a key is in EFFECTS once");
    assert_eq!(complaints(&keys, &shown, &set(WITHOUT_YET.iter().copied())), Vec::<String>::new());
}

#[test]
fn the_control_a_new_a_gone_and_a_doubly_listed_key_are_found() {
    let found = complaints(&set(["new", "both", "fine"]), &set(["both", "fine"]), &set(["both", "gone"]));
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 3, "{found:?}");
}

#[test]
fn the_model_reaches_the_task() {
    let mut env = TestEnv::new();
    let model = |env: &TestEnv, more: &[&str]| -> Value {
        let name = env.submit("Do it", more);
        env.task(&name)["submission"]["model"].clone()
    };
    assert_eq!(model(&env, &[]), Value::Null);
    env.set("LONGHAUL_MODEL", "small");
    assert_eq!(model(&env, &[]), "small");
    assert_eq!(model(&env, &["--model", "large"]), "large");
    assert_eq!(model(&env, &["--model", "none"]), Value::Null);
}
