//! Follows a task. A viewer only reads the store and sends commands; if it dies, loses its terminal or detaches, the task keeps running.
//! Used by every verb that waits for a task.

mod brief;
mod ending;
mod follow;
mod keys;
mod live;
mod screen;
mod signals;
mod status;

use longhaul_core::task::State;

pub(crate) use ending::standing;
pub(crate) use follow::{Mode, Observer, Viewing, follow, follow_with};
pub(crate) use keys::Keys;
pub(crate) use signals::{Request, Signals, stop};

use crate::exit::Code;
use longhaul_app::views::Outcome;

/// The exit code for a state that was waited for.
pub(crate) fn code_of(state: &State) -> Code {
    Outcome::of(state).into()
}
