//! Following a task: a viewer only reads the store and sends commands. Its death, a lost terminal or `d` changes nothing.
//! Used by every verb that waits for a task.

mod follow;
mod keys;
mod screen;
mod signals;

use longhaul_core::task::State;

pub(crate) use follow::{Reach, Viewing, Watched, follow, follow_with};
pub(crate) use signals::Signals;

use crate::exit::Code;
use longhaul_app::views::Outcome;

/// The exit code that a state gives to those who waited for it.
pub(crate) fn code_of(state: &State) -> Code {
    Outcome::of(state).into()
}
