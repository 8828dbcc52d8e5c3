//! The faults that `DEMO_FAULT` can ask for: a comma list of `fault[:arg][@n]`, read here and carried out elsewhere.
//!
//! Without `@n` a fault always applies, with it only at the n-th invocation in the agent's home. Faults at the start of a session
//! happen in the order of the list. The `lie` faults apply to work sessions only, the `plan` ones to plan sessions only, `no-fix` to
//! fixing ones only.

use serde::Deserialize;
use serde_json::json;

/// Until when a usage limit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum LimitUntil {
    Unknown,
    EpochMs(i64),
    AfterFirstInvocation { ms: i64 },
}

impl TryFrom<String> for LimitUntil {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Ok(match text.strip_prefix('+') {
            _ if text.is_empty() => Self::Unknown,
            Some(ms) => Self::AfterFirstInvocation { ms: ms.parse()? },
            None => Self::EpochMs(text.parse()?),
        })
    }
}

/// One way to misbehave; a list has the names in kebab case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fault {
    /// Killed by SIGKILL after the first tool line.
    Crash,
    /// Killed before the session line.
    CrashEarly,
    /// Killed after all work, before the done line.
    CrashLate,
    /// Ends at once with this code and without a done line.
    Exit(u8),
    /// Silent for ever; ends on TERM.
    Hang,
    /// Silent for ever; ignores TERM and INT.
    HangHard,
    /// Works for ever without a word.
    Busy,
    /// Stops itself with SIGSTOP; works when continued.
    Stop,
    /// Prints this many bytes of junk lines, then works.
    Flood(u64),
    /// Prints one line of this many bytes, then works.
    LongLine(u64),
    /// Prints bytes that no reader should trust, then works.
    Garbage,
    /// Leaves processes of other sessions behind, one of which keeps standard output open.
    Daemon,
    /// Reports a usage limit while it holds.
    Limit(LimitUntil),
    /// Says done without doing anything.
    Lie,
    /// Removes the open steps from the list and says done.
    LieDelete,
    /// Clears every ticked box and says done.
    LieUntick,
    /// Replaces the list by nonsense and says done.
    LieGarbageList,
    /// Plans nothing and says done.
    NoPlan,
    /// Plans without a progress file.
    HalfPlan,
    /// Prints its whole environment.
    EnvDump,
    /// Reports that it is not logged in.
    Auth,
    /// Reports a failure of its server.
    ServerError,
    /// Reports that its context is full.
    ContextFull,
    /// Reports that it may not do what it wants.
    Permission,
    /// Reports that nothing is left to use.
    Exhausted,
    /// Starts another conversation in place of the one to resume.
    Stray,
    /// Stays after it said done; ends on TERM.
    Linger,
    /// Changes nothing in a fixing session and says done.
    NoFix,
    /// Reports this many tokens more.
    Tokens(usize),
    /// Reports this much money, in millionths of a dollar.
    Cost(u64),
    /// Rests so many milliseconds after each line.
    Slow(u64),
    /// Says this text.
    Says(String),
}

/// A fault and the invocation it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedFault {
    fault: Fault,
    only_at: Option<u64>,
}

/// A fault list that can not be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FaultError {
    #[error("unknown fault `{entry}` in DEMO_FAULT")]
    Unknown { entry: String },
    #[error("fault `{entry}` in DEMO_FAULT has a missing, superfluous or malformed argument")]
    Argument { entry: String },
}

/// Reads the whole list.
pub(crate) fn parse(list: &str) -> Result<Vec<PlannedFault>, FaultError> {
    list.split(',').filter(|entry| !entry.trim().is_empty()).map(parse_entry).collect()
}

/// The faults that apply at this invocation, in the order of the list.
pub(crate) fn at_invocation(planned: &[PlannedFault], invocation: u64) -> Vec<Fault> {
    let applies = |planned: &&PlannedFault| planned.only_at.is_none_or(|only| only == invocation);
    planned.iter().filter(applies).map(|planned| planned.fault.clone()).collect()
}

fn parse_entry(entry: &str) -> Result<PlannedFault, FaultError> {
    let (rest, only_at) = match entry.rsplit_once('@').map(|(rest, number)| (rest, number.parse())) {
        Some((rest, Ok(number))) => (rest, Some(number)),
        _ => (entry, None),
    };
    let (name, argument) = match rest.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (rest, None),
    };
    let value = match (name.trim(), argument) {
        ("limit", until) => json!({ "limit": until.unwrap_or_default() }),
        ("says", Some(text)) => json!({ "says": text }),
        (name, Some(number)) => json!({ name: number.parse::<u64>().ok() }),
        (name, None) => json!(name),
    };
    let fault = serde_json::from_value(value).map_err(|error| match error.to_string() {
        text if text.starts_with("unknown variant") => FaultError::Unknown { entry: entry.to_owned() },
        _ => FaultError::Argument { entry: entry.to_owned() },
    })?;
    Ok(PlannedFault { fault, only_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_arguments_and_invocations() {
        let planned =
            parse("crash@2,exit:3,limit:+500@1,limit:77,says:exit code 0,slow:5@1,limit@1,tokens:7,cost:9").unwrap();
        let first = at_invocation(&planned, 1);
        let expected = [
            Fault::Exit(3),
            Fault::Limit(LimitUntil::AfterFirstInvocation { ms: 500 }),
            Fault::Limit(LimitUntil::EpochMs(77)),
            Fault::Says("exit code 0".into()),
            Fault::Slow(5),
            Fault::Limit(LimitUntil::Unknown),
            Fault::Tokens(7),
            Fault::Cost(9),
        ];
        assert_eq!(first, expected);
        assert_eq!(at_invocation(&planned, 2)[0], Fault::Crash);
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn a_mail_address_is_no_invocation() {
        assert_eq!(at_invocation(&parse("says:a@b").unwrap(), 9), [Fault::Says("a@b".into())]);
    }

    #[test]
    fn refuses_unknown_faults_and_bad_arguments() {
        for unknown in ["crush", "crash@x", "lie-harder", "exit code"] {
            assert_eq!(parse(unknown), Err(FaultError::Unknown { entry: unknown.into() }));
        }
        for wrong in
            ["exit", "exit:256", "flood:many", "crash:1", "limit:soon", "says", "tokens", "cost:1.5", "no-fix:1"]
        {
            assert_eq!(parse(wrong), Err(FaultError::Argument { entry: wrong.into() }));
        }
    }
}
