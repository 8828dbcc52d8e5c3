//! Performs operations in this process, through the table, as a server does. The tasks are real ones of the built binary.
//! Used by tests of what no verb asks for.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_app::operations::OPERATIONS;
use longhaul_app::{
    App, AppError, Asked, BootService, Call, Caller, Handover, NewWorker, Processes, Reply, System, now,
};
use longhaul_keeper::Environment;
use serde_json::Value;

use crate::env::TestEnv;

/// What is performed here starts nothing.
struct NoProcesses;

impl Processes for NoProcesses {
    fn start_worker(&self, _: &App, worker: NewWorker) -> Result<u32, AppError> {
        panic!("a worker was started: {worker:?}")
    }

    fn start_worker_for(&self, _: &App, handover: &Handover) -> Result<Reply, AppError> {
        panic!("a worker was started for {handover:?}")
    }

    fn ask(&self, _: &Path, _: &[&str], _: Duration) -> Asked {
        Asked::Unknown
    }

    fn boot_service(&self, _: &Environment) -> Result<Option<BootService>, AppError> {
        Ok(None)
    }
}

/// The document that the operation answers this caller with.
pub(crate) fn perform(env: &TestEnv, caller: Caller, name: &str, input: Value) -> Result<Value, AppError> {
    let environment = Environment::from(vec![
        ("LONGHAUL_HOME".into(), env.home().into()),
        ("HOME".into(), env.path().join("nobody").into()),
    ]);
    let app = App::new(&env.home(), System { environment, clock: now, processes: Arc::new(NoProcesses) });
    let call = Call::new(Arc::new(app), caller);
    let entry = OPERATIONS.iter().find(|entry| entry.about.name == name).expect("an operation");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let text = runtime.block_on((entry.perform)(&call, input))?;
    Ok(serde_json::from_str(&text).unwrap())
}
