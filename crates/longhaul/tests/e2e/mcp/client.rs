//! A small MCP client for tests: one server process, requests by line, and every answer checked. Whatever the server prints must be JSON-RPC;
//! every result has the same JSON twice and fits the schema that the server published for it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// How long one answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// The first version without a handshake.
pub(super) const MODERN: &str = "2026-07-28";
pub(super) const STILL_RUNNING: &str = "the task is still running; call `wait` again";
/// Agents that work until somebody stops them, whichever task they are of.
pub(super) const HANG: &str = "hang@1,hang@2,hang@3,hang@4,hang@5,hang@6,hang@7,hang@8,hang@9,hang@10,hang@11,hang@12";

/// One connection.
pub(super) struct Client {
    pub(super) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    version: String,
    requests: u64,
    /// What the client declares with each request.
    pub(super) capabilities: Value,
    /// Messages that nobody asked for yet.
    pub(super) notifications: Vec<Value>,
    /// The schema of each tool's answers.
    schemas: BTreeMap<String, Value>,
}

impl Client {
    /// Starts a server and connects as a client of this protocol version does.
    pub(super) fn connect(command: Command, version: &str) -> Client {
        let mut client = Client::start(command, version);
        if version != MODERN {
            let answer = client.initialize(version);
            assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        }
        let listed = client.request("tools/list", json!({}));
        for tool in listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}")) {
            client.schemas.insert(tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone());
        }
        client
    }

    /// Starts a server and says nothing yet.
    pub(super) fn start(mut command: Command, version: &str) -> Client {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let stdin = child.stdin.take();
        let (notifications, schemas) = (Vec::new(), BTreeMap::new());
        let (version, capabilities) = (version.to_owned(), json!({}));
        Client { child, stdin, lines, version, requests: 0, capabilities, notifications, schemas }
    }

    pub(super) fn initialize(&mut self, version: &str) -> Value {
        self.version = version.to_owned();
        let client = json!({ "name": "test", "version": "1" });
        let answer = self.request(
            "initialize",
            json!({ "protocolVersion": version, "capabilities": self.capabilities, "clientInfo": client }),
        );
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        answer
    }

    /// Sends a request and returns the whole response.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.response(id)
    }

    /// The response to this request. Everything else that comes is kept.
    pub(super) fn response(&mut self, id: u64) -> Value {
        if let Some(at) = self.notifications.iter().position(|message| message["id"] == id) {
            return self.notifications.remove(at);
        }
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// Sends a request and does not wait for the response; returns its id.
    pub(super) fn post(&mut self, method: &str, mut params: Value) -> u64 {
        self.requests += 1;
        if self.version == MODERN {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// Calls a tool; returns what it answered and whether that is an error.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> (Value, bool) {
        self.call_with(tool, arguments, json!({}))
    }

    pub(super) fn call_with(&mut self, tool: &str, arguments: Value, meta: Value) -> (Value, bool) {
        let response = self.request("tools/call", call(tool, arguments, meta));
        self.checked(tool, &response["result"])
    }

    /// What a result of this tool has, and whether it is an error.
    pub(super) fn checked(&self, tool: &str, result: &Value) -> (Value, bool) {
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {result}"));
        let answer: Value = serde_json::from_str(text).unwrap();
        assert_eq!(answer, result["structuredContent"], "{tool}: text and structured content differ");
        let is_error = result["isError"].as_bool().unwrap();
        assert_eq!(is_error, answer.get("error").is_some(), "{tool}: {answer}");
        if let Some(schema) = self.schemas.get(tool) {
            assert_fits(tool, schema, &answer);
        }
        (answer, is_error)
    }

    /// Calls a tool that must succeed; returns its data.
    pub(super) fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let (answer, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{tool}: {answer}");
        answer["data"].clone()
    }

    /// Calls a tool that must fail; returns the error.
    pub(super) fn error(&mut self, tool: &str, arguments: Value) -> Value {
        let (answer, is_error) = self.call(tool, arguments);
        assert!(is_error, "{tool}: {answer}");
        answer["error"].clone()
    }

    /// The tools that were listed.
    pub(super) fn tools(&self) -> Vec<&str> {
        self.schemas.keys().map(String::as_str).collect()
    }

    /// Waits until the task is finished or needs a person, as an assistant does.
    pub(super) fn settle(&mut self, task: &str) -> Value {
        loop {
            let (answer, is_error) = self.call("wait", json!({ "task": task }));
            assert!(!is_error, "{answer}");
            if answer["notes"][0] != STILL_RUNNING {
                return answer["data"].clone();
            }
        }
    }

    /// Sends a line, whatever it is.
    pub(super) fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).and_then(|()| stdin.flush()).unwrap();
    }

    fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("the server answers");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// Closes the connection; returns the server's exit code.
    pub(super) fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

/// The parameters of a call.
pub(super) fn call(tool: &str, arguments: Value, meta: Value) -> Value {
    let mut params = json!({ "name": tool });
    (params["arguments"], params["_meta"]) = (arguments, meta);
    params
}

pub(super) fn assert_fits(tool: &str, schema: &Value, answer: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{tool}: {error}"));
    let errors: Vec<String> = validator.iter_errors(answer).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{tool}: {errors:?} in {answer}");
}
