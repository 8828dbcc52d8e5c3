//! The kill table of ARCHITECTURE.md, row by row: `w` are workers, `k` keepers, `a` agents with others, `c` checks, `v` viewers.
//!
//! In each the named point kills the process with SIGKILL, the task must come to the same end, the checker must find nothing,
//! and the row's own promise must hold. `controls.rs` shows that a row can fail. ARCHITECTURE.md
//! says where the rows are that are not here.

mod agent_rows;
mod check_rows;
mod checkout_rows;
mod controls;
mod keeper_rows;
mod leaving;
mod place_rows;
mod setup_rows;
mod slow_keeper;
mod stop_rows;
mod trial;
mod worker_rows;
