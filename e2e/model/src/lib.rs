//! A scripted model: a loopback server that real agent programs take for their vendor, while a test says what it answers.
//! Used by tests that run codex, claude, opencode, pi and gemini, and by the program `scripted-model` for trying by hand.
//! It knows nothing of Longhaul's crates, listens on 127.0.0.1 only, and is never part of the product.

mod dialects;
mod http;
mod programs;
mod refusals;
mod reply;
mod rules;
mod script;
mod server;
mod tools;
mod turn;
mod worker;

pub use programs::{
    Agent, EnvironmentError, Login, Missing, Programs, Setup, clients, place_for_homes, python_packages, schemathesis,
};
pub use reply::{Answer, Call, Ending, Place, Refusal, Reply, Usage};
pub use rules::{Rule, Rules};
pub use script::{Script, limited_for};
pub use server::{NeverCame, Request, Server, StartError};
pub use turn::{Delivery, Dialect, Entry, Offered, ToolResult, Turn};
pub use worker::{sprinter, worker};
