//! What runs cost over HTTP: reading one, listing, and reporting among many, beside a bare axum handler with one indexed read or one durable
//! commit. Called by `bench`. Both servers get the same requests in turn, and the bare one answers with the bytes of ours.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::extract::{Path as InPath, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use longhaul_app::api_keys::mint;
use longhaul_core::ids::TaskId;
use longhaul_core::names::TaskName;
use longhaul_core::task::{Actor, Event, Links, Rights, Submission};
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{ApiKey, Change, Guard, Store, Tenant, WholeStore};
use rusqlite::Connection;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::compare::in_turn;
use super::many_tasks::many_tasks;
use super::scene::{Outcome, Scene, ensure, now, random, runtime};
use super::table::{Bound, Row};

const ROUNDS: usize = 20;
const EACH: usize = 200;
const AT_A_TIME: usize = 500;
/// One key may send 200 requests per second.
const KEYS: usize = 100;
const LISTED: usize = 50;

/// Measures requests per second.
pub(super) fn measure(scene: &Scene) -> Outcome<Vec<Row>> {
    let (home, runtime) = (scene.directory("runs")?, runtime()?);
    let (runs, keys) = runtime.block_on(fill(&home, many_tasks(scene)))?;
    let ours = Served::start(scene, &home, runs, keys)?;
    let sample = ours.client()?.ask(&ours.request(Kind::Get, 0))?;
    let bare = Bare { address: bare(&runtime, &home.join("bare.db"), &ours.runs, &sample)? };
    let measured = in_turn(scene.rounds(ROUNDS), |round| {
        let mut figures = [0.0; 6];
        for (at, kind) in [Kind::Get, Kind::List, Kind::Update].into_iter().enumerate() {
            let numbers = round * EACH..(round + 1) * EACH;
            figures[2 * at] = per_second(ours.client()?, numbers.clone().map(|number| ours.request(kind, number)))?;
            figures[2 * at + 1] =
                per_second(bare.client()?, numbers.map(|number| bare.request(kind, number, &ours.runs)))?;
        }
        Ok(figures)
    })?;
    let many = ours.runs.len();
    let names = [
        (format!("one of {many} runs over HTTP"), "a bare axum handler with one indexed read"),
        (format!("a page of {LISTED} of {many} runs over HTTP"), "the same, of as many rows"),
        (format!("a report on one of {many} runs over HTTP"), "a bare axum handler with one durable commit"),
    ];
    let rows = names.into_iter().zip(measured.chunks(2));
    let row = |((what, beside), figures): ((String, &str), &[_])| {
        Row::new(what, "/s", &figures[0]).beside(beside, &figures[1]).gate(Bound::AtLeast(0.7))
    };
    Ok(rows.map(row).collect())
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Get,
    List,
    Update,
}

/// The server under measurement.
struct Served {
    child: Child,
    address: SocketAddr,
    runs: Vec<String>,
    keys: Vec<String>,
}

impl Served {
    fn start(scene: &Scene, home: &Path, runs: Vec<String>, keys: Vec<String>) -> Outcome<Served> {
        let mut serve = scene.longhaul(home, &["serve", "--listen", "127.0.0.1:0", "--no-worker"]);
        let mut child = serve.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no standard output")?).read_line(&mut line)?;
        let address = line.trim().trim_start_matches("listening on http://").parse()?;
        Ok(Served { child, address, runs, keys })
    }

    fn client(&self) -> Outcome<Client> {
        Client::connect(self.address)
    }

    fn request(&self, kind: Kind, number: usize) -> String {
        let run = &self.runs[number % self.runs.len()];
        let key = format!("authorization: Bearer {}\r\n", self.keys[number % self.keys.len()]);
        request(kind, &format!("/api/v1/runs/{run}"), &format!("/api/v1/runs?limit={LISTED}"), number, &key)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The reference.
struct Bare {
    address: SocketAddr,
}

impl Bare {
    fn client(&self) -> Outcome<Client> {
        Client::connect(self.address)
    }

    fn request(&self, kind: Kind, number: usize, runs: &[String]) -> String {
        request(kind, &format!("/runs/{}", runs[number % runs.len()]), "/runs", number, "")
    }
}

fn request(kind: Kind, one: &str, all: &str, number: usize, headers: &str) -> String {
    let read = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    match kind {
        Kind::Get => read(one),
        Kind::List => read(all),
        Kind::Update => {
            let body = format!("{{\"progress_summary\":\"page {number} of the site is done\"}}");
            format!(
                "POST {one}/update HTTP/1.1\r\nhost: localhost\r\n{headers}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
        }
    }
}

/// A home with so many runs, and keys that may report on them.
async fn fill(home: &Path, count: u32) -> Outcome<(Vec<String>, Vec<String>)> {
    let store = Arc::new(SqliteStore::open(home)?);
    let mut runs = Vec::new();
    let numbers: Vec<u32> = (0..count).collect();
    for part in numbers.chunks(AT_A_TIME) {
        let mut running = JoinSet::new();
        for number in part {
            let (store, name) = (Arc::clone(&store), format!("run-{number}"));
            running.spawn(async move { start(&store, &name).await });
        }
        runs.extend(running.join_all().await.into_iter().collect::<Outcome<Vec<String>>>()?);
    }
    let mut keys = Vec::new();
    for number in 0..KEYS {
        let (id, text) = (format!("key-{number}"), mint());
        let rights: Rights = "run".parse()?;
        let (name, tenant) = (id.clone(), Tenant::new(Tenant::DEFAULT));
        let key = ApiKey { id, tenant, name, rights, created: now(), expires: None, revoked: None };
        store.create_api_key(key, &ApiKey::digest(&text)).await?;
        keys.push(text);
    }
    Ok((runs, keys))
}

async fn start(store: &SqliteStore, name: &str) -> Outcome<String> {
    let criteria = ["every page is stored".to_owned()];
    let submission =
        Submission::tracked("Crawl the site", TaskName::new(name)?, String::new(), &criteria, Links::default());
    let task = TaskId::mint(now(), random());
    let (guard, events) = (Guard::New, vec![Event::Submitted { submission: submission.into() }]);
    let actor = Actor::person("bench");
    store.commit(Change { task, guard, events, actor, at: now(), key: None, claim: None, session_cap: None }).await?;
    Ok(task.to_string())
}

/// Starts the reference on the same disk; returns where it listens.
fn bare(runtime: &Runtime, path: &Path, runs: &[String], payload: &str) -> Outcome<SocketAddr> {
    let mut database = Connection::open(path)?;
    let mode: String = database.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    database.pragma_update(None, "synchronous", "full")?;
    ensure(mode == "wal", || format!("plain SQLite has {mode}"))?;
    database.execute_batch(
        "CREATE TABLE runs (id TEXT PRIMARY KEY, payload TEXT NOT NULL) STRICT; \
         CREATE TABLE events (id INTEGER PRIMARY KEY, run TEXT NOT NULL, payload TEXT NOT NULL) STRICT;",
    )?;
    let filling = database.transaction()?;
    for run in runs {
        filling.prepare_cached("INSERT INTO runs VALUES (?1, ?2)")?.execute([run, payload])?;
    }
    filling.commit()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let router = Router::new()
        .route("/runs/{id}", get(read))
        .route("/runs", get(list))
        .route("/runs/{id}/update", post(update))
        .with_state(Arc::new(Mutex::new(database)));
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        axum::serve(listener, router).await
    });
    Ok(address)
}

type Database = State<Arc<Mutex<Connection>>>;

fn answer(found: rusqlite::Result<String>) -> Result<String, StatusCode> {
    found.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

async fn read(State(database): Database, InPath(id): InPath<String>) -> Result<String, StatusCode> {
    let database = database.lock().unwrap_or_else(PoisonError::into_inner);
    let found =
        || database.prepare_cached("SELECT payload FROM runs WHERE id = ?1")?.query_row([&id], |row| row.get(0));
    answer(found())
}

async fn list(State(database): Database) -> Result<String, StatusCode> {
    let database = database.lock().unwrap_or_else(PoisonError::into_inner);
    let found = || {
        let mut select = database.prepare_cached("SELECT payload FROM runs ORDER BY id DESC LIMIT ?1")?;
        select.query_map([LISTED], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<String>>()
    };
    answer(found())
}

async fn update(State(database): Database, InPath(id): InPath<String>, body: String) -> Result<String, StatusCode> {
    let mut database = database.lock().unwrap_or_else(PoisonError::into_inner);
    let mut committed = || {
        let change = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        change.prepare_cached("INSERT INTO events (run, payload) VALUES (?1, ?2)")?.execute([&id, &body])?;
        let sql = "UPDATE runs SET payload = payload WHERE id = ?1 RETURNING payload";
        let payload = change.prepare_cached(sql)?.query_row([&id], |row| row.get(0))?;
        change.commit()?;
        Ok(payload)
    };
    answer(committed())
}

/// One connection of a client.
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: SocketAddr) -> Outcome<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Client(BufReader::new(stream)))
    }

    /// Sends a request; returns the body of an answer that must be good.
    fn ask(&mut self, request: &str) -> Outcome<String> {
        self.0.get_mut().write_all(request.as_bytes())?;
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line)?;
            match line.trim_end().to_lowercase() {
                line if line.is_empty() => break,
                line if line.starts_with("http/") => head = line,
                line => length = line.strip_prefix("content-length: ").map_or(Ok(length), str::parse)?,
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        let body = String::from_utf8(body)?;
        ensure(head.contains(" 200 "), || format!("{head}: {body}"))?;
        Ok(body)
    }
}

fn per_second(mut client: Client, requests: impl Iterator<Item = String>) -> Outcome<f64> {
    let requests: Vec<String> = requests.collect();
    let begin = Instant::now();
    for request in &requests {
        client.ask(request)?;
    }
    Ok(requests.len() as f64 / begin.elapsed().as_secs_f64())
}
