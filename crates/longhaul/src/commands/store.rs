//! `longhaul store`: checks the database, or backs it up to a file while workers keep running.
//! Only prints what the operations return; damage has its own exit code.

use longhaul_app::AppError;
use longhaul_app::operation::NoInput;
use longhaul_app::operations::{StoreBackup, StoreBackupInput, StoreCheck, StoreHealth};
use longhaul_core::units;

use crate::cli::{Store, StoreVerb};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn store(line: &CommandLine, args: &Store) -> Result<Code, AppError> {
    let call = line.call()?;
    match &args.verb {
        StoreVerb::Check { json } => {
            let answer = call.perform::<StoreCheck>(NoInput {}).await?;
            out::answer(&answer, *json, print)?;
            Ok(if answer.view.sound { Code::Done } else { Code::Damaged })
        }
        StoreVerb::Backup { file, json } => {
            let answer = call.perform::<StoreBackup>(StoreBackupInput { file: file.clone() }).await?;
            out::answer(&answer, *json, |backup| {
                out::data(&out::safe(&backup.path));
                let size = units::bytes(backup.bytes);
                out::note(&format!("backed up and checked: {size}; session logs are not included"));
            })
        }
    }
}

fn print(health: &StoreHealth) {
    let line = |text: String| out::data(&out::safe(&text));
    health.damaged.iter().for_each(|damaged| line(format!("damaged   {}: {}", damaged.row, damaged.what)));
    for missing in &health.missing {
        let why = if missing.half_swept { " (partly removed; `longhaul gc` finishes it)" } else { "" };
        line(format!(
            "missing   directory of session {} of task {}: sessions/{}{why}",
            missing.session, missing.task_name, missing.session_id
        ));
    }
    for stray in &health.strays {
        line(format!("stray     sessions/{stray} belongs to no task; `longhaul gc` removes old ones"));
    }
    if health.omitted > 0 {
        out::note(&format!("{} more findings are not shown", health.omitted));
    }
    out::note(&match health.sound {
        true => format!("the store is intact: {} task(s), all hash chains and states checked", health.tasks),
        false => "the store is damaged; nothing was changed. Keep the file; docs/guide/care.md explains how to restore a backup"
            .to_owned(),
    });
}
