//! What it costs to name the tree of 100,000 files, beside plain git that adds the same files to an empty index.
//! Called by `bench`. Every object exists already, and both hash every file.

use std::fs;
use std::path::Path;

use longhaul_git::Git;

use super::compare::{in_turn, milliseconds};
use super::scene::{Outcome, Scene, commit_all, finish, git};
use super::table::{Bound, Row};

const ROUNDS: usize = 7;
const DIRECTORIES: usize = 1000;
const FILES_IN_EACH: usize = 100;

/// Measures the survey.
pub(super) fn measure(scene: &Scene) -> Outcome<Vec<Row>> {
    let project = scene.directory("many-files")?;
    fill(&project)?;
    commit_all(&project)?;
    let state = scene.path("survey");
    let [ours, plain] = in_turn(scene.rounds(ROUNDS), |round| {
        let ours = milliseconds(|| {
            let repository = Git::open(&state)?.find(&project)?.ok_or("no repository")?;
            repository.survey()?;
            Ok(())
        })?;
        let index = scene.path(&format!("index-{round}"));
        let plain = milliseconds(|| {
            finish(git(&project, &["add", "-A"]).env("GIT_INDEX_FILE", &index))?;
            finish(git(&project, &["write-tree"]).env("GIT_INDEX_FILE", &index))
        })?;
        Ok([ours, plain])
    })?;
    let beside = "`git add -A` and `git write-tree` with an empty index";
    let row = Row::new("naming the tree of 100,000 files", " ms", &ours).beside(beside, &plain);
    Ok(vec![row.gate(Bound::AtMost(2.0))])
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
