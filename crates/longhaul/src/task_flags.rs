//! The flags that say how patient a task is, the same for `run`, `edit`, `resume` and `retry`.
//! Values are read by the configuration's keys, so that a flag, a variable and a file take the same spellings.

use clap::Args;
use longhaul_core::task::Setting;

use crate::agent_flags::AgentFlags;
use longhaul_app::AppError;
use longhaul_app::config::{Overrides, changes};

#[derive(Debug, Default, Args)]
pub(crate) struct TaskFlags {
    /// Total number of agent sessions, or `none`; checks do not count
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_sessions: Option<String>,
    /// Total working time, such as `5h`, or `none`; waits and pauses do not count
    #[arg(long, value_name = "SPAN", help_heading = "Limits")]
    max_time: Option<String>,
    /// Total number of tokens, or `none`
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_tokens: Option<String>,
    /// Total cost in US dollars, or `none`
    #[arg(long, value_name = "USD", help_heading = "Limits")]
    max_cost: Option<String>,
    /// Ask you after this many failed sessions in a row
    #[arg(long, value_name = "N", help_heading = "Limits")]
    attempts: Option<String>,
    /// Ask you after this many sessions in a row without progress
    #[arg(long, value_name = "N", help_heading = "Limits")]
    idle_sessions: Option<String>,
    /// Number of fixing sessions after failed checks
    #[arg(long, value_name = "N", help_heading = "Limits")]
    fix_attempts: Option<String>,
    /// Stop a session after this time without output, or `none`
    #[arg(long, value_name = "SPAN", help_heading = "Limits")]
    silence: Option<String>,
    /// Stop a session after this time, or `none`
    #[arg(long, value_name = "SPAN", help_heading = "Limits")]
    wall: Option<String>,
    /// Pause between two sessions
    #[arg(long, value_name = "SPAN", help_heading = "Limits")]
    delay: Option<String>,
    /// Pause after one session
    #[arg(long, help_heading = "Limits")]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) agents: AgentFlags,
}

impl TaskFlags {
    /// The flags as a layer of the configuration.
    pub(crate) fn overrides(&self) -> Overrides {
        let limits = Overrides::default()
            .word("limits.max_sessions", "--max-sessions", self.max_sessions.as_deref())
            .word("limits.max_time", "--max-time", self.max_time.as_deref())
            .word("limits.max_tokens", "--max-tokens", self.max_tokens.as_deref())
            .word("limits.max_cost", "--max-cost", self.max_cost.as_deref())
            .word("limits.attempts", "--attempts", self.attempts.as_deref())
            .word("limits.idle_sessions", "--idle-sessions", self.idle_sessions.as_deref())
            .word("verify.fix_attempts", "--fix-attempts", self.fix_attempts.as_deref())
            .word("limits.session_silence", "--silence", self.silence.as_deref())
            .word("limits.session_wall", "--wall", self.wall.as_deref())
            .word("session.delay", "--delay", self.delay.as_deref());
        self.agents.add_to(limits)
    }

    /// The flags that were given, as changes of a task; a model too, where a verb has one.
    pub(crate) fn settings(&self, model: Option<&str>) -> Result<Vec<Setting>, AppError> {
        self.agents.refuse_twice()?;
        let mut settings = changes(&self.overrides().word("model", "--model", model))?;
        settings.extend(self.once.then_some(Setting::Once(true)));
        Ok(settings)
    }
}
