//! The channel of a person's own program: the facts in variables, the whole message as JSON on its standard input.
//! No shell is asked; a person who wants one names it.

use std::path::PathBuf;
use std::time::Duration;

use super::bounded;
use super::message::Message;
use crate::effects::program::{ProgramError, command, run};
use longhaul_app::Home;

/// How long the project is looked for; a claim outlasts its try by more.
const LOOK: Duration = Duration::from_secs(1);

pub(super) async fn send(
    home: &Home,
    argv: &[String],
    message: &Message,
    within: Duration,
) -> Result<(), ProgramError> {
    let (program, arguments) = argv.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
    let mut command = command(program, &message.environment)?;
    command.args(arguments).envs(variables(home, message)).current_dir(directory(home, message).await);
    run(program, command, message.json(), within).await
}

fn variables(home: &Home, message: &Message) -> [(&'static str, String); 6] {
    [
        ("LONGHAUL_HOME", home.root().display().to_string()),
        ("LONGHAUL_TASK", message.task.to_string()),
        ("LONGHAUL_TASK_NAME", message.name.clone()),
        ("LONGHAUL_OCCASION", message.occasion.to_owned()),
        ("LONGHAUL_STATE", message.state.clone()),
        ("LONGHAUL_MESSAGE", message.message.clone()),
    ]
}

/// The project, as long as it exists and its file system answers.
async fn directory(home: &Home, message: &Message) -> PathBuf {
    let project = PathBuf::from(&message.project);
    let looked = project.clone();
    let is_there = bounded::within(LOOK, move || looked.is_dir()).await;
    if is_there == Some(true) { project } else { home.root().to_owned() }
}
