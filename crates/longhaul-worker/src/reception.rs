//! A worker's socket: takes hand-overs from anybody who may make them, for as long as the worker serves.
//!
//! ```text
//! look at the caller's process -> greet -> read one line -> judge who sent it by that process -> commit with the claim -> answer
//! ```
//! Whoever was greeted is served to the end before the worker leaves; whoever was not has sent nothing yet and asks another.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::Actor;
use longhaul_keeper::process::shares_namespaces;
use longhaul_keeper::{Caller, Environment, bind_private, fail_point};
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::UCred;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};

use crate::worker::Context;
use longhaul_app::{Answer, Greeting, Handover, Offer, RefusalKind, now};

/// How long a caller that was greeted may take to send its line, and to read the answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most that one line may hold.
const LONGEST: u64 = 64 << 20;
/// How long to wait when the system has no descriptor for another connection.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// Commits what was handed over, together with this worker's claim. The task's programs will run in this environment.
pub(crate) async fn take_on(context: &Context, handover: Handover, environment: &Environment) -> Answer {
    let lease = context.new_lease();
    let id = lease.id;
    // Before the commit: from then on a round of this worker may open the task's hub.
    context.environments.keep(id, environment.clone());
    let done = handover.commit(&*context.store, &context.home, environment, lease, now).await;
    let owner = done.as_ref().ok().and_then(|taken| taken.committed.stored.owner.as_ref());
    if owner.is_none_or(|owner| owner.lease.id != id) {
        context.environments.forget(id);
    }
    Answer::from(done)
}

/// A worker's open socket.
pub(crate) struct Reception {
    serving: JoinHandle<()>,
    close: oneshot::Sender<()>,
    accepted: mpsc::UnboundedReceiver<TaskId>,
}

impl Reception {
    /// Opens the socket of this worker.
    pub(crate) fn open(context: &Arc<Context>) -> io::Result<Reception> {
        let name = format!("{}.sock", context.worker);
        let socket = UnixListener::from_std(bind_private(&context.home.workers(), &name)?)?;
        let file = SocketFile(context.home.workers().join(name));
        let (close, closed) = oneshot::channel();
        let (tell, accepted) = mpsc::unbounded_channel();
        let serving = tokio::spawn(serve(Arc::clone(context), socket, file, closed, tell));
        Ok(Reception { serving, close, accepted })
    }

    /// The next task that was taken on.
    pub(crate) async fn next(&mut self) -> Option<TaskId> {
        self.accepted.recv().await
    }

    /// Closes the socket on everybody: whoever was greeted sees the end of the connection and asks the store, then another worker.
    pub(crate) async fn abandon(self) {
        self.serving.abort();
        self.serving.await.ok();
    }

    /// Closes the socket and serves those who were greeted. Returns what was accepted and not yet returned by `next`.
    pub(crate) async fn close(mut self) -> Vec<TaskId> {
        self.close.send(()).ok();
        self.serving.await.ok();
        let mut rest = Vec::new();
        while let Ok(task) = self.accepted.try_recv() {
            rest.push(task);
        }
        rest
    }
}

/// The socket's name, which goes with it.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

async fn serve(
    context: Arc<Context>,
    socket: UnixListener,
    file: SocketFile,
    mut closed: oneshot::Receiver<()>,
    tell: mpsc::UnboundedSender<TaskId>,
) {
    let mut callers = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut closed => break,
            accepted = socket.accept() => match accepted {
                Ok((stream, _)) => {
                    let (context, tell) = (Arc::clone(&context), tell.clone());
                    callers.spawn(async move {
                        if let Ok(Some(task)) = attend(&context, stream).await {
                            tell.send(task).ok();
                        }
                    });
                }
                Err(_) => tokio::time::sleep(TRY_AGAIN).await,
            },
            Some(_) = callers.join_next() => {}
        }
    }
    // Who waits in the queue was not greeted, sees the end of the connection, and asks another worker.
    drop((socket, file));
    while callers.join_next().await.is_some() {}
}

/// Serves one caller; returns the task that was accepted for it. An error means that it got no answer, whatever was done.
async fn attend(context: &Context, stream: UnixStream) -> io::Result<Option<TaskId>> {
    let Some(pid) = fellow(&stream.peer_cred()?) else { return Ok(None) };
    let (reading, mut writing) = stream.into_split();
    let mut reading = BufReader::new(reading.take(LONGEST));
    send(&mut writing, &Greeting::own()).await?;
    let mut line = String::new();
    tokio::time::timeout(PATIENCE, reading.read_line(&mut line)).await??;
    let Offer { handover, environment } = serde_json::from_str(&line)?;
    fail_point::reach("worker.handover_read");
    if has_hung_up(reading.into_inner().get_ref().as_ref()) {
        return Ok(None);
    }
    let answer = match judged(handover, pid, &context.home.workers()) {
        Ok(handover) => take_on(context, handover, &environment).await,
        Err(refused) => refused,
    };
    fail_point::reach("worker.handover_committed");
    let accepted = match &answer {
        Answer::Accepted { task, .. } => Some(*task),
        Answer::Refused { .. } => None,
    };
    // The commit counts, whether or not its caller lives to read of it.
    send(&mut writing, &answer).await.ok();
    Ok(accepted)
}

/// The caller's process, if it is this user's and what it means by a path or an address is the same here. Anybody else is not greeted,
/// and starts its own worker.
fn fellow(peer: &UCred) -> Option<u32> {
    let is_own_user = peer.uid() == rustix::process::geteuid().as_raw();
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok())?;
    (is_own_user && shares_namespaces(pid).unwrap_or(false)).then_some(pid)
}

/// Somebody who waited too long for this worker has asked another one by now.
fn has_hung_up(stream: &UnixStream) -> bool {
    matches!(stream.try_read(&mut [0]), Ok(0))
}

/// The same input from whom it really comes. A session's own process hands nothing to a worker: its children go through the store.
fn judged(handover: Handover, pid: u32, workers: &Path) -> Result<Handover, Answer> {
    if Caller::of(pid, workers) != Caller::Person {
        let message = "only a person can hand a task to a worker; run this outside an agent session".to_owned();
        return Err(Answer::Refused { kind: RefusalKind::Refused, message });
    }
    Ok(match handover {
        Handover::Submit(mut request) => {
            request.actor = as_person(request.actor);
            Handover::Submit(request)
        }
        Handover::Command { task, command, actor, tenant, key } => {
            Handover::Command { task, command, actor: as_person(actor), tenant, key }
        }
    })
}

/// Tenant, channel and key are what the caller's server says: any process of this user could be that server.
fn as_person(actor: Actor) -> Actor {
    Actor { channel: actor.channel, key: actor.key, ..Actor::person(actor.principal) }
}

async fn send(writing: &mut (impl AsyncWriteExt + Unpin), value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    tokio::time::timeout(PATIENCE, writing.write_all(&line)).await?
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use longhaul_core::names::TaskName;
    use longhaul_core::task::{Channel, Scope, Submission};
    use longhaul_keeper::SESSION_VARIABLE;

    use super::*;
    use longhaul_app::Request;
    use longhaul_app::{Tenant, mint_task};

    fn claiming(actor: Actor) -> Handover {
        let submission = Submission::new("goal".into(), TaskName::new("t").unwrap(), "/p".into(), "demo".into());
        let tenant = Tenant::new("team");
        Handover::Submit(Box::new(Request { id: mint_task(), name: None, submission, actor, tenant, key: None }))
    }

    #[test]
    fn who_sends_something_is_told_by_its_process() {
        let workers = tempfile::tempdir().unwrap();
        let sender = Actor { channel: Some(Channel::Http), key: Some("k1".into()), ..Actor::worker() };
        let Ok(Handover::Submit(request)) = judged(claiming(sender), std::process::id(), workers.path()) else {
            panic!("a person's own process may hand something over")
        };
        assert_eq!((request.actor.scope, request.actor.session), (Scope::Person, None));
        assert_eq!((request.actor.channel, request.actor.key.as_deref()), (Some(Channel::Http), Some("k1")));
        assert_eq!(request.tenant, Tenant::new("team"));
        let id = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";
        let mut command = Command::new("cat");
        let mut agent = command.env(SESSION_VARIABLE, id).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It has begun, with its environment, once it answers.
        std::io::Write::write_all(agent.stdin.as_mut().unwrap(), b"!").unwrap();
        std::io::Read::read_exact(agent.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let refused = judged(claiming(Actor::person("ann")), agent.id(), workers.path());
        assert!(matches!(refused, Err(Answer::Refused { kind: RefusalKind::Refused, .. })), "{refused:?}");
        drop(agent.stdin.take());
        agent.wait().unwrap();
    }
}
