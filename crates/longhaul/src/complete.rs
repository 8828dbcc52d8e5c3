//! Completion in shells: for every Tab, the script of `longhaul completions` runs this program with a variable set, and gets candidates.
//! Called first by `commands::main`. What is offered comes from `longhaul_app::completion`; nothing here prints an error.

use std::ffi::OsString;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use longhaul_app::{Call, completion};
use longhaul_store::Which;

use crate::cli;
use crate::command_line::CommandLine;

/// Set by the scripts to the name of the shell.
const VARIABLE: &str = "LONGHAUL_COMPLETE";
/// Verbs that take finished tasks, and verbs that take unfinished ones. All others take both.
const FINISHED: &[&str] = &["retry", "land", "discard"];
const UNFINISHED: &[&str] = &["pause", "resume", "takeover", "tell", "edit", "cancel"];

/// Whether this process was started by a shell to complete a line; then it has answered.
pub(crate) fn answered() -> bool {
    if std::env::var_os(VARIABLE).is_none() {
        return false;
    }
    let answer = CompleteEnv::with_factory(command).var(VARIABLE);
    // What a shell cannot complete, it leaves to the person; an error would appear in the line they type.
    !matches!(answer.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref()), Ok(false))
}

/// The script that makes a shell ask this program.
pub(crate) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    Shells::builtins()
        .completer(shell)?
        .write_registration(VARIABLE, "longhaul", "longhaul", "longhaul", &mut script)
        .ok()?;
    let script = String::from_utf8(script).ok()?;
    // zsh runs a file in $fpath as the function itself, the first time.
    let first = if shell == "zsh" {
        "\n[[ $funcstack[1] != _longhaul ]] || _clap_dynamic_completer_longhaul \"$@\""
    } else {
        ""
    };
    Some(script.trim_end().to_owned() + first)
}

fn command() -> Command {
    cli::command().mut_subcommands(|verb| {
        let name = verb.get_name().to_owned();
        verb.mut_subcommands(|verb| verb.mut_args(|arg| with_candidates(&name, arg)))
            .mut_args(|arg| with_candidates(&name, arg))
    })
}

fn with_candidates(verb: &str, arg: Arg) -> Arg {
    let which = match verb {
        _ if FINISHED.contains(&verb) => Which::Finished,
        _ if UNFINISHED.contains(&verb) => Which::Unfinished,
        _ => Which::All,
    };
    let candidates = match arg.get_id().as_str() {
        "task" | "tasks" | "after" if verb != "list" => ArgValueCandidates::new(move || tasks(which)),
        "agent" | "agents" => ArgValueCandidates::new(|| here(|call| named(completion::agents(call)))),
        "state" => ArgValueCandidates::new(|| completion::states().iter().map(CompletionCandidate::new).collect()),
        "onto" | "base" => ArgValueCandidates::new(|| {
            here(|call| completion::branches(call).iter().map(CompletionCandidate::new).collect())
        }),
        _ => return arg,
    };
    arg.add(candidates)
}

fn tasks(which: Which) -> Vec<CompletionCandidate> {
    here(|call| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map(|runtime| named(runtime.block_on(completion::tasks(call, which)))).unwrap_or_default()
    })
}

/// What is found from this directory.
fn here(find: impl FnOnce(&Call) -> Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    CommandLine::of_process().call().map(|call| find(&call)).unwrap_or_default()
}

fn named(found: Vec<completion::Named>) -> Vec<CompletionCandidate> {
    let candidate = |(name, about): completion::Named| {
        let about = Some(about).filter(|about| !about.is_empty());
        CompletionCandidate::new(OsString::from(name)).help(about.map(Into::into))
    };
    found.into_iter().map(candidate).collect()
}
