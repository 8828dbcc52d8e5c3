//! `longhaul man`: generates manual pages from the parsed command line: one to stdout, or all into a directory.
//! Everyone may read the pages, so they are plain files, unlike files in Longhaul's home.

use std::io;
use std::path::Path;

use clap_mangen::Man as Page;

use crate::cli::{Man, command};
use crate::exit::Code;
use crate::out;
use longhaul_app::{AppError, ErrorKind};

pub(crate) fn man(args: &Man) -> Result<Code, AppError> {
    match &args.dir {
        Some(dir) => {
            write_all(dir).map_err(|error| {
                AppError::new(ErrorKind::Failure, format!("cannot write manual pages into `{}`", dir.display()))
                    .because(&error)
                    .hint("name a directory; only the last one of the path is created if missing")
            })?;
            out::note(&format!("wrote manual pages into `{}`", out::safe(&dir.display().to_string())));
        }
        None => out::data(&main_page()?),
    }
    Ok(Code::Done)
}

fn write_all(dir: &Path) -> std::io::Result<()> {
    // A misspelt path must not create a tree of directories.
    match std::fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    clap_mangen::generate_to(command(), dir)
}

fn main_page() -> Result<String, AppError> {
    let mut page = Vec::new();
    Page::new(command())
        .render(&mut page)
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot generate the manual page").because(&error))?;
    Ok(String::from_utf8_lossy(&page).trim_end().to_owned())
}
