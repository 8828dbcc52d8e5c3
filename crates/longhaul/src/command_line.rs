//! One invocation of the command line: its caller, its environment, and how it opens Longhaul's home.
//! Created once by `commands::main` and passed to every verb.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_app::config::{Loaded, Overrides};
use longhaul_app::{App, AppError, Call, Caller, Home, System, Tenant, config, locations, now};
use longhaul_core::task::Actor;
use longhaul_keeper::Environment;

use crate::start::ChildProcesses;

/// One invocation of `longhaul`.
pub(crate) struct CommandLine {
    pub(crate) system: System,
    pub(crate) caller: Caller,
}

impl CommandLine {
    /// This process.
    pub(crate) fn of_process() -> CommandLine {
        let environment = Environment::of_process();
        let home = Home::at(&locations::home(&environment).unwrap_or_default());
        let caller =
            Caller::new(actor(&environment, &home), std::env::current_dir().map_err(|error| error.to_string()));
        let processes = Arc::new(ChildProcesses { caller: caller.clone() });
        CommandLine { system: System { clock: now, environment, processes }, caller }
    }

    /// Longhaul's home, which may not exist yet.
    pub(crate) fn home(&self) -> Result<PathBuf, AppError> {
        locations::home(&self.system.environment)
    }

    /// A call to the home; creates nothing.
    pub(crate) fn call(&self) -> Result<Call, AppError> {
        Ok(self.call_at(&self.home()?, self.system.clone()))
    }

    /// The same with the tasks of this tenant. A caller below a session keeps the tenant of its task.
    pub(crate) fn call_for(&self, tenant: Option<&str>) -> Result<Call, AppError> {
        let mut caller = self.caller.clone();
        caller.tenant = tenant.map_or_else(Tenant::default, Tenant::new);
        Ok(Call::new(self.call()?.app, caller))
    }

    /// A call to the given home; processes it starts get this system's environment.
    pub(crate) fn call_at(&self, root: &Path, system: System) -> Call {
        Call::new(Arc::new(App::new(root, system)), self.caller.clone())
    }

    /// A call to the home, which is created if it is missing.
    pub(crate) fn open(&self) -> Result<Call, AppError> {
        let call = self.call()?;
        call.app.create()?;
        Ok(call)
    }

    /// A call to a home that exists.
    pub(crate) fn open_existing(&self) -> Result<Call, AppError> {
        let call = self.call()?;
        call.store()?;
        Ok(call)
    }

    /// The configuration of a project, with these flags.
    pub(crate) fn load(&self, project: &Path, overrides: &Overrides) -> Result<Loaded, AppError> {
        config::load(&self.system.environment, &self.caller, project, overrides)
    }
}

/// Who runs this process: a person, a process below an agent session (limited to that session's rights), or unknown.
fn actor(environment: &Environment, home: &Home) -> Actor {
    match longhaul_keeper::Caller::own(&home.workers()) {
        longhaul_keeper::Caller::Session(session) => Actor::below(session),
        longhaul_keeper::Caller::Person => Actor::person(user(environment)),
        longhaul_keeper::Caller::Unknown => Actor::unknown(user(environment)),
    }
}

fn user(environment: &Environment) -> String {
    let named = environment.get("USER").and_then(|name| name.to_str()).filter(|name| !name.is_empty());
    named.map_or_else(|| format!("uid {}", rustix::process::geteuid().as_raw()), str::to_owned)
}
