//! The store on one machine: SQLite in write-ahead mode, one file in the home.
//!
//! One writer thread commits in groups, readers have their own connections, and a doorbell file tells other processes to
//! look again. Opened by front ends and workers through [`SqliteStore`].
//! ```text
//! commit() -> queue -> writer thread: BEGIN, every change, COMMIT -> doorbell -> answers
//! load()   -> reader connection          other processes: doorbell -> changes()
//! ```

mod accounts;
mod api_keys;
mod append;
mod backup;
mod busy;
mod cache;
mod claim;
mod commit;
mod directory;
mod disk_failure_note;
mod doorbell;
mod failure;
mod family;
mod feed;
mod handle;
mod keys;
mod listing;
mod load;
mod open;
mod outbox;
mod place;
mod read;
mod remove;
mod replay;
mod request;
mod row;
mod schema;
mod statement;
mod turns;
mod verify;
mod writer;

pub use handle::SqliteStore;
pub use open::Probe;
