//! The work role: checks earlier work, then does the first open steps one after another: write, test, tick, log, commit.
//! The fix role: keeps both versions of a conflict, else adds one line to `FIXES.md`; it ticks nothing and ignores what failed.
//!
//! Called by `session.rs`. It reads only the files, so a new conversation and a resumed one do the same. Repeating a step
//! after a crash is harmless. It never overwrites someone else's file.

use std::path::Path;
use std::process::{Command, Stdio};

use super::files::{self, Access};
use super::git::{self, Committed};
use super::session::{Outcome, Session};
use super::task_list::{self, Step};
use super::todo_app::{self, Artifact};

const FIXES: &str = "FIXES.md";

/// Works on the list of the task directory.
pub(super) fn run(session: &mut Session<'_>, task_directory: &Path) -> Outcome {
    let Some(list) = files::read_text(&task_directory.join("task_list.md"))? else {
        return Ok(session.speaker.text("There is no task_list.md; I cannot work.")?);
    };
    let log = files::read_text(&task_directory.join("progress.md"))?.unwrap_or_default();
    session.speaker.text(&format!(
        "Read {} steps and {} earlier session entries.",
        task_list::parse(&list).len(),
        entries(&log)
    ))?;
    check_earlier_work(session, &list)?;
    let mut heading = format!("\n## Session {}\n", entries(&log) + 1);
    for _ in 0..session.settings.steps_per_session {
        let Some(list) = files::read_text(&task_directory.join("task_list.md"))? else { break };
        let steps = task_list::parse(&list);
        let Some(step) = steps.iter().find(|step| !step.ticked) else {
            session.speaker.text("All steps are done.")?;
            break;
        };
        std::thread::sleep(session.settings.pace);
        if !take_step(session, task_directory, &steps, step, &heading)? {
            break;
        }
        heading.clear();
    }
    Ok(())
}

/// Pretends to fix what the supervisor's checks found.
pub(super) fn fix(session: &mut Session<'_>, task_directory: &Path) -> Outcome {
    std::thread::sleep(session.settings.pace);
    session.speaker.usage(session.prompt_length / 4 + 1, 10)?;
    let resolved = keep_both_sides(session)?;
    if !resolved.is_empty() {
        commit(session, &resolved, "demo: keep both sides")?;
        return Ok(session.speaker.text("Kept what both sides of the conflicts have.")?);
    }
    let path = session.workspace.join(FIXES);
    let number = files::read_text(&path)?.unwrap_or_default().lines().count() + 1;
    files::append(&path, &format!("- fix {number}: fixed what the checks found\n"), Access::Shared)?;
    session.speaker.tool("write", FIXES)?;
    let progress = task_directory.join("progress.md");
    let session_number = entries(&files::read_text(&progress)?.unwrap_or_default()) + 1;
    let entry =
        format!("\n## Session {session_number}\n\n### Fixed\n- What the checks found: see {FIXES}, fix {number}\n");
    files::append(&progress, &entry, Access::Shared)?;
    commit(session, &[FIXES.to_owned()], &format!("demo: fix {number}"))?;
    Ok(session.speaker.text("Fixed what the checks found.")?)
}

/// Removes the markers of conflicts from the files at the top, so that both versions stay. Answers which files had any.
fn keep_both_sides(session: &mut Session<'_>) -> Outcome<Vec<String>> {
    let is_marker = |line: &&str| ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|marker| line.starts_with(marker));
    let mut resolved = Vec::new();
    for entry in std::fs::read_dir(&session.workspace)? {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        let path = session.workspace.join(&name);
        let text = if path.is_file() { std::fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        if !text.lines().any(|line| line.starts_with("<<<<<<<")) {
            continue;
        }
        let kept: String = text.lines().filter(|line| !is_marker(line)).map(|line| format!("{line}\n")).collect();
        files::replace(&path, &kept, Access::Shared)?;
        session.speaker.tool("write", &name)?;
        resolved.push(name);
    }
    Ok(resolved)
}

/// Restores missing files of finished steps, and commits what a killed session did not.
fn check_earlier_work(session: &mut Session<'_>, list: &str) -> Outcome {
    let finished: Vec<Step> = task_list::parse(list).into_iter().filter(|step| step.ticked).collect();
    let mut own = Vec::new();
    for artifact in finished.iter().flat_map(|step| todo_app::artifacts(step, &finished)) {
        match files::read_text(&session.workspace.join(&artifact.name))? {
            None => write_artifact(session, &artifact)?,
            Some(content) if !content.contains(todo_app::MARK) => continue,
            Some(_) => {}
        }
        own.push(artifact.name);
    }
    commit(session, &own, "demo: carry over earlier work")
}

/// Does one step; false if it was given up.
fn take_step(
    session: &mut Session<'_>,
    task_directory: &Path,
    steps: &[Step],
    step: &Step,
    heading: &str,
) -> Outcome<bool> {
    session.speaker.text(&format!("Task {}: {}", step.number, step.text))?;
    let finished: Vec<Step> = steps.iter().filter(|other| other.ticked || *other == step).cloned().collect();
    let mut written = Vec::new();
    let mut output = 0;
    let artifacts = todo_app::artifacts(step, &finished);
    for artifact in &artifacts {
        if is_foreign(session, artifact)? {
            session.speaker.text(&format!("`{}` is not my file; I leave it alone.", artifact.name))?;
            continue;
        }
        write_artifact(session, artifact)?;
        output += artifact.content.len();
        written.push(artifact.name.clone());
    }
    session.speaker.usage(session.prompt_length / 4 + 1, output / 4 + 1)?;
    // The first file is what the step is about; the others may be left to a person.
    let has_main_file = artifacts.first().map(|artifact| &artifact.name) == written.first();
    if !has_main_file || !prove(session, step)? {
        session.speaker.text(&format!("Task {} stays open.", step.number))?;
        return Ok(false);
    }
    tick(session, task_directory, step)?;
    let entry = format!(
        "{heading}\n### Accomplished\n- Task {}: {}\n\n### Issues Encountered\n- None\n\n\
         ### Current Status\n- {} of {} steps are done\n",
        step.number,
        step.text,
        finished.len(),
        steps.len()
    );
    files::append(&task_directory.join("progress.md"), &entry, Access::Shared)?;
    commit(session, &written, &format!("demo: {}", step.text))?;
    Ok(true)
}

fn is_foreign(session: &Session<'_>, artifact: &Artifact) -> Outcome<bool> {
    let content = files::read_text(&session.workspace.join(&artifact.name))?;
    Ok(content.is_some_and(|content| !content.contains(todo_app::MARK)))
}

fn write_artifact(session: &mut Session<'_>, artifact: &Artifact) -> Outcome {
    files::replace(&session.workspace.join(&artifact.name), &artifact.content, Access::Shared)?;
    Ok(session.speaker.tool("write", &artifact.name)?)
}

/// Runs the test of a step, if it has one.
fn prove(session: &mut Session<'_>, step: &Step) -> Outcome<bool> {
    let Some(script) = todo_app::proof(step) else { return Ok(true) };
    let mut command = Command::new("/bin/sh");
    let output = command.arg(script).current_dir(&session.workspace).stdin(Stdio::null()).output()?;
    let said =
        String::from_utf8_lossy(if output.status.success() { &output.stdout } else { &output.stderr }).into_owned();
    session.speaker.text(&format!("sh {script}: {}", said.trim()))?;
    Ok(output.status.success())
}

/// Ticks one box in the list as it is now: someone may have changed the rest in the meantime.
fn tick(session: &mut Session<'_>, task_directory: &Path, step: &Step) -> Outcome {
    let path = task_directory.join("task_list.md");
    let list = files::read_text(&path)?.unwrap_or_default();
    if let Some(ticked) = task_list::tick(&list, step.number) {
        files::replace(&path, &ticked, Access::Shared)?;
        session.speaker.tool("tick", &format!("Task {}", step.number))?;
    }
    Ok(())
}

fn commit(session: &mut Session<'_>, files: &[String], message: &str) -> Outcome {
    match git::commit(&session.workspace, files, message) {
        Committed::Yes => session.speaker.tool("git", &format!("commit: {message}"))?,
        Committed::NothingToDo => {}
        Committed::Failed(reason) => session.speaker.text(&format!("git did not commit: {reason}"))?,
    }
    Ok(())
}

fn entries(log: &str) -> usize {
    log.lines().filter(|line| line.starts_with("## Session")).count()
}
