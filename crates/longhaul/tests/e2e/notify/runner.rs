//! What an invocation of `run-session` tells before it ends, by its own hand: no worker comes after it.
//! Its exit code is the runner's, whatever becomes of the notice.

use super::settled;
use crate::runner::Runner;

/// A runner that marks what it tells.
fn marking(script: &str) -> Runner {
    let mut runner = Runner::new().does(script);
    let marker = runner.env.path().join("{name}.{occasion}").display().to_string();
    runner.env.set("LONGHAUL_NOTIFY_FILE", &marker);
    runner.legacy("t", 0, 1);
    runner
}

#[test]
fn a_finished_list_and_a_failed_session_are_told_before_the_invocation_ends() {
    for (script, code, occasion) in [("start; tick; finish", 0, "done"), ("start; exit 42", 42, "failed")] {
        let runner = marking(script);
        let done = runner.run(&["-n", "t", "-c"]);
        assert_eq!(done.code, code, "{}", done.stderr);
        assert!(runner.env.path().join(format!("t.{occasion}")).is_file(), "{occasion}");
        assert_eq!(settled(&runner.env, "t")[0]["state"], "delivered");
        assert!(runner.env.processes().is_empty());
    }
}

#[test]
fn a_hook_that_hangs_does_not_change_the_code() {
    let mut runner = marking("start; exit 42");
    runner.env.unset("LONGHAUL_NOTIFY_FILE");
    runner.env.set("LONGHAUL_NOTIFY_COMMAND", "sleep\n600");
    runner.env.set("LONGHAUL_NOTIFY_TIMEOUT", "1s");
    assert_eq!(runner.run(&["-n", "t", "-c"]).code, 42);
    let notice = settled(&runner.env, "t")[0].clone();
    assert_eq!((notice["state"].as_str(), notice["occasion"].as_str()), (Some("failed"), Some("failed")));
}

#[test]
fn an_invocation_that_took_what_it_was_allowed_tells_nothing() {
    let runner = marking("start; finish");
    assert_eq!(runner.run(&["-n", "t", "-c", "--max-sessions", "1"]).code, 0);
    assert_eq!(super::notices(&runner.env, "t").len(), 0, "it is paused, as it was asked to be");
}
