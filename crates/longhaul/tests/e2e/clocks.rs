//! The wall clock is set back while a task waits: the wait ends when its span has passed, whoever looks at it and who takes it over.
//!
//! A small library in front of the C library's moves the wall clock of everything started here by the seconds in a file.

use std::process::Command;

use crate::checker;
use crate::env::TestEnv;
use crate::rounds::one_step;
use crate::sight::kill_9;

const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME) {
        char text[32] = {0};
        int file = syscall(SYS_openat, AT_FDCWD, getenv("CLOCK_OFFSET_FILE"), O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            syscall(SYS_read, file, text, sizeof text - 1);
            syscall(SYS_close, file);
            time->tv_sec += atol(text);
        }
    }
    return result;
}
"#;

/// A world whose wall clock can be set.
fn with_clock() -> TestEnv {
    let env = one_step();
    let [source, library, offset] = ["clock.c", "clock.so", "offset"].map(|name| env.path().join(name));
    std::fs::write(&source, LIBRARY).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
    assert!(built.success(), "the library is built");
    let env = env.var("CLOCK_OFFSET_FILE", offset.to_str().unwrap()).var("LD_PRELOAD", library.to_str().unwrap());
    set_clock(&env, 0);
    env
}

fn set_clock(env: &TestEnv, seconds: i64) {
    std::fs::write(env.path().join("offset"), seconds.to_string()).unwrap();
}

/// Starts a task and sets the clock back by an hour during the pause between its sessions.
fn set_back_during_a_delay() -> TestEnv {
    let env = with_clock();
    env.submit("Do it", &["--name", "t", "--delay", "10s"]);
    env.reach("t", "waiting");
    set_clock(&env, -3600);
    env.ok(&["tell", "t", "hello"]);
    let at = |kind: &str| {
        let events = env.events("t");
        events.iter().find(|event| event["event"]["kind"] == kind).unwrap()["at_us"].as_i64().unwrap()
    };
    assert!(at("told") < at("wait_started"), "the control: the clock was set back while the task waited");
    env
}

#[test]
fn a_delay_ends_after_its_span_although_the_clock_was_set_back_and_the_task_was_changed() {
    let env = set_back_during_a_delay();
    assert_eq!(env.settle("t"), "done");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn w16_who_takes_a_wait_over_waits_for_its_span_at_most_although_the_clock_was_set_back() {
    let env = set_back_during_a_delay();
    kill_9(env.worker_pid("t"));
    env.ok(&["worker", "--only", "--detach"]);
    assert_eq!(env.settle("t"), "done");
    env.deserted();
    checker::assert_clean(&env);
}
