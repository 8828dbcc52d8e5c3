//! `longhaul import`: takes over the runs that another program keeps, and lists what of them could not be used.
//! Only prints what the operation returns.

use longhaul_app::AppError;
use longhaul_app::operations::{ImportOpenchrome, ImportOpenchromeInput, Imported};

use crate::cli::{Import, ImportFrom};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn import(line: &CommandLine, args: &Import) -> Result<Code, AppError> {
    let ImportFrom::Openchrome { directory, dry_run, json } = &args.from;
    let input = ImportOpenchromeInput { directory: directory.clone(), dry_run: *dry_run };
    out::answer(&line.call()?.perform::<ImportOpenchrome>(input).await?, *json, print)
}

fn print(view: &Imported) {
    for skipped in &view.skipped {
        out::data(&out::safe(&format!("skipped  {:>4}  {}  ({})", skipped.count, skipped.what, skipped.first)));
    }
    let verb = if view.dry_run { "would be imported" } else { "imported" };
    out::note(&format!("{} run(s) {verb}, {} already imported", view.imported, view.known));
    if view.imported > 0 && !view.dry_run {
        out::note("`longhaul list --all` shows them; their old ids still work");
    }
}
