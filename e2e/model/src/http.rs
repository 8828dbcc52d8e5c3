//! HTTP/1.1 as far as agents' programs need it, with a hold on every byte: one request for each connection.
//! Called by the server's connection threads; what goes out is a list of pieces, so that it can stop between any two.
//! It never keeps a connection open for a second request.

use std::io::{self, Read};

use serde_json::Value;

use crate::dialects::Written;

const MOST_HEADERS: usize = 100;
const MOST_HEAD_BYTES: usize = 256 * 1024;
const MOST_BODY_BYTES: usize = 256 * 1024 * 1024;

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawRequest {
    pub(crate) method: String,
    pub(crate) target: String,
    /// Names are in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// Why no request could be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("failed to read from the connection")]
    Connection {
        #[from]
        source: io::Error,
    },
    #[error("the connection ended before a whole request was there")]
    Ended,
    #[error("the head of the request is not HTTP")]
    Head {
        #[from]
        source: httparse::Error,
    },
    #[error("the size of a chunk is not a number")]
    Chunk,
    #[error("the request is longer than this server takes")]
    TooLong,
}

/// Reads one request.
pub(crate) fn read_request(connection: &mut impl Read) -> Result<RawRequest, ReadError> {
    let mut received = Vec::new();
    let (mut request, head_length) = loop {
        if let Some(parsed) = parse_head(&received)? {
            break parsed;
        }
        if received.len() > MOST_HEAD_BYTES {
            return Err(ReadError::TooLong);
        }
        receive(connection, &mut received)?;
    };
    received.drain(..head_length);
    request.body = match (request.header("transfer-encoding"), request.header("content-length")) {
        (Some(encoding), _) if encoding.contains("chunked") => read_chunks(connection, received)?,
        (_, Some(length)) => read_exactly(connection, received, length.trim().parse().unwrap_or(0))?,
        _ => vec![],
    };
    Ok(request)
}

impl RawRequest {
    /// The value of a header, by its name in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn parse_head(received: &[u8]) -> Result<Option<(RawRequest, usize)>, ReadError> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(length) = head.parse(received)? else { return Ok(None) };
    let headers = head
        .headers
        .iter()
        .map(|header| (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).into_owned()));
    let request = RawRequest {
        method: head.method.unwrap_or_default().to_owned(),
        target: head.path.unwrap_or_default().to_owned(),
        headers: headers.collect(),
        body: vec![],
    };
    Ok(Some((request, length)))
}

fn receive(connection: &mut impl Read, received: &mut Vec<u8>) -> Result<(), ReadError> {
    let mut buffer = [0; 16 * 1024];
    match connection.read(&mut buffer)? {
        0 => Err(ReadError::Ended),
        count => {
            received.extend_from_slice(&buffer[..count]);
            Ok(())
        }
    }
}

fn read_exactly(connection: &mut impl Read, mut received: Vec<u8>, length: usize) -> Result<Vec<u8>, ReadError> {
    if length > MOST_BODY_BYTES {
        return Err(ReadError::TooLong);
    }
    while received.len() < length {
        receive(connection, &mut received)?;
    }
    received.truncate(length);
    Ok(received)
}

fn read_chunks(connection: &mut impl Read, mut received: Vec<u8>) -> Result<Vec<u8>, ReadError> {
    let mut body = Vec::new();
    loop {
        let status = httparse::parse_chunk_size(&received).map_err(|_| ReadError::Chunk)?;
        let httparse::Status::Complete((start, size)) = status else {
            receive(connection, &mut received)?;
            continue;
        };
        let size = usize::try_from(size).map_err(|_| ReadError::TooLong)?;
        if body.len() + size > MOST_BODY_BYTES {
            return Err(ReadError::TooLong);
        }
        let end = start + size;
        while received.len() < end + 2 {
            receive(connection, &mut received)?;
        }
        if size == 0 {
            return Ok(body);
        }
        body.extend_from_slice(&received[start..end]);
        received.drain(..end + 2);
    }
}

/// Writes a response as pieces: the head first, then the content, and what ends it.
pub(crate) fn pieces(status: u16, headers: &[(String, String)], content: &Written) -> Vec<Vec<u8>> {
    let (kind, length, content) = match content {
        Written::Events(events) => ("text/event-stream", "transfer-encoding: chunked".to_owned(), event_pieces(events)),
        Written::Document(document) => document_pieces(document),
    };
    let mut head = format!("HTTP/1.1 {status} {}\r\nconnection: close\r\n", reason(status));
    head.push_str(&format!("content-type: {kind}\r\n{length}\r\n"));
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    std::iter::once(head.into_bytes()).chain(content).collect()
}

fn event_pieces(events: &[String]) -> Vec<Vec<u8>> {
    let chunk = |event: &String| format!("{:x}\r\n{event}\r\n", event.len()).into_bytes();
    events.iter().map(chunk).chain([b"0\r\n\r\n".to_vec()]).collect()
}

fn document_pieces(document: &Value) -> (&'static str, String, Vec<Vec<u8>>) {
    let text = document.to_string().into_bytes();
    let (first, second) = text.split_at(text.len() / 2);
    let length = format!("content-length: {}", text.len());
    ("application/json", length, vec![first.to_vec(), second.to_vec()])
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Other",
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{ReadError, pieces, read_request};
    use crate::dialects::Written;

    /// Gives one byte at a time, as a network may.
    struct Dribble<'a>(&'a [u8]);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    fn body(text: &str) -> Result<String, ReadError> {
        let request = read_request(&mut Dribble(text.as_bytes()))?;
        Ok(String::from_utf8_lossy(&request.body).into_owned())
    }

    #[test]
    fn bodies_of_both_kinds_are_read() {
        assert_eq!(body("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc").expect("a whole request"), "abc");
        let chunked = "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert_eq!(body(chunked).expect("a whole request"), "abc");
        assert_eq!(body("GET / HTTP/1.1\r\n\r\n").expect("a whole request"), "");
    }

    #[test]
    fn half_requests_and_other_noise_are_errors() {
        assert!(matches!(body("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nab"), Err(ReadError::Ended)));
        assert!(matches!(body("POST /a HTTP/1.1\r\nContent-"), Err(ReadError::Ended)));
        assert!(matches!(body("\u{1}\u{2}\r\n\r\n"), Err(ReadError::Head { .. })));
        let chunked = "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
        assert!(matches!(body(chunked), Err(ReadError::Chunk)));
    }

    #[test]
    fn a_stream_has_a_piece_for_each_event_and_one_that_ends_it() {
        let pieces = pieces(200, &[("a".into(), "b".into())], &Written::Events(vec!["x\n\n".into()]));
        assert_eq!(pieces.len(), 3);
        assert!(String::from_utf8_lossy(&pieces[0]).contains("\r\na: b\r\n"));
        assert_eq!(pieces[1], b"3\r\nx\n\n\r\n");
    }
}
