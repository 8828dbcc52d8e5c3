//! `longhaul serve`: the HTTP server, and in the same process a worker that carries out what its clients submit.
//! It runs in the foreground and stops on TERM within seconds. Sessions keep running until the next worker adopts them.

use std::sync::Arc;

use longhaul_app::AppError;
use longhaul_server::{Caps, HttpServer, Options};
use tokio::sync::watch;

use super::worker;
use crate::cli::Serve;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn serve(line: &CommandLine, args: &Serve) -> Result<Code, AppError> {
    let leave = worker::leave_on_signal()?;
    let options = Options { listen: args.listen, public: args.behind_proxy.clone(), caps: Caps::default() };
    let server = HttpServer::bind(options).await?;
    let call = line.open()?;
    let (stop, mut stopped) = watch::channel(false);
    let work = async {
        let worked = match args.no_worker {
            true => {
                leave.await;
                Ok(())
            }
            false => worker::resident(&call, leave).await,
        };
        stop.send_replace(true);
        worked
    };
    out::data(&format!("listening on http://{}", server.address()));
    out::note("tenants are separated in the API only: all agents run as this user (docs/concepts/tenants.md)");
    let serving = server.serve(Arc::clone(&call.app), async move { drop(stopped.wait_for(|is| *is).await) });
    tokio::join!(work, serving).0?;
    Ok(Code::Done)
}
