//! The one meeting point: tasks and their events, durable. There is no private protocol beside it.
//!
//! Front ends use the [`Store`] trait, bound to a tenant; workers use the [`WholeStore`]. Which database answers is chosen when it is opened.
//! Only this crate speaks SQL.

mod api_key;
mod chain;
mod cursor;
mod feed;
mod key;
mod listing;
mod notice;
pub mod sqlite;
mod store;
mod tenant;

pub use api_key::ApiKey;
pub use chain::{ChainEntry, ChainHead, link};
pub use cursor::{BadCursor, Cursor};
pub use feed::{Feed, FeedEvent};
pub use key::Key;
pub use listing::{Filter, Listed, Steps, Summaries, TaskSummary, Which};
pub use notice::{Notice, NoticeState, Settled};
pub use store::{
    Candidate, Carrier, ChainReport, Change, Changes, CommitError, Committed, Damaged, Earlier, Guard, History, Holder,
    Lease, MovedTask, NewLease, News, Owner, RemoveError, Salvaged, Store, StoreError, Stored, StoredEvent, Turn,
    Turns, WholeStore,
};
pub use tenant::Tenant;
