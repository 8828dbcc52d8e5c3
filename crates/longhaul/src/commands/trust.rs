//! `longhaul trust`: trusts a project's `longhaul.toml` in its current form, lists trusted files, or removes one.
//! Prints every key the file sets, so a person sees what they trust.

use longhaul_app::AppError;
use longhaul_app::operations::{Trust, TrustInput, TrustList, TrustListing, TrustRemove, TrustRemoveInput, TrustView};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn trust(line: &CommandLine, args: &cli::Trust) -> Result<Code, AppError> {
    let call = line.call()?;
    match (&args.path, &args.remove) {
        (Some(path), _) => {
            let input = TrustInput { path: path.clone(), sha256: args.sha256.clone() };
            out::answer(&call.perform::<Trust>(input).await?, args.json, print)
        }
        (None, Some(path)) => {
            let answer = call.perform::<TrustRemove>(TrustRemoveInput { path: path.clone() }).await?;
            out::answer(&answer, args.json, |view| {
                out::note(&format!("`{}` is no longer trusted", out::safe(&view.removed.path)));
            })
        }
        (None, None) => out::answer(&call.perform::<TrustList>(args.page.into()).await?, args.json, print_all),
    }
}

fn print(view: &TrustView) {
    out::data(&out::safe(&view.trusted.path));
    out::data(&format!("sha256 {}", view.trusted.sha256));
    for key in &view.keys {
        let needed = if key.needs_trust { "  # needs trust" } else { "" };
        out::data(&out::safe(&format!("  {} = {}{needed}", key.key, key.written)));
    }
    out::note("trusted in its current form; if it changes, trust it again");
}

fn print_all(view: &TrustListing) {
    for trusted in &view.trusted {
        out::data(&out::safe(&format!("{}  {}  {}", trusted.sha256, trusted.since, trusted.path)));
    }
    out::more(view.next);
    if view.trusted.is_empty() {
        out::note("no trusted files");
    }
}
