//! One thread that polls the descriptors of all processes whose exit somebody waits for. Used by effects.
//! A thread for each session would use up those that the store reads with, and tokio has no safe way to poll a descriptor of ours.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::mem;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use longhaul_keeper::process::descriptor_of;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Reaps a child as soon as it has ended, and then resolves. Dropping what this returns does not stop it.
pub(crate) fn reap(mut child: Child) -> JoinHandle<()> {
    let descriptor = descriptor_of(&child);
    tokio::spawn(async move {
        match descriptor {
            Ok(descriptor) => {
                exited(descriptor).await;
                child.wait().ok();
            }
            // Where the system gives no descriptor of a process, a thread has to wait for it.
            Err(_) => drop(tokio::task::spawn_blocking(move || child.wait()).await),
        }
    })
}

/// Returns when the process of this descriptor has ended.
pub(crate) async fn exited(descriptor: OwnedFd) {
    match ExitWatch::of_process() {
        Some(watch) => drop(watch.add(descriptor).await),
        None => drop(
            tokio::task::spawn_blocking(move || poll_until_ready(&mut [PollFd::new(&descriptor, PollFlags::IN)])).await,
        ),
    }
}

/// A descriptor, and whom to tell when it becomes readable.
struct Waiting {
    descriptor: OwnedFd,
    tell: oneshot::Sender<()>,
}

/// The other threads' side.
struct ExitWatch {
    new: Arc<Mutex<Vec<Waiting>>>,
    wake: PipeWriter,
}

impl ExitWatch {
    /// The one of this process; none if its thread could not be started.
    fn of_process() -> Option<&'static ExitWatch> {
        static WATCH: OnceLock<Option<ExitWatch>> = OnceLock::new();
        WATCH.get_or_init(|| ExitWatch::start().ok()).as_ref()
    }

    fn start() -> io::Result<ExitWatch> {
        let new = Arc::<Mutex<Vec<Waiting>>>::default();
        let (woken, wake) = io::pipe()?;
        let arrived = Arc::clone(&new);
        thread::Builder::new().name("longhaul-exits".into()).spawn(move || watch(&arrived, woken))?;
        Ok(ExitWatch { new, wake })
    }

    fn add(&self, descriptor: OwnedFd) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        self.new.lock().unwrap_or_else(PoisonError::into_inner).push(Waiting { descriptor, tell });
        // The thread lives as long as the process, and so does its end of the pipe.
        (&self.wake).write_all(b"!").ok();
        told
    }
}

fn watch(new: &Mutex<Vec<Waiting>>, mut woken: PipeReader) {
    let mut waiting: Vec<Waiting> = Vec::new();
    loop {
        let descriptors: Vec<&OwnedFd> = waiting.iter().map(|one| &one.descriptor).collect();
        let (is_woken, ended) = wait_for_any(&woken, &descriptors);
        let mut ended = ended.into_iter();
        let (over, lasting): (Vec<Waiting>, Vec<Waiting>) =
            waiting.into_iter().partition(|_| ended.next().unwrap_or(false));
        for one in over {
            one.tell.send(()).ok();
        }
        waiting = lasting;
        if is_woken {
            woken.read_exact(&mut [0]).ok();
            waiting.retain(|one| !one.tell.is_closed());
            waiting.append(&mut mem::take(&mut new.lock().unwrap_or_else(PoisonError::into_inner)));
        }
    }
}

/// Whether the pipe has something to read, and which of the processes have ended.
fn wait_for_any(woken: &PipeReader, descriptors: &[&OwnedFd]) -> (bool, Vec<bool>) {
    let mut polled = vec![PollFd::new(woken, PollFlags::IN)];
    polled.extend(descriptors.iter().map(|descriptor| PollFd::new(descriptor, PollFlags::IN)));
    poll_until_ready(&mut polled);
    let mut ready = polled.iter().map(|one| !one.revents().is_empty());
    (ready.next().unwrap_or(false), ready.collect())
}

fn poll_until_ready(polled: &mut [PollFd<'_>]) {
    while poll(polled, None) == Err(Errno::INTR) {}
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn is_known(pid: u32) -> bool {
        std::path::Path::new("/proc").join(pid.to_string()).exists()
    }

    #[tokio::test]
    async fn each_child_is_reaped_when_it_has_ended_and_no_sooner() {
        let mut children: Vec<Child> =
            (0..20).map(|_| Command::new("cat").stdin(Stdio::piped()).spawn().unwrap()).collect();
        let inputs: Vec<_> = children.iter_mut().map(|child| child.stdin.take()).collect();
        let pids: Vec<u32> = children.iter().map(Child::id).collect();
        let mut reaped: Vec<JoinHandle<()>> = children.into_iter().map(reap).collect();
        for (index, input) in inputs.into_iter().enumerate().rev() {
            assert!(is_known(pids[index]) && !reaped[index].is_finished(), "it lives while its input is open");
            drop(input);
            reaped.pop().unwrap().await.unwrap();
            assert!(!is_known(pids[index]), "no zombie is left");
        }
    }
}
