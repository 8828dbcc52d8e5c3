//! Full disks, on a small file system of our own: the agent waits, nothing acknowledged is lost, and it heals by itself.
//!
//! Each test runs itself again in a mount namespace, so that the file system vanishes with it.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use longhaul_keeper::process::is_alive;
use longhaul_keeper::{
    Caps, ExitStatus, LogReader, Piece, SessionDir, SessionStatus, Spec, Stop, Stream, Why, signal_keeper,
};
use rustix::process::geteuid;

use crate::scene::{Scene, inspect_when_free, is_ci, until, wait};

const INSIDE: &str = "KEEPER_TEST_IN_NAMESPACE";
const FLOOD: u64 = 6 << 20;

/// Runs a test body where it may mount; says so where that is impossible, and fails there if everything must be tested.
fn on_a_small_disk(name: &str, body: fn(&Disk)) {
    if std::env::var_os(INSIDE).is_some() {
        return body(&Disk::mount());
    }
    let rights: &[&str] = if geteuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
    let namespace = |program: &Path| {
        let mut command = Command::new("unshare");
        command.args(rights).args(["--mount", "--propagation", "private"]).arg(program);
        command
    };
    if !namespace(Path::new("true")).status().is_ok_and(|status| status.success()) {
        assert!(!is_ci(), "no mount namespace can be made here, so full disks are not tested");
        let _told = writeln!(std::io::stderr(), "no mount namespace can be made here: {name} is not tested");
        return;
    }
    let test = format!("disk::{name}");
    let mut inside = namespace(&std::env::current_exe().unwrap());
    let status = inside.args([&test, "--exact", "--nocapture"]).env(INSIDE, "1").status().unwrap();
    assert!(status.success(), "{name}: {status}");
}

/// A file system of 12 MiB, with sessions in it.
struct Disk {
    scene: Scene,
    /// Not on it.
    elsewhere: tempfile::TempDir,
}

impl Disk {
    fn mount() -> Disk {
        let home = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=12m", "none"]).arg(home.path()).status();
        assert!(mounted.unwrap().success());
        Disk { scene: Scene::at(home), elsewhere: tempfile::tempdir().unwrap() }
    }

    fn filler(&self) -> PathBuf {
        self.scene.path("filler")
    }

    /// Fills the disk but for so many bytes.
    fn fill_but(&self, left: u64) {
        let about = rustix::fs::statvfs(self.scene.home.path()).unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(self.filler()).unwrap();
        let free = about.f_bavail * about.f_bsize;
        match file.write_all(&vec![7; usize::try_from(free.saturating_sub(left)).unwrap()]) {
            // The keeper was faster with the last bytes.
            Err(error) if left == 0 && error.kind() == std::io::ErrorKind::StorageFull => {}
            written => written.unwrap(),
        }
        if left == 0 {
            assert!(file.write_all(&[7; 4096]).is_err(), "the control: the disk is full");
        }
    }

    fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn spec(&self, words: &[&str]) -> Spec {
        let mut spec = self.scene.spec(words);
        spec.env_set.clear();
        spec.caps = Caps { segment_bytes: 1 << 20, log_bytes: 64 << 20, ..Caps::default() };
        spec
    }

    fn waiter(&self, code: &str) -> Spec {
        let mut spec = self.spec(&[]);
        let script = "echo ready; while [ ! -e \"$1\" ]; do sleep 0.01; done; exit \"$2\"";
        let go = self.elsewhere.path().join("go");
        spec.argv = ["sh", "-c", script, "sh", go.to_str().unwrap(), code].map(str::to_owned).to_vec();
        spec
    }
}

fn whole_log(directory: &SessionDir) -> Vec<u8> {
    let mut reader = LogReader::new(directory, Stream::Out, longhaul_core::task::Offset::default());
    let mut log = Vec::new();
    while let Some(piece) = reader.next_piece().unwrap() {
        match piece {
            Piece::Bytes(bytes) => log.extend(bytes),
            Piece::Gap { bytes } => panic!("{bytes} bytes are missing"),
        }
    }
    log
}

fn assert_numbered(log: &[u8]) {
    for (number, line) in log.chunks_exact(16).enumerate() {
        assert_eq!(line, format!("{number:015}\n").as_bytes());
    }
}

#[test]
fn a_full_disk_makes_the_agent_wait_and_heals_without_a_gap() {
    on_a_small_disk("a_full_disk_makes_the_agent_wait_and_heals_without_a_gap", |disk| {
        let mut spec = disk.spec(&["lines", &(FLOOD / 16).to_string()]);
        spec.silence_ms = Some(200);
        spec.wall_ms = Some(20_000);
        let directory = disk.scene.prepare(&spec);
        disk.fill_but(3 << 20);
        let mut keeper = disk.scene.keeper(&directory, "");
        until("the keeper waits for room", || directory.stalled().unwrap().is_some());
        let before = whole_log(&directory);
        assert!(before.len() as u64 > 1 << 20 && (before.len() as u64) < FLOOD, "{}", before.len());
        let identity = directory.identity().unwrap().unwrap();
        let waited = std::time::Instant::now();
        until("the silence allowed has passed", || waited.elapsed().as_millis() > 500);
        assert!(is_alive(&identity.child, &identity.boot).unwrap() && directory.exit().unwrap().is_none());
        assert_eq!(whole_log(&directory).len(), before.len(), "nothing goes on");
        let healed = std::time::Instant::now();
        disk.free();
        assert!(wait(&mut keeper).success());
        assert!(healed.elapsed().as_secs() < 10);
        let exit = directory.exit().unwrap().unwrap();
        assert_eq!((exit.status, exit.why), (ExitStatus::Code(0), Why::Own));
        let end = directory.end().unwrap().unwrap();
        assert_eq!((end.out_len, end.gap_bytes, end.log_error), (FLOOD, 0, None));
        let log = whole_log(&directory);
        assert_eq!(log.len() as u64, FLOOD);
        assert_numbered(&log);
        assert!(directory.stalled().unwrap().is_none() && !directory.path().join("ballast").exists());
    });
}

#[test]
fn a_stop_on_a_full_disk_works_at_once_and_is_recorded() {
    on_a_small_disk("a_stop_on_a_full_disk_works_at_once_and_is_recorded", |disk| {
        for (stop, why) in [(Stop::Graceful, Why::Terminated), (Stop::Immediate, Why::EndedNow)] {
            let directory = disk.scene.prepare(&disk.spec(&["lines", &(FLOOD / 16).to_string()]));
            disk.fill_but(2 << 20);
            let mut keeper = disk.scene.keeper(&directory, "");
            until("the keeper waits for room", || directory.stalled().unwrap().is_some());
            disk.fill_but(0);
            signal_keeper(&directory.identity().unwrap().unwrap(), stop).unwrap();
            assert!(wait(&mut keeper).success(), "{stop:?}");
            assert_eq!(directory.exit().unwrap().unwrap().why, why);
            let end = directory.end().unwrap().unwrap();
            assert!(end.gap_bytes > 0 && end.tree_empty, "{end:?}");
            let log = whole_log(&directory);
            assert_eq!(log.len() as u64, end.out_len);
            assert_numbered(&log);
            disk.free();
        }
    });
}

#[test]
fn an_end_on_a_full_disk_is_recorded_in_the_room_of_the_ballast() {
    on_a_small_disk("an_end_on_a_full_disk_is_recorded_in_the_room_of_the_ballast", |disk| {
        let directory = disk.scene.prepare(&disk.waiter("6"));
        let mut keeper = disk.scene.keeper(&directory, "");
        until("the agent is ready", || whole_log(&directory) == b"ready\n");
        disk.fill_but(0);
        std::fs::write(disk.elsewhere.path().join("go"), "").unwrap();
        assert!(wait(&mut keeper).success());
        assert_eq!(directory.exit().unwrap().unwrap().status, ExitStatus::Code(6));
        assert!(directory.end().unwrap().unwrap().tree_empty);
    });
}

/// Also the control for the ballast: without it the same end has to wait.
#[test]
fn an_end_without_any_room_waits_for_it() {
    on_a_small_disk("an_end_without_any_room_waits_for_it", |disk| {
        let directory = disk.scene.prepare(&disk.waiter("6"));
        let mut keeper = disk.scene.keeper(&directory, "");
        until("the agent is ready", || whole_log(&directory) == b"ready\n");
        std::fs::remove_file(directory.path().join("ballast")).unwrap();
        disk.fill_but(0);
        std::fs::write(disk.elsewhere.path().join("go"), "").unwrap();
        until("the keeper says that it waits", || directory.stalled().unwrap().is_some());
        assert!(directory.exit().unwrap().is_none() && keeper.try_wait().unwrap().is_none());
        disk.free();
        assert!(wait(&mut keeper).success());
        assert_eq!(directory.exit().unwrap().unwrap().status, ExitStatus::Code(6));
        assert!(directory.end().unwrap().is_some());
    });
}

#[test]
fn a_keeper_killed_while_it_waits_leaves_what_was_written() {
    on_a_small_disk("a_keeper_killed_while_it_waits_leaves_what_was_written", |disk| {
        let directory = disk.scene.prepare(&disk.spec(&["lines", &(FLOOD / 16).to_string()]));
        disk.fill_but(2 << 20);
        let status = wait(&mut disk.scene.keeper(&directory, "keeper.stalled"));
        assert_eq!(status.signal(), Some(9));
        disk.free();
        let SessionStatus::Lost { identity, guard } = inspect_when_free(&directory) else { panic!("not lost") };
        assert_eq!(guard.end_tree(Some(&identity)).unwrap().left, 0);
        let log = whole_log(&directory);
        assert!(log.len() as u64 > 1 << 20);
        assert_numbered(&log);
    });
}

#[test]
fn a_start_on_a_full_disk_is_put_off() {
    on_a_small_disk("a_start_on_a_full_disk_is_put_off", |disk| {
        let directory = disk.scene.prepare(&disk.spec(&["exit", "0"]));
        disk.fill_but(0);
        let code = wait(&mut disk.scene.keeper(&directory, "")).code();
        assert_eq!(code, Some(i32::from(longhaul_keeper::DEFERRED)));
        disk.free();
        assert!(matches!(inspect_when_free(&directory), SessionStatus::NeverStarted(_)));
    });
}
