//! Private Unix sockets below a directory of ours, whatever the length of its path: the kernel takes 108 bytes, a home may have more.
//!
//! Workers bind one, front ends connect to it. Neither ever waits here: a listener with a full queue is an error like a dead one.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};

use crate::files::open_directory;
use crate::os;

/// Binds a socket of this name in the directory, for its owner only.
pub fn bind_private(directory: &Path, name: &str) -> io::Result<UnixListener> {
    let opened = open_directory(directory)?;
    let listener = UnixListener::bind(os::short_path(&opened, directory, name))?;
    std::fs::set_permissions(directory.join(name), Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Connects to the socket of this name in the directory.
pub fn connect_private(directory: &Path, name: &str) -> io::Result<UnixStream> {
    let opened = open_directory(directory)?;
    let address = SocketAddrUnix::new(os::short_path(&opened, directory, name))?;
    let stream = UnixStream::from(socket(AddressFamily::UNIX, SocketType::STREAM, None)?);
    // A stopped process accepts nobody. Once its queue is full a blocking connect would wait for it forever.
    stream.set_nonblocking(true)?;
    connect(&stream, &address)?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::{bind_private, connect_private};

    #[test]
    fn a_socket_in_a_directory_with_a_long_path_is_reached_by_its_owner() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("d".repeat(120)).join("e".repeat(120));
        std::fs::create_dir_all(&directory).unwrap();
        let listener = bind_private(&directory, "w.sock").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&directory.join("w.sock").metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        let mut caller = connect_private(&directory, "w.sock").unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        caller.write_all(b"hello").unwrap();
        drop(caller);
        let mut text = String::new();
        accepted.set_nonblocking(false).unwrap();
        accepted.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
        drop(listener);
        assert!(connect_private(&directory, "w.sock").is_err(), "nobody listens any more");
    }
}
