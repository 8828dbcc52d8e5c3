//! The flags that choose a task's agents, their permissions, and what happens at a usage limit. `run`, `edit`, `resume` and `retry`
//! share them. Each flag sets one configuration key.

use clap::Args;
use clap::builder::PossibleValuesParser;
use longhaul_core::task::{Context, OnLimit, Sandbox};

use crate::agent_name::AgentName;

#[derive(Debug, Default, Args)]
pub(crate) struct AgentFlags {
    /// Agent to use; by default `agent` in the configuration
    #[arg(long, short, value_name = "NAME", value_parser = AgentName, hide_possible_values = true, help_heading = "Agents and modes")]
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
    /// Command that prepares the task's worktree and clean checkouts, such as `npm ci`, or `none`
    #[arg(long, value_name = "COMMAND", help_heading = "Agents and modes")]
    setup: Option<String>,
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
    /// The flags that were given, as configuration keys and their values.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let network = self.network.then_some("true").or(self.no_network.then_some("false"));
        let given = [
            ("agent", self.agent.clone().or_else(|| self.agents.first().cloned())),
            ("fallbacks", self.agents.get(1..).map(|others| others.join(","))),
            ("sandbox", self.sandbox.clone()),
            ("network", network.map(str::to_owned)),
            ("workspace.setup", self.setup.clone()),
            ("session.context", self.context.clone()),
            ("session.on_limit", self.on_limit.clone()),
            ("session.hours", self.hours.clone()),
        ];
        given.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }
}
