//! The flags that limit a task. `run`, `edit`, `resume` and `retry` share them.
//! Each flag sets one configuration key, so a flag, a variable and a file accept the same values.

use std::collections::BTreeMap;

use clap::Args;

use crate::agent_flags::AgentFlags;

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
    agents: AgentFlags,
}

impl TaskFlags {
    /// The flags that were given, as configuration keys and their values; a model too, where a verb has one.
    pub(crate) fn settings(&self, model: Option<&String>) -> BTreeMap<String, String> {
        let given = [
            ("model", model),
            ("limits.max_sessions", self.max_sessions.as_ref()),
            ("limits.max_time", self.max_time.as_ref()),
            ("limits.max_tokens", self.max_tokens.as_ref()),
            ("limits.max_cost", self.max_cost.as_ref()),
            ("limits.attempts", self.attempts.as_ref()),
            ("limits.idle_sessions", self.idle_sessions.as_ref()),
            ("verify.fix_attempts", self.fix_attempts.as_ref()),
            ("limits.session_silence", self.silence.as_ref()),
            ("limits.session_wall", self.wall.as_ref()),
            ("session.delay", self.delay.as_ref()),
        ];
        let given = given.into_iter().filter_map(|(key, value)| Some((key, value?.clone())));
        given.chain(self.agents.settings()).map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
