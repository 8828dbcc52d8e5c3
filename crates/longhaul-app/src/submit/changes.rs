//! What a request changes of a task that exists: read, completed and checked before anything is stored.
//! Used by `edit`, `resume` and `retry`. What a change does to a running session is decided by the core.

use std::collections::BTreeMap;

use longhaul_core::task::{Limit, Need, Right, Setting, Submission};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{agent_choice, declared};
use crate::app::Call;
use crate::config;
use crate::error::{AppError, ErrorKind};
use crate::operation::Operation;
use crate::{mode_warnings, redact_intake};

/// Changes of a task.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Changes {
    /// Configuration keys and their new values, spelled as in the environment, such as `{"limits.max_sessions": "9"}`.
    pub settings: BTreeMap<String, String>,
    /// Pause after one session.
    pub once: bool,
    /// Commands that must pass, instead of the task's own. An empty list removes them; null keeps them.
    pub checks: Option<Vec<String>>,
    /// Tasks with a higher priority start first. Null keeps it.
    pub priority: Option<i64>,
}

/// Keys that whoever may start a task may choose for it. Every other key is a term that protects a person.
pub(super) const FREE: [&str; 8] = [
    "agent",
    "fallbacks",
    "model",
    "env.need",
    "session.delay",
    "session.context",
    "session.on_limit",
    "session.hours",
];

/// What a new task needs: the terms that protect a person are changed only by who may approve.
pub(crate) fn need_of_terms<O: Operation>(settings: &BTreeMap<String, String>, drops_terms: bool) -> Need {
    match drops_terms || settings.keys().any(|key| !FREE.contains(&key.as_str())) {
        true => Need { right: Right::Approve, verb: "choose sandbox, network, place, limits or notifications" },
        false => Need { right: O::ABOUT.right, verb: O::ABOUT.action.verb() },
    }
}

impl Changes {
    /// Whether nothing is to be changed.
    pub(crate) fn is_empty(&self) -> bool {
        let Changes { settings, once, checks, priority } = self;
        settings.is_empty() && !once && checks.is_none() && priority.is_none()
    }

    /// What is to be changed, before the task is known.
    pub(crate) fn read(&self) -> Result<Vec<Setting>, AppError> {
        agent_choice::refuse_twice(&self.settings)?;
        let (mut settings, fixed) = config::changes(&self.settings)?;
        if let Some(key) = fixed.first() {
            return Err(AppError::new(ErrorKind::Usage, format!("`{key}` applies to new tasks only")));
        }
        settings.extend(self.once.then_some(Setting::Once(true)));
        settings.extend(self.checks.clone().map(Setting::Checks));
        settings.extend(self.priority.map(Setting::Priority));
        Ok(settings)
    }

    /// Refuses changes that contradict the task, completes them by what follows from them, and answers with warnings.
    pub(crate) fn resolve(
        &self,
        call: &Call,
        submission: &Submission,
        settings: &mut Vec<Setting>,
    ) -> Result<Vec<String>, AppError> {
        self.refuse_secrets(call, &submission.secret_names)?;
        let mut after = agent_choice::complete(submission, settings);
        declared::complete(&call.app.system.environment, &call.caller, submission, &mut after, settings)?;
        let mut warnings = Vec::new();
        if settings.iter().any(|setting| matches!(setting, Setting::Fallbacks(_) | Setting::OnLimit(_))) {
            warnings.extend(agent_choice::check_switch(&after, &self.settings)?);
        }
        if settings.iter().any(is_mode) {
            warnings.extend(mode_warnings(&after));
        }
        Ok(warnings)
    }

    /// A command with a mask in it would run something else, so one that holds a secret is refused.
    fn refuse_secrets(&self, call: &Call, secret_names: &[String]) -> Result<(), AppError> {
        let is_secret = |command: &String| redact_intake(&call.app.system.environment, command, secret_names).1 > 0;
        let what = match self.settings.get("workspace.setup") {
            Some(command) if is_secret(command) => "setup",
            _ if self.checks.iter().flatten().any(is_secret) => "check",
            _ => return Ok(()),
        };
        Err(AppError::new(
            ErrorKind::Usage,
            format!("the {what} contains a secret value from this shell's environment"),
        )
        .hint("refer to the variable by name, in single quotes"))
    }
}

fn is_mode(setting: &Setting) -> bool {
    matches!(
        setting,
        Setting::Agent(_)
            | Setting::Fallbacks(_)
            | Setting::Sandbox(_)
            | Setting::Network(_)
            | Setting::Limit(Limit::Cost, Some(_))
    )
}
