//! `longhaul report`: everything stored about a task as one page, in Markdown or JSON, on standard output or into a file.
//! Only reads; the page is made from events and files, never from an agent's word.

use std::path::Path;

use longhaul_keeper::files::replace;

use crate::cli::Report;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::report::{gather, page};
use longhaul_app::{AppError, ErrorKind};
use longhaul_app::{changed_files, lookup};

pub(crate) async fn report(line: &CommandLine, args: &Report) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
    let events = call.store()?.events(stored.task.id, 0, u32::MAX).await?;
    let changed = changed_files::changed_files(call.home(), &stored.task).await;
    let notices = call.store()?.notices(stored.task.id).await?;
    let facts = gather(call.home(), &stored, &events, changed, &notices);
    let text = if args.json { longhaul_app::text::document("report", &facts) + "\n" } else { page(&facts) };
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
fn write(path: &Path, text: &str) -> Result<(), AppError> {
    let what = || format!("cannot write `{}`", path.display());
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| !path.is_dir()) else {
        return Err(AppError::new(ErrorKind::Usage, what()).hint("name a file in a directory that is there"));
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    replace(parent, name, text.as_bytes()).map_err(|error| {
        AppError::new(ErrorKind::Usage, what())
            .because(&error)
            .hint("name a file in a directory that is there and writable")
    })
}
