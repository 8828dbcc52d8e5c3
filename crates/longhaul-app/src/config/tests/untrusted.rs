//! Tests: what a project's file may do before it is trusted, for every key by its rule.
//! The negative control is the same file, trusted.

use super::super::key::{Key, Untrusted};
use super::super::keys::KEYS;
use super::super::load::Notice;
use super::super::value::Value;
use super::{World, key, line, samples, set, value};
use crate::trust::Standing;

/// Whether a project's file may set this key to a word, over the user's own word.
fn taken(name: &str, users: &str, projects: &str) -> bool {
    let key = key(name);
    let world = World::new().user(&line(key, users)).workspace(&line(key, projects));
    let mut loaded = world.load().unwrap();
    let ignored = !loaded.notices.is_empty();
    let took = set(&mut loaded, key) == value(key, projects);
    let layer = loaded.origins[name].layer();
    assert_eq!((ignored, layer), if took { (false, "workspace") } else { (true, "user") }, "{name}");
    let trusted = world.trusted(&line(key, projects));
    let mut loaded = trusted.load().unwrap();
    assert_eq!(set(&mut loaded, key), value(key, projects), "the control: trusted, it counts");
    took
}

#[test]
fn every_key_follows_its_rule() {
    let has_two = |key: &&Key| samples(key)[0] != samples(key)[1];
    for key in KEYS.iter().filter(has_two) {
        let [low, high] = samples(key);
        let lowers = taken(key.name, high, low);
        let raises = taken(key.name, low, high);
        let expected = match key.untrusted {
            Untrusted::Any => (true, true),
            Untrusted::Lower => (true, false),
            Untrusted::Raise => (false, true),
            Untrusted::Nothing => (false, false),
        };
        assert_eq!((lowers, raises), expected, "{}", key.name);
        if key.off.is_some() {
            assert!(!taken(key.name, low, "none"), "{}: no limit is never harmless", key.name);
        }
    }
}

#[test]
fn what_runs_something_or_chooses_who_works_needs_trust() {
    let names = "agent fallbacks sandbox network model workspace.in_place workspace.setup workspace.copy verify.commands session.context session.on_limit \
                 session.hours env.need env.only redact.extra prompts.project notify.on notify.command notify.file notify.webhook \
                 notify.webhook_secret_env notify.desktop notify.terminal notify.timeout";
    for name in names.split_whitespace() {
        assert_eq!(key(name).untrusted, Untrusted::Nothing, "{name}");
    }
    let harmless: Vec<&str> = KEYS.iter().filter(|k| k.untrusted == Untrusted::Any).map(|k| k.name).collect();
    assert_eq!(harmless, ["session.delay", "land.trailer"]);
}

#[test]
fn a_strangers_file_loosens_nothing() {
    let text = "sandbox = 'full'\nnetwork = true\nfallbacks = ['demo']\nprompts.project = true\n";
    let loaded = World::new().workspace(text).load().unwrap();
    assert_eq!(loaded.settings, super::super::keys::defaults());
    let Notice::Ignored { keys, .. } = &loaded.notices[0] else { panic!("{:?}", loaded.notices) };
    assert_eq!(keys, &["sandbox", "network", "fallbacks", "prompts.project"]);
    let loaded = World::new().trusted(text).load().unwrap();
    assert!(loaded.settings.network && loaded.settings.prompts.project, "the control: trusted, it counts");
}

#[test]
fn a_limit_where_the_user_has_none_is_a_lower_one() {
    let loaded = World::new().workspace("limits.max_sessions = 4").load().unwrap();
    assert_eq!(loaded.settings.patience.max_sessions, Some(4));
}

#[test]
fn what_is_the_same_anyway_is_not_called_ignored() {
    let mut loaded = World::new().workspace("sandbox = 'workspace'\nverify.commands = []").load().unwrap();
    assert!(loaded.notices.is_empty());
    assert_eq!(loaded.origins["sandbox"].layer(), "default");
    assert_eq!(set(&mut loaded, key("sandbox")), Value::Text("workspace".to_owned()));
}

#[test]
fn the_notice_names_keys_reason_and_command() {
    let text = "model = 'x'\nlimits.max_time = '9h'\nsession.delay = '1s'\n";
    let world = World::new().workspace(text);
    let loaded = world.load().unwrap();
    let keys = vec!["model".to_owned(), "limits.max_time".to_owned()];
    let expected = |standing| vec![Notice::Ignored { project: world.project(), standing, keys: keys.clone() }];
    assert_eq!(loaded.notices, expected(Standing::Unknown));
    let notice = loaded.notices[0].to_string();
    assert!(notice.contains("is not trusted") && notice.contains("model, limits.max_time"), "{notice}");
    assert!(notice.contains(&format!("`longhaul trust {}`", world.project().display())), "{notice}");
    let world = world.trusted("model = 'x'\n").workspace(text);
    let loaded = world.load().unwrap();
    assert!(loaded.notices[0].to_string().contains("has changed since it was trusted"));
    assert_eq!(loaded.settings.model, None, "trust in an older content is none");
}

#[test]
fn paths_in_hints_can_be_pasted() {
    let notice = |project: &str| {
        let project = project.into();
        Notice::Ignored { project, standing: Standing::Unknown, keys: vec!["agent".to_owned()] }.to_string()
    };
    assert!(notice("/a/b c").ends_with("`longhaul trust '/a/b c'`"));
    assert!(notice("/a/b'; rm x").ends_with("`longhaul trust '/a/b'\\''; rm x'`"));
}

#[test]
fn without_a_project_the_file_does_not_count() {
    let world = World::new().trusted("model = 'x'\n");
    let mut sources = world.sources();
    assert_eq!(sources.load(&Default::default()).unwrap().settings.model.as_deref(), Some("x"));
    sources.project = None;
    assert_eq!(sources.load(&Default::default()).unwrap().settings.model, None);
}
