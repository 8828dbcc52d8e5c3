//! The kill table of ARCHITECTURE.md, row by row: `w` are workers, `k` keepers, `a` agents with others, `v` viewers.
//!
//! In each the named point kills the process with SIGKILL, the task must come to the same end, the checker must find nothing,
//! and the row's own promise must hold. `controls.rs` shows that a row can fail. The reboot (B1) is in `reboot.rs`.

mod agent_rows;
mod controls;
mod keeper_rows;
mod leaving;
mod slow_keeper;
mod stop_rows;
mod trial;
mod worker_rows;
