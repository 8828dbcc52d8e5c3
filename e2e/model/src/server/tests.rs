//! The server over real connections, without an agent.
//! The client here knows nothing of the server's code: it writes and reads bytes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::Server;
use crate::reply::{Answer, Ending, Place, Refusal, Reply};
use crate::rules::{Rule, Rules};
use crate::turn::Turn;

const PATIENCE: Duration = Duration::from_secs(20);

fn connect(server: &Server, target: &str, body: &Value) -> TcpStream {
    let mut connection = TcpStream::connect(("127.0.0.1", server.port())).expect("the server listens");
    connection.set_read_timeout(Some(PATIENCE)).expect("a time-out can be set");
    let body = body.to_string();
    let head = format!("POST {target} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    connection.write_all(format!("{head}{body}").as_bytes()).expect("the request is sent");
    connection
}

fn chat(text: &str) -> Value {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": text}]})
}

fn ask(server: &Server, text: &str) -> TcpStream {
    connect(server, "/v1/chat/completions", &chat(text))
}

fn rest(mut connection: TcpStream) -> String {
    let mut text = String::new();
    connection.read_to_string(&mut text).expect("the response ends");
    text
}

#[test]
fn an_answer_comes_whole_and_is_recorded() {
    let server = Server::start(|turn: &Turn| Reply::text(format!("you said {}", turn.last_prompt()))).expect("a port");
    let text = rest(ask(&server, "hello Session: t/1.1"));
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.contains("you said hello"), "{text}");
    assert!(text.ends_with("0\r\n\r\n"), "{text}");
    assert_eq!((server.deliveries("Session: t/1.1"), server.copies("Session: t/1.1")), (1, 1));
    assert_eq!(server.deliveries("Session: t/1.2"), 0);
}

#[test]
fn a_request_is_waited_for_and_one_that_never_comes_is_told() {
    let server = Server::start(|_: &Turn| Reply::text("ok")).expect("a port");
    let connection = ask(&server, "red");
    let turn = server.wait_for_turn(PATIENCE, |turn| turn.last_prompt() == "red").expect("it was sent");
    assert_eq!(turn.calls_before(), 0);
    assert!(server.wait_for_turn(Duration::ZERO, |turn| turn.last_prompt() == "blue").is_err());
    rest(connection);
}

#[test]
fn a_hang_goes_on_when_released() {
    for at in [Place::BeforeHeaders, Place::MidStream] {
        let server = Server::start(move |_: &Turn| Reply::Hang { at, then: Answer::text("late") }).expect("a port");
        let connection = ask(&server, "x");
        assert!(server.wait_until_hanging(PATIENCE, 1));
        connection.set_nonblocking(true).expect("a mode");
        let arrived = connection.peek(&mut [0]).is_ok();
        assert_eq!(arrived, at == Place::MidStream);
        connection.set_nonblocking(false).expect("a mode");
        server.release();
        let text = rest(connection);
        assert!(text.contains("late") && text.ends_with("0\r\n\r\n"), "{text}");
    }
}

#[test]
fn a_hang_ends_when_the_agent_goes_away() {
    let reply = Reply::Hang { at: Place::MidStream, then: Answer::text("late") };
    let server = Server::start(move |_: &Turn| reply.clone()).expect("a port");
    let connection = ask(&server, "x");
    assert!(server.wait_until_hanging(PATIENCE, 1));
    drop(connection);
    assert!(server.wait_until_hanging(PATIENCE, 0));
}

#[test]
fn a_cut_never_reaches_the_end_of_the_answer() {
    for (at, ending) in [
        (Place::BeforeHeaders, Ending::Close),
        (Place::MidStream, Ending::Close),
        (Place::BeforeHeaders, Ending::Reset),
        (Place::MidStream, Ending::Reset),
    ] {
        let reply = Reply::Cut { at, ending, answer: Answer::text("half") };
        let server = Server::start(move |_: &Turn| reply.clone()).expect("a port");
        let mut received = Vec::new();
        let end = ask(&server, "x").read_to_end(&mut received);
        let text = String::from_utf8_lossy(&received);
        assert_eq!(end.is_err(), ending == Ending::Reset, "{at:?} {ending:?}");
        assert!(!text.contains("[DONE]") && !text.ends_with("0\r\n\r\n"), "{text}");
        if ending == Ending::Close {
            assert_eq!(text.is_empty(), at == Place::BeforeHeaders, "{text}");
        }
    }
}

#[test]
fn refusals_and_what_is_unknown_have_their_status() {
    let limited = Rule::new(Refusal::RateLimited { retry_after: Some(Duration::from_secs(7)) }).at_most(1);
    let rules = Rules::new().rule(limited).rule(Rule::new(Reply::shell("ls")));
    let server = Server::start(rules).expect("a port");
    let text = rest(ask(&server, "x"));
    assert!(text.starts_with("HTTP/1.1 429 ") && text.contains("\r\nretry-after: 7\r\n"), "{text}");
    let text = rest(ask(&server, "x"));
    assert!(text.starts_with("HTTP/1.1 400 ") && text.contains("no shell"), "{text}");
    assert!(rest(connect(&server, "/v1/elsewhere", &chat("x"))).starts_with("HTTP/1.1 404 "));
    assert_eq!(server.requests().len(), 3);
    assert_eq!(server.turns().len(), 2);
}

#[test]
fn what_programs_ask_beside_the_model_has_an_answer() {
    let server = Server::start(|_: &Turn| unreachable!("the model is not asked")).expect("a port");
    let ask = |head: &str| {
        let mut connection = TcpStream::connect(("127.0.0.1", server.port())).expect("the server listens");
        connection.write_all(format!("{head}\r\n\r\n").as_bytes()).expect("the request is sent");
        rest(connection)
    };
    assert!(ask("HEAD / HTTP/1.1").starts_with("HTTP/1.1 200 "));
    assert!(ask("GET /v1/models?client_version=1 HTTP/1.1").starts_with("HTTP/1.1 200 "));
    let upgrade = "GET /v1/responses HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket";
    assert!(ask(upgrade).starts_with("HTTP/1.1 426 "));
    assert!(rest(connect(&server, "/v1/messages/count_tokens", &json!({}))).contains("input_tokens"));
    assert!(rest(connect(&server, "/v1beta/models/m:countTokens", &json!({}))).contains("totalTokens"));
}

#[test]
fn a_stopped_server_is_gone_and_its_port_is_free() {
    let server = Server::start(|_: &Turn| Reply::text("ok")).expect("a port");
    let port = server.port();
    drop(server);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    let again = Server::start_on(port, |_: &Turn| Reply::text("again")).expect("the port is free");
    assert!(rest(ask(&again, "x")).contains("again"));
}
