//! The negative controls of the checker: each violation is put into sound evidence and has to be found, and an agent that meets the
//! lock of another one says so.

use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Stdio};

use super::*;

/// Puts one violation into sound evidence.
type Spoil = fn(&mut Evidence);

fn sound() -> Evidence {
    let task = TaskEnd {
        state: "done".into(),
        code: 0,
        sessions: ["s1", "s2"].map(str::to_owned).into(),
        is_whole: true,
        steps: (1..=STEPS).map(|step| Some(format!("t {step}\n"))).collect(),
    };
    Evidence {
        acknowledged: ["t".to_owned()].into(),
        signals: 1,
        tasks: [("t".to_owned(), task)].into(),
        ledger: "t s1\nt s2\n".into(),
        ..Evidence::default()
    }
}

#[test]
fn sound_evidence_has_no_violation_and_every_spoilt_one_has() {
    assert_eq!(sound().violations(), [""; 0]);
    let spoilt: [(&str, Spoil); 14] = [
        ("no task was acknowledged", |evidence| evidence.acknowledged.clear()),
        ("no agent ran", |evidence| evidence.ledger.clear()),
        ("no signal met", |evidence| evidence.signals = 0),
        ("two agents at once", |evidence| evidence.doubled = "t s2\n".into()),
        ("session run twice", |evidence| evidence.ledger += "t s1\n"),
        ("in no event", |evidence| evidence.ledger += "t s3\n"),
        ("is lost", |evidence| evidence.acknowledged.extend(["gone".to_owned()])),
        ("t is blocked", |evidence| task(evidence).state = "blocked".into()),
        ("`wait` ends with 10", |evidence| task(evidence).code = 10),
        ("--verify", |evidence| task(evidence).is_whole = false),
        ("step 2 as None", |evidence| task(evidence).steps[1] = None),
        ("store check", |evidence| evidence.store = Some("damaged".into())),
        ("left behind", |evidence| evidence.left.push("sleep 30".into())),
        ("hangs", |evidence| evidence.on_the_way.push("hangs: [\"pause\"]".into())),
    ];
    for (words, spoil) in spoilt {
        let mut evidence = sound();
        spoil(&mut evidence);
        let found = evidence.violations();
        assert!(found.len() == 1 && found[0].contains(words), "{words}: {found:?}");
    }
}

fn task(evidence: &mut Evidence) -> &mut TaskEnd {
    evidence.tasks.get_mut("t").unwrap()
}

#[test]
fn an_agent_that_meets_another_one_of_its_task_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    fs::create_dir(place("locks")).unwrap();
    fs::create_dir(place("t")).unwrap();
    fs::write(place("agent.sh"), include_str!("../agent.sh")).unwrap();
    let run = || {
        let mut command = Command::new("sh");
        command.arg(place("agent.sh")).arg(directory.path()).arg("none").env("LONGHAUL_SESSION", "s1");
        let mut agent = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let prompt = format!("Initializer Agent\nTask Directory: {}\n", place("t").display());
        agent.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
        assert!(agent.wait().unwrap().success());
        fs::read_to_string(place("doubled")).unwrap_or_default()
    };
    assert_eq!(run(), "", "alone");
    let first = File::create(place("locks").join("t")).unwrap();
    first.lock().unwrap();
    assert_eq!(run(), "t s1\n");
}
