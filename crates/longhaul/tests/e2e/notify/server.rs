//! A real server on 127.0.0.1 that answers requests in order with the given codes and hands them to the test.
//! It checks nothing itself; the last code is given to all that come after.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use sha2::{Digest, Sha256};

use crate::env::DEADLINE;

pub(super) struct Server {
    port: u16,
    requests: Receiver<Request>,
}

/// What arrived.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) line: String,
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Server {
    pub(super) fn answering(codes: &'static [u16]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let code = codes.get(number).or(codes.last()).copied().unwrap();
                let request = answer(&stream.unwrap(), code, port);
                if sender.send(request).is_err() {
                    return;
                }
            }
        });
        Server { port, requests }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// The next request, waited for.
    pub(super) fn next(&self) -> Request {
        self.requests.recv_timeout(DEADLINE).expect("a request")
    }

    /// What has arrived by now.
    pub(super) fn arrived(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

fn answer(stream: &TcpStream, code: u16, port: u16) -> Request {
    let mut reader = BufReader::new(stream);
    let mut next = || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let line = next();
    let headers: Vec<(String, String)> = std::iter::from_fn(|| Some(next()).filter(|line| !line.is_empty()))
        .map(|line| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned())).unwrap())
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or("0", |(_, value)| value);
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let location = format!("Location: http://127.0.0.1:{port}/elsewhere\r\n");
    let reply = format!("HTTP/1.1 {code} Said\r\n{location}Content-Length: 0\r\nConnection: close\r\n\r\n");
    (&mut &*stream).write_all(reply.as_bytes()).unwrap();
    Request { line, headers, body: String::from_utf8(body).unwrap() }
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
    }

    /// Whether it is signed with this key, computed here by the definition of HMAC.
    pub(super) fn is_signed_with(&self, key: &str) -> bool {
        self.header("x-longhaul-signature") == Some(&format!("sha256={}", hmac(key.as_bytes(), self.body.as_bytes())))
    }
}

fn hmac(key: &[u8], text: &[u8]) -> String {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let padded = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    let outer = Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize();
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}
