//! What many tasks of one home take: processor while most of them wait, threads and memory of their one worker, the time until another
//! worker has adopted them, and whether one more is submitted as fast as the first. Called by `plan`.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::crowd::Crowd;
use super::figures::{Samples, Unit};
use super::scene::{BenchError, Scene, milliseconds};
use super::table::{Bound, Comparison, Row, Target};
use super::wishes::Effort;

const SLOTS: usize = 2;
const MOST_THREADS: f64 = 40.0;
const MOST_KB: f64 = 60_000.0;
/// What a worker with many tasks is compared with.
const FIRST: &str = "the same with its first tasks";
/// As many submissions as are timed at the beginning and at the end.
const TIMED: usize = 10;

/// How large the crowds are.
struct Sizes {
    runs: usize,
    queued: usize,
    live: usize,
    watched: Duration,
}

impl Sizes {
    fn of(effort: Effort) -> Sizes {
        match effort {
            Effort::Full => Sizes { runs: 60, queued: 2_000, live: 500, watched: Duration::from_secs(20) },
            Effort::Quick => Sizes { runs: 10, queued: 100, live: 40, watched: Duration::from_secs(3) },
        }
    }
}

/// Measures crowds.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let sizes = Sizes::of(effort);
    let mut rows = vec![waiting(scene, &sizes)?];
    rows.extend(queued(scene, &sizes)?);
    rows.extend(live(scene, &sizes)?);
    Ok(rows)
}

/// The share of one core that a home takes while its agents sleep and most of its tasks wait.
fn waiting(scene: &Scene, Sizes { runs, watched, .. }: &Sizes) -> Result<Row, BenchError> {
    let crowd = Crowd::new(scene, "waiting", SLOTS)?.in_git()?;
    submit(&crowd, 0..*runs)?;
    crowd.wait_until_live(SLOTS)?;
    let percent = percent_of_a_core(&crowd, *watched);
    crowd.only_worker()?;
    let what = format!("{runs} `run --detach` in git with {SLOTS} slots, while the agents sleep: processor");
    Ok(row(what, Unit::Percent, [percent, 100.0], "one core", 5.0))
}

fn percent_of_a_core(crowd: &Crowd<'_>, watched: Duration) -> f64 {
    // What was submitted last settles first.
    sleep(Duration::from_secs(2));
    let (began, before) = (Instant::now(), crowd.processor_seconds());
    sleep(watched);
    100.0 * (crowd.processor_seconds() - before) / began.elapsed().as_secs_f64()
}

/// The worker of many tasks that wait for a slot.
fn queued(scene: &Scene, Sizes { queued, .. }: &Sizes) -> Result<Vec<Row>, BenchError> {
    let crowd = Crowd::new(scene, "queued", SLOTS)?;
    submit(&crowd, 0..1)?;
    crowd.wait_until_live(1)?;
    let alone = crowd.only_worker()?.taken()?;
    submit(&crowd, 1..*queued)?;
    crowd.wait_until_live(SLOTS)?;
    let together = crowd.only_worker()?.taken()?;
    let company = format!("one worker with {queued} tasks in the queue");
    Ok(vec![
        row(format!("{company}: threads"), Unit::Count, [together.threads, alone.threads], FIRST, MOST_THREADS),
        row(format!("{company}: memory"), Unit::Kilobytes, [together.kilobytes, alone.kilobytes], FIRST, MOST_KB),
    ])
}

/// The worker of many live sessions, its death, and one submission more.
fn live(scene: &Scene, Sizes { live, .. }: &Sizes) -> Result<Vec<Row>, BenchError> {
    let crowd = Crowd::new(scene, "live", *live)?;
    let [mut first, mut last] = [const { Samples::new() }; 2];
    for number in 0..TIMED {
        first.push(crowd.submit(number)?);
        crowd.wait_until_live(number + 1)?;
    }
    let alone = crowd.only_worker()?.taken()?;
    submit(&crowd, TIMED..live - TIMED)?;
    for number in live - TIMED..*live {
        crowd.wait_until_live(number)?;
        last.push(crowd.submit(number)?);
    }
    crowd.wait_until_live(*live)?;
    let worker = crowd.only_worker()?;
    let together = worker.taken()?;
    let company = format!("one worker with {live} live sessions");
    let beside = format!("as one of the first {TIMED}");
    let comparison = Comparison { unit: Unit::Milliseconds, measured: last, beside, reference: first };
    let submitted = Row::new(
        format!("`run --detach` as one of the last {TIMED} of {live} live tasks"),
        comparison,
        Target::Gate(Bound::AtMost(1.5)),
    );
    crowd.kill_worker(&worker)?;
    let started = milliseconds(|| crowd.start_worker())?;
    let adopted = started + milliseconds(|| crowd.wait_until_adopted())?;
    let what = format!("the next worker adopts {live} live sessions after kill -9, its start included");
    Ok(vec![
        row(format!("{company}: threads"), Unit::Count, [together.threads, alone.threads], FIRST, MOST_THREADS),
        row(format!("{company}: memory"), Unit::Kilobytes, [together.kilobytes, alone.kilobytes], FIRST, MOST_KB),
        row(what, Unit::Milliseconds, [adopted, started], "starting it", 2_000.0),
        submitted,
    ])
}

fn submit(crowd: &Crowd<'_>, mut numbers: std::ops::Range<usize>) -> Result<(), BenchError> {
    numbers.try_for_each(|number| crowd.submit(number).map(drop))
}

/// A figure of one round beside its reference, with the most that it may be.
fn row(what: String, unit: Unit, [figure, reference]: [f64; 2], beside: &str, most: f64) -> Row {
    let [measured, reference] = [figure, reference].map(|value| {
        let mut samples = Samples::new();
        samples.push(value);
        samples
    });
    let comparison = Comparison { unit, measured, beside: beside.to_owned(), reference };
    Row::new(what, comparison, Target::Gate(Bound::FigureAtMost(most)))
}
