//! The HTTP server: REST and OpenAPI from the table of operations, MCP, the feed of events, and what a monitor asks.
//!
//! ```text
//! connection -> gate (host, origin, key, rate) -> route -> operation -> store
//! ```
//! It keeps nothing but its connections: every answer comes from the store, so a client can continue with the next server.

mod connections;
mod events;
mod gate;
mod input;
mod limits;
mod mcp;
mod metrics;
mod openapi;
mod ready;
mod refusal;
mod routes;
#[cfg(test)]
mod table_tests;

use std::net::SocketAddr;
use std::sync::Arc;

use longhaul_app::{App, AppError, ErrorKind};
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::gate::Doors;
pub use self::limits::Caps;
use self::limits::Limits;
use self::metrics::Figures;

/// Where and for whom the server listens.
pub struct Options {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The address under which a proxy with TLS offers this server, such as `https://longhaul.example`.
    pub public: Option<String>,
    /// What clients may use.
    pub caps: Caps,
}

/// A server that listens.
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    caps: Caps,
    doors: Doors,
}

/// What every request needs.
struct Http {
    app: Arc<App>,
    doors: Doors,
    limits: Limits,
    figures: Figures,
    /// Becomes true when the server is about to stop.
    stopping: watch::Receiver<bool>,
}

impl HttpServer {
    /// Listens. Whoever can reach other addresses than those of this machine needs TLS, which a proxy in front of this server provides.
    pub async fn bind(options: Options) -> Result<HttpServer, AppError> {
        let Options { listen, public, caps } = options;
        if !listen.ip().is_loopback() && public.is_none() {
            let what = format!("{listen} can be reached from other machines, and this server has no TLS");
            return Err(AppError::new(ErrorKind::Usage, what).hint(
                "listen on 127.0.0.1, or put a proxy with TLS in front and add `--behind-proxy https://its.public.name`",
            ));
        }
        let doors = Doors::new(public.as_deref())?;
        let listener = TcpListener::bind(listen).await.map_err(|error| cannot_listen(listen, &error))?;
        let address = listener.local_addr().map_err(|error| cannot_listen(listen, &error))?;
        Ok(HttpServer { listener, address, caps, doors })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `leave` resolves, and then for a short time whoever was being answered.
    pub async fn serve(self, app: Arc<App>, leave: impl Future<Output = ()>) {
        let (stop, stopping) = watch::channel(false);
        let limits = Limits::new(&self.caps);
        let http = Http { app, doors: self.doors, limits, figures: Figures::default(), stopping };
        let router = routes::router(Arc::new(http));
        connections::serve(self.listener, router, &self.caps, leave, stop).await;
    }
}

fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> AppError {
    if error.kind() == std::io::ErrorKind::AddrInUse {
        return AppError::new(ErrorKind::Conflict, format!("another program already listens on {address}"))
            .hint("stop it, or choose another port with `--listen 127.0.0.1:PORT`; port 0 takes a free one");
    }
    AppError::new(ErrorKind::Failure, format!("cannot listen on {address}")).because(error)
}
