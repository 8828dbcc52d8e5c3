//! One connection: reads the request, asks the script, and sends, hangs or cuts as it says.
//! Run by the server on a thread for each connection; an agent that goes away ends the thread, and nothing is told.
//! It never sends a second response.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::Shared;
use crate::dialects::{self, Route, Written};
use crate::http::{self, RawRequest};
use crate::refusals::{self, Refused};
use crate::reply::{Answer, Ending, Place, Reply};
use crate::turn::{Dialect, Turn};

/// How soon a departed agent or a stopped server is noticed while an answer hangs.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What is sent, and what happens between two of the pieces.
struct Sending {
    pieces: Vec<Vec<u8>>,
    interruption: Option<(Place, Interruption)>,
}

#[derive(Debug, Clone, Copy)]
enum Interruption {
    Hang,
    End(Ending),
}

enum Hung {
    Released,
    Over,
}

/// Serves one request.
pub(super) fn serve(mut connection: TcpStream, shared: &Shared) {
    let Ok(request) = http::read_request(&mut connection) else { return };
    let sending = respond(shared, request);
    // A failure means that the agent has gone away, which is its right.
    drop(send(&mut connection, shared, &sending));
}

fn respond(shared: &Shared, request: RawRequest) -> Sending {
    let is_upgrade = request.header("upgrade").is_some();
    let route = dialects::route(&request.method, &request.target);
    let body: Option<Value> = serde_json::from_slice(&request.body).ok();
    match (route, body) {
        _ if is_upgrade => {
            shared.record(&request.method, &request.target, None);
            document(426, json!({"error": {"message": "no other protocol is spoken here"}}))
        }
        (Route::Model { dialect, named }, Some(body)) => {
            let turn = Arc::new(dialects::read(dialect, named, request.headers, body));
            let number = shared.record(&request.method, &request.target, Some(Arc::clone(&turn)));
            put_into_words(&turn, shared.script.answer(&turn), number)
        }
        (route, _) => {
            shared.record(&request.method, &request.target, None);
            side_answer(&route)
        }
    }
}

fn side_answer(route: &Route) -> Sending {
    match route {
        Route::CountTokens(dialect) => document(200, dialects::token_count(*dialect)),
        Route::Models => document(200, json!({"object": "list", "data": [], "models": []})),
        // A response to HEAD has no body.
        Route::Greeting => whole(vec![b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_vec()]),
        Route::Model { .. } => document(400, json!({"error": {"message": "the body is not JSON"}})),
        Route::Unknown => document(404, json!({"error": {"message": "there is nothing here"}})),
    }
}

fn put_into_words(turn: &Turn, reply: Reply, number: usize) -> Sending {
    match reply {
        Reply::Answer(answer) => Sending { pieces: answer_pieces(turn, &answer, number), interruption: None },
        Reply::Refuse(refusal) => {
            let Refused { status, headers, body } = refusals::put_into_words(turn.dialect, &refusal, SystemTime::now());
            whole(http::pieces(status, &headers, &body))
        }
        Reply::Hang { at, then } => {
            let interruption = Some((at, Interruption::Hang));
            Sending { pieces: answer_pieces(turn, &then, number), interruption }
        }
        Reply::Cut { at, ending, answer } => {
            let interruption = Some((at, Interruption::End(ending)));
            Sending { pieces: answer_pieces(turn, &answer, number), interruption }
        }
    }
}

/// A call that can not be put into words is told to the agent as a bad request, so that its output names it.
fn answer_pieces(turn: &Turn, answer: &Answer, number: usize) -> Vec<Vec<u8>> {
    match dialects::write(turn, answer, number) {
        Ok(written) => http::pieces(200, &answer.headers, &written),
        Err(problem) => http::pieces(400, &[], &Written::Document(bad_request(turn.dialect, &problem))),
    }
}

fn bad_request(dialect: Dialect, problem: &str) -> Value {
    match dialect {
        Dialect::Messages => json!({"type": "error", "error": {"type": "invalid_request_error", "message": problem}}),
        Dialect::Gemini => json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": problem}}),
        Dialect::Responses | Dialect::Chat => json!({"error": {"type": "invalid_request_error", "message": problem}}),
    }
}

fn document(status: u16, body: Value) -> Sending {
    whole(http::pieces(status, &[], &Written::Document(body)))
}

fn whole(pieces: Vec<Vec<u8>>) -> Sending {
    Sending { pieces, interruption: None }
}

fn send(connection: &mut TcpStream, shared: &Shared, sending: &Sending) -> io::Result<()> {
    let Some((place, interruption)) = sending.interruption else { return write_all(connection, &sending.pieces) };
    let (before, after) = sending.pieces.split_at(split_place(place, sending.pieces.len()));
    write_all(connection, before)?;
    match interruption {
        Interruption::Hang => match hang(connection, shared)? {
            Hung::Released => write_all(connection, after),
            Hung::Over => Ok(()),
        },
        Interruption::End(Ending::Close) => Ok(()),
        Interruption::End(Ending::Reset) => {
            Ok(rustix::net::sockopt::set_socket_linger(connection, Some(Duration::ZERO))?)
        }
    }
}

/// The head is the first piece, and the last two are the end of the answer and of the transfer.
fn split_place(place: Place, count: usize) -> usize {
    match place {
        Place::BeforeHeaders => 0,
        Place::MidStream => (count / 2).clamp(1, count.saturating_sub(2).max(1)),
    }
}

fn write_all(connection: &mut TcpStream, pieces: &[Vec<u8>]) -> io::Result<()> {
    pieces.iter().try_for_each(|piece| connection.write_all(piece))?;
    connection.flush()
}

fn hang(connection: &TcpStream, shared: &Shared) -> io::Result<Hung> {
    let before = {
        let mut state = shared.lock();
        state.hanging += 1;
        shared.changed.notify_all();
        state.releases
    };
    let hung = wait_for_end_of_hang(connection, shared, before);
    shared.lock().hanging -= 1;
    shared.changed.notify_all();
    hung
}

fn wait_for_end_of_hang(connection: &TcpStream, shared: &Shared, before: u64) -> io::Result<Hung> {
    connection.set_nonblocking(true)?;
    loop {
        let find = |state: &super::State| match (state.is_closed, state.releases > before) {
            (true, _) => Some(Hung::Over),
            (false, true) => Some(Hung::Released),
            (false, false) => None,
        };
        match shared.wait(LOOK_AGAIN, find) {
            Some(hung) => {
                connection.set_nonblocking(false)?;
                return Ok(hung);
            }
            None if is_gone(connection) => return Ok(Hung::Over),
            None => {}
        }
    }
}

fn is_gone(connection: &TcpStream) -> bool {
    match connection.peek(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}
