//! Waiting for the end of processes: the runtime polls their descriptors, so that a worker needs no thread for each session.
//! Used by effects for keepers, those that a dead worker has started too, and for programs of ours.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;

use longhaul_keeper::process::descriptor_of;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

/// Reaps a child as soon as it has ended, and then resolves. Dropping what this returns does not stop it.
pub(crate) fn reap(mut child: Child) -> JoinHandle<()> {
    let descriptor = descriptor_of(&child);
    tokio::spawn(async move {
        let ended = match descriptor {
            Ok(descriptor) => exited(descriptor).await,
            Err(error) => Err(error),
        };
        match ended {
            Ok(()) => drop(child.wait()),
            // Where the descriptor of a process cannot be had or polled, a thread has to wait for it.
            Err(_) => drop(tokio::task::spawn_blocking(move || child.wait()).await),
        }
    })
}

/// Returns when the process of this descriptor has ended.
pub(crate) async fn exited(descriptor: OwnedFd) -> io::Result<()> {
    // It becomes readable like a pipe, and nothing is ever read from it. The runtime's type for any descriptor needs unsafe code.
    pipe::Receiver::from_owned_fd_unchecked(descriptor)?.readable().await
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
