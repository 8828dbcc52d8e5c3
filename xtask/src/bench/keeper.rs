//! What a keeper takes: private memory while its agent lives, and time from its spawn to the agent's exec.
//! Called by `plan`. The timed agent is this program, which tells the moment it runs; the same program is spawned directly.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};

use longhaul_keeper::{SessionDir, Standing, Stop, signal_keeper, spawn_keeper};

use super::figures::{Samples, Unit};
use super::scene::{BenchError, Scene, failed, wait_for};
use super::table::{Bound, Comparison, Row, Target};
use super::tiny_agents::{self, TELL_TIME, monotonic_milliseconds};
use super::wishes::Effort;

const TIMED_ROUNDS: usize = 60;
const MEMORY_ROUNDS: usize = 10;
const TOGETHER: usize = 8;
const MOST_PRIVATE_KB: f64 = 3072.0;

/// Agents that live until they are ended.
const SILENT: &[&str] = &["/bin/sleep", "600"];
const TALKING: &[&str] = &["/bin/sh", "-c", "echo ready; exec /bin/sleep 600"];

/// Measures keepers.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let sessions = scene.directory("keepers")?;
    let mut rows = vec![time_to_exec(scene, &sessions, effort)?];
    let rounds = effort.rounds(MEMORY_ROUNDS);
    rows.push(memory(scene, &sessions, rounds, &Company { what: "alone, silent agent", agent: SILENT, keepers: 1 })?);
    rows.push(memory(
        scene,
        &sessions,
        rounds,
        &Company { what: "alone, agent with output", agent: TALKING, keepers: 1 },
    )?);
    let company = Company { what: "one of 8, agents with output", agent: TALKING, keepers: TOGETHER };
    rows.push(memory(scene, &sessions, rounds, &company)?);
    Ok(rows)
}

fn time_to_exec(scene: &Scene, sessions: &Path, effort: Effort) -> Result<Row, BenchError> {
    let program = tiny_agents::program()?;
    let argv = [&*program, "bench", TELL_TIME];
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for _ in 0..effort.rounds(TIMED_ROUNDS) {
        reference.push(direct_exec(&argv)?);
        measured.push(kept_exec(scene, sessions, &argv)?);
    }
    let over = measured.with(&reference, |kept, direct| kept - direct).median();
    let what = format!("from the keeper's spawn to the agent's exec ({over:.2} ms over a direct spawn)");
    let beside = "direct spawn to exec".to_owned();
    Ok(Row::new(what, Comparison { unit: Unit::Milliseconds, measured, beside, reference }, Target::Free))
}

fn direct_exec(argv: &[&str]) -> Result<f64, BenchError> {
    let begin = monotonic_milliseconds();
    let output = Command::new(argv[0]).args(&argv[1..]).output().map_err(failed("spawn the timed agent"))?;
    Ok(told_time(&String::from_utf8_lossy(&output.stdout))? - begin)
}

fn kept_exec(scene: &Scene, sessions: &Path, argv: &[&str]) -> Result<f64, BenchError> {
    let directory = scene.prepare(sessions, &scene.spec(argv), b"")?;
    let begin = monotonic_milliseconds();
    let mut keeper = spawn_keeper(&scene.keeper, &directory, Standing::Plain).map_err(failed("spawn a keeper"))?;
    keeper.wait().map_err(failed("wait for a keeper"))?;
    let told = fs::read_to_string(directory.out_log()).map_err(failed("read the timed agent's output"))?;
    Ok(told_time(&told)? - begin)
}

fn told_time(text: &str) -> Result<f64, BenchError> {
    let unexpected = |_| BenchError::Unexpected { what: "the timed agent's output", found: text.to_owned() };
    text.trim().parse().map_err(unexpected)
}

/// How many keepers live at once, and with which agents.
struct Company {
    what: &'static str,
    agent: &'static [&'static str],
    keepers: usize,
}

fn memory(scene: &Scene, sessions: &Path, rounds: usize, company: &Company) -> Result<Row, BenchError> {
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for _ in 0..rounds {
        let kept = (0..company.keepers)
            .map(|_| Kept::start(scene, sessions, company.agent))
            .collect::<Result<Vec<Kept>, BenchError>>()?;
        if let Some(last) = kept.last() {
            measured.push(private_kilobytes(last.keeper.id())?);
            reference.push(private_kilobytes(last.agent)?);
        }
    }
    let comparison = Comparison { unit: Unit::Kilobytes, measured, beside: "`sleep`".to_owned(), reference };
    let target = Target::Aim(Bound::FigureAtMost(MOST_PRIVATE_KB));
    Ok(Row::new(format!("private memory of a keeper ({})", company.what), comparison, target))
}

/// A keeper whose agent runs; both are ended when it is dropped.
struct Kept {
    keeper: Child,
    agent: u32,
    directory: SessionDir,
}

impl Kept {
    fn start(scene: &Scene, sessions: &Path, argv: &'static [&'static str]) -> Result<Kept, BenchError> {
        let directory = scene.prepare(sessions, &scene.spec(argv), b"")?;
        let keeper = spawn_keeper(&scene.keeper, &directory, Standing::Plain).map_err(failed("spawn a keeper"))?;
        let mut kept = Kept { keeper, agent: 0, directory };
        let identity = wait_for("a keeper's identity", || Ok(kept.directory.identity()?))?;
        kept.agent = identity.child.pid;
        wait_for("the agent's exec", || Ok((name_of(kept.agent) == "sleep").then_some(())))?;
        if argv == TALKING {
            wait_for("the agent's output", || {
                Ok(fs::metadata(kept.directory.out_log()).is_ok_and(|log| log.len() > 0).then_some(()))
            })?;
        }
        Ok(kept)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Ok(Some(identity)) = self.directory.identity() {
            // A keeper that can not be told to end is waited for below in vain, and that is seen.
            signal_keeper(&identity, Stop::Immediate).ok();
        }
        self.keeper.wait().ok();
    }
}

fn name_of(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

fn private_kilobytes(pid: u32) -> Result<f64, BenchError> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).map_err(failed(&format!("read `{path}`")))?;
    let sum = sum_of_private(&text);
    sum.ok_or_else(|| BenchError::Unexpected { what: "the memory of a process", found: text.clone() })
}

fn sum_of_private(smaps: &str) -> Option<f64> {
    let value = |name: &str| -> Option<f64> {
        let line = smaps.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    Some(value("Private_Clean:")? + value("Private_Dirty:")?)
}

#[cfg(test)]
mod tests {
    use super::sum_of_private;

    #[test]
    fn both_kinds_of_private_memory_count() {
        let text = "Rss: 3 kB\nShared_Clean:   900 kB\nPrivate_Clean:        40 kB\nPrivate_Dirty:       260 kB\n";
        assert_eq!(sum_of_private(text), Some(300.0));
    }

    #[test]
    fn a_missing_line_is_not_zero() {
        assert_eq!(sum_of_private("Private_Clean: 40 kB\n"), None);
        assert_eq!(sum_of_private("Private_Clean: 40 kB\nPrivate_Dirty: much\n"), None);
    }
}
