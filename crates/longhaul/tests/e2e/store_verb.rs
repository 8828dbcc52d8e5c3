//! `store check` finds what is damaged and nothing else; `store backup` copies everything acknowledged, also under load.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Filter, Store, WholeStore};

use crate::env::{TestEnv, done, wait_for};
use crate::sight::listing;

const STRAY: &str = "0190c5a4-7d4e-7c3a-8f00-000000000001";

fn finished(names: &[&str]) -> TestEnv {
    let env = TestEnv::new();
    for name in names {
        let done = env.run(&["run", "Make a thing", "--name", name]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    env.wait_until_empty();
    env
}

/// What `store check --json` says, and with which code.
fn check(env: &TestEnv) -> (i32, serde_json::Value) {
    let done = env.run(&["store", "check", "--json"]);
    (done.code, serde_json::from_str::<serde_json::Value>(&done.stdout).unwrap()["data"].clone())
}

#[test]
fn a_sound_store_is_called_sound() {
    let env = finished(&["one", "two"]);
    let (code, found) = check(&env);
    assert_eq!((code, &found["sound"], &found["tasks"]), (0, &true.into(), &2.into()), "{found}");
    let shown = env.run(&["store", "check"]);
    assert!(shown.stdout.is_empty() && shown.stderr.contains("the store is intact: 2 task(s)"), "{}", shown.stderr);
}

#[test]
fn a_changed_event_is_named_with_its_task() {
    let env = finished(&["one", "two"]);
    let id = env.task("one")["id"].as_str().unwrap().to_owned();
    let database = rusqlite::Connection::open(env.home().join("longhaul.db")).unwrap();
    database.execute_batch("DROP TRIGGER events_are_not_changed").unwrap();
    let sql = "UPDATE events SET at = at + 1 WHERE seq = 2 AND task = (SELECT number FROM tasks WHERE id = ?1)";
    assert_eq!(database.execute(sql, [&id]).unwrap(), 1);
    drop(database);
    let (code, found) = check(&env);
    assert_eq!((code, found["damaged"].as_array().unwrap().len()), (9, 1), "{found}");
    assert!(found["damaged"][0]["row"].as_str().unwrap().contains(&id), "{found}");
    assert!(found["damaged"][0]["what"].as_str().unwrap().contains("event 2"), "{found}");
    assert!(env.run(&["store", "check"]).stdout.contains(&id));
}

#[test]
fn missing_and_stray_directories_are_told_apart_from_damage() {
    let mut env = finished(&["one"]);
    let directory = env.home().join("sessions").join(STRAY);
    std::fs::create_dir(&directory).unwrap();
    let (code, found) = check(&env);
    assert_eq!((code, &found["strays"][0], &found["sound"]), (0, &STRAY.into(), &true.into()), "{found}");
    std::fs::remove_dir(&directory).unwrap();
    // The first task took three invocations of the agent; the second one plans and then hangs.
    env.set("DEMO_FAULT", "hang@5");
    let task = env.submit("Hang", &["--name", "open"]);
    wait_for("the second session", || (env.task(&task)["tally"]["sessions"] == 2).then_some(()));
    env.ok(&["pause", "--now", &task]);
    env.wait_until_empty();
    assert_eq!(check(&env).0, 0);
    let first = |task: &str| env.json(&["show", task])["sessions"][0]["id"].as_str().unwrap().to_owned();
    let away = |session: &str| {
        std::fs::rename(env.home().join("sessions").join(session), env.path().join(session)).unwrap();
    };
    away(&first("one"));
    let (code, found) = check(&env);
    assert_eq!((code, &found["missing"][0]["half_swept"]), (0, &true.into()), "{found}");
    away(&first(&task));
    let (code, found) = check(&env);
    assert_eq!((code, found["missing"].as_array().unwrap().len(), &found["sound"]), (9, 2, &false.into()), "{found}");
}

#[test]
fn a_backup_under_load_holds_all_that_was_acknowledged_before_it() {
    let env = TestEnv::new().var("DEMO_STEPS", "8");
    let names: Vec<String> = (0..6).map(|n| env.submit("Make a thing", &["--name", &format!("task-{n}")])).collect();
    let mut moved = 0;
    for round in 0..5 {
        let seen: Vec<(String, u64)> =
            names.iter().map(|name| (name.clone(), env.task(name)["version"].as_u64().unwrap())).collect();
        let file = env.path().join(format!("backup-{round}.db"));
        env.ok(&["store", "backup", file.to_str().unwrap()]);
        let after: u64 = names.iter().map(|name| env.task(name)["version"].as_u64().unwrap()).sum();
        moved += after - seen.iter().map(|(_, version)| version).sum::<u64>();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let copied = versions(&env, &file, round);
        for (name, version) in seen {
            let copy = copied.iter().find(|(have, _)| *have == name).map(|(_, version)| *version);
            assert!(copy >= Some(version), "{name}: {copy:?} in the copy, {version} acknowledged before");
        }
    }
    assert!(moved > 0, "workers wrote meanwhile");
}

/// The tasks of a backup with their versions, after a check of everything in it.
fn versions(env: &TestEnv, file: &Path, round: usize) -> Vec<(String, u64)> {
    let home = env.path().join(format!("restored-{round}"));
    std::fs::create_dir(&home).unwrap();
    std::fs::copy(file, home.join("longhaul.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open_existing(&home).unwrap().unwrap();
        assert_eq!(store.check().await.unwrap(), Vec::new());
        let listed = store.summaries(Filter::default()).await.unwrap();
        listed.tasks.into_iter().map(|outline| (outline.name, outline.version)).collect()
    })
}

#[test]
fn a_backup_is_put_in_place_as_the_guide_says() {
    let env = finished(&["one"]);
    let file = env.path().join("backup.db");
    let backup = env.json(&["store", "backup", file.to_str().unwrap()]);
    assert_eq!(backup, serde_json::json!({ "path": file, "bytes": file.metadata().unwrap().len() }));
    assert_eq!(env.run(&["run", "Later", "--name", "later"]).code, 0);
    env.wait_until_empty();
    let home = env.home();
    for name in ["longhaul.db", "longhaul.db-wal", "longhaul.db-shm"].map(|name| home.join(name)) {
        if name.exists() {
            std::fs::rename(&name, name.with_extension("old")).unwrap();
        }
    }
    std::fs::copy(&file, home.join("longhaul.db")).unwrap();
    let (code, found) = check(&env);
    assert_eq!((code, &found["tasks"]), (0, &1.into()), "{found}");
    assert_eq!(found["strays"].as_array().unwrap().len(), 3, "the sessions of the later task: {found}");
    assert!(!env.ok(&["logs", "one"]).is_empty(), "the logs of what it knows are there");
    assert_eq!(env.run(&["run", "Go on", "--name", "go-on"]).code, 0);
}

#[test]
fn a_backup_overwrites_nothing_and_needs_a_person() {
    let env = finished(&["one"]);
    let file = env.path().join("mine.db");
    std::fs::write(&file, "mine").unwrap();
    let refused = env.run(&["store", "backup", file.to_str().unwrap()]);
    assert!(refused.code == 8 && refused.stderr.contains("already exists"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    let nowhere = env.path().join("no/such/place.db");
    let refused = env.run(&["store", "backup", nowhere.to_str().unwrap()]);
    let tells = |text: &str| refused.stderr.contains(text);
    assert!(refused.code == 2 && tells("no/such") && tells("an existing directory"), "{}", refused.stderr);
    assert!(!tells("LONGHAUL_HOME"), "the home is not to blame: {}", refused.stderr);
    let before = listing(env.path());
    for args in [&["store", "check"][..], &["store", "backup", "new.db"]] {
        let below = done(&env.command(args).env("LONGHAUL_SESSION", STRAY).output().unwrap());
        assert!(below.code == 8 && below.stderr.contains("an agent session may only"), "{}", below.stderr);
    }
    assert_eq!(listing(env.path()), before);
}

#[test]
fn without_a_store_there_is_nothing_to_check_or_copy() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["store", "check"]).code, 7);
    assert_eq!(env.run(&["store", "backup", "new.db"]).code, 7);
    assert!(!env.home().exists() && !env.workspace().join("new.db").exists());
}
