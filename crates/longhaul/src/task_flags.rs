//! The flags that say how patient a task is, the same for `run`, `edit`, `resume` and `retry`, and what they mean for a task.
//! Values are read by the configuration's keys, so that a flag, a variable and a file take the same spellings.

use std::time::Duration;

use clap::Args;
use longhaul_core::task::{Limit, Patience, Setting};

use crate::agent_flags::AgentFlags;
use longhaul_app::AppError;
use longhaul_app::config::{Overrides, Settings, read_flags};

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
        self.agents
            .add_to(Overrides::default())
            .word("limits.max_sessions", "--max-sessions", self.max_sessions.as_deref())
            .word("limits.max_time", "--max-time", self.max_time.as_deref())
            .word("limits.max_tokens", "--max-tokens", self.max_tokens.as_deref())
            .word("limits.max_cost", "--max-cost", self.max_cost.as_deref())
            .word("limits.attempts", "--attempts", self.attempts.as_deref())
            .word("limits.idle_sessions", "--idle-sessions", self.idle_sessions.as_deref())
            .word("verify.fix_attempts", "--fix-attempts", self.fix_attempts.as_deref())
            .word("limits.session_silence", "--silence", self.silence.as_deref())
            .word("limits.session_wall", "--wall", self.wall.as_deref())
            .word("session.delay", "--delay", self.delay.as_deref())
    }

    /// The flags that were given, as changes of a task.
    pub(crate) fn settings(&self) -> Result<Vec<Setting>, AppError> {
        self.agents.refuse_twice()?;
        let read = read_flags(&self.overrides())?;
        let patience = patience(&read);
        let given = [
            (self.max_sessions.is_some(), Setting::Limit(Limit::Sessions, patience.max_sessions.map(u64::from))),
            (self.max_time.is_some(), Setting::Limit(Limit::Time, patience.max_time_ms)),
            (self.max_tokens.is_some(), Setting::Limit(Limit::Tokens, patience.max_tokens)),
            (self.max_cost.is_some(), Setting::Limit(Limit::Cost, patience.max_cost_micros)),
            (self.attempts.is_some(), Setting::Attempts(patience.attempts)),
            (self.idle_sessions.is_some(), Setting::IdleSessions(patience.idle_sessions)),
            (self.fix_attempts.is_some(), Setting::FixAttempts(patience.fix_attempts)),
            (self.silence.is_some(), Setting::Silence(patience.silence_ms)),
            (self.wall.is_some(), Setting::Wall(patience.wall_ms)),
            (self.delay.is_some(), Setting::Delay(patience.delay_ms)),
            (self.once, Setting::Once(true)),
        ];
        let given = given.into_iter().filter(|(given, _)| *given).map(|(_, setting)| setting);
        Ok(given.chain(self.agents.settings(&read)).collect())
    }
}

/// What the configuration means for a new task.
pub(crate) fn patience(settings: &Settings) -> Patience {
    let limits = &settings.limits;
    Patience {
        attempts: limits.attempts,
        idle_sessions: limits.idle_sessions,
        backoff_ms: millis(limits.backoff),
        backoff_cap_ms: millis(limits.backoff_cap),
        longest_wait_ms: millis(limits.longest_wait),
        silence_ms: limits.session_silence.map(millis),
        spare_busy: limits.spare_busy,
        wall_ms: limits.session_wall.map(millis),
        linger_ms: millis(settings.session.linger),
        delay_ms: millis(settings.session.delay),
        once: false,
        max_sessions: limits.max_sessions,
        max_time_ms: limits.max_time.map(millis),
        max_tokens: limits.max_tokens,
        max_cost_micros: limits.max_cost_micros,
        max_children: settings.children.max,
        child_depth: settings.children.depth,
        fix_attempts: settings.verify.fix_attempts,
        check_ms: Some(millis(settings.verify.deadline)),
        memory_floor: settings.floors.memory,
        disk_floor: settings.floors.disk,
        keep_awake: settings.session.inhibit_sleep,
        scopes: settings.session.scopes,
        log_segment: Some(settings.log.segment),
        log_cap: Some(settings.log.cap),
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use longhaul_core::task::Patience;

    use super::patience;
    use longhaul_app::config::defaults;

    #[test]
    fn the_configuration_and_the_core_agree_on_defaults() {
        let core = Patience { log_segment: None, log_cap: None, ..patience(&defaults()) };
        assert_eq!(core, Patience::default());
    }
}
