//! The table of operations: everything a front end can ask for, one file each. Servers make their tools and routes from it.
//! A new operation is one file here and one line in the table.

mod accept_plan;
mod agents;
mod cancel;
mod config;
mod config_change;
mod config_path;
mod diff;
mod discard;
mod doctor;
mod doctor_bundle;
mod edit;
mod events;
mod gc;
mod keys_create;
mod keys_list;
mod keys_revoke;
mod land;
mod list;
mod logs;
mod notify_test;
mod path;
#[cfg(test)]
mod path_tests;
mod pause;
mod plan;
mod preview;
mod rename;
mod reopen;
mod report;
mod resume;
mod retry;
mod run;
#[cfg(test)]
mod serving_tests;
mod setup;
mod show;
mod store_backup;
mod store_check;
mod submit;
mod task_run;
mod tell;
#[cfg(test)]
mod tenant_tests;
#[cfg(test)]
pub(crate) mod tests;
mod trust;
mod trust_list;
mod trust_remove;
mod verify_history;
mod wait;
mod why;

pub use crate::changed_files::FileChange;
pub use accept_plan::{AcceptPlan, AcceptPlanInput, AcceptedPlan, MOST_BYTES as LONGEST_PLAN};
pub use agents::{AgentLimit, AgentListing, AgentView, Agents};
pub use cancel::{Cancel, CancelInput};
pub use config::{Config, ConfigEntry, ConfigInput, ConfigView};
pub use config_change::{ConfigChange, ConfigChangeInput, ConfigChanged};
pub use config_path::{ConfigFile, ConfigFiles, ConfigPath};
pub use diff::{Diff, DiffInput, DiffView};
pub use discard::{Discard, DiscardInput};
pub use doctor::{Doctor, DoctorView};
pub use doctor_bundle::{DoctorBundle, DoctorBundleInput};
pub use edit::{Edit, EditInput};
pub use events::{EventPage, Events};
pub use gc::{Batch, Gc, GcInput};
pub use keys_create::{KeysCreate, KeysCreateInput, NewApiKey};
pub use keys_list::{ApiKeyView, ApiKeys, KeysList};
pub use keys_revoke::{KeysRevoke, KeysRevokeInput};
pub use land::{Land, LandInput};
pub use list::{DamagedRow, List, ListInput, Listing};
pub use logs::{Logs, LogsInput, Turns};
pub use notify_test::{NotifyTest, NotifyTested, TestedTarget};
pub use path::{Path, PathView};
pub use pause::{Pause, PauseInput};
pub use plan::Plan;
pub use preview::{LimitSetting, PastTasks, Preview, PreviewView};
pub use rename::{Rename, RenameInput};
pub use reopen::{Reopen, ReopenInput};
pub use report::Report;
pub use resume::{Resume, ResumeInput};
pub use retry::{Retry, RetryInput};
pub use run::{Run, RunInput};
pub use setup::{FoundAgent, Setup, SetupView};
pub use show::{Show, TaskInput, TaskPageInput};
pub use store_backup::{Backup, StoreBackup, StoreBackupInput};
pub use store_check::{MissingSession, StoreCheck, StoreHealth};
pub use submit::{Submit, SubmitInput};
pub use task_run::{
    CheckpointAnswer, Evidence, FailedItem, HelpView, ImportOpenchrome, ImportOpenchromeInput, Imported, RunCheckpoint,
    RunEvent, Skipped, TaskRun, TaskRunAnswer, TaskRunCheckpoint, TaskRunCheckpointInput, TaskRunComplete,
    TaskRunCompleteInput, TaskRunDetails, TaskRunGet, TaskRunGetInput, TaskRunList, TaskRunListInput, TaskRunNeedsHelp,
    TaskRunNeedsHelpInput, TaskRunStart, TaskRunStartInput, TaskRunUpdate, TaskRunUpdateInput, TaskRuns, own_task,
};
pub use tell::{Tell, TellInput};
pub use trust::{Trust, TrustInput, TrustView, TrustedKey};
pub use trust_list::{TrustList, TrustListing, TrustedFile};
pub use trust_remove::{TrustRemove, TrustRemoveInput, TrustRemoved};
pub use verify_history::{ChainView, VerifyHistory};
pub(crate) use wait::settle;
pub use wait::{Wait, WaitInput};
pub use why::{Why, WhyView};

use crate::error::ErrorView;
use crate::feed::{FeedEventView, FeedGapView};
use crate::operation::{Entry, SchemaOf, View, entry, schema_of};
use crate::views::{EventView, StatusView, TurnView};

/// Every operation.
pub const OPERATIONS: &[Entry] = &[
    entry::<AcceptPlan>(),
    entry::<Agents>(),
    entry::<Cancel>(),
    entry::<Config>(),
    entry::<ConfigChange>(),
    entry::<ConfigPath>(),
    entry::<Diff>(),
    entry::<Discard>(),
    entry::<Doctor>(),
    entry::<DoctorBundle>(),
    entry::<Edit>(),
    entry::<Events>(),
    entry::<Gc>(),
    entry::<ImportOpenchrome>(),
    entry::<KeysCreate>(),
    entry::<KeysList>(),
    entry::<KeysRevoke>(),
    entry::<Land>(),
    entry::<List>(),
    entry::<Logs>(),
    entry::<NotifyTest>(),
    entry::<Path>(),
    entry::<Pause>(),
    entry::<Plan>(),
    entry::<Preview>(),
    entry::<Rename>(),
    entry::<Reopen>(),
    entry::<Report>(),
    entry::<Resume>(),
    entry::<Retry>(),
    entry::<Run>(),
    entry::<Setup>(),
    entry::<Show>(),
    entry::<StoreBackup>(),
    entry::<StoreCheck>(),
    entry::<Submit>(),
    entry::<TaskRunCheckpoint>(),
    entry::<TaskRunComplete>(),
    entry::<TaskRunGet>(),
    entry::<TaskRunList>(),
    entry::<TaskRunNeedsHelp>(),
    entry::<TaskRunStart>(),
    entry::<TaskRunUpdate>(),
    entry::<Tell>(),
    entry::<Trust>(),
    entry::<TrustList>(),
    entry::<TrustRemove>(),
    entry::<VerifyHistory>(),
    entry::<Wait>(),
    entry::<Why>(),
];

/// Kinds of documents that only streams and errors have, with their schemas.
pub const STREAMED: &[(&str, SchemaOf)] = &[
    ("error", schema_of::<ErrorView<'static>>),
    (EventView::KIND, schema_of::<EventView>),
    (FeedEventView::KIND, schema_of::<FeedEventView>),
    (FeedGapView::KIND, schema_of::<FeedGapView>),
    (StatusView::KIND, schema_of::<StatusView>),
    (TurnView::KIND, schema_of::<TurnView>),
];
