//! Opening a pull request with the person's own `gh` or `glab`, for a branch that was pushed. Blocking; called by the effect of a follow-up.
//!
//! The program runs in an empty directory, so no repository's configuration reaches it; it gets project, branches and text as arguments. One
//! that is open already is looked for before anything is pushed, so a repeat after a kill opens no second one.

use std::process::Stdio;
use std::time::Duration;

use longhaul_app::Hosted;
use longhaul_keeper::files::create_private_dir;
use longhaul_keeper::{Bounded, Keep};
use serde_json::Value;

use super::{Job, program};

const PATIENCE: Duration = Duration::from_secs(120);
const ANSWER: usize = 1 << 20;
const SAID: usize = 2_000;

/// The address of the pull request that is open already, if one is; or why that is unknown.
pub(super) fn known(job: &Job, remote: &str, head: &str, onto: &str) -> Result<Option<String>, String> {
    let hosted = Hosted::of(remote)?;
    let project = hosted.project();
    let words = match hosted.is_gitlab() {
        true => {
            ["mr", "list", "--repo", &project, "--source-branch", head, "--target-branch", onto, "--output", "json"]
                .to_vec()
        }
        false => ["pr", "list", "--repo", &project, "--head", head, "--base", onto, "--state", "open", "--json", "url"]
            .to_vec(),
    };
    let known: Value = serde_json::from_str(&run(job, &hosted, &words)?).unwrap_or_default();
    let url_of = |open: &Value| open.get("url").or_else(|| open.get("web_url"))?.as_str().map(str::to_owned);
    Ok(known.as_array().and_then(|open| url_of(open.first()?)))
}

/// Opens one; its address, or why there is none.
pub(super) fn open(job: &Job, remote: &str, head: &str, onto: &str, message: &str) -> Result<String, String> {
    let hosted = Hosted::of(remote)?;
    let project = hosted.project();
    let (title, body) = message.split_once('\n').unwrap_or((message, ""));
    let [verb, from, to, text] = match hosted.is_gitlab() {
        true => ["mr", "--source-branch", "--target-branch", "--description"],
        false => ["pr", "--head", "--base", "--body"],
    };
    let mut words = vec![verb, "create", "--repo", &project, from, head, to, onto, "--title", title, text, body.trim()];
    words.extend(hosted.is_gitlab().then_some("--yes"));
    let printed = run(job, &hosted, &words)?;
    let url = printed.split_whitespace().rev().find(|word| word.starts_with("https://"));
    url.map(str::to_owned).ok_or_else(|| format!("`{}` printed no address of a pull request", hosted.program()))
}

/// What the program prints, or why it failed.
fn run(job: &Job, hosted: &Hosted, words: &[&str]) -> Result<String, String> {
    let name = hosted.program();
    let empty = job.context.home.root().join("empty");
    create_private_dir(&empty).map_err(|error| format!("`{}` cannot be created: {error}", empty.display()))?;
    let mut command = program::command(name, &job.environment).map_err(|error| error.to_string())?;
    command.args(words).current_dir(&empty).env("GH_PROMPT_DISABLED", "1").env("NO_COLOR", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error: std::io::Error| format!("`{name}` cannot be run: {error}");
    let mut running =
        Bounded::start(&mut command, Vec::new(), [Keep::First(ANSWER), Keep::Last(SAID)]).map_err(failed)?;
    match running.wait_for(PATIENCE).map_err(failed)? {
        Some(end) if end.status.success() => Ok(String::from_utf8_lossy(&end.out).into_owned()),
        Some(end) => Err(format!("`{name}` failed: {}", String::from_utf8_lossy(&end.err).trim())),
        None => Err(format!("`{name}` did not end within {PATIENCE:?}")),
    }
}
