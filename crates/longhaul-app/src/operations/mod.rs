//! The table of operations: everything a front end can ask for, one file each. Servers make their tools and routes from it.
//! A new operation is one file here and one line in the table.

mod agents;
mod config;
mod config_path;
mod diff;
mod doctor;
mod doctor_bundle;
mod gc;
mod list;
mod report;
mod store_backup;
mod store_check;
mod tell;
mod trust;
mod trust_list;
mod trust_remove;

pub use agents::{AgentLimit, AgentListing, AgentView, Agents};
pub use config::{Config, ConfigEntry, ConfigView};
pub use config_path::{ConfigFile, ConfigFiles, ConfigPath};
pub use diff::{Diff, DiffInput, DiffView};
pub use doctor::{Doctor, DoctorView};
pub use doctor_bundle::{DoctorBundle, DoctorBundleInput};
pub use gc::{Gc, GcInput};
pub use list::{DamagedRow, List, ListInput, Listing};
pub use report::{Report, ReportInput};
pub use store_backup::{Backup, StoreBackup, StoreBackupInput};
pub use store_check::{MissingSession, StoreCheck, StoreHealth};
pub use tell::{Tell, TellInput};
pub use trust::{Trust, TrustInput, TrustView, TrustedKey};
pub use trust_list::{TrustList, TrustListing, TrustedFile};
pub use trust_remove::{TrustRemove, TrustRemoveInput, TrustRemoved};

use crate::operation::{Entry, entry};

/// Every operation.
pub const OPERATIONS: &[Entry] = &[
    entry::<Agents>(),
    entry::<Config>(),
    entry::<ConfigPath>(),
    entry::<Diff>(),
    entry::<Doctor>(),
    entry::<DoctorBundle>(),
    entry::<Gc>(),
    entry::<List>(),
    entry::<Report>(),
    entry::<StoreBackup>(),
    entry::<StoreCheck>(),
    entry::<Tell>(),
    entry::<Trust>(),
    entry::<TrustList>(),
    entry::<TrustRemove>(),
];
