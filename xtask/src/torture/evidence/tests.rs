//! The negative controls of the checker: each violation is put into sound evidence and has to be found, and an agent or a check
//! that meets another one says so.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use super::*;

/// Puts one violation into sound evidence.
type Spoil = fn(&mut Evidence);

const NAMES: [&str; 5] = ["t", "p-place", "c-clean", "f-family", "f-family.kid"];

fn sound() -> Evidence {
    let task = |name: &str| TaskEnd {
        id: format!("id of {name}"),
        parent: tasks::parent(name).map(|parent| format!("id of {parent}")),
        state: "done".into(),
        code: 0,
        sessions: ["s1", "s2"].map(|session| format!("{name}-{session}")).into(),
        is_whole: true,
        steps: (1..=STEPS).map(|step| Some(format!("{name} {step}\n"))).collect(),
    };
    Evidence {
        acknowledged: NAMES.map(str::to_owned).into(),
        signals: 1,
        tasks: NAMES.iter().map(|name| ((*name).to_owned(), task(name))).collect(),
        ledger: NAMES.map(|name| format!("{name} {name}-s1\n{name} {name}-s2\n")).concat(),
        ..Evidence::default()
    }
}

#[test]
fn sound_evidence_has_no_violation_and_every_spoilt_one_has() {
    assert_eq!(sound().violations(), [""; 0]);
    let spoilt: [(&str, Spoil); 19] = [
        ("no agent ran", |evidence| evidence.ledger.clear()),
        ("no signal met", |evidence| evidence.signals = 0),
        ("no task is -place", |evidence| evidence.acknowledged.retain(|name| name != "p-place")),
        ("no task is -family", |evidence| evidence.acknowledged.retain(|name| name != "f-family")),
        ("two agents of one task", |evidence| evidence.seen = "two agents of one task: t s2\n".into()),
        ("session run twice", |evidence| evidence.ledger += "t t-s1\n"),
        ("in no event", |evidence| evidence.ledger += "t s3\n"),
        ("is lost", |evidence| evidence.acknowledged.extend(["gone".to_owned()])),
        ("t is blocked", |evidence| task(evidence).state = "blocked".into()),
        ("`wait` ends with 10", |evidence| task(evidence).code = 10),
        ("--verify", |evidence| task(evidence).is_whole = false),
        ("its child is lost", |evidence| {
            evidence.tasks.remove("f-family.kid");
            evidence.acknowledged.remove("f-family.kid");
            let others = evidence.ledger.lines().filter(|line| !line.contains(".kid"));
            evidence.ledger = others.map(|line| format!("{line}\n")).collect();
        }),
        ("is no child of", |evidence| evidence.tasks.get_mut("f-family.kid").unwrap().parent = None),
        ("had 12 of 10 sessions", |evidence| evidence.raised = [("f-family".to_owned(), 12)].into()),
        ("leaves a clean checkout", |evidence| evidence.checkouts.push("c".into())),
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
fn agents_and_checks_complain_about_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    for name in ["locks", "t", "here"] {
        fs::create_dir(place(name)).unwrap();
    }
    fs::write(place("agent.sh"), include_str!("../agent.sh")).unwrap();
    fs::write(place("check.sh"), include_str!("../check.sh")).unwrap();
    let killed = place("flock");
    fs::write(&killed, "#!/bin/sh\nkill -9 $$\n").unwrap();
    let with = |path: &str, script: &str, argument: &str| {
        let mut command = Command::new("sh");
        command.env("PATH", path);
        command.arg(place(script)).arg(directory.path()).arg(argument).env("LONGHAUL_SESSION", "s1");
        let mut process =
            command.current_dir(place("here")).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let prompt = format!("Initializer Agent\nTask Directory: {}\n", place("t").display());
        // A check that complains has ended before it could be told anything.
        process.stdin.take().unwrap().write_all(prompt.as_bytes()).ok();
        process.wait().unwrap();
        let seen = fs::read_to_string(place("seen")).unwrap_or_default();
        fs::remove_file(place("seen")).ok();
        seen
    };
    let path = std::env::var("PATH").unwrap();
    let run = |script: &str, argument: &str| with(&path, script, argument);
    let says = |seen: &str, words: &str| assert!(seen.contains(words) && seen.lines().count() == 1, "{words}: {seen}");
    says(&run("check.sh", "workspace"), "not where the agent worked");
    says(&run("check.sh", "clean"), "without its setup");
    assert_eq!(run("check.sh", "setup") + &run("check.sh", "clean"), "", "a clean checkout");
    assert_eq!(run("agent.sh", "none") + &run("check.sh", "workspace"), "", "each one alone");
    says(&run("check.sh", "clean"), "not clean");
    let lock = |name: &str| {
        let file = File::open(place(name)).unwrap();
        file.lock().unwrap();
        file
    };
    let task = lock("locks/t");
    says(&run("agent.sh", "none"), "two agents of one task: t s1");
    drop(task);
    let _directory = lock("here");
    says(&run("agent.sh", "none"), "an agent beside another one");
    says(&run("check.sh", "workspace"), "a check beside an agent");
    fs::set_permissions(&killed, fs::Permissions::from_mode(0o755)).unwrap();
    let killed = format!("{}:{path}", directory.path().display());
    assert_eq!(with(&killed, "agent.sh", "none") + &with(&killed, "check.sh", "workspace"), "", "met nobody");
}
