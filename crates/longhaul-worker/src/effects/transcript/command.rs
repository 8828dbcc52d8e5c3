//! A transcript that a command of the agent prints. The command runs in its own group with the environment its session had, gets a
//! while for everything, and nothing of the group outlives the question. Used by the transcript effect; it never tells that a
//! conversation does not exist, because a command that fails may fail for any reason.

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};
use std::time::Duration;

use longhaul_keeper::{Bounded, Environment, Keep, ProgramEnd, Spec, is_own_variable};

use super::source::{CAP, Conversation};

/// How long a command has to print one.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);

/// What a command of the session's program prints.
pub(super) fn from_command(
    program: &str,
    arguments: &[String],
    spec: &Spec,
    own: &Environment,
    deadline: Duration,
) -> Conversation {
    let Some(program) = own.find_program(program) else { return Conversation::Unknown };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&spec.cwd).env_clear().envs(environment(spec, own));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // One byte more than can be kept tells that it was too much.
    let asked = Bounded::start(&mut command, Vec::new(), [Keep::Last(CAP + 1), Keep::Last(0)]);
    match asked.and_then(|command| command.ending_its_group().wait_for(deadline)) {
        Ok(Some(ProgramEnd { status, out, .. })) if status.success() && (1..=CAP).contains(&out.len()) => {
            Conversation::Bytes { bytes: out, whole: true }
        }
        Ok(_) | Err(_) => Conversation::Unknown,
    }
}

/// What of these variables the session had, as its keeper chose them.
fn environment(spec: &Spec, own: &Environment) -> impl Iterator<Item = (OsString, OsString)> {
    let listed = |name: &OsStr, list: &[String]| list.iter().any(|entry| OsStr::new(entry) == name);
    let passes = move |name: &OsStr| {
        !is_own_variable(name)
            && spec.env_pass.as_ref().is_none_or(|pass| listed(name, pass))
            && !listed(name, &spec.env_unset)
    };
    let set = spec.env_set.iter().map(|(name, value)| (name.into(), value.into()));
    let passed = own.iter().filter(move |(name, _)| passes(name));
    passed.map(|(name, value)| (name.to_owned(), value.to_owned())).chain(set)
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
