//! Hostile headers on every route of the real server: of every combination, none is accepted.

use crate::env::TestEnv;

use super::client::{Serving, request};
use super::{key, reader};

/// Every address of the server, with its methods.
fn routes(serving: &Serving, key: &str) -> Vec<(String, String)> {
    let document = serving.get(key, "/api/v1/openapi.json").json();
    let listed = document["paths"].as_object().unwrap().iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.clone()))
    });
    let others = ["/api/v1/events", "/api/v1/openapi.json", "/readyz", "/metrics", "/nothing", "/"];
    let others = others.iter().map(|path| ("GET".to_owned(), (*path).to_owned()));
    let odd =
        ["DELETE", "PUT", "PATCH", "OPTIONS", "HEAD", "POST"].map(|method| (method.to_owned(), "/mcp".to_owned()));
    listed.chain(others).chain(odd).collect()
}

#[test]
fn without_a_key_everything_but_the_health_check_is_refused() {
    let env = TestEnv::new();
    let (good, revoked) = (reader(&env), key(&env, "revoked", "admin", "default"));
    env.ok(&["keys", "revoke", "revoked"]);
    let serving = Serving::start(&env, &["--no-worker"]);
    let unknown = format!("Bearer lh_{}", "A".repeat(43));
    let bad = [
        None,
        Some("Bearer".to_owned()),
        Some(good.clone()),
        Some(format!("Basic {good}")),
        Some(format!("Bearer {good}x")),
        Some(format!("Bearer {}", good.to_uppercase())),
        Some(format!("Bearer {revoked}")),
        Some(unknown),
    ];
    for (method, path) in routes(&serving, &good) {
        for value in &bad {
            let headers = value.as_ref().map(|value| ("authorization", value.as_str()));
            let json = ("content-type", "application/json");
            let answer = serving.send(&method, &path, &[json].into_iter().chain(headers).collect::<Vec<_>>(), "");
            assert_eq!(answer.status, 401, "{method} {path} with {value:?}");
            assert!(answer.head.contains("www-authenticate: bearer"), "{}", answer.head);
            if method != "HEAD" {
                assert_eq!(answer.error().1, "unauthorized");
            }
        }
        let in_address = serving.send(&method, &format!("{path}?key={good}&access_token={good}"), &[], "");
        assert_eq!(in_address.status, 401, "{method} {path}: a key in the address counts for nothing");
    }
    assert_eq!(serving.send("GET", "/healthz", &[], "").status, 200);
    assert_eq!(serving.get(&good, "/api/v1/tasks").status, 200, "control");
}

#[test]
fn with_a_key_other_sites_are_refused_on_every_route() {
    let env = TestEnv::new();
    let key = key(&env, "all", "admin,approve", "default");
    let serving = Serving::start(&env, &["--no-worker"]);
    let (own, bearer) = (serving.address.as_str(), format!("Bearer {key}"));
    let origin = format!("http://{own}");
    let hostile: &[&[(&str, &str)]] = &[
        &[],
        &[("host", "evil.example")],
        &[("host", own), ("host", "evil.example")],
        &[("host", own), ("origin", "http://evil.example")],
        &[("host", own), ("origin", "null")],
        &[("host", own), ("origin", "http://localhost:1")],
        &[("host", own), ("sec-fetch-site", "cross-site")],
        &[("host", own), ("sec-fetch-site", "same-site"), ("origin", &origin)],
        &[("host", "evil.example"), ("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")],
    ];
    let mut tried = 0;
    for (method, path) in routes(&serving, &key).into_iter().chain([("GET".to_owned(), "/healthz".to_owned())]) {
        for fields in hostile {
            let rest = [("authorization", bearer.as_str()), ("content-type", "application/json")];
            let answer = serving.raw(&request(&method, &path, &[*fields, &rest].concat(), ""));
            // The protocol library itself refuses some of them.
            assert!([400, 403].contains(&answer.status), "{method} {path} with {fields:?}: {}", answer.status);
            tried += 1;
        }
    }
    assert!(tried > 300, "{tried}");
    let page = [("host", own), ("origin", &origin), ("sec-fetch-site", "same-origin"), ("authorization", &bearer)];
    assert_eq!(serving.raw(&request("GET", "/api/v1/tasks", &page, "")).status, 200, "control");
}
