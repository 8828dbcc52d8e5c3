//! The flags that limit a task. `run`, `edit`, `resume` and `retry` share them.
//! Each flag sets one configuration key, so a flag, a variable and a file accept the same values.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use longhaul_app::config::limit_flags;

use crate::agent_flags::AgentFlags;

#[derive(Debug, Default, Args)]
pub(crate) struct TaskFlags {
    #[command(flatten)]
    limits: LimitFlags,
    /// Pause after one session
    #[arg(long, help_heading = HEADING)]
    pub(crate) once: bool,
    #[command(flatten)]
    agents: AgentFlags,
}

impl TaskFlags {
    /// The flags that were given, as configuration keys and their values; a model too, where a verb has one.
    pub(crate) fn settings(&self, model: Option<&String>) -> BTreeMap<String, String> {
        let model = model.map(|model| ("model", model.clone()));
        let given = self.limits.0.iter().cloned().chain(model).chain(self.agents.settings());
        given.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

const HEADING: &str = "Limits";

/// The order in `--help`; other flags come after these.
const ORDER: [&str; 9] = [
    "--max-sessions",
    "--max-time",
    "--max-tokens",
    "--max-cost",
    "--attempts",
    "--idle-sessions",
    "--fix-attempts",
    "--silence",
    "--wall",
];

/// The limits that were given, by key. The flags come from the table of keys.
#[derive(Debug, Default)]
struct LimitFlags(Vec<(&'static str, String)>);

impl Args for LimitFlags {
    fn augment_args(command: Command) -> Command {
        let mut flags: Vec<_> = limit_flags().collect();
        flags.sort_by_key(|flag| ORDER.iter().position(|known| *known == flag.name).unwrap_or(ORDER.len()));
        command.args(flags.into_iter().map(|flag| {
            let name = flag.name.trim_start_matches('-');
            Arg::new(name).long(name).value_name(flag.value).help(flag.help).help_heading(HEADING)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        LimitFlags::augment_args(command)
    }
}

impl FromArgMatches for LimitFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LimitFlags, clap::Error> {
        let given = limit_flags().filter_map(|flag| {
            let value: &String = matches.get_one(flag.name.trim_start_matches('-'))?;
            Some((flag.key, value.clone()))
        });
        Ok(LimitFlags(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = LimitFlags::from_arg_matches(matches)?;
        Ok(())
    }
}
