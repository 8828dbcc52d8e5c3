//! Follows a task. A viewer only reads the store and sends commands; if it dies, loses its terminal or detaches, the task keeps running.
//! Used by every verb that waits for a task.

mod brief;
mod ending;
mod follow;
mod keys;
mod live;
mod ring;
mod screen;
mod signals;
mod status;

pub(crate) use ending::standing;
pub(crate) use follow::{Mode, Observer, Viewing, follow, follow_with};
pub(crate) use keys::Keys;
pub(crate) use ring::ring;
pub(crate) use signals::{Request, Signals, stop};
