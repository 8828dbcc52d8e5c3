//! The caller's side of a worker's socket: greeted, it sends its one line and reads one back.
//! Used by front ends before they start a worker of their own. It never waits long for a worker that is stopped or hangs.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use longhaul_keeper::{connect_private, fail_point};
use serde::{Deserialize, Serialize};

use super::{Answer, Handover};
use crate::home::Home;
use longhaul_keeper::Environment;

/// How long a worker has to greet. One that is stopped never does.
const GREETING: Duration = Duration::from_secs(2);
/// How long a worker that greeted has to take the line and to answer: a commit may wait for a busy disk.
const ANSWER: Duration = Duration::from_secs(10);

/// The worker's first line.
#[derive(Debug, Serialize, Deserialize)]
pub struct Greeting {
    /// The version of the worker.
    pub version: String,
}

impl Greeting {
    /// The greeting of this version.
    pub fn own() -> Greeting {
        Greeting { version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// The caller's line.
#[derive(Debug, Serialize, Deserialize)]
pub struct Offer {
    /// What is handed over.
    pub handover: Handover,
    /// The variables of the caller.
    pub environment: Environment,
}

/// The names of the sockets of this home, the oldest worker first. Some may be of workers that are dead.
pub fn sockets(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.workers()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut sockets: Vec<String> = names.filter(|name| name.ends_with(".sock")).collect();
    sockets.sort();
    sockets
}

/// Whether a worker of this home greets: it lives, is not stopped, and adopts what dead ones left.
pub fn is_attended(home: &Home) -> bool {
    sockets(home).iter().any(|socket| greeted(home, socket).is_ok())
}

/// Offers something to the worker with this socket. None if it is dead, of another version, or does not answer in time: then nobody
/// knows whether it took the offer, and only the store can tell.
pub fn offer(home: &Home, socket: &str, handover: &Handover, environment: &Environment) -> Option<Answer> {
    converse(home, socket, handover, environment).ok().flatten()
}

fn converse(home: &Home, socket: &str, handover: &Handover, environment: &Environment) -> io::Result<Option<Answer>> {
    let (mut stream, mut lines, greeting) = greeted(home, socket)?;
    if greeting.version != Greeting::own().version {
        return Ok(None);
    }
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    let offer = Offer { handover: handover.clone(), environment: environment.clone() };
    let mut line = serde_json::to_vec(&offer)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    fail_point::reach("handover.sent");
    read(&mut lines).map(Some)
}

fn greeted(home: &Home, socket: &str) -> io::Result<(UnixStream, BufReader<UnixStream>, Greeting)> {
    let stream = connect_private(&home.workers(), socket)?;
    let mut lines = BufReader::new(stream.try_clone()?);
    stream.set_read_timeout(Some(GREETING))?;
    let greeting = read(&mut lines)?;
    Ok((stream, lines, greeting))
}

fn read<Line: for<'de> Deserialize<'de>>(lines: &mut impl BufRead) -> io::Result<Line> {
    let mut line = String::new();
    lines.read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}
