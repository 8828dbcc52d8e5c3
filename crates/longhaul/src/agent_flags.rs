//! The flags that say who works on a task, what they may do, and what a usage limit means: the same for `run`, `edit`, `resume`
//! and `retry`. Read by the configuration's keys; `agent_choice` checks what fits together, before anything is stored.

use clap::Args;
use clap::builder::PossibleValuesParser;
use longhaul_core::task::{Context, OnLimit, Sandbox, Submission};

use crate::agent_name::AgentName;
use longhaul_app::AppError;
use longhaul_app::config::Overrides;
use longhaul_app::submit::agent_choice;

#[derive(Debug, Default, Args)]
pub(crate) struct AgentFlags {
    /// Agent to use; by default `agent` in the configuration
    #[arg(long, value_name = "NAME", value_parser = AgentName, hide_possible_values = true, help_heading = "Agents and modes")]
    agent: Option<String>,
    /// Agents separated by commas: the first works, the others are fallbacks for `--on-limit switch`, in this order
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        value_parser = AgentName,
        hide_possible_values = true,
        conflicts_with = "agent",
        help_heading = "Agents and modes"
    )]
    agents: Vec<String>,
    /// What agents may write: nothing (`read-only`), the `workspace`, or everything you can (`full`)
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Sandbox::WORDS), help_heading = "Agents and modes")]
    sandbox: Option<String>,
    /// Allow network access where the sandbox denies it
    #[arg(long, help_heading = "Agents and modes")]
    network: bool,
    /// Leave network access to the sandbox
    #[arg(long, conflicts_with = "network", help_heading = "Agents and modes")]
    no_network: bool,
    /// Resume the agent's last conversation: never (`fresh`), always (`resume`), or after an interruption (`auto`)
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(Context::WORDS), help_heading = "Agents and modes")]
    context: Option<String>,
    /// At a usage limit: `wait`, `switch` to the next of --agents, `ask` you, or `stop`
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(OnLimit::WORDS), help_heading = "Agents and modes")]
    on_limit: Option<String>,
    /// Hours in which sessions may start, such as `22:00-07:00`, or `none`
    #[arg(long, value_name = "HOURS", help_heading = "Agents and modes")]
    hours: Option<String>,
}

impl AgentFlags {
    /// The flags as a layer of the configuration.
    pub(crate) fn add_to(&self, overrides: Overrides) -> Overrides {
        let fallbacks = self.agents.get(1..).map(|others| others.join(","));
        overrides
            .word("agent", "--agent", self.agent.as_deref())
            .word("agent", "--agents", self.agents.first().map(String::as_str))
            .word("fallbacks", "--agents", fallbacks.as_deref())
            .word("sandbox", "--sandbox", self.sandbox.as_deref())
            .word("network", "--no-network", self.no_network.then_some("false"))
            .flag("network", "--network", self.network)
            .word("session.context", "--context", self.context.as_deref())
            .word("session.on_limit", "--on-limit", self.on_limit.as_deref())
            .word("session.hours", "--hours", self.hours.as_deref())
    }

    /// Refuses an agent that is named twice.
    pub(crate) fn refuse_twice(&self) -> Result<(), AppError> {
        agent_choice::refuse_twice(&self.agents)
    }

    /// What a task would come to with these flags: an error when they contradict it, or what a person should know.
    pub(crate) fn judge(&self, submission: &Submission) -> Result<Option<String>, AppError> {
        let asked = self.on_limit.as_deref().and_then(OnLimit::from_word) == Some(OnLimit::Switch);
        agent_choice::check_switch(submission, asked)
    }
}
