//! How long tasks stay without an owner after kill -9 of their worker: from the start of the next worker until it owns them all.
//! Called by `bench`. The sessions live through all rounds; each round kills the worker of the one before. The reference spawns
//! as many bare processes and waits for them.

use std::process::Child;

use super::compare::{in_turn, milliseconds};
use super::crowd::Crowd;
use super::scene::{Outcome, Scene, silent};
use super::table::Row;

const ROUNDS: usize = 10;
const TASKS: usize = 100;

/// Measures adoption.
pub(super) fn measure(scene: &Scene) -> Outcome<Vec<Row>> {
    let crowd = Crowd::new(scene, "adoption", TASKS)?;
    crowd.submit_all(0..TASKS)?;
    crowd.wait_until_live(TASKS)?;
    let [spawned, adopted] = in_turn(scene.rounds(ROUNDS), |_| {
        let spawned = milliseconds(spawn_as_many)?;
        crowd.kill_worker()?;
        let adopted = milliseconds(|| crowd.adopt())?;
        Ok([spawned, adopted].map(|all| all / TASKS as f64))
    })?;
    crowd.check_first_sessions()?;
    crowd.check_watch()?;
    let what = format!("adopting one of {TASKS} live sessions of a killed worker, the new worker's start included");
    Ok(vec![Row::new(what, " ms", &adopted).beside(format!("spawning one of {TASKS} processes"), &spawned)])
}

fn spawn_as_many() -> Outcome {
    let children = (0..TASKS).map(|_| silent("/bin/true").spawn()).collect::<Result<Vec<Child>, _>>()?;
    for mut child in children {
        child.wait()?;
    }
    Ok(())
}
