//! Tests: each layer beats the lower ones for every key, and says that it did.
//! The table is walked, so that a new key is tested without a new test.

use longhaul_core::task::Patience;

use super::super::key::Key;
use super::super::keys::{KEYS, defaults};
use super::super::load::{Loaded, Overrides};
use super::super::value::{Raw, Value};
use super::{World, line, samples, set, value};

const LAYERS: [&str; 5] = ["default", "user", "workspace", "environment", "flag"];

/// The world in which a layer sets a key to a word; a flag is returned as an override.
fn with_layer(world: World, layer: &str, key: &'static Key, word: &str) -> (World, Overrides) {
    match layer {
        "user" => (world.user(&line(key, word)), Overrides::default()),
        "workspace" => (world.trusted(&line(key, word)), Overrides::default()),
        "environment" => (world.var(&key.variable(), word), Overrides::default()),
        "flag" => (world, Overrides::default().word(key.name, "--flag", Some(word))),
        _ => (world, Overrides::default()),
    }
}

fn loaded(world: &World, overrides: &Overrides) -> Loaded {
    world.sources().load(overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn each_layer_beats_every_lower_one_for_every_key() {
    for key in KEYS {
        for (rank, higher) in LAYERS.iter().enumerate().skip(1) {
            for lower in &LAYERS[..rank] {
                for [below, above] in [samples(key), {
                    let [a, b] = samples(key);
                    [b, a]
                }] {
                    let (world, _) = with_layer(World::new(), lower, key, below);
                    let (world, overrides) = with_layer(world, higher, key, above);
                    let mut loaded = loaded(&world, &overrides);
                    assert_eq!(set(&mut loaded, key), value(key, above), "{}: {higher} over {lower}", key.name);
                    assert_eq!(loaded.origins[key.name].layer(), *higher, "{}: {higher} over {lower}", key.name);
                    assert_eq!(loaded.notices, []);
                }
            }
        }
    }
}

#[test]
fn a_layer_leaves_the_other_keys_alone() {
    for key in KEYS {
        let (world, overrides) = with_layer(World::new(), "user", key, samples(key)[1]);
        let mut loaded = loaded(&world, &overrides);
        for other in KEYS.iter().filter(|other| other.name != key.name) {
            assert_eq!(set(&mut loaded, other), other.value(&mut defaults()), "{} by {}", other.name, key.name);
            assert_eq!(loaded.origins[other.name].layer(), "default");
        }
    }
}

#[test]
fn every_documented_default_holds_when_nothing_is_set() {
    let expected = [
        ("agent", "\"none\""),
        ("fallbacks", "[]"),
        ("sandbox", "\"workspace\""),
        ("network", "false"),
        ("model", "\"none\""),
        ("workspace.in_place", "false"),
        ("workspace.setup", "\"none\""),
        ("workspace.copy", "[]"),
        ("verify.commands", "[]"),
        ("verify.where", "\"auto\""),
        ("verify.deadline", "\"30m\""),
        ("verify.fix_attempts", "3"),
        ("limits.max_sessions", "\"none\""),
        ("limits.max_time", "\"5h\""),
        ("limits.max_tokens", "\"none\""),
        ("limits.max_cost", "\"none\""),
        ("limits.idle_sessions", "3"),
        ("limits.attempts", "5"),
        ("limits.session_wall", "\"5h\""),
        ("limits.session_silence", "\"30m\""),
        ("limits.spare_busy", "false"),
        ("limits.backoff", "\"2s\""),
        ("limits.backoff_cap", "\"10m\""),
        ("limits.longest_wait", "\"8d\""),
        ("children.max", "20"),
        ("children.depth", "2"),
        ("session.delay", "\"3s\""),
        ("session.context", "\"auto\""),
        ("session.on_limit", "\"wait\""),
        ("session.hours", "\"none\""),
        ("session.linger", "\"1m\""),
        ("session.inhibit_sleep", "true"),
        ("session.scopes", "true"),
        ("floors.memory", "\"256MiB\""),
        ("floors.disk", "\"1GiB\""),
        ("log.segment", "\"16MiB\""),
        ("log.cap", "\"256MiB\""),
        ("land.trailer", "true"),
        ("retention.age", "\"30d\""),
        ("retention.count", "1000"),
        ("retention.bytes", "\"10GiB\""),
        ("retention.automatic", "true"),
        ("env.need", "[]"),
        ("env.only", "\"none\""),
        ("redact.extra", "[]"),
        ("prompts.project", "false"),
        ("serve.projects", "[]"),
        ("notify.on", "[\"done\", \"failed\", \"needs_person\", \"limit\", \"stopped\"]"),
        ("notify.command", "[]"),
        ("notify.file", "\"none\""),
        ("notify.webhook", "\"none\""),
        ("notify.webhook_secret_env", "\"none\""),
        ("notify.desktop", "\"none\""),
        ("notify.terminal", "true"),
        ("notify.timeout", "\"30s\""),
    ];
    let mut loaded = World::new().load().unwrap();
    let held: Vec<(&str, String)> = KEYS.iter().map(|key| (key.name, key.kind.show(&set(&mut loaded, key)))).collect();
    assert_eq!(held, expected.map(|(name, shown)| (name, shown.to_owned())));
    assert!(loaded.origins.values().all(|origin| origin.layer() == "default"));
}

#[test]
fn the_defaults_are_those_of_the_core() {
    let configured = Patience { log_segment: None, log_cap: None, ..defaults().patience };
    assert_eq!(configured, Patience::default());
}

#[test]
fn what_is_shown_is_a_file_that_means_the_same() {
    for pick in [0, 1] {
        let text: String = KEYS.iter().map(|key| line(key, samples(key)[pick])).collect();
        let mut loaded = World::new().user(&text).load().unwrap();
        let shown: String =
            KEYS.iter().map(|key| format!("{} = {}\n", key.name, key.kind.show(&set(&mut loaded, key)))).collect();
        let again = World::new().user(&shown).load().unwrap();
        assert_eq!(again.settings, loaded.settings);
        assert_ne!(again.settings, defaults());
    }
}

#[test]
fn every_key_has_a_place_of_its_own() {
    for key in KEYS.iter().filter(|key| key.name != "agent") {
        let mut settings = defaults();
        let before = settings.clone();
        let other = samples(key).map(|word| value(key, word)).into_iter().find(|v| *v != key.value(&mut settings));
        assert!((key.place)(&mut settings).put(other.unwrap()), "{}", key.name);
        assert_ne!(settings, before, "{}", key.name);
    }
    let variables: std::collections::BTreeSet<String> = KEYS.iter().map(Key::variable).collect();
    assert_eq!(variables.len(), KEYS.len(), "no two keys share a variable");
}

#[test]
fn none_turns_a_limit_off_and_only_where_it_can() {
    for key in KEYS {
        let none = key.read(&Raw::Text("none".to_owned()));
        let is_name = key.name == "model";
        assert_eq!(none == Some(Value::Nothing), key.off.is_some(), "{}", key.name);
        assert!(none.is_none() || key.off.is_some() || is_name, "{}", key.name);
    }
    let world = World::new().user("[limits]\nmax_time = 'none'\n").var("LONGHAUL_ENV_ONLY", "none");
    assert_eq!(world.load().unwrap().settings.patience.max_time_ms, None);
}

#[test]
fn an_empty_variable_is_not_set() {
    for key in KEYS {
        let loaded = World::new().var(&key.variable(), "").load().unwrap();
        assert_eq!(loaded.origins[key.name].layer(), "default", "{}", key.name);
    }
}

#[test]
fn sections_may_be_written_as_tables_or_with_dots() {
    for text in ["limits.attempts = 9", "[limits]\nattempts = 9", "limits = { attempts = 9 }"] {
        assert_eq!(World::new().user(text).load().unwrap().settings.patience.attempts, 9, "{text}");
    }
}

#[test]
fn money_may_be_a_number_or_a_text_and_is_exact() {
    for (text, micros) in [("20", 20_000_000), ("0.1", 100_000), ("'7.50'", 7_500_000)] {
        let loaded = World::new().user(&format!("limits.max_cost = {text}")).load().unwrap();
        assert_eq!(loaded.settings.patience.max_cost_micros, Some(micros), "{text}");
    }
}
