//! Serves the operations of `longhaul-app` to agents and programs. Today that is MCP over standard input and output.
//!
//! Tools come from the table of operations; there is no second list. Nothing lives in this process but the connection: every answer comes from
//! the store, and a submitted task is carried out by a worker. The binary passes in how processes start.

mod mcp;
mod task;
mod tool;

pub use mcp::{rights, serve_stdio};
pub use tool::tools;
