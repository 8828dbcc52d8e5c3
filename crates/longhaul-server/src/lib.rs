//! Serves the operations of `longhaul-app` to agents and programs: MCP over standard input and output, and HTTP.
//!
//! Tools and routes come from the table of operations; there is no second list. Nothing lives in this process but its connections: every
//! answer comes from the store, and a submitted task is carried out by a worker. The binary passes in how processes start.

mod http;
mod mcp;
mod task;
mod tool;

pub use http::{Caps, HttpServer, Options};
pub use mcp::{rights, serve_stdio};
pub use rmcp::model::Tool;
pub use tool::tools;
