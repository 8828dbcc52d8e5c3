//! Clean checkouts that a killed worker left: nothing in them is work, so they go whole.
//! Called by `gc` after the tasks. A task that is not finished removes its own before its next round.

use std::path::Path;

use crate::checkouts::{self, LeftCheckout};
use longhaul_core::causes::with_causes;

use super::Mode;
use super::orphans::{DAY, is_older};
use crate::app::Call;
use crate::views::Sweep;

/// Sweeps the checkouts of finished tasks, and those of no task.
pub(super) async fn sweep(call: &Call, mode: Mode, swept: &mut Sweep) {
    for LeftCheckout { task, path } in checkouts::list(call.home()) {
        let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("checkouts/{file_name}");
        let project = match call.load(task).await {
            Ok(Some(stored)) if stored.task.state.is_final() => Some(stored.task.submission.project.clone()),
            Ok(None) if is_older(&path, DAY) => None,
            Ok(_) => continue,
            Err(error) => {
                swept.fail(name, error.sentence());
                continue;
            }
        };
        let removed = match mode {
            Mode::DryRun => Ok(()),
            Mode::Really => checkouts::remove(call.home(), &path, project.as_deref().map(Path::new)),
        };
        match removed {
            Ok(()) => swept.orphan(name, "checkout of a finished round", None),
            Err(error) => swept.fail(name, with_causes(&error)),
        }
    }
}
