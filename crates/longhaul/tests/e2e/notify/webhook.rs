//! The webhook against a real server: tried again, signed, never redirected, and never a secret in what is stored.

use std::io::Read;
use std::net::TcpListener;

use serde_json::Value;

use super::server::Server;
use super::{desk, ends, notices, settled};
use crate::env::{PASSED, TestEnv, wait_for};

pub(super) const KEY: &str = "a-key-of-the-webhook-4711";

pub(super) fn hooked(server: &Server) -> TestEnv {
    let env = desk().var("LONGHAUL_NOTIFY_WEBHOOK", &server.url());
    env.var("LONGHAUL_NOTIFY_WEBHOOK_SECRET_ENV", "MY_HOOK").var("MY_HOOK", KEY)
}

#[test]
fn a_server_that_fails_twice_is_asked_again_and_every_request_is_signed() {
    let server = Server::answering(&[500, 503, 200]);
    let env = hooked(&server);
    assert_eq!(
        env.run(&["run", "Do it", "--name", "t", "--check", "true"]).code,
        PASSED,
        "the outcome is the task's own"
    );
    let requests = [server.next(), server.next(), server.next()];
    for request in &requests {
        assert!(request.is_signed_with(KEY), "{request:?}");
        assert!(!request.is_signed_with("another-key"), "the control: the signature is of this key");
        assert_eq!(request.body, requests[0].body, "a repeat is recognised by its content");
    }
    let notice = &settled(&env, "t")[0];
    assert_eq!((&notice["state"], &notice["tries"], &notice["error"]), (&"delivered".into(), &3.into(), &Value::Null));
    env.wait_until_empty();
    assert_eq!(server.arrived().len(), 0, "delivered is delivered");
}

#[test]
fn redirects_are_not_followed_and_no_answer_is_told() {
    let server = Server::answering(&[307]);
    let env = hooked(&server);
    env.submit("Do it", &["--name", "t"]);
    assert_eq!(env.settle("t"), "done");
    let error = wait_for("an error", || notices(&env, "t").first()?["error"].as_str().map(str::to_owned));
    assert_eq!(error, "the server answered 307 Temporary Redirect");
    assert!(server.next().line.starts_with("POST /hook "));
    assert!(server.arrived().iter().all(|request| request.line.starts_with("POST /hook ")), "nobody went elsewhere");
}

#[test]
fn a_server_that_is_gone_is_given_up_after_five_tries() {
    let server = Server::answering(&[500]);
    let env = hooked(&server);
    assert_eq!(env.run(&["run", "Do it", "--name", "t", "--check", "true"]).code, PASSED);
    assert_eq!(ends(&env, "t"), [("webhook".into(), "failed".into())]);
    env.wait_until_empty();
    assert_eq!((notices(&env, "t")[0]["tries"].as_u64(), server.arrived().len()), (Some(5), 5));
    let show = env.ok(&["show", "t"]);
    assert!(show.contains("notices    1 of 1 not delivered; last error (webhook): the server answered 500"), "{show}");
    assert_eq!(env.state("t"), "done");
}

#[test]
fn a_plain_server_needs_no_certificates_on_this_machine() {
    let server = Server::answering(&[200]);
    let env = hooked(&server).var("SSL_CERT_FILE", "/nonexistent").var("SSL_CERT_DIR", "/nonexistent");
    assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 0);
    assert_eq!(ends(&env, "t"), [("webhook".into(), "delivered".into())]);
}

/// How far TLS goes without a certificate that this machine trusts: to the client's first words, and no further.
#[test]
fn an_https_server_is_spoken_to_in_tls_and_not_believed_without_a_certificate() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/hook", listener.local_addr().unwrap());
    let env = desk().var("LONGHAUL_NOTIFY_WEBHOOK", &url);
    env.submit("Do it", &["--name", "t"]);
    let mut first = [0; 3];
    listener.accept().unwrap().0.read_exact(&mut first).unwrap();
    assert_eq!(first[..2], [0x16, 0x03], "a handshake of TLS");
    drop(listener);
    let error = wait_for("an error", || notices(&env, "t").first()?["error"].as_str().map(str::to_owned));
    assert!(error.starts_with("no answer from the server: ") && !error.contains("127.0.0.1"), "{error}");
    assert_eq!(env.settle("t"), "done");
}

#[test]
fn an_address_that_is_a_secret_is_named_by_its_variable_and_stored_nowhere() {
    let server = Server::answering(&[200]);
    let secret = format!("{}?token=plain-looking-0815", server.url());
    let env = desk().var("LONGHAUL_NOTIFY_WEBHOOK", "$MY_ADDRESS").var("MY_ADDRESS", &secret);
    let env = env.var("DEMO_FAULT", "env-dump@1");
    assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 0);
    assert_eq!(ends(&env, "t"), [("webhook".into(), "delivered".into())]);
    assert!(server.next().line.contains("token=plain-looking-0815"), "the control: it was used");
    let logs = env.ok(&["logs", "t", "--session", "1"]);
    assert!(logs.contains("DEMO_FAULT=") && !logs.contains("MY_ADDRESS="), "an agent has no such variable: {logs}");
    for bytes in [std::fs::read(env.home().join("longhaul.db")), std::fs::read(env.home().join("longhaul.db-wal"))] {
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        assert!(!text.contains("plain-looking-0815"), "stored");
    }
}

#[test]
fn a_variable_that_is_not_set_is_told_and_nothing_is_sent_unsigned() {
    let server = Server::answering(&[200]);
    let mut env = hooked(&server);
    env.unset("MY_HOOK");
    env.submit("Do it", &["--name", "t"]);
    assert_eq!(env.settle("t"), "done");
    let error = wait_for("an error", || notices(&env, "t").first()?["error"].as_str().map(str::to_owned));
    assert_eq!((error.as_str(), server.arrived().len()), ("variable `MY_HOOK` is not set", 0));
    env.wait_until_empty();
    assert_eq!(notices(&env, "t")[0]["tries"], 0, "no try of those that count");
}
