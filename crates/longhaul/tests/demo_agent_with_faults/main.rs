//! The demo agent that misbehaves on request: what the end-to-end tests start in place of the one in the binary. Never installed.
//!
//! It is the plain demo agent behind an output that can crash, with faults between the start of a session and its work. `DEMO_FAULT`
//! chooses the faults, `DEMO_LEDGER` names a file that records who ran when, and `DEMO_AGENT_HOME` replaces the agent's home.

mod faults;
mod invocation;
mod ledger;
mod misbehave;
mod output;

use std::ops::ControlFlow;
use std::process::ExitCode;

use demo_agent::{Outcome, Request, Session, complain};

use faults::{Fault, PlannedFault};
use invocation::Invocation;
use ledger::Ledger;
use output::Output;

fn main() -> ExitCode {
    let (request, planned) = match read() {
        Ok(read) => read,
        Err(refusal) => return complain(2, &*refusal),
    };
    match run(request, &planned) {
        Ok(code) => ExitCode::from(code),
        Err(error) => complain(1, &*error),
    }
}

fn read() -> Outcome<(Request, Vec<PlannedFault>)> {
    let planned = faults::parse(&std::env::var("DEMO_FAULT").unwrap_or_default())?;
    // The program and the verb come before its arguments.
    let mut request = Request::read(std::env::args_os().skip(2))?;
    if let Some(home) = std::env::var_os("DEMO_AGENT_HOME").filter(|home| !home.is_empty()) {
        request.settings.home = home.into();
    }
    Ok((request, planned))
}

fn run(mut request: Request, planned: &[PlannedFault]) -> Outcome<u8> {
    let invocation = Invocation::count(&request.settings.home)?;
    let faults = faults::at_invocation(planned, invocation.number);
    let ledger = Ledger::of(&request, invocation)?;
    if faults.contains(&Fault::CrashEarly) {
        misbehave::die();
    }
    if faults.contains(&Fault::Stray) {
        request.arguments.resume = None;
    }
    let code = play(request, &faults, invocation, ledger.as_ref())?;
    if let Some(ledger) = &ledger {
        ledger.end(code)?;
    }
    Ok(code)
}

fn play(request: Request, faults: &[Fault], invocation: Invocation, ledger: Option<&Ledger>) -> Outcome<u8> {
    let role = request.prompt.role.clone();
    let (output, mut of_session) = (Output::new(faults, &role), Output::new(faults, &role));
    let Some(session) = Session::begin(request, &mut of_session)? else { return Ok(1) };
    if let ControlFlow::Break(code) = misbehave::at_start(faults, &output, ledger, invocation)? {
        return Ok(code);
    }
    if misbehave::in_place_of(&role, faults, &output)? {
        output.say("done", &[])?;
        return Ok(0);
    }
    session.play()
}
