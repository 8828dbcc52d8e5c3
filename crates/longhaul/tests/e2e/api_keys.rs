//! `longhaul keys`: a key is printed once and nowhere else, is listed without its text, and is revoked by id or name.

use std::path::Path;

use crate::env::TestEnv;

/// Creates a key and returns its text.
fn create(env: &TestEnv, args: &[&str]) -> String {
    let created = env.run(&[&["keys", "create"], args].concat());
    assert_eq!(created.code, 0, "{}", created.stderr);
    let key = created.stdout.trim().to_owned();
    assert!(key.len() == 46 && key.starts_with("lh_") && created.stdout.lines().count() == 1, "{}", created.stdout);
    assert!(!created.stderr.contains(&key[3..]), "{}", created.stderr);
    key
}

/// Whether some file below this directory contains the text.
fn is_stored(directory: &Path, text: &str) -> bool {
    std::fs::read_dir(directory).unwrap().flatten().any(|entry| match entry.file_type().unwrap().is_dir() {
        true => is_stored(&entry.path(), text),
        false => {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            bytes.windows(text.len()).any(|part| part == text.as_bytes())
        }
    })
}

#[test]
fn a_key_is_printed_once_and_nothing_else_has_it() {
    let env = TestEnv::new();
    let key = create(&env, &["ci", "--rights", "read", "--expires", "30d", "--tenant", "acme"]);
    let document = env.json(&["keys", "create", "other"]);
    let other = document["secret"].as_str().unwrap().to_owned();
    assert_ne!(key, other);
    let listed = env.ok(&["keys", "list"]);
    let json = env.json(&["keys", "list"]);
    for secret in [&key, &other] {
        assert!(!listed.contains(&secret[3..]) && !json.to_string().contains(&secret[3..]), "{listed}{json}");
        assert!(!is_stored(env.path(), &secret[3..]), "a file has the key");
    }
    assert!(is_stored(&env.home(), "acme"), "control: the search finds what is stored");
    let first = &json["api_keys"][0];
    assert_eq!((&first["name"], &first["tenant"], &first["is_usable"]), (&"ci".into(), &"acme".into(), &true.into()));
    assert_eq!(first["rights"], serde_json::json!(["read"]));
    assert!(first["expires"].is_string() && first["revoked"].is_null(), "{first}");
    let second = &json["api_keys"][1];
    assert_eq!((&second["tenant"], &second["rights"]), (&"default".into(), &serde_json::json!(["read", "run"])));
    assert!(listed.contains("works until") && listed.contains("acme"), "{listed}");
}

#[test]
fn a_key_is_revoked_by_id_or_name() {
    let env = TestEnv::new();
    assert!(env.run(&["keys", "list"]).stderr.contains("no API keys"));
    assert!(!env.home().exists(), "listing creates nothing");
    let ids: Vec<String> = ["one", "two"]
        .map(|name| env.json(&["keys", "create", name])["api_key"]["id"].as_str().unwrap().to_owned())
        .to_vec();
    env.ok(&["keys", "revoke", "one"]);
    let revoked = env.json(&["keys", "revoke", &ids[1]]);
    assert!(revoked["revoked"].is_string() && revoked["is_usable"] == false, "{revoked}");
    assert_eq!(env.json(&["keys", "revoke", &ids[1]])["revoked"], revoked["revoked"], "it stays revoked as it was");
    let unknown = env.run(&["keys", "revoke", "one"]);
    assert!(unknown.code == 7 && unknown.stderr.contains("there is no API key `one`"), "{}", unknown.stderr);
    assert!(env.ok(&["keys", "list"]).matches("revoked ").count() == 2);
    create(&env, &["one"]);
}

#[test]
fn bad_input_is_refused_and_creates_nothing() {
    let env = TestEnv::new();
    let (long, escape) = ("x".repeat(65), "\u{1b}[31m");
    for (args, message) in [
        (&["", "--rights", "read"][..], "cannot be the name of an API key"),
        (&["../up"], "cannot be the name of an API key"),
        (&[&long], "cannot be the name of an API key"),
        (&[escape], "cannot be the name of an API key"),
        (&["ci", "--tenant", "a b"], "cannot be the name of a tenant"),
        (&["ci", "--rights", "read,fly"], "there is no right `fly`"),
        (&["ci", "--rights", ""], "allows nothing"),
        (&["ci", "--expires", "soon"], "is not a span of time"),
    ] {
        let refused = env.run(&[&["keys", "create"], args].concat());
        assert!(refused.code == 2 && refused.stderr.contains(message), "{args:?}: {} {}", refused.code, refused.stderr);
        assert!(refused.stdout.is_empty() && !refused.stderr.contains('\u{1b}'), "{args:?}");
    }
    assert!(!env.home().exists());
    create(&env, &["ci"]);
    let taken = env.run(&["keys", "create", "ci"]);
    assert!(taken.code == 8 && taken.stderr.contains("already has an API key `ci`"), "{} {}", taken.code, taken.stderr);
    create(&env, &["ci", "--tenant", "acme"]);
    let ambiguous = env.run(&["keys", "revoke", "ci"]);
    assert!(ambiguous.code == 2 && ambiguous.stderr.contains("(acme)"), "{}", ambiguous.stderr);
}
