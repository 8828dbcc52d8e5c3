//! `longhaul report`: everything stored about a task as one page, in Markdown or JSON, on standard output or into a file.
//! Only reads; the page is made from events and files, never from an agent's word.

use std::path::Path;

use longhaul_keeper::files::replace;

use super::open_existing;
use crate::cli::Report;
use crate::error::CliError;
use crate::exit::Code;
use crate::report::{gather, page};
use crate::{changed_files, lookup, out};

pub(crate) async fn report(args: &Report) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find_to_read(&opened, args.which.task.as_deref()).await?;
    let events = opened.store.events(stored.task.id, 0, u32::MAX).await?;
    let changed = changed_files::changed_files(&opened.home, &stored.task).await;
    let notices = opened.store.notices(stored.task.id).await?;
    let facts = gather(&opened.home, &stored, &events, changed, &notices);
    let text = if args.json { out::document("report", &facts) + "\n" } else { page(&facts) };
    match &args.output {
        None => out::data(text.trim_end()),
        Some(path) => {
            write(path, &text)?;
            out::note(&format!("the report is in {}", out::safe(&path.display().to_string())));
        }
    }
    Ok(Code::Done)
}

/// The file is there as a whole or as it was before.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let what = || format!("cannot write `{}`", path.display());
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| !path.is_dir()) else {
        return Err(CliError::new(Code::Usage, what()).hint("name a file in a directory that is there"));
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    replace(parent, name, text.as_bytes()).map_err(|error| {
        CliError::new(Code::Usage, what()).because(&error).hint("name a file in a directory that is there and writable")
    })
}
