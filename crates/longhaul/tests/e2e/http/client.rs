//! A server process and a small HTTP client of our own: it can send what no library would, and reads a stream as it comes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::env::{TestEnv, wait_within};
use crate::sight::send;

/// How long one answer may take on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// A running `longhaul serve`.
pub(super) struct Serving {
    pub(super) child: Child,
    /// Such as `127.0.0.1:40123`.
    pub(super) address: String,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Names in lower case.
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The data of an answer that must be one.
    pub(super) fn data(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()["data"].clone()
    }

    /// Status and code of an error that must be one of ours.
    pub(super) fn error(&self) -> (u16, String) {
        let document = self.json();
        assert_eq!((&document["v"], &document["kind"]), (&1.into(), &"error".into()), "{self:?}");
        assert!(document["error"]["what"].as_str().is_some_and(|what| !what.is_empty()), "{self:?}");
        (self.status, document["error"]["code"].as_str().unwrap().to_owned())
    }
}

impl Serving {
    /// Starts a server on a free port and waits until it says where it listens.
    pub(super) fn start(env: &TestEnv, more: &[&str]) -> Serving {
        let args = [&["serve", "--listen", "127.0.0.1:0"], more].concat();
        let mut child = env.command(&args).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}")).to_owned();
        Serving { child, address }
    }

    /// Sends TERM; returns the exit code and how long it took.
    pub(super) fn stop(&mut self) -> (Option<i32>, Duration) {
        let began = Instant::now();
        send(i32::try_from(self.child.id()).unwrap(), Signal::SIGTERM);
        let status = wait_within(PATIENCE, "the end of the server", || self.child.try_wait().unwrap());
        (status.code(), began.elapsed())
    }

    pub(super) fn get(&self, key: &str, path: &str) -> Answer {
        self.send("GET", path, &[("authorization", &format!("Bearer {key}"))], "")
    }

    pub(super) fn post(&self, key: &str, path: &str, body: &Value) -> Answer {
        self.post_text(key, path, &body.to_string())
    }

    pub(super) fn post_text(&self, key: &str, path: &str, body: &str) -> Answer {
        let key = format!("Bearer {key}");
        self.send("POST", path, &[("authorization", &key), ("content-type", "application/json")], body)
    }

    /// One request with the right `Host` and these headers.
    pub(super) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let own = [("host", self.address.as_str())];
        self.raw(&request(method, path, &[&own, headers].concat(), body))
    }

    /// Whatever bytes, on a connection of their own.
    pub(super) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses a request may close before it has read all of it.
        stream.write_all(request).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Opens the feed.
    pub(super) fn stream(&self, key: &str, query: &str, headers: &[(&str, &str)]) -> Stream {
        let key = format!("Bearer {key}");
        let own = [("host", self.address.as_str()), ("authorization", &key)];
        let mut stream = self.connect();
        stream.write_all(&request("GET", &format!("/api/v1/events{query}"), &[&own, headers].concat(), "")).unwrap();
        Stream { lines: BufReader::new(stream) }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A request that asks for the end of the connection.
pub(super) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let fields: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    format!("{method} {path} HTTP/1.1\r\n{fields}{length}connection: close\r\n\r\n{body}").into_bytes()
}

/// A stream of server-sent events.
pub(super) struct Stream {
    lines: BufReader<TcpStream>,
}

/// One event of a stream.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Sent {
    pub(super) id: String,
    pub(super) event: String,
    pub(super) data: String,
}

impl Sent {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Stream {
    /// The next event with or without data; none at the end. Lines of the chunked encoding say nothing.
    pub(super) fn next(&mut self) -> Option<Sent> {
        let mut sent = Sent::default();
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            match line.trim_end_matches(['\r', '\n']).split_once(": ") {
                Some(("id", value)) => sent.id = value.to_owned(),
                Some(("event", value)) => sent.event = value.to_owned(),
                Some(("data", value)) => sent.data = value.to_owned(),
                None if line == "\n" && sent != Sent::default() => return Some(sent),
                _ => {}
            }
        }
    }
}
