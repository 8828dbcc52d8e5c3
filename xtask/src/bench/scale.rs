//! What many tasks of one home cost: processor while most of them wait, threads and memory of their one worker, the time until
//! another worker has adopted them, and whether one more is submitted as fast as the first.
//! Called by `bench` when asked for.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::compare::{Samples, in_turn, milliseconds};
use super::crowd::{Crowd, Usage};
use super::scene::{Outcome, Scene};
use super::table::{Bound, Row};

const SLOTS: usize = 2;
const MOST_THREADS: f64 = 40.0;
const MOST_KB: f64 = 60_000.0;
/// As many submissions are timed at the beginning and at the end.
const TIMED: usize = 10;

/// Measures crowds.
pub(super) fn measure(scene: &Scene) -> Outcome<Vec<Row>> {
    let [runs, queue, together] = if scene.arguments.quick { [10, 100, 40] } else { [60, 2_000, 500] };
    let mut rows = vec![waiting(scene, runs)?];
    rows.extend(queued(scene, queue)?);
    rows.extend(live(scene, together)?);
    Ok(rows)
}

/// The share of one core that a home uses while its agents sleep and most of its tasks wait.
fn waiting(scene: &Scene, runs: usize) -> Outcome<Row> {
    let crowd = Crowd::new(scene, "waiting", SLOTS)?.in_git()?;
    crowd.submit_all(0..runs)?;
    crowd.wait_until_live(SLOTS)?;
    // The last submissions settle first.
    sleep(Duration::from_secs(2));
    let (began, before) = (Instant::now(), crowd.processor_seconds());
    sleep(Duration::from_secs(if scene.arguments.quick { 3 } else { 20 }));
    let percent = 100.0 * (crowd.processor_seconds() - before) / began.elapsed().as_secs_f64();
    crowd.worker_usage()?;
    let what = format!("{runs} `run --detach` in git with {SLOTS} slots, while the agents sleep: part of one core");
    Ok(Row::new(what, " %", &Samples::once(percent)).gate(Bound::FigureAtMost(5.0)))
}

/// The worker of many tasks that wait for a slot.
fn queued(scene: &Scene, tasks: usize) -> Outcome<Vec<Row>> {
    let crowd = Crowd::new(scene, "queued", SLOTS)?;
    crowd.submit_all(0..1)?;
    crowd.wait_until_live(1)?;
    let alone = crowd.worker_usage()?;
    crowd.submit_all(1..tasks)?;
    crowd.wait_until_live(SLOTS)?;
    Ok(usage_rows(&format!("one worker with {tasks} tasks in the queue"), &crowd.worker_usage()?, &alone))
}

/// The worker of many live sessions, its death, and one more submission.
fn live(scene: &Scene, tasks: usize) -> Outcome<Vec<Row>> {
    let crowd = Crowd::new(scene, "live", tasks)?;
    let submit = |number| {
        crowd.wait_until_live(number)?;
        Ok([crowd.submit(number)?])
    };
    let [first] = in_turn(TIMED, submit)?;
    crowd.wait_until_live(TIMED)?;
    let alone = crowd.worker_usage()?;
    crowd.submit_all(TIMED..tasks - TIMED)?;
    let [last] = in_turn(TIMED, |number| submit(tasks - TIMED + number))?;
    crowd.wait_until_live(tasks)?;
    let mut rows = usage_rows(&format!("one worker with {tasks} live sessions"), &crowd.worker_usage()?, &alone);
    let what = format!("`run --detach` as one of the last {TIMED} of {tasks} live tasks");
    let beside = format!("as one of the first {TIMED}");
    rows.push(Row::new(what, " ms", &last).beside(beside, &first).gate(Bound::AtMost(1.5)));
    crowd.kill_worker()?;
    let adopted = milliseconds(|| crowd.adopt())?;
    let what = format!("the next worker adopts {tasks} live sessions after kill -9, its start included");
    rows.push(Row::new(what, " ms", &Samples::once(adopted)).gate(Bound::FigureAtMost(2_000.0)));
    Ok(rows)
}

fn usage_rows(company: &str, together: &Usage, alone: &Usage) -> Vec<Row> {
    let row = |what: &str, unit, figure, reference, most| {
        let row = Row::new(format!("{company}: {what}"), unit, &Samples::once(figure));
        row.beside("with its first tasks", &Samples::once(reference)).gate(Bound::FigureAtMost(most))
    };
    vec![
        row("threads", "", together.threads, alone.threads, MOST_THREADS),
        row("memory", " kB", together.resident_kb, alone.resident_kb, MOST_KB),
    ]
}
