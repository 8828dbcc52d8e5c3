//! `longhaul gc`: prints what was removed and what was kept, one line each.
//! Only prints what the operation returns; a failed removal ends with exit code 1.

use longhaul_app::AppError;
use longhaul_app::operations::{Gc, GcInput};
use longhaul_app::views::Sweep;
use longhaul_core::units;

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn gc(line: &CommandLine, args: &cli::Gc) -> Result<Code, AppError> {
    let (age, count, bytes) = (args.age.clone(), args.count.clone(), args.bytes.clone());
    let input = GcInput { dry_run: args.dry_run, age, count, bytes, page: args.page.into(), ..GcInput::default() };
    let answer = line.call()?.perform::<Gc>(input).await?;
    out::answer(&answer, args.json, print)?;
    Ok(if answer.view.failed == 0 { Code::Done } else { Code::Failure })
}

fn print(swept: &Sweep) {
    let verb = if swept.dry_run { "to remove" } else { "removed" };
    let line = |word: &str, name: &str, text: &str| out::data(&out::safe(&format!("{word:9}  {name}  {text}")));
    for task in &swept.removed {
        line(verb, &task.name, &format!("{} session(s), {}: {}", task.sessions, units::bytes(task.bytes), task.why));
    }
    for orphan in &swept.orphans {
        let size = orphan.bytes.map_or_else(String::new, |bytes| format!("{}: ", units::bytes(bytes)));
        line(verb, &orphan.name, &format!("{size}{}", orphan.what));
    }
    swept.kept.iter().for_each(|kept| line("kept", &kept.name, &kept.why));
    swept.left.iter().for_each(|left| line("left", &left.name, &left.why));
    out::more(swept.next);
    let freed = units::bytes(swept.freed_bytes);
    let (tasks, orphans) = (swept.tasks_total, swept.orphans_total);
    match (swept.dry_run, tasks + orphans) {
        (_, 0) => out::note("nothing to remove"),
        (true, _) => out::note(&format!("{freed} would be freed: {tasks} task(s), {orphans} leftover(s)")),
        (false, _) => out::note(&format!("{freed} freed: {tasks} task(s), {orphans} leftover(s)")),
    }
}
