//! The independent checker of the invariants I1 to I8: what must hold whatever was killed, and when.
//!
//! It opens the database and the session directories by itself and shares no code with what it checks; only the replay of the
//! events to the stored state is asked of the binary. It changes nothing. `tampering.rs` shows that it can complain.

mod disk;
mod evidence;
mod history;
mod ledger;
mod record;
mod tampering;

use crate::env::TestEnv;

/// Everything that is wrong with a home in which nothing runs any more; each begins with the invariant's number.
pub(crate) fn violations(env: &TestEnv) -> Vec<String> {
    let tasks = match record::read(env) {
        Ok(tasks) => tasks,
        Err(error) => return vec![format!("I1: the database can not be read: {error}")],
    };
    let mut found = Vec::new();
    for task in &tasks {
        history::check(task, &mut found);
        evidence::check(env, task, &mut found);
        replay(env, task, &mut found);
    }
    ledger::check(env, &tasks, &mut found);
    disk::check(env, &tasks, &mut found);
    found
}

/// Fails with everything that is wrong.
pub(crate) fn assert_clean(env: &TestEnv) {
    let found = violations(env);
    assert!(found.is_empty(), "invariants are broken:\n{}\n{}", found.join("\n"), record::story(env));
}

fn replay(env: &TestEnv, task: &record::TaskRow, found: &mut Vec<String>) {
    let done = env.run(&["events", &task.id, "--verify"]);
    if done.code != 0 {
        found.push(format!("I7: the events do not replay to the stored state: {}", done.stderr));
    }
}
