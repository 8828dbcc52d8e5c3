//! `longhaul demo`: runs the built-in agent in a scratch workspace, kills a worker and an agent on the way, and prints what happened.
//! It uses the same store, worker, keeper and viewer as `run`; only the pace and the kills are staged.

use std::path::{Path, PathBuf};

use longhaul_app::{Home, Request};
use longhaul_core::names::TaskName;
use longhaul_core::task::{Patience, State, Submission};
use longhaul_keeper::SessionDir;
use longhaul_keeper::process::{self, Process};
use longhaul_store::Stored;

use super::show::sessions_of;
use crate::cli::Demo;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::viewer::{Observer, Signals, Viewing, follow_with};
use crate::{out, start};
use longhaul_app::Call;
use longhaul_app::ownership;
use longhaul_app::submit::{files::utf8, send};
use longhaul_app::tag::tag;
use longhaul_app::{AppError, ErrorKind};

const GOAL: &str = "Build a todo command line app";
/// The check that Longhaul runs once every step is ticked.
const CHECK: &str = "TODO_FILE=$(mktemp) && export TODO_FILE && sh todo.sh add milk && sh todo.sh list | grep milk";

pub(crate) async fn demo(line: &CommandLine, args: &Demo) -> Result<Code, AppError> {
    let scratch = scratch(args.dir.as_deref())?;
    let workspace = scratch.join("workspace");
    std::fs::create_dir_all(&workspace).map_err(|error| unusable(&workspace, &error))?;
    let git = start::git_init(&workspace);
    let mut system = line.system.clone();
    system.environment = system.environment.with("DEMO_PACE_MS", args.pace.to_string());
    let call = line.call_at(&scratch.join("home"), system);
    call.app.create()?;
    out::note(&format!("Longhaul demo: \"{GOAL}\" with the built-in agent, in {}", scratch.display()));
    if !args.no_kills {
        out::note("On the way it kills a worker and an agent, to show that the task survives.");
    }
    if !git {
        out::note("cannot create a git repository; the demo works without one");
    }
    let signals = Signals::listen()?;
    let task = send(&call, request(&call, &workspace)?).await?.task;
    let victims: &[Victim] = if args.no_kills { &[] } else { &[Victim::Worker, Victim::Agent] };
    let mut kills = DemoKills { home: call.home().clone(), left: victims, killed: Vec::new(), last: 0 };
    let code = follow_with(&call, task, signals, Viewing::whole(false, false), &mut kills).await?;
    print_summary(&call, task, &scratch, &kills.killed).await?;
    Ok(code)
}

fn request(call: &Call, workspace: &Path) -> Result<Request, AppError> {
    let directory = utf8(&longhaul_app::Project::of(workspace)?.directory)?;
    let provisional = TaskName::new("demo").map_err(|error| AppError::new(ErrorKind::Usage, error.to_string()))?;
    let submission = Submission {
        checks: vec![CHECK.into()],
        patience: Patience { backoff_ms: 1000, delay_ms: 0, ..Patience::default() },
        ..Submission::new(GOAL.into(), provisional, directory, "demo".into())
    };
    Ok(Request::new(call, None, submission))
}

fn scratch(dir: Option<&Path>) -> Result<PathBuf, AppError> {
    let parent = dir.map_or_else(std::env::temp_dir, Path::to_owned);
    let path = parent.join(format!("longhaul-demo-{}", tag::<4>()));
    std::fs::create_dir_all(&parent).map_err(|error| unusable(&parent, &error))?;
    longhaul_keeper::files::create_private_dir(&path)
        .map_err(|error| AppError::new(ErrorKind::Usage, format!("cannot use `{}`", path.display())).because(&error))?;
    path.canonicalize().map_err(|error| unusable(&path, &error))
}

fn unusable(path: &Path, error: &std::io::Error) -> AppError {
    AppError::new(ErrorKind::Usage, format!("cannot use `{}`", path.display()))
        .because(error)
        .hint("choose another --dir")
}

/// What the demo kills, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Worker,
    Agent,
}

/// Watches the task and kills each victim in a different work session.
struct DemoKills {
    home: Home,
    left: &'static [Victim],
    killed: Vec<String>,
    /// The session in which something was killed last.
    last: u32,
}

impl Observer for DemoKills {
    fn task_changed(&mut self, stored: &Stored, say: &dyn Fn(&str)) {
        let Some(victim) = self.left.first().copied() else { return };
        let State::Working { session } = &stored.task.state else { return };
        // Once the conversation is known, the agent is working and can be resumed.
        if session.conversation.is_none() || session.number == self.last {
            return;
        }
        let Some((name, process)) = self.find(victim, stored) else { return };
        say(&format!(">>> kill -9 of the {name}"));
        if process::kill(&process).unwrap_or(false) {
            self.last = session.number;
            self.left = &self.left[1..];
            self.killed.push(name);
        }
    }

    /// The summary names the demo's own home; without it a command would use the user's home.
    fn next_command(&self, _stored: &Stored) -> Option<String> {
        None
    }
}

impl DemoKills {
    fn find(&self, victim: Victim, stored: &Stored) -> Option<(String, Process)> {
        match victim {
            Victim::Worker => {
                let process = ownership::process(&self.home, stored)?;
                Some((format!("worker (pid {})", process.pid), process))
            }
            Victim::Agent => {
                let session = stored.task.state.session()?;
                let identity = SessionDir::at(&self.home.session(session.id)).ok()?.identity().ok()??;
                Some((format!("agent (pid {})", identity.child.pid), identity.child))
            }
        }
    }
}

async fn print_summary(
    call: &Call,
    task: longhaul_core::ids::TaskId,
    scratch: &Path,
    killed: &[String],
) -> Result<(), AppError> {
    let Some(stored) = call.store()?.load(task).await? else { return Ok(()) };
    let events = call.store()?.events(task, 0, u32::MAX).await?;
    let sessions = sessions_of(&events);
    let chain = call.store()?.verify(task).await?;
    let progress = stored.task.plan.as_ref().map_or_else(|| "no plan".to_owned(), |plan| plan.plan.progress());
    out::note(&format!(
        "\nWhat happened: {} sessions, {progress} steps ticked, {} events.",
        sessions.len(),
        events.len()
    ));
    for name in killed {
        out::note(&format!("  the {name} was killed with -9, and the task continued"));
    }
    for record in &sessions {
        let how = record.ended.as_ref().map_or_else(|| "running".to_owned(), |ended| ended.exit.to_string());
        let resumed = if record.run.resumes.is_some() { ", resumed the agent's conversation" } else { "" };
        out::note(&format!("  session {} ({}): {}{resumed}", record.run.number, record.run.purpose, out::safe(&how)));
    }
    let intact = chain.broken.is_none();
    out::note(&format!("  the history's hash chain is {}", if intact { "intact" } else { "BROKEN" }));
    let dir = scratch.display();
    out::note(&format!("Files:\n  the app      {dir}/workspace  (try: sh {dir}/workspace/todo.sh add milk)"));
    out::note(&format!(
        "  plan, notes  {dir}/workspace/{}/{}",
        longhaul_core::names::STATE_DIR,
        stored.task.submission.name
    ));
    out::note(&format!(
        "  Longhaul     {dir}/home  (try: LONGHAUL_HOME={dir}/home longhaul events {})",
        stored.task.submission.name
    ));
    out::note("Next, in your project: `longhaul setup`, then `longhaul run \"goal\"`.");
    Ok(())
}
