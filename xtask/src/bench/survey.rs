//! What it costs to name the tree of 100,000 files: beside plain git that adds the same files to an empty index.
//! Called by `plan`. Every object exists already, and every file is hashed by both.

use std::fs;
use std::path::Path;
use std::process::Command;

use longhaul_git::Git;

use super::figures::{Samples, Unit};
use super::scene::{BenchError, Scene, failed, finish, milliseconds};
use super::table::{Bound, Comparison, Row, Target};
use super::wishes::Effort;

const ROUNDS: usize = 7;
const DIRECTORIES: usize = 1000;
const FILES_IN_EACH: usize = 100;

/// Measures the survey.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let project = scene.directory("many-files")?;
    fill(&project).map_err(failed("write the files"))?;
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "all"]] {
        finish(git(&project, words))?;
    }
    let state = scene.path("survey");
    let survey = || -> Result<(), Box<dyn std::error::Error>> {
        let repository = Git::open(&state)?.find(&project)?.ok_or("no repository")?;
        repository.survey()?;
        Ok(())
    };
    let survey = || survey().map_err(|error| failed("survey the files")(std::io::Error::other(error.to_string())));
    let (mut ours, mut plain) = (Samples::new(), Samples::new());
    for round in 0..effort.rounds(ROUNDS) {
        ours.push(milliseconds(survey)?);
        let index = scene.path(&format!("index-{round}"));
        plain.push(milliseconds(|| {
            for words in [&["add", "-A"], &["write-tree"][..]] {
                let mut command = git(&project, words);
                command.env("GIT_INDEX_FILE", &index);
                finish(command)?;
            }
            Ok(())
        })?);
    }
    let beside = "`git add -A` and `git write-tree` with an empty index".to_owned();
    let comparison = Comparison { unit: Unit::Milliseconds, measured: ours, beside, reference: plain };
    Ok(vec![Row::new("naming the tree of 100,000 files", comparison, Target::Gate(Bound::AtMost(2.0)))])
}

fn fill(project: &Path) -> std::io::Result<()> {
    for directory in 0..DIRECTORIES {
        let directory = project.join(format!("d{directory}"));
        fs::create_dir(&directory)?;
        for file in 0..FILES_IN_EACH {
            fs::write(directory.join(format!("f{file}")), format!("{}\n", directory.display()).repeat(file + 1))?;
        }
    }
    Ok(())
}

fn git(project: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "gc.auto=0"]).args(words);
    command.current_dir(project);
    command
}
