//! What a failure of git means for a task: the machine is at fault and trying again helps, or the workspace is not what it was.
//! Used by everything that works in a task's repository.

use longhaul_core::causes::with_causes;
use longhaul_core::task::Cause;
use longhaul_git::is_transient;

/// The cause to record for this failure.
pub fn unfit(error: &(dyn std::error::Error + 'static)) -> Cause {
    let why = with_causes(error);
    if is_transient(error) { Cause::Git { why } } else { Cause::Workspace { why } }
}
