//! The keeper: the small process that owns one session's process tree and outlives everything else.
//!
//! The binary calls [`keep`] for `longhaul keep <session-dir>`; workers call [`prepare_session`], [`spawn_keeper`],
//! [`inspect_session`] and [`signal_keeper`]. Between the two there are only signals in one direction and files in the other:
//! no socket, no runtime, nothing printed. What a worker needs of the operating system besides is here too.

mod adopt;
mod bounded;
mod clock;
mod contract;
mod discard;
mod environment;
pub mod fail_point;
mod fault;
pub mod files;
mod keep;
mod launch;
mod layout;
mod lock;
mod log;
mod os;
mod pump;
mod random;
mod safe_dir;
mod scope;
mod silence;
mod socket;
mod spawn;
mod stop;
mod tree;

pub use adopt::{
    Delivery, InspectError, LiveKeeper, SessionGuard, SessionStatus, SignalError, Stop, Swept, carriers, end_strays,
    inspect_session, signal_keeper,
};
pub use bounded::{Bounded, Keep, ProgramEnd};
pub use clock::now;
pub use contract::{
    CONTRACT_VERSION, Caps, Containment, EndRecord, ExitRecord, ExitStatus, Identity, Marking, RecordError, Spec,
    Stalled, Why,
};
pub use discard::{Discarded, SessionFiles, discard_file, discard_session, survey_session, temporary_of};
pub use environment::{Environment, find_program};
pub use keep::{DEFERRED, FAILED, KEPT, LEFT_ALONE, NOT_STARTED, keep};
pub use layout::{BadSessionDir, HOME_VARIABLE, PROMPT, SESSION_VARIABLE, SessionDir, TRANSCRIPT, is_own_variable};
pub use lock::WorkerLock;
pub use log::{
    EntryKind, INDEX_RECORD, IndexEntry, LINE_CAP, LogLine, LogLines, LogReader, Piece, REDACT_KEY, Stream, gap_note,
    read_index, read_redact_key, read_tail,
};
pub use random::random;
pub use safe_dir::{Beneath, BeneathError};
pub use scope::{Scopes, Standing, close_inherited, scopes};
pub use socket::{bind_private, connect_private};
pub use spawn::{Executable, PrepareError, prepare_session, raise_descriptor_limit, spawn_keeper, spawn_keeper_with};
pub use tree::ancestry::Caller;
pub use tree::cgroup::group_parents;
pub use tree::process;

pub use longhaul_core::task::{StopSignal, StopStep};
