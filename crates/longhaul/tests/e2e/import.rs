//! `longhaul import`: the runs of another program, with their old ids, and what of them could not be used.

use serde_json::json;

use crate::env::TestEnv;

const RUN: &str = "00112233445566aa";

#[test]
fn runs_of_openchrome_are_counted_first_and_then_imported_once() {
    let env = TestEnv::new();
    let runs = env.path().join("openchrome/task-runs");
    let meta = json!({
        "run_id": RUN, "status": "NEEDS_HELP", "goal": "buy a ticket", "ledger_task_ids": [], "progress_summary": "at the checkout",
        "needs_help": { "reason": "which train?", "requested_at": 1_700_000_001_000_i64 },
        "created_at": 1_700_000_000_000_i64, "updated_at": 1_700_000_001_000_i64,
    });
    for (name, text) in [(RUN, meta.to_string()), ("00112233445566bb", "torn".to_owned())] {
        std::fs::create_dir_all(runs.join(name)).unwrap();
        std::fs::write(runs.join(name).join("meta.json"), text).unwrap();
    }
    let import = ["import", "openchrome", "../openchrome"];
    let counted = env.run(&[&import[..], &["--dry-run"]].concat());
    assert!(counted.code == 0 && counted.stderr.contains("1 run(s) would be imported"), "{}", counted.stderr);
    assert!(counted.stdout.contains("1  unreadable record  ("), "{}", counted.stdout);
    assert!(!env.home().exists(), "counting writes nothing");
    let imported = env.json(&import);
    assert_eq!(
        (&imported["imported"], &imported["known"], &imported["dry_run"]),
        (&json!(1), &json!(0), &json!(false))
    );
    assert_eq!(env.json(&import)["known"], 1);
    let shown = env.json(&["show", RUN])["task"].clone();
    assert_eq!((&shown["name"], &shown["needs_person"]), (&json!("buy-a-ticket"), &json!(true)), "{shown}");
    assert_eq!(shown["created"], "2023-11-14T22:13:20Z");
    env.ok(&["resume", RUN, "--reason", "the early one"]);
    assert_eq!(env.json(&["show", RUN])["task"]["needs_person"], false);
    let absent = env.run(&["import", "openchrome", "absent"]);
    assert!(absent.code == 2 && absent.stderr.contains("task-runs"), "{}", absent.stderr);
}
