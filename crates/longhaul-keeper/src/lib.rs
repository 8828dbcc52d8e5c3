//! The keeper: the small process that owns one session's process tree and outlives everything else.
//!
//! The binary calls [`keep`] for `longhaul keep <session-dir>`; workers call [`prepare_session`], [`spawn_keeper`],
//! [`look`] and [`signal_keeper`]. Between the two there are only signals in one direction and files in the other:
//! no socket, no runtime, nothing printed.

mod adopt;
mod ancestry;
mod beneath;
mod clock;
mod contain;
mod contract;
pub mod fail_point;
pub mod files;
mod filter;
mod keep;
mod launch;
mod layout;
mod lock;
mod logs;
mod os;
pub mod process;
mod pump;
mod spawn;
mod stop;

pub use adopt::{
    Delivery, Found, LiveKeeper, LookError, SessionGuard, SignalError, Stop, Swept, end_strays, look, signal_keeper,
};
pub use ancestry::below_session;
pub use beneath::{Beneath, BeneathError};
pub use contract::{
    CONTRACT_VERSION, EndRecord, ExitRecord, ExitStatus, Identity, RecordError, Spec, StopSignal, StopStep, Why,
};
pub use keep::{FAILED, KEPT, LEFT_ALONE, NOT_STARTED, keep};
pub use layout::{BadSessionDir, HOME_VARIABLE, SESSION_VARIABLE, SessionDir};
pub use lock::WorkerLock;
pub use logs::{INDEX_RECORD, IndexEntry, Stream, read_index};
pub use spawn::{Executable, PrepareError, prepare_session, spawn_keeper};
