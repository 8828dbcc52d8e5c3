//! Controls of the suite itself: what its assertions look for is seen when it is there.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use longhaul_scripted_model::{Agent, Reply, Server, Turn, worker};
use serde_json::json;

use super::world::{World, long_sleep, sleepers, wait_for};

#[test]
fn a_command_that_lives_on_is_seen() {
    assert_eq!(sleepers(), [] as [i32; 0]);
    let sleep = long_sleep();
    let (program, argument) = sleep.split_once(' ').unwrap();
    let mut child = Command::new(program).arg(argument).spawn().unwrap();
    let seen = wait_for("the command", || Some(sleepers()).filter(|seen| !seen.is_empty()));
    assert_eq!(seen, [i32::try_from(child.id()).unwrap()]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(sleepers(), [] as [i32; 0]);
}

#[test]
fn a_prompt_that_is_sent_twice_is_seen() {
    let server = Server::start(worker).unwrap();
    let prompt = json!({"role": "user", "content": "hello\nSession: t/1.1\n"});
    let body = json!({"model": "m1", "messages": [prompt, prompt]}).to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!((server.copies("Session: t/1.1\n"), server.copies("Session: t/1.2\n")), (2, 0));
}

#[test]
fn a_model_that_does_nothing_finishes_nothing() {
    let world = World::new(Agent::Pi, |_: &Turn| Reply::text("all is done"));
    let task = world.submit(Agent::Pi, &["--idle-sessions", "1"]);
    assert_eq!(world.settle(&task), "needs_help", "{}", world.story(&task));
    assert!(world.task(&task)["state"]["reason"]["no_plan"].is_object());
}
