//! The channel of OpenClaw: a system event that wakes its agent at once, by its own program.
//! Nothing else of OpenClaw is used; which gateway it reaches is its own configuration.

use std::time::Duration;

use super::message::Message;
use super::program::{Call, ProgramError, run};
use longhaul_app::Home;

/// OpenClaw's program.
pub const OPENCLAW: &str = "openclaw";

pub(super) async fn send(home: &Home, message: &Message, within: Duration) -> Result<(), ProgramError> {
    let arguments = ["system", "event", "--text", &message.text(), "--mode", "now"].map(str::to_owned).to_vec();
    let call = Call {
        program: OPENCLAW.to_owned(),
        arguments,
        environment: message.environment().clone(),
        variables: Vec::new(),
        input: Vec::new(),
        directory: home.root().to_owned(),
    };
    run(call, within).await
}
