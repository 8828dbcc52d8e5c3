//! The line in a person's crontab that starts a worker at each boot, between two comment lines that mark it.
//! Every other byte of the crontab stays. A failed `crontab -l` counts as an empty crontab only if its message says that.

use super::worker::Worker;
use super::{Installed, ServiceStatus};
use crate::cli::ServiceKind;
use crate::commands::step::Step;
use crate::out;
use crate::start::run_program;
use longhaul_app::{AppError, ErrorKind};
use longhaul_keeper::Environment;

const BEGIN: &str = "# longhaul service: begin (written by `longhaul service install`)\n";
const END: &str = "# longhaul service: end\n";
/// Messages of crontab programs for a person without a crontab.
const NONE: &[&str] = &["no crontab", "No such file"];

pub(super) fn install(worker: &Worker) -> Result<Vec<Step>, AppError> {
    // Without the program there is no crontab; running the step reports that, a dry run does not.
    let table = match worker.environment.find_program("crontab") {
        Some(_) => Table::read(&worker.environment)?,
        None => Table(Vec::new()),
    };
    let block = block(worker);
    if table.block()?.is_some_and(|found| found == block.as_bytes()) {
        return Ok(Vec::new());
    }
    Ok(vec![Step::feed(&["crontab", "-"], table.with(&block)?)])
}

pub(super) fn uninstall(environment: &Environment) -> Result<Vec<Step>, AppError> {
    // Without the program there is nothing to remove.
    if environment.find_program("crontab").is_none() {
        return Ok(Vec::new());
    }
    let table = Table::read(environment)?;
    if table.block()?.is_none() {
        return Ok(Vec::new());
    }
    let rest = table.without()?;
    Ok(vec![if rest.is_empty() { Step::command(&["crontab", "-r"]) } else { Step::feed(&["crontab", "-"], rest) }])
}

pub(super) fn inspect(worker: &Worker) -> Result<ServiceStatus, AppError> {
    let found = match worker.environment.find_program("crontab") {
        Some(_) => Table::read(&worker.environment)?.block()?.map(<[u8]>::to_vec),
        None => None,
    };
    let installed = match found {
        None => Installed::No,
        Some(found) if found == block(worker).as_bytes() => Installed::Yes,
        Some(_) => Installed::Different,
    };
    // Cron does not report what it has started.
    let enabled = Some(installed != Installed::No);
    Ok(ServiceStatus { kind: ServiceKind::Cron, place: "your crontab".to_owned(), installed, enabled, running: None })
}

/// The content of a crontab.
struct Table(Vec<u8>);

impl Table {
    fn read(environment: &Environment) -> Result<Table, AppError> {
        let failed = |why: &str| {
            AppError::new(ErrorKind::Failure, format!("`crontab -l` failed: {}", out::safe(why)))
                .hint("nothing was changed; check that you may use crontab")
        };
        let Some(output) = run_program(environment, "crontab", &["-l"], b"") else {
            return Err(failed("it cannot be run"));
        };
        match output.succeeded {
            true => Ok(Table(output.out)),
            false if NONE.iter().any(|none| output.err.contains(none)) => Ok(Table(Vec::new())),
            false => Err(failed(&output.errors())),
        }
    }

    /// Where our lines and their marks are.
    fn place(&self) -> Result<Option<std::ops::Range<usize>>, AppError> {
        let (begins, ends) = (self.lines(BEGIN), self.lines(END));
        match (&begins[..], &ends[..]) {
            ([], []) => Ok(None),
            ([begin], [end]) if begin < end => Ok(Some(*begin..end + END.len())),
            _ => Err(AppError::new(
                ErrorKind::Conflict,
                "the longhaul marks in your crontab do not match; nothing was changed",
            )
            .hint("remove the longhaul lines with `crontab -e`")),
        }
    }

    /// The offsets of the lines with this text.
    fn lines(&self, wanted: &str) -> Vec<usize> {
        let mut at = 0;
        let mut found = Vec::new();
        for line in self.0.split_inclusive(|byte| *byte == b'\n') {
            if line == wanted.as_bytes() {
                found.push(at);
            }
            at += line.len();
        }
        found
    }

    fn block(&self) -> Result<Option<&[u8]>, AppError> {
        Ok(self.place()?.map(|place| &self.0[place]))
    }

    /// The crontab with our lines replaced, or appended.
    fn with(&self, block: &str) -> Result<Vec<u8>, AppError> {
        let mut text = self.0.clone();
        match self.place()? {
            Some(place) => drop(text.splice(place, block.bytes())),
            None => {
                if text.last().is_some_and(|byte| *byte != b'\n') {
                    text.push(b'\n');
                }
                text.extend_from_slice(block.as_bytes());
            }
        }
        Ok(text)
    }

    fn without(&self) -> Result<Vec<u8>, AppError> {
        let mut text = self.0.clone();
        if let Some(place) = self.place()? {
            text.drain(place);
        }
        Ok(text)
    }
}

fn block(worker: &Worker) -> String {
    let Worker { program, home, path, .. } = worker;
    let [program, home, path] = [program, home, path].map(|text| quoted(text));
    // Cron waits for what it starts, and mails what that prints.
    let detached = if worker.serves { " >/dev/null 2>&1 &" } else { " --detach >/dev/null" };
    let arguments = worker.arguments().join(" ");
    format!("{BEGIN}@reboot LONGHAUL_HOME={home} PATH={path} {program} {arguments}{detached}\n{END}")
}

/// One word for the shell that cron runs; a bare percent sign would end the line for cron.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''")).replace('%', "\\%")
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, Table, quoted};

    fn table(text: &str) -> Table {
        Table(text.as_bytes().to_vec())
    }

    #[test]
    fn our_lines_come_and_go_and_every_other_byte_stays() {
        let block = format!("{BEGIN}@reboot x\n{END}");
        for mine in ["", "0 4 * * * gc\n", "MAILTO=\"\"\n\n# longhaul service: end of the day\n\t* * * * * x \n"] {
            let with = table(mine).with(&block).unwrap();
            assert_eq!(String::from_utf8(with.clone()).unwrap(), format!("{mine}{block}"));
            assert_eq!(Table(with).without().unwrap(), mine.as_bytes());
        }
        let between = table(&format!("a\n{BEGIN}old\n{END}b\n"));
        assert_eq!(between.with(&block).unwrap(), format!("a\n{block}b\n").as_bytes());
        assert_eq!(between.without().unwrap(), b"a\nb\n");
        assert_eq!(table("no end of line").with(&block).unwrap(), format!("no end of line\n{block}").as_bytes());
        assert_eq!(Table(b"\xff\n".to_vec()).with(&block).unwrap()[..2], *b"\xff\n", "what is no UTF-8 stays too");
    }

    #[test]
    fn marks_that_do_not_match_are_refused() {
        for text in [BEGIN.to_owned(), END.to_owned(), format!("{END}{BEGIN}"), format!("{BEGIN}{BEGIN}{END}")] {
            assert!(table(&text).block().is_err(), "{text}");
        }
    }

    #[test]
    fn words_reach_the_shell_as_they_are() {
        assert_eq!(quoted("/a b"), "'/a b'");
        assert_eq!(quoted("it's 100%"), r"'it'\''s 100\%'");
    }
}
