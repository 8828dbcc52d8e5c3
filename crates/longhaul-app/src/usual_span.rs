//! How long sessions of an agent usually take, from those that have ended: shown once when a task is submitted.
//! Called by `run` and `run-session`. It looks at a bounded number of the newest tasks, however many there are, and is never an error.

use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{SessionRecord, StoppedBy, sessions};
use longhaul_store::Filter;

use crate::app::Call;
use crate::text;

/// The most sessions that count.
const SESSIONS: usize = 50;
/// The most tasks that are looked at, in each of the two places.
const TASKS: u32 = 50;
/// The most events that are read, in each of the two places.
const EVENTS: usize = 5_000;
/// The most of them that are of one task: about as many as so many sessions make.
const OF_ONE_TASK: u32 = 200;

/// How long sessions of this agent took, in a sentence: in this project, else anywhere.
pub async fn sentence(call: &Call, agent: &str, project: &str, new: Option<TaskId>) -> String {
    let agent_shown = text::safe(agent);
    let here = spans(call, agent, Some(project), new).await;
    let (spans, place) =
        if here.is_empty() { (spans(call, agent, None, new).await, "other projects") } else { (here, "this project") };
    match median(spans.iter().map(|span| span.as_millis() as u64).collect()).map(Duration::from_millis) {
        Some(span) => {
            let (count, span) = (spans.len(), shown(span));
            format!("typical {agent_shown} session in {place}: {span} (median of {count})")
        }
        None => format!("typical {agent_shown} session: unknown, none has ended yet"),
    }
}

/// How long the newest sessions of the agent took that ended on their own.
async fn spans(call: &Call, agent: &str, project: Option<&str>, new: Option<TaskId>) -> Vec<Duration> {
    let Ok(store) = call.store() else { return Vec::new() };
    let filter = Filter { project: project.map(str::to_owned), limit: Some(TASKS), ..Filter::default() };
    let outlines = call.summaries(filter).await.map(|listed| listed.tasks).unwrap_or_default();
    let (mut found, mut read) = (Vec::new(), 0);
    // A session of the new task may have ended by now; it says nothing of earlier ones.
    for outline in outlines.iter().filter(|outline| outline.sessions > 0 && Some(outline.task) != new) {
        if found.len() >= SESSIONS || read >= EVENTS {
            break;
        }
        // The newest of them; a session that began before is left out.
        let before = outline.version.saturating_sub(OF_ONE_TASK.into());
        let events = store.events(outline.task, before, OF_ONE_TASK).await.unwrap_or_default();
        read += events.len();
        let records = sessions(events.iter().map(|stored| (stored.at, &stored.event)));
        found.extend(records.iter().rev().filter_map(|record| span_of(record, agent)));
    }
    found.truncate(SESSIONS);
    found
}

fn span_of(record: &SessionRecord, agent: &str) -> Option<Duration> {
    let ended = record.ended.as_ref()?;
    let counts = record.run.purpose.is_agent()
        && record.run.agent == agent
        && ended.stopped_by == StoppedBy::Itself
        && ended.lasted_ms > 0;
    counts.then(|| Duration::from_millis(ended.lasted_ms))
}

/// The middle one, or what is between the two in the middle.
pub(crate) fn median(mut numbers: Vec<u64>) -> Option<u64> {
    numbers.sort_unstable();
    let middle = numbers.len() / 2;
    let upper = *numbers.get(middle)?;
    let lower = if numbers.len().is_multiple_of(2) { numbers[middle - 1] } else { upper };
    Some(lower.midpoint(upper))
}

fn shown(span: Duration) -> String {
    if span < Duration::from_secs(1) { "less than a second".to_owned() } else { longhaul_core::units::span(span) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{median, shown};

    #[test]
    fn the_median_is_the_middle_one_or_between_the_two() {
        let of = |numbers: &[u64]| median(numbers.to_vec());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[9]), Some(9));
        assert_eq!(of(&[100, 1, 3]), Some(3));
        assert_eq!(of(&[1, 4, 100, 2]), Some(3));
        assert_eq!(shown(Duration::from_millis(20)), "less than a second");
        assert_eq!(shown(Duration::from_secs(61)), "1m 01s");
    }
}
