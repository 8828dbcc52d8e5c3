//! Agents that print too much, or garbage: the keeper stays small, counts exactly, and its neighbour is not disturbed.

use std::process::Child;
use std::time::Instant;

use longhaul_core::task::Offset;
use longhaul_keeper::{Caps, LogReader, Piece, Spec, Stream, read_tail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::scene::{FIXTURE, Scene, output, until};

const CAPS: Caps = Caps { segment_bytes: 1 << 20, log_bytes: 8 << 20, pids_max: 4096 };
const MOST_MEMORY_KB: u64 = 64 << 10;

/// The most memory a process ever had.
fn peak_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
}

#[test]
fn a_flood_of_300_mb_is_counted_exactly_by_a_small_keeper_beside_a_neighbour() {
    let scene = Scene::new();
    let bytes: u64 = 300 << 20;
    let spec = Spec { caps: CAPS, ..scene.spec(&["flood", &bytes.to_string()]) };
    let directory = scene.prepare(&spec);
    let mut keeper = scene.keeper(&directory, "");
    let neighbour = scene.prepare(&scene.spec(&["ticks", "20"]));
    let mut its_keeper = scene.keeper(&neighbour, "");
    let (mut peak, mut ticks_meanwhile) = (0, 0);
    let pid = keeper.id();
    until_exit(&mut keeper, || {
        peak = peak.max(peak_kb(pid));
        ticks_meanwhile = output(&neighbour).lines().count();
    });
    assert!(peak > 0 && peak <= MOST_MEMORY_KB, "{peak} kB");
    let end = directory.end().unwrap().unwrap();
    assert!(end.out_len <= CAPS.log_bytes);
    assert_eq!(end.out_len + end.gap_bytes, bytes, "{end:?}");
    assert!(ticks_meanwhile >= 1, "the neighbour was read while the flood went on");
    until("the neighbour has ended", || its_keeper.try_wait().unwrap().is_some());
    assert_eq!(output(&neighbour), "tick\n".repeat(20));
}

/// Waits for a process to exit and looks at it meanwhile. A flood takes longer than the other tests' patience on a slow machine.
fn until_exit(child: &mut Child, mut look: impl FnMut()) {
    let exit = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).unwrap();
    let next_look = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
    let begin = Instant::now();
    look();
    while poll(&mut [PollFd::new(&exit, PollFlags::IN)], Some(&next_look)).unwrap() == 0 {
        assert!(begin.elapsed().as_secs() < 240, "waited in vain for an exit");
        look();
    }
    child.wait().unwrap();
}

#[test]
fn a_line_of_100_mb_is_kept_and_the_next_line_too() {
    let scene = Scene::new();
    let bytes: u64 = 100 << 20;
    let directory = scene.prepare(&scene.spec(&["long-line", &bytes.to_string()]));
    let mut keeper = scene.keeper(&directory, "");
    let mut peak = 0;
    let pid = keeper.id();
    until_exit(&mut keeper, || peak = peak.max(peak_kb(pid)));
    assert!(peak > 0 && peak <= MOST_MEMORY_KB, "{peak} kB");
    let end = directory.end().unwrap().unwrap();
    assert_eq!((end.out_len, end.gap_bytes), (bytes + 7, 0));
    let mut reader = LogReader::new(&directory, Stream::Out, Offset::default());
    let mut read = 0;
    while let Some(piece) = reader.next_piece().unwrap() {
        let Piece::Bytes(bytes) = piece else { panic!("{piece:?}") };
        read += bytes.len() as u64;
    }
    assert_eq!(read, bytes + 7);
    assert_eq!(read_tail(&directory, Stream::Out, 8).unwrap(), b"y\nafter\n");
}

#[test]
fn garbage_is_kept_as_it_is() {
    let scene = Scene::new();
    let ended = scene.run(&scene.spec(&["garbage"]));
    let printed = std::process::Command::new(FIXTURE).arg("garbage").output().unwrap().stdout;
    assert!(printed.contains(&0) && String::from_utf8(printed.clone()).is_err(), "the control: it is garbage");
    assert_eq!(std::fs::read(ended.directory.out_log()).unwrap(), printed);
}
