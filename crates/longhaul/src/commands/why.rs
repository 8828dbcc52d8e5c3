//! `longhaul why`: explains a task's state in a few lines.
//! Only prints what the operation returns.

use longhaul_app::AppError;
use longhaul_app::operations::{TaskInput, Why};

use crate::cli::Read;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn why(line: &CommandLine, args: &Read) -> Result<Code, AppError> {
    let answer = line.call()?.perform::<Why>(TaskInput { task: args.which.task.clone() }).await?;
    out::answer(&answer, args.json, |view| {
        out::data(&out::safe(&view.why));
        view.also.iter().for_each(|fact| out::data(&out::readable(fact)));
        out::data(&out::safe(&view.next_step));
    })
}
