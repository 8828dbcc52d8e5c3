//! A session's process tree: who each process is, who it descends from, and how the whole tree is ended.
//!
//! `process` identifies, `ancestry` judges callers, `cgroup` holds a tree where the system allows it, `contain` ends it.

pub(crate) mod ancestry;
pub(crate) mod cgroup;
pub(crate) mod contain;
pub mod process;
