//! The flags that say who works on a task, what they may do, and what a usage limit means: the same for `run`, `edit`, `resume`
//! and `retry`. Read by the configuration's keys; what fits together is judged here, before anything is stored.

use clap::Args;
use clap::builder::PossibleValuesParser;
use longhaul_core::task::{Context, OnLimit, Sandbox, Setting, Submission};

use crate::agent_name::AgentName;
use longhaul_app::config::{Overrides, Settings};
use longhaul_app::{AppError, ErrorKind};

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

    /// The flags that were given, as changes of a task.
    pub(crate) fn settings(&self, read: &Settings) -> Vec<Setting> {
        let listed = !self.agents.is_empty();
        let given = [
            (self.agent.is_some() || listed, Setting::Agent(read.agent.clone())),
            (listed, Setting::Fallbacks(read.fallbacks.clone())),
            (self.sandbox.is_some(), Setting::Sandbox(read.sandbox)),
            (self.network || self.no_network, Setting::Network(read.network)),
            (self.context.is_some(), Setting::Context(read.session.context)),
            (self.on_limit.is_some(), Setting::OnLimit(read.session.on_limit)),
            (self.hours.is_some(), Setting::Hours(read.session.hours)),
        ];
        given.into_iter().filter(|(given, _)| *given).map(|(_, setting)| setting).collect()
    }

    /// The same agent twice can not stand in for itself.
    pub(crate) fn refuse_twice(&self) -> Result<(), AppError> {
        let twice = self.agents.iter().enumerate().find(|(at, name)| self.agents[..*at].contains(name));
        match twice {
            None => Ok(()),
            Some((_, name)) => Err(AppError::new(ErrorKind::Usage, format!("--agents names `{name}` twice"))
                .hint("name each agent once, the preferred one first")),
        }
    }

    /// Whether `--on-limit switch` was given, and not only configured.
    fn asks_to_switch(&self) -> bool {
        self.on_limit.as_deref().and_then(OnLimit::from_word) == Some(OnLimit::Switch)
    }

    /// What a task would come to with these flags: an error when they contradict it, or what a person should know.
    pub(crate) fn judge(&self, submission: &Submission) -> Result<Option<String>, AppError> {
        if submission.on_limit != OnLimit::Switch || !submission.fallbacks.is_empty() {
            return Ok(None);
        }
        let agent = &submission.agent;
        if self.asks_to_switch() {
            let what = format!("cannot switch at a usage limit: `{agent}` is the task's only agent");
            return Err(
                AppError::new(ErrorKind::Usage, what).hint(format!("name others, as in --agents {agent},OTHER"))
            );
        }
        Ok(Some(format!(
            "a usage limit is to switch agents, but `{agent}` is the only one, so it will be waited out; --agents {agent},OTHER \
             names others"
        )))
    }
}

/// The agents to go on with besides the first: one is no substitute for itself.
pub(crate) fn others(agent: &str, fallbacks: &[String]) -> Vec<String> {
    fallbacks.iter().filter(|name| *name != agent).cloned().collect()
}

/// What follows from changes of a task: its new first agent is no fallback of itself any more, and one that stays the first is
/// not chosen anew, which would forget its limit.
pub(crate) fn complete(submission: &Submission, settings: &mut Vec<Setting>) -> Submission {
    if settings.iter().any(|setting| matches!(setting, Setting::Fallbacks(_))) {
        settings.retain(|setting| *setting != Setting::Agent(submission.agent.clone()));
    }
    let mut after = submission.clone();
    settings.iter().for_each(|setting| after.set(setting));
    let others = others(&after.agent, &after.fallbacks);
    if others != after.fallbacks {
        settings.push(Setting::Fallbacks(others.clone()));
        after.fallbacks = others;
    }
    after
}

#[cfg(test)]
mod tests {
    use longhaul_core::names::TaskName;
    use longhaul_core::task::{OnLimit, Setting, Submission};

    use super::{AgentFlags, complete};

    fn submission() -> Submission {
        let name = TaskName::new("t").unwrap();
        let bare = Submission::new("g".into(), name, "/w".into(), "a".into());
        Submission { fallbacks: vec!["b".into(), "c".into()], on_limit: OnLimit::Switch, ..bare }
    }

    #[test]
    fn a_fallback_that_becomes_the_first_agent_is_none_any_more() {
        let mut settings = vec![Setting::Agent("b".into())];
        assert_eq!(complete(&submission(), &mut settings).fallbacks, ["c"]);
        assert_eq!(settings[1], Setting::Fallbacks(vec!["c".into()]));
        let mut settings = vec![Setting::Agent("d".into())];
        assert_eq!(complete(&submission(), &mut settings).fallbacks, ["b", "c"]);
        assert_eq!(settings.len(), 1);
        let mut settings = vec![Setting::Agent("a".into()), Setting::Fallbacks(vec!["d".into()])];
        assert_eq!(complete(&submission(), &mut settings).fallbacks, ["d"]);
        assert_eq!(settings, [Setting::Fallbacks(vec!["d".into()])], "`a` was the first already");
    }

    #[test]
    fn switching_without_others_is_refused_where_it_is_asked_for_and_told_where_it_is_configured() {
        let alone = Submission { fallbacks: Vec::new(), ..submission() };
        let asked = AgentFlags { on_limit: Some("switch".into()), ..AgentFlags::default() };
        assert!(asked.judge(&alone).is_err());
        assert!(asked.judge(&submission()).unwrap().is_none());
        assert!(AgentFlags::default().judge(&alone).unwrap().is_some());
        let waits = Submission { on_limit: OnLimit::Wait, ..alone };
        assert!(AgentFlags::default().judge(&waits).unwrap().is_none());
    }

    #[test]
    fn an_agent_is_named_once() {
        let flags = |names: &[&str]| AgentFlags {
            agents: names.iter().map(ToString::to_string).collect(),
            ..AgentFlags::default()
        };
        assert!(flags(&["a", "b", "a"]).refuse_twice().is_err());
        assert!(flags(&["a", "b"]).refuse_twice().is_ok());
    }
}
