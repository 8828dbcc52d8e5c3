//! Logs that grow too large, are cut off or taken away, or fail to sync: what is missing is told, to the byte.

use std::os::unix::process::ExitStatusExt;

use longhaul_core::task::Offset;
use longhaul_keeper::{
    Caps, EndRecord, ExitStatus, LogReader, NOT_STARTED, Piece, RecordError, SessionDir, SessionStatus, Spec, Stop,
    Stream, read_tail, signal_keeper,
};

use crate::scene::{Scene, inspect_when_free, output, until, wait};

const SMALL: Caps = Caps { segment_bytes: 64 << 10, log_bytes: 512 << 10, pids_max: 4096 };
/// The length of a numbered line.
const LINE: u64 = 16;

fn capped(scene: &Scene, words: &[&str], caps: Caps) -> Spec {
    Spec { caps, ..scene.spec(words) }
}

/// Follows numbered lines; panics if one is missing that no gap tells of, or a gap tells of too much.
struct Follower {
    reader: LogReader,
    expected: u64,
    torn: Vec<u8>,
    read: u64,
    gaps: u64,
}

impl Follower {
    fn new(directory: &SessionDir) -> Follower {
        let reader = LogReader::new(directory, Stream::Out, Offset::default());
        Follower { reader, expected: 0, torn: Vec::new(), read: 0, gaps: 0 }
    }

    fn catch_up(&mut self) {
        while let Some(piece) = self.reader.next_piece().unwrap() {
            match piece {
                Piece::Gap { bytes } => {
                    assert_eq!((self.torn.len() as u64 + bytes) % LINE, 0, "whole lines are dropped");
                    self.gaps += bytes;
                    self.expected += bytes / LINE;
                }
                Piece::Bytes(bytes) => {
                    self.read += bytes.len() as u64;
                    self.torn.extend(bytes);
                    let whole = self.torn.len() / 16 * 16;
                    for line in self.torn.drain(..whole).collect::<Vec<u8>>().chunks(16) {
                        assert_eq!(line, format!("{:015}\n", self.expected).as_bytes());
                        self.expected += 1;
                    }
                }
            }
        }
    }
}

fn disk_bytes(directory: &SessionDir) -> u64 {
    let numbers = directory.segments(Stream::Out).unwrap();
    numbers.iter().map(|number| directory.segment(Stream::Out, *number).metadata().map_or(0, |log| log.len())).sum()
}

fn assert_counts(directory: &SessionDir, end: &EndRecord, printed: u64) {
    assert_eq!(end.out_len + end.gap_bytes, printed, "{end:?}");
    assert_eq!(disk_bytes(directory), end.out_len);
    let mut late = Follower::new(directory);
    late.catch_up();
    assert_eq!((late.read, late.gaps), (end.out_len, end.gap_bytes));
}

#[test]
fn head_and_tail_are_kept_and_the_middle_is_counted() {
    let scene = Scene::new();
    let count = 400_000;
    let ended = scene.run(&capped(&scene, &["lines", &count.to_string()], SMALL));
    let end = ended.end.unwrap();
    assert!(end.out_len <= SMALL.log_bytes && end.out_len >= SMALL.log_bytes / 2, "{end:?}");
    assert_counts(&ended.directory, &end, count * LINE);
    let numbers = ended.directory.segments(Stream::Out).unwrap();
    let head: u64 = numbers.iter().zip(0..).filter(|(number, place)| **number == *place).count() as u64;
    assert!(head * SMALL.segment_bytes * 2 >= SMALL.log_bytes / 2, "{numbers:?}");
    let last = format!("{:015}\n", count - 1);
    assert_eq!(read_tail(&ended.directory, Stream::Out, 16).unwrap(), last.as_bytes());
}

#[test]
fn a_reader_that_follows_misses_nothing_that_no_gap_tells_of() {
    let scene = Scene::new();
    let count = 400_000;
    let spec = capped(&scene, &["lines", &count.to_string()], SMALL);
    let directory = scene.prepare(&spec);
    let mut keeper = scene.keeper(&directory, "");
    let mut follower = Follower::new(&directory);
    let mut most = 0;
    until("the session has ended", || {
        follower.catch_up();
        most = most.max(disk_bytes(&directory));
        keeper.try_wait().unwrap().is_some()
    });
    follower.catch_up();
    assert_eq!((follower.expected, follower.read + follower.gaps), (count, count * LINE));
    assert!(most <= SMALL.log_bytes + SMALL.segment_bytes, "never more on disk than the cap: {most}");
}

/// The control: a segment that vanishes without a word is noticed.
#[test]
#[should_panic(expected = "assertion `left == right` failed")]
fn a_missing_segment_that_no_gap_tells_of_is_noticed() {
    let scene = Scene::new();
    let ended = scene.run(&capped(&scene, &["lines", "20000"], SMALL));
    std::fs::remove_file(ended.directory.segment(Stream::Out, 1)).unwrap();
    Follower::new(&ended.directory).catch_up();
}

#[test]
fn a_keeper_killed_between_segment_and_index_leaves_a_readable_log() {
    for point in ["keeper.segment", "keeper.gap_recorded", "keeper.segment_dropped"] {
        let scene = Scene::new();
        let directory = scene.prepare(&capped(&scene, &["lines", "400000"], SMALL));
        let status = wait(&mut scene.keeper(&directory, point));
        assert_eq!(status.signal(), Some(9), "{point}");
        let SessionStatus::Lost { identity, guard } = inspect_when_free(&directory) else {
            panic!("{point}: not lost")
        };
        assert_eq!(guard.end_tree(Some(&identity)).unwrap().left, 0);
        let mut late = Follower::new(&directory);
        late.catch_up();
        assert!(late.read >= SMALL.segment_bytes / 2, "{point}: {}", late.read);
        assert_eq!(late.gaps > 0, point == "keeper.segment_dropped", "{point}");
    }
}

#[test]
fn a_record_from_before_the_first_release_is_refused() {
    let scene = Scene::new();
    let directory = scene.prepare(&scene.spec(&["exit", "0"]));
    std::fs::write(directory.path().join("exit"), r#"{"version":1,"status":{"code":3},"why":"own","at":5}"#).unwrap();
    let SessionStatus::Unreadable { error, .. } = inspect_when_free(&directory) else { panic!("it was read") };
    assert!(matches!(error, RecordError::OlderContract { found: 1, oldest: 2, .. }), "{error}");
}

/// An agent that prints three lines, each after the one before was waited for.
const THREE: &str = "echo first; while [ ! -e go1 ]; do sleep 0.01; done; echo second; \
                     while [ ! -e go2 ]; do sleep 0.01; done; echo third";

fn with_meddling(meddle: impl Fn(&SessionDir)) -> (SessionDir, EndRecord) {
    let scene = Scene::new();
    let mut spec = scene.spec(&[]);
    spec.argv = ["sh", "-c", THREE].map(str::to_owned).to_vec();
    let directory = scene.prepare(&spec);
    let mut keeper = scene.keeper(&directory, "");
    until("the first line is there", || output(&directory) == "first\n");
    meddle(&directory);
    std::fs::write(scene.path("go1"), "").unwrap();
    // The look happens with the sync after the next output; the index tells of it.
    let gaps = || {
        let index = longhaul_keeper::read_index(&std::fs::read(directory.index()).unwrap());
        index.iter().filter(|entry| entry.kind == longhaul_keeper::EntryKind::Gap).count()
    };
    until("the loss is told", || gaps() == 1);
    std::fs::write(scene.path("go2"), "").unwrap();
    assert!(wait(&mut keeper).success());
    let end = directory.end().unwrap().unwrap();
    let home = tempfile::tempdir().unwrap();
    let kept = home.keep().join(directory.session().to_string());
    std::fs::rename(directory.path(), &kept).unwrap();
    (SessionDir::at(&kept).unwrap(), end)
}

/// Whether the look came before or after the second line is the clock's affair; what is missing is told exactly in both.
fn assert_told_exactly(directory: &SessionDir, end: &EndRecord) {
    const PRINTED: &[u8] = b"first\nsecond\nthird\n";
    let mut reader = LogReader::new(directory, Stream::Out, Offset::default());
    let (mut read, mut gaps) = (Vec::new(), Vec::new());
    while let Some(piece) = reader.next_piece().unwrap() {
        match piece {
            Piece::Bytes(bytes) => read.extend(bytes),
            Piece::Gap { bytes } => gaps.push(bytes),
        }
    }
    std::fs::remove_dir_all(directory.path().parent().unwrap()).unwrap();
    assert!(PRINTED.ends_with(&read) && read.ends_with(b"third\n"), "{:?}", String::from_utf8_lossy(&read));
    assert_eq!(gaps, [(PRINTED.len() - read.len()) as u64]);
    assert_eq!((end.out_len, end.gap_bytes), (read.len() as u64, gaps[0]));
    assert_eq!((end.log_error.as_ref(), gaps[0] >= 6), (None, true));
}

#[test]
fn a_log_cut_off_by_somebody_goes_on_in_a_new_segment_with_a_gap() {
    let (directory, end) = with_meddling(|directory| std::fs::File::create(directory.out_log()).map(drop).unwrap());
    assert_told_exactly(&directory, &end);
}

#[test]
fn a_log_taken_away_by_somebody_goes_on_in_a_new_segment_with_a_gap() {
    let (directory, end) = with_meddling(|directory| {
        std::fs::rename(directory.out_log(), directory.path().join("rotated")).unwrap();
        std::fs::write(directory.out_log(), "").unwrap();
    });
    assert_told_exactly(&directory, &end);
}

#[test]
fn a_failed_sync_is_told_and_never_tried_again() {
    let scene = Scene::with_faults("keeper.sync=5");
    let ended = scene.run(&scene.spec(&["ticks", "4"]));
    assert_eq!(ended.exit.status, ExitStatus::Code(0));
    let end = ended.end.unwrap();
    assert_eq!((end.sync_failed, end.gap_bytes), (true, 0));
    assert!(end.log_error.is_some_and(|error| error.contains("os error 5")));

    let healthy = Scene::new();
    let end = healthy.run(&healthy.spec(&["ticks", "4"])).end.unwrap();
    assert_eq!((end.sync_failed, end.log_error), (false, None), "the control");
}

#[test]
fn a_read_only_disk_makes_the_agent_wait_and_a_stop_still_works() {
    let scene = Scene::with_faults("keeper.append=30");
    let mut spec = scene.spec(&["stray", "plain", &scene.tag, &scene.text("r")]);
    spec.silence_ms = Some(50);
    spec.wall_ms = Some(300);
    let directory = scene.prepare(&spec);
    let mut keeper = scene.keeper(&directory, "");
    until("the keeper says that it waits", || directory.stalled().unwrap().is_some());
    let stalled = directory.stalled().unwrap().unwrap();
    assert!(stalled.cause.contains("os error 30"), "{stalled:?}");
    // Both limits pass while it waits for us.
    let waited = std::time::Instant::now();
    until("the limits have passed", || waited.elapsed().as_millis() > 600);
    let identity = directory.identity().unwrap().unwrap();
    assert!(directory.exit().unwrap().is_none());
    signal_keeper(&identity, Stop::Graceful).unwrap();
    assert!(wait(&mut keeper).success());
    assert_eq!(directory.exit().unwrap().unwrap().why, longhaul_keeper::Why::Terminated);
    let end = directory.end().unwrap().unwrap();
    assert_eq!((end.out_len, end.gap_bytes), (0, 6), "`ready` was lost, and that is said");
    assert!(directory.stalled().unwrap().is_none());
}

#[test]
fn a_machine_without_room_for_a_process_defers_and_records_nothing() {
    let scene = Scene::with_faults("keeper.fork=11");
    let directory = scene.prepare(&scene.spec(&["exit", "0"]));
    assert_eq!(wait(&mut scene.keeper(&directory, "")).code(), Some(i32::from(longhaul_keeper::DEFERRED)));
    assert!(matches!(inspect_when_free(&directory), SessionStatus::NeverStarted(_)));
    assert_eq!(scene.executions(), 0);

    let lasting = Scene::with_faults("keeper.fork=1");
    let ended = lasting.run(&lasting.spec(&["exit", "0"]));
    assert_eq!(ended.code, Some(i32::from(NOT_STARTED)), "the control: a lasting reason is a failure");
}
