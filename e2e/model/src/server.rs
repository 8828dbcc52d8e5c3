//! The server: takes connections, records what arrives, asks the script and sends what it says.
//! Started by tests and by the program; every connection has a thread of its own and carries one request.
//! It listens on the loopback address only.

mod connection;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use crate::script::Script;
use crate::turn::Turn;

/// A running server; dropped, it stops and lets go of everything that hangs.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// Something that arrived.
#[derive(Debug, Clone)]
pub struct Request {
    /// Counted from 1.
    pub number: usize,
    /// When it was complete.
    pub at: SystemTime,
    /// The HTTP method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// What the model is asked, if this asks it.
    pub turn: Option<Arc<Turn>>,
}

/// The server could not start.
#[derive(Debug, thiserror::Error)]
#[error("failed to listen on the loopback address, port {port}")]
pub struct StartError {
    port: u16,
    #[source]
    source: io::Error,
}

/// A request that was waited for did not come.
#[derive(Debug, thiserror::Error)]
#[error("no such request came within {patience:?}; {arrived} others did")]
pub struct NeverCame {
    patience: Duration,
    arrived: usize,
}

struct Shared {
    script: Box<dyn Script>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<Request>,
    releases: u64,
    hanging: usize,
    is_closed: bool,
}

impl Server {
    /// Starts a server on a free port.
    pub fn start(script: impl Script + 'static) -> Result<Self, StartError> {
        Self::start_on(0, script)
    }

    /// Starts a server on a given port, such as one whose server has stopped.
    pub fn start_on(port: u16, script: impl Script + 'static) -> Result<Self, StartError> {
        let failed = |source| StartError { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Shared { script: Box::new(script), state: Mutex::default(), changed: Condvar::new() };
        let shared = Arc::new(shared);
        let theirs = Arc::clone(&shared);
        let acceptor = thread::spawn(move || accept(&listener, &theirs));
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// Where it is: `http://127.0.0.1:<port>`, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Everything that has arrived so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// The turns among what has arrived.
    #[must_use]
    pub fn turns(&self) -> Vec<Arc<Turn>> {
        self.requests().into_iter().filter_map(|request| request.turn).collect()
    }

    /// Waits until a request that fits has arrived; one that is there already counts.
    pub fn wait_for(&self, patience: Duration, fits: impl Fn(&Request) -> bool) -> Result<Request, NeverCame> {
        let found = |state: &State| state.requests.iter().find(|request| fits(request)).cloned();
        let never_came = || NeverCame { patience, arrived: self.shared.lock().requests.len() };
        self.shared.wait(patience, found).ok_or_else(never_came)
    }

    /// Waits until a turn that fits has arrived.
    pub fn wait_for_turn(&self, patience: Duration, fits: impl Fn(&Turn) -> bool) -> Result<Arc<Turn>, NeverCame> {
        let request = self.wait_for(patience, |request| request.turn.as_deref().is_some_and(&fits))?;
        Ok(request.turn.expect("only requests with a turn fit"))
    }

    /// Lets everything that hangs now go on.
    pub fn release(&self) {
        self.shared.lock().releases += 1;
        self.shared.changed.notify_all();
    }

    /// How many answers hang now; an agent that has gone away no longer counts.
    #[must_use]
    pub fn hanging(&self) -> usize {
        self.shared.lock().hanging
    }

    /// Waits until so many answers hang; tells whether they do.
    #[must_use]
    pub fn wait_until_hanging(&self, patience: Duration, count: usize) -> bool {
        self.shared.wait(patience, |state| (state.hanging == count).then_some(())).is_some()
    }

    /// How often the model was asked to answer a prompt with `mark` in it: once for each try of the agent's program.
    #[must_use]
    pub fn deliveries(&self, mark: &str) -> usize {
        let asks = |turn: &&Arc<Turn>| turn.answers_prompt() && turn.last_prompt().contains(mark);
        self.turns().iter().filter(asks).count()
    }

    /// The most prompts with `mark` in it that any one conversation held: 2 means that it was sent twice.
    #[must_use]
    pub fn copies(&self, mark: &str) -> usize {
        self.turns().iter().map(|turn| turn.prompts_with(mark)).max().unwrap_or(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
        // The acceptor sleeps in `accept` and looks at the flag when it wakes.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(acceptor) = self.acceptor.take()
            && woken
        {
            // A panic of the acceptor has shown itself on stderr; a second one here would end the process.
            drop(acceptor.join());
        }
    }
}

impl Shared {
    /// A panic while the lock was held leaves plain counters and lists, which are whole at any moment.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<T>(&self, patience: Duration, find: impl Fn(&State) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + patience;
        let mut state = self.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match find(&state) {
                Some(found) => return Some(found),
                None if left.is_zero() => return None,
                None => state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            }
        }
    }

    fn record(&self, method: &str, target: &str, turn: Option<Arc<Turn>>) -> usize {
        let mut state = self.lock();
        let number = state.requests.len() + 1;
        let (method, target) = (method.to_owned(), target.to_owned());
        state.requests.push(Request { number, at: SystemTime::now(), method, target, turn });
        self.changed.notify_all();
        number
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for connection in listener.incoming() {
        if shared.lock().is_closed {
            return;
        }
        if let Ok(connection) = connection {
            let shared = Arc::clone(shared);
            thread::spawn(move || connection::serve(connection, &shared));
        }
    }
}

#[cfg(test)]
mod tests;
