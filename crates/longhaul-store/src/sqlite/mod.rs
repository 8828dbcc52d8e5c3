//! The store on one machine: SQLite in write-ahead mode, one file in the home.
//!
//! One writer thread commits in groups, readers have connections of their own, and a doorbell file tells other processes to
//! look again. Opened by front ends and workers through [`SqliteStore`].
//! ```text
//! commit() -> queue -> writer thread: BEGIN, one SAVEPOINT per change, COMMIT -> doorbell -> answers
//! load()   -> reader connection          other processes: doorbell -> changes()
//! ```

mod append;
mod busy;
mod claim;
mod commit;
mod doorbell;
mod failure;
mod handle;
mod open;
mod place;
mod read;
mod row;
mod schema;
mod verify;
mod writer;

pub use handle::SqliteStore;
pub use open::Probe;
