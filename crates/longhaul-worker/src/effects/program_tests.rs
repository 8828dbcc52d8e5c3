//! Real programs: one that takes the message, one that says no, one that hangs with a child, one that reads nothing, none at all.
//! Nothing of a test outlives it but what it shows to be gone.

use super::*;
use longhaul_keeper::process::exits_within;

async fn shell(script: &str, input: &[u8], within: Duration) -> Result<(), ProgramError> {
    let mut sh = command("sh", &Environment::of_process())?;
    sh.args(["-c", script]).env("LONGHAUL_MESSAGE", "hello").current_dir("/");
    run("sh", sh, input.to_vec(), within).await
}

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn it_gets_the_variables_and_the_input() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let script = format!("{{ cat; printf %s \"$LONGHAUL_MESSAGE\"; pwd; }} > '{}'", out.display());
    shell(&script, b"in ", PATIENCE).await.unwrap();
    assert_eq!(std::fs::read_to_string(out).unwrap(), "in hello/\n");
}

#[tokio::test]
async fn a_failure_is_told_with_its_last_words() {
    let error = shell("echo no such desk >&2; exit 3", b"", PATIENCE).await.unwrap_err();
    assert!(matches!(&error, ProgramError::Failed { said, .. } if said == "no such desk"), "{error}");
    let missing = command("no-such-program-here", &Environment::of_process());
    assert!(matches!(missing, Err(ProgramError::NotFound { .. })));
}

#[tokio::test]
async fn one_that_reads_nothing_of_much_holds_nobody_up() {
    shell("exit 0", &vec![b'x'; 1 << 20], PATIENCE).await.unwrap();
}

#[tokio::test]
async fn one_that_hangs_is_ended_with_what_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let pids = directory.path().join("pids");
    let script = format!("sleep 600 & echo $! > '{0}.new'; mv '{0}.new' '{0}'; wait", pids.display());
    let error = shell(&script, b"", Duration::from_millis(500)).await.unwrap_err();
    assert!(matches!(error, ProgramError::TimedOut { .. }), "{error}");
    assert!(exits_within(std::fs::read_to_string(pids).unwrap().trim().parse().unwrap(), PATIENCE).unwrap());
}
