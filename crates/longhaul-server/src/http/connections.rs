//! Accepts connections, so many at a time, and drops those that neither send nor read.
//! Called once by the server; what a connection asks is the router's.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_io_timeout::TimeoutStream;

use super::Caps;

/// How long whoever is being answered may take when the server stops.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// How long to wait when the system has no descriptor for another connection.
const TRY_AGAIN: Duration = Duration::from_millis(100);
/// What a connection holds in memory of a request's head, and of an answer that its client does not read.
const BUFFER: usize = 64 << 10;
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\nretry-after: 1\r\n\r\n";

/// Serves until `leave` resolves. Then `stop` is sent, which ends streams, and the others get a short time.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    caps: &Caps,
    leave: impl Future<Output = ()>,
    stop: watch::Sender<bool>,
) {
    let (graceful, room) = (GracefulShutdown::new(), Arc::new(Semaphore::new(caps.connections)));
    let http = settings(caps);
    tokio::pin!(leave);
    loop {
        let stream = tokio::select! {
            () = &mut leave => break,
            stream = accept(&listener) => stream,
        };
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            stream.try_write(FULL).ok();
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(http.serve_connection(TokioIo::new(impatient(stream, caps.patience)), service));
        tokio::spawn(async move {
            // However it ended: there is nobody to report to.
            connection.await.ok();
            drop(permit);
        });
    }
    drop(listener);
    stop.send_replace(true);
    tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await.ok();
}

fn settings(caps: &Caps) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(caps.patience).max_buf_size(BUFFER);
    http
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_of_one_connection(&error) => {}
            Err(_) => tokio::time::sleep(TRY_AGAIN).await,
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}

/// A connection that fails when its client reads nothing of an answer for so long.
fn impatient(stream: TcpStream, patience: Duration) -> std::pin::Pin<Box<TimeoutStream<TcpStream>>> {
    stream.set_nodelay(true).ok();
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(patience));
    Box::pin(stream)
}
