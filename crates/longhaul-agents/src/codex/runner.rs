//! The arguments of codex as the existing shell runner passes them: everything that `exec resume` also takes, then the conversation, then
//! a short prompt. For `run-session` only; the directory is where the process starts.

use longhaul_core::task::Sandbox;

use super::sandbox_mode;
use crate::launch::LaunchSpec;

pub(super) fn arguments(spec: &LaunchSpec<'_>, prompt: &str) -> Vec<String> {
    let mut argv = vec![spec.program.unwrap_or("codex").to_owned(), "exec".to_owned()];
    argv.extend(spec.resumes.map(|_| "resume".to_owned()));
    argv.extend(["--json", "--skip-git-repo-check"].map(str::to_owned));
    let set = |text: String| ["-c".to_owned(), text];
    argv.extend(set("approval_policy=\"never\"".to_owned()));
    argv.extend(set(format!("sandbox_mode=\"{}\"", sandbox_mode(spec.sandbox))));
    // By default a refused connection is tried again for ever.
    argv.extend(set("features.unbounded_connection_retries=false".to_owned()));
    if let Some(directory) = spec.writable.filter(|_| spec.sandbox == Sandbox::Workspace) {
        let quoted = serde_json::Value::from(directory);
        argv.extend(set(format!("sandbox_workspace_write.writable_roots=[{quoted}]")));
    }
    argv.extend(spec.extra.iter().cloned());
    argv.extend(spec.resumes.map(str::to_owned));
    argv.push(prompt.to_owned());
    argv
}
