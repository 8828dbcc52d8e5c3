//! Summaries as the programs print them. Each runner has a run of nothing, a run of skipped tests where it can skip, and a real run
//! as the control.

use super::read;

/// Runs that executed no test, by program.
const NOTHING: &[(&str, &str)] = &[
    (
        "cargo",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
    ),
    ("cargo, ignored", "test result: ok. 0 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.00s"),
    (
        "cargo, filtered",
        "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s",
    ),
    ("nextest", "────────────\n     Summary [   0.001s] 0 tests run: 0 passed, 5 skipped"),
    ("unittest", "----------\nRan 0 tests in 0.000s\n\nOK"),
    ("unittest, skipped", "s\n----------\nRan 1 test in 0.000s\n\nOK (skipped=1)"),
    ("bun, skipped", "bun test v1.2.0\n\n 0 pass\n 2 skip\n 0 fail\nRan 2 tests across 1 file. [8.00ms]"),
    ("pytest", "collected 0 items\n\n===== no tests ran in 0.00s ====="),
    ("pytest, skipped", "test_skip.py s   [100%]\n\n===== 1 skipped in 0.01s ====="),
    ("pytest -q, skipped", "s   [100%]\n1 skipped in 0.00s"),
    ("pytest, deselected", "collected 1 item / 1 deselected / 0 selected\n\n===== 1 deselected in 0.00s ====="),
    ("pytest, both", "===== 2 skipped, 14 deselected, 1 warning in 65.20s (0:01:05) ====="),
    ("go", "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.01s [no tests to run]"),
    ("mocha", "\n\n  0 passing (0ms)\n"),
    ("mocha, pending", "  x\n    - a\n\n\n  0 passing (2ms)\n  1 pending\n"),
    ("ava, skipped", "  - [skip] a\n  ─\n\n  1 test skipped"),
    (
        "node",
        "TAP version 13\n1..0\n# tests 0\n# suites 0\n# pass 0\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 2.1",
    ),
    (
        "node, skipped",
        "1..1\n# tests 1\n# suites 0\n# pass 0\n# fail 0\n# cancelled 0\n# skipped 1\n# todo 0\n# duration_ms 97.8",
    ),
    (
        "node, spec reporter",
        "﹣ a (0.66ms) # SKIP\nℹ tests 1\nℹ suites 0\nℹ pass 0\nℹ fail 0\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0",
    ),
    ("automake", "# TOTAL: 1\n# PASS:  0\n# SKIP:  1\n# XFAIL: 0\n# FAIL:  0\n# XPASS: 0\n# ERROR: 0"),
    ("jest", "No tests found, exiting with code 0"),
    (
        "jest, skipped",
        "Test Suites: 1 skipped, 0 of 1 total\nTests:       1 skipped, 1 total\nSnapshots:   0 total\nTime:        0.26 s",
    ),
    ("vitest", "\nNo test files found, exiting with code 0\n\nfilter: nothing"),
    (
        "vitest, skipped, in colour",
        "\u{1b}[2m Test Files \u{1b}[22m \u{1b}[33m1 skipped\u{1b}[39m\u{1b}[90m (1)\u{1b}[39m\n\u{1b}[2m      Tests \u{1b}[22m \u{1b}[33m1 skipped\u{1b}[39m\u{1b}[90m (1)\u{1b}[39m",
    ),
    ("vitest, empty files", " Test Files  1 passed (1)\n      Tests  no tests\n   Start at  03:40:34"),
    ("Pest, skipped", "  Tests:    1 skipped (0 assertions)\n  Duration: 0.10s"),
    (
        "rspec",
        "No examples found.\n\nFinished in 0.00015 seconds (files took 0.03983 seconds to load)\n0 examples, 0 failures\n",
    ),
    ("rspec, pending", "Finished in 0.0027 seconds\n1 example, 0 failures, 1 pending\n"),
    ("jasmine, pending", "1 spec, 0 failures, 1 pending spec\nFinished in 0.002 seconds"),
    ("minitest", "# Running:\n\n\n\nFinished in 0.000275s.\n\n0 runs, 0 assertions, 0 failures, 0 errors, 0 skips"),
    ("minitest, skipped", "1 runs, 0 assertions, 0 failures, 0 errors, 1 skips\n\nYou have skipped tests."),
    (
        "test-unit, omitted",
        "1 tests, 0 assertions, 0 failures, 0 errors, 0 pendings, 1 omissions, 0 notifications\n0% passed",
    ),
    ("ExUnit, excluded", "Finished in 0.01 seconds\n3 tests, 0 failures, 3 excluded"),
    ("PHPUnit", "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\nNo tests executed!"),
    ("PHPUnit, skipped", "OK, but incomplete, skipped, or risky tests!\nTests: 1, Assertions: 0, Skipped: 1."),
    ("ctest", "Test project /b\nNo tests were found!!!"),
    (
        "ctest, skipped",
        "1/1 Test #1: a ....***Skipped   0.00 sec\n\n100% tests passed, 0 tests failed out of 1\n\nTotal Test time (real) =   0.00 sec\n\nThe following tests did not run:\n\t  1 - a (Skipped)",
    ),
    (
        "XCTest",
        "Test Suite 'All tests' passed at 2026-01-01.\n\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.000) seconds",
    ),
    (
        "XCTest, skipped",
        "\t Executed 2 tests, with 2 tests skipped and 0 failures (0 unexpected) in 0.000 (0.000) seconds",
    ),
    (
        "Swift Testing",
        "\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.000) seconds\n✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.",
    ),
    ("Maven", "[INFO] No tests to run.\n[INFO] BUILD SUCCESS"),
    (
        "Maven, empty",
        "[INFO] Results:\n[INFO]\n[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
    ),
    (
        "Maven, skipped",
        "[WARNING] Tests run: 1, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0 s - in ATest\n[WARNING] Tests run: 1, Failures: 0, Errors: 0, Skipped: 1",
    ),
    (
        "Maven, -DskipTests",
        "[INFO] --- surefire:3.2.5:test (default-test) @ b ---\n[INFO] Tests are skipped.\n[INFO] BUILD SUCCESS",
    ),
    (
        "Gradle",
        "> Task :compileTestJava NO-SOURCE\n> Task :testClasses UP-TO-DATE\n> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s",
    ),
    (
        "Gradle, skipped",
        "> Task :app:testClasses\n> Task :app:test SKIPPED\n\nBUILD SUCCESSFUL in 1s\n2 actionable tasks: 2 executed",
    ),
    (
        "dotnet",
        "No test is available in /b/x.dll. Make sure that test discoverer & executors are registered and try again.",
    ),
    ("dotnet, filter", "No test matches the given testcase filter `Name=x` in /b/x.dll"),
    (
        "dotnet, skipped",
        "Skipped! - Failed:     0, Passed:     0, Skipped:     1, Total:     1, Duration: 2 ms - x.dll (net8.0)",
    ),
    ("dotnet 9, skipped", "Test summary: total: 1, failed: 0, succeeded: 0, skipped: 1, duration: 0.9s"),
    (
        "deno, ignored",
        "running 1 test from ./a_test.ts\na ... ignored (0ms)\n\nok | 0 passed | 0 failed | 1 ignored (3ms)\n",
    ),
    ("deno, filtered", "ok | 0 passed | 0 failed | 3 filtered out (0ms)"),
];

/// Runs that executed at least one test.
const SOMETHING: &[(&str, &str)] = &[
    ("silence", ""),
    ("no summary", "all good"),
    ("cargo", "test result: ok. 0 passed; 0 failed; 0 ignored\ntest result: ok. 3 passed; 0 failed; 0 ignored"),
    ("cargo, failing", "test result: FAILED. 0 passed; 2 failed; 0 ignored"),
    ("nextest", "     Summary [   0.005s] 3 tests run: 3 passed (1 slow), 1 skipped"),
    ("unittest", "Ran 1 test in 0.000s\n\nOK"),
    ("unittest, one skipped", "Ran 2 tests in 0.000s\n\nOK (skipped=1)"),
    ("bun", " 1 pass\n 1 skip\n 0 fail\nRan 2 tests across 1 file. [8.00ms]"),
    ("pytest", "===== 1 passed, 1 skipped in 0.00s ====="),
    ("pytest -q", "1 passed in 0.00s"),
    ("pytest, expected failures", "2 xfailed in 0.00s"),
    ("go", "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.01s"),
    ("go, cached", "ok  \texample.com/b\t(cached)"),
    ("mocha", "  12 passing (2ms)\n  1 pending"),
    ("ava", "  2 tests passed\n  1 test skipped"),
    ("node", "1..2\n# tests 2\n# suites 0\n# pass 1\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 1"),
    ("automake", "# TOTAL: 2\n# PASS:  1\n# SKIP:  1\n# XFAIL: 0\n# FAIL:  0"),
    ("jest", "Test Suites: 1 skipped, 1 passed, 1 of 2 total\nTests:       1 skipped, 1 passed, 2 total"),
    ("vitest", " Test Files  1 passed | 1 skipped (2)\n      Tests  1 passed | 1 skipped (2)"),
    ("Pest", "  Tests:    3 passed (5 assertions)"),
    ("rspec", "2 examples, 0 failures, 1 pending"),
    ("jasmine", "1 spec, 0 failures"),
    ("minitest", "2 runs, 1 assertions, 0 failures, 0 errors, 1 skips"),
    ("test-unit", "2 tests, 1 assertions, 0 failures, 0 errors, 0 pendings, 1 omissions, 0 notifications"),
    ("ExUnit", "1 doctest, 3 tests, 0 failures, 1 excluded"),
    ("PHPUnit", "OK (1 test, 1 assertion)"),
    ("PHPUnit, one skipped", "Tests: 2, Assertions: 1, Skipped: 1."),
    (
        "ctest",
        "100% tests passed, 0 tests failed out of 2\n\nThe following tests did not run:\n\t  1 - a (Skipped)\n\t  3 - d (Disabled)",
    ),
    ("XCTest", "\t Executed 3 tests, with 1 test skipped and 0 failures (0 unexpected) in 0.01 (0.01) seconds"),
    (
        "Swift Testing",
        "\t Executed 0 tests, with 0 failures (0 unexpected) in 0.0 (0.0) seconds\n✔ Test run with 5 tests in 1 suite passed after 0.1 seconds.",
    ),
    ("Maven, one module of two", "[INFO] No tests to run.\n[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1"),
    ("Gradle", "> Task :lib:test NO-SOURCE\n> Task :app:test\n\nBUILD SUCCESSFUL in 1s"),
    (
        "dotnet",
        "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 5 ms - x.dll (net8.0)",
    ),
    ("dotnet 9", "Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0, duration: 1.5s"),
    ("deno", "ok | 1 passed (2 steps) | 0 failed (5ms)"),
    ("ninja, then ctest", "ninja: no work to do.\n100% tests passed, 0 tests failed out of 2"),
];

#[test]
fn a_summary_without_a_test_that_ran_is_recognised() {
    for (program, output) in NOTHING {
        assert!(read([output, ""]).nothing_ran, "{program}: {output}");
        assert!(read(["Compiling\n", output]).nothing_ran, "{program} on stderr: {output}");
    }
}

#[test]
fn one_test_that_ran_is_enough_and_no_summary_means_nothing() {
    for (program, output) in SOMETHING {
        let summary = read([output, ""]);
        assert!(!summary.nothing_ran && summary.up_to_date.is_none(), "{program}: {summary:?}");
    }
}

#[test]
fn a_tool_that_had_nothing_to_do_is_recognised() {
    for (output, line) in [
        ("make: 'test' is up to date.", "make: 'test' is up to date."),
        ("make: Nothing to be done for 'all'.", "make: Nothing to be done for 'all'."),
        (
            "make[1]: Entering directory '/w/sub'\nmake[1]: 'test' is up to date.\nmake[1]: Leaving directory '/w/sub'\n",
            "make[1]: 'test' is up to date.",
        ),
        ("ninja: Entering directory 'build'\nninja: no work to do.", "ninja: no work to do."),
        ("task: Task \"test\" is up to date", "task: Task \"test\" is up to date"),
        (
            "> Task :compileJava UP-TO-DATE\n> Task :test UP-TO-DATE\n\nBUILD SUCCESSFUL in 1s\n3 actionable tasks: 3 up-to-date",
            "> Task :test UP-TO-DATE",
        ),
        ("make: 'test' is up to date.\ncargo clippy --quiet", "make: 'test' is up to date."),
        ("make: 'test' is up to date.\nok", "make: 'test' is up to date."),
        ("ninja: no work to do.\nall good", "ninja: no work to do."),
        ("task: Task \"test\" is up to date\nlinted 3 files", "task: Task \"test\" is up to date"),
        ("> Task :app:integrationTest FROM-CACHE\n\nBUILD SUCCESSFUL in 1s", "> Task :app:integrationTest FROM-CACHE"),
    ] {
        for streams in [[output, ""], ["", output]] {
            let summary = read(streams);
            assert_eq!((summary.nothing_ran, summary.up_to_date.as_deref()), (false, Some(line)), "{output}");
        }
    }
}

#[test]
fn tests_beside_a_tool_that_had_nothing_to_do_count() {
    for output in [
        "make: 'build' is up to date.\nRan 2 tests in 0.000s\n\nOK",
        "2 passed in 0.01s\nmake: 'lint' is up to date.",
        "ninja: no work to do.\n100% tests passed, 0 tests failed out of 2\nall good",
        "ninja: no work to do.\n1 passed in 0.00s",
        "# TOTAL: 1\n# PASS:  1\nmake[1]: Nothing to be done for 'check-am'.",
        "the file is up to date.",
        "> Task :compileTestJava UP-TO-DATE\n> Task :testClasses UP-TO-DATE\n> Task :test\n\nBUILD SUCCESSFUL in 1s",
    ] {
        assert_eq!(read([output, ""]), super::TestSummary::default(), "{output}");
    }
}

#[test]
fn tests_that_did_not_run_excuse_no_tool_that_had_nothing_to_do() {
    let summary = read(["make: 'test' is up to date.", "no tests ran in 0.00s"]);
    assert_eq!((summary.nothing_ran, summary.up_to_date.as_deref()), (true, Some("make: 'test' is up to date.")));
}
