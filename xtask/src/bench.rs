//! `cargo xtask bench`: how long things take, each beside its reference in the same run, as one Markdown table.
//! Called by `main`; without the feature `bench` it starts itself again as a release build that has it.
//! It never judges by absolute figures: machines differ, ratios taken side by side much less.

#[cfg(feature = "bench")]
mod adoption;
#[cfg(feature = "bench")]
mod agent_text;
#[cfg(feature = "bench")]
mod commits;
#[cfg(feature = "bench")]
mod crowd;
#[cfg(feature = "bench")]
mod figures;
#[cfg(feature = "bench")]
mod flood;
#[cfg(feature = "bench")]
mod keeper;
#[cfg(feature = "bench")]
mod listing;
#[cfg(feature = "bench")]
mod machine;
#[cfg(feature = "bench")]
mod many_tasks;
#[cfg(feature = "bench")]
mod page;
#[cfg(feature = "bench")]
mod plan;
#[cfg(feature = "bench")]
mod pueue;
#[cfg(feature = "bench")]
mod pump;
#[cfg(feature = "bench")]
mod redactor;
#[cfg(feature = "bench")]
mod sample_task;
#[cfg(feature = "bench")]
mod scale;
#[cfg(feature = "bench")]
mod scene;
#[cfg(feature = "bench")]
mod shell_loop;
#[cfg(feature = "bench")]
mod submissions;
#[cfg(feature = "bench")]
mod supervision;
#[cfg(feature = "bench")]
mod survey;
#[cfg(feature = "bench")]
mod table;
#[cfg(feature = "bench")]
mod tiny_agents;
#[cfg(feature = "bench")]
mod whole_task;
#[cfg(feature = "bench")]
mod wishes;

#[cfg(feature = "bench")]
pub(crate) use plan::run;

/// Runs the verb as a release build that has the crates to be measured.
#[cfg(not(feature = "bench"))]
pub(crate) fn run(repository: &crate::repository::Repository, arguments: &[String]) -> std::process::ExitCode {
    use std::process::ExitCode;

    let again = ["run", "--release", "--quiet", "--package", "xtask", "--features", "bench", "--", "bench"];
    match repository.cargo(&again).args(arguments).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: failed to start cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
