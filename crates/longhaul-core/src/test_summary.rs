//! Reads what test runners and build tools print at the end: how many tests really ran, and whether a tool skipped the work as up to
//! date. Called for the output of each check.
//!
//! A summary only ever casts doubt on a check that exited with 0. It is text, so it can never turn a failure into a pass, and an
//! output without a known summary means nothing: the exit status decides.

mod items;
#[cfg(test)]
mod tests;

use items::{counted, labelled, number_after, number_before};

/// What the output of a check says about the work it did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestSummary {
    /// Every summary in the output counts no test that ran.
    pub nothing_ran: bool,
    /// The line in which a build tool says that it had nothing to do.
    pub up_to_date: Option<String>,
}

/// How one kind of summary line counts: the tests that ran. Negative for a line that takes back what an earlier line counted.
type Count = fn(&str) -> Option<i64>;

/// Every summary we know, by the programs that print it.
const RUNNERS: &[(&str, Count)] = &[
    ("cargo test", cargo),
    ("cargo-nextest", nextest),
    ("unittest, bun", python_or_bun),
    ("pytest", pytest),
    ("go test", go),
    ("mocha, ava", passing),
    ("node, tape, automake", tap),
    ("jest, vitest, Pest", tests_line),
    ("rspec, jasmine, minitest, test-unit, ExUnit", nouns),
    ("PHPUnit, Maven, dotnet", labels),
    ("PHPUnit, JUnit", ok_in_brackets),
    ("ctest", ctest),
    ("XCTest, Swift Testing", swift),
    ("Gradle", gradle),
    ("deno", deno),
    ("all", no_tests_at_all),
];

/// Reads both streams of a check, each from its end.
pub fn read(streams: [&str; 2]) -> TestSummary {
    let streams = streams.map(without_colours);
    let lines = || streams.iter().flat_map(|text| text.lines()).map(str::trim);
    let counts: Vec<i64> = lines().filter_map(|line| RUNNERS.iter().find_map(|(_, count)| count(line))).collect();
    let ran: i64 = counts.iter().sum();
    let idle = streams.iter().find_map(|text| idle_line(text)).filter(|_| ran <= 0);
    TestSummary { nothing_ran: !counts.is_empty() && ran <= 0, up_to_date: idle.map(str::to_owned) }
}

/// Some runners print colours into a pipe too.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.find(|end: char| end.is_ascii_alphabetic()).map_or("", |end| &part[end + 1..]));
    }
    plain
}

/// The line in which a tool says that it had nothing to do. It may be anywhere: `make test lint` and `make test && echo ok` print more
/// after it. Work that follows it counts only as tests, by a summary: `ninja && ctest`.
fn idle_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| is_idle(line))
}

fn is_idle(line: &str) -> bool {
    match line.split([':', '[']).next().unwrap_or_default() {
        "make" | "gmake" => line.ends_with(" is up to date.") || line.contains(": Nothing to be done for "),
        "ninja" => line == "ninja: no work to do.",
        "task" => line.ends_with(" is up to date"),
        _ => gradle_test(line).is_some_and(is_cached),
    }
}

/// `test result: ok. 0 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.00s`
fn cargo(line: &str) -> Option<i64> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    counted(counts, &["passed", "failed", "measured"])
}

/// `Summary [   0.005s] 3 tests run: 3 passed, 1 skipped`
fn nextest(line: &str) -> Option<i64> {
    line.strip_prefix("Summary [")?;
    number_before(line, " test")
}

/// `Ran 2 tests in 0.000s`, and what takes it back: `OK (skipped=2)` of Python, `2 skip` of bun.
fn python_or_bun(line: &str) -> Option<i64> {
    if line.starts_with("OK (") || line.starts_with("NO TESTS RAN") {
        return number_after(line, "skipped=").map(|skipped| -skipped);
    }
    let skipped = line.strip_suffix(" skip").or_else(|| line.strip_suffix(" todo"));
    if let Some(skipped) = skipped.and_then(|count| count.parse::<i64>().ok()) {
        return Some(-skipped);
    }
    line.strip_prefix("Ran ")
        .filter(|rest| rest.contains(" test"))
        .and_then(|rest| rest.split(' ').next()?.parse().ok())
}

/// `=== 1 passed, 1 skipped in 0.00s ===`, with `-q` without the frame, `no tests ran in 0.00s`
fn pytest(line: &str) -> Option<i64> {
    let (counts, took) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    took.split_once('s').and_then(|(seconds, _)| seconds.parse::<f64>().ok())?;
    if counts == "no tests ran" {
        return Some(0);
    }
    counts.starts_with(|digit: char| digit.is_ascii_digit()).then_some(())?;
    counted(counts, &["passed", "failed", "error", "errors", "xfailed", "xpassed"])
        .or_else(|| counted(counts, &["skipped", "deselected"]).map(|_| 0))
}

/// `ok` or `?`, the package, and a time, `[no tests to run]` or `[no test files]`, with tabs between them
fn go(line: &str) -> Option<i64> {
    if line.starts_with("?   \t") && line.ends_with("[no test files]") {
        return Some(0);
    }
    line.strip_prefix("ok  \t").map(|package| i64::from(!package.contains("[no tests to run]")))
}

/// `12 passing (2ms)`, `3 tests passed`
fn passing(line: &str) -> Option<i64> {
    let (count, rest) = line.split_once(' ')?;
    let count = count.parse().ok()?;
    match rest.split(" (").next()? {
        "passing" | "failing" | "test passed" | "tests passed" | "test failed" | "tests failed" => Some(count),
        "test skipped" | "tests skipped" => Some(0),
        _ => None,
    }
}

/// `# pass 3`, `ℹ pass 3`, `# PASS:  3`; `# tests 0` alone says that there were none.
fn tap(line: &str) -> Option<i64> {
    let mut words = line.strip_prefix('#').or_else(|| line.strip_prefix('ℹ'))?.split_whitespace();
    let (word, count) = (words.next()?.trim_end_matches(':').to_lowercase(), words.next()?.parse().ok()?);
    match word.as_str() {
        "pass" | "fail" | "xfail" | "xpass" => Some(count),
        "tests" | "total" => Some(0),
        _ => None,
    }
    .filter(|_| words.next().is_none())
}

/// `Tests:       1 skipped, 1 passed, 2 total` of jest, `Tests  1 passed | 1 skipped (2)` of vitest
fn tests_line(line: &str) -> Option<i64> {
    let counts = line.strip_prefix("Tests:").or_else(|| line.strip_prefix("Tests "))?.trim();
    if counts == "no tests" {
        return Some(0);
    }
    counted(counts, &["passed", "failed"]).or_else(|| counted(counts, &["skipped", "todo", "total"]).map(|_| 0))
}

/// `2 examples, 0 failures, 1 pending`, `1 runs, 0 assertions, 0 failures, 0 errors, 1 skips`
fn nouns(line: &str) -> Option<i64> {
    counted(line, &["failure", "failures"])?;
    let all = counted(line, &["example", "examples", "spec", "specs", "run", "runs", "test", "tests", "doctests"])?;
    let skipped = ["pending", "pendings", "skips", "skipped", "excluded", "omissions"];
    Some(all - counted(line, &skipped).unwrap_or(0))
}

/// `Tests run: 3, Failures: 0, Errors: 0, Skipped: 1`, `Tests: 1, Assertions: 0, Skipped: 1.`, and for dotnet
/// `Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3` and `Test summary: total: 3, failed: 0, ...`
fn labels(line: &str) -> Option<i64> {
    let line = line.to_lowercase();
    let is_one = ["tests run: ", "tests: ", "passed! ", "skipped! ", "failed! ", "test summary: total: "];
    let start = is_one.iter().find_map(|start| line.find(start))?;
    let line = &line[start..];
    let all = labelled(line, &["tests run", "tests", "total", "test summary: total"])?;
    Some(all - labelled(line, &["skipped", "incomplete"]).unwrap_or(0))
}

/// `OK (1 test, 1 assertion)`
fn ok_in_brackets(line: &str) -> Option<i64> {
    counted(line.strip_prefix("OK (")?.strip_suffix(')')?, &["test", "tests"])
}

/// `100% tests passed, 0 tests failed out of 2`, and `1 - name (Skipped)` for each of those that did not run
fn ctest(line: &str) -> Option<i64> {
    if line.contains("% tests passed, ") {
        return number_after(line, " failed out of ");
    }
    let (number, _) = line.strip_suffix(" (Skipped)")?.split_once(" - ")?;
    number.parse::<u32>().ok().map(|_| -1)
}

/// `Executed 2 tests, with 2 tests skipped and 0 failures (0 unexpected) in ...`, `Test run with 0 tests in 0 suites passed`
fn swift(line: &str) -> Option<i64> {
    if let Some(run) = line.strip_prefix("Executed ") {
        let skipped = number_before(run, " tests skipped").or_else(|| number_before(run, " test skipped"));
        return Some(number_before(run, " test")? - skipped.unwrap_or(0));
    }
    number_after(line, "Test run with ")
}

/// `> Task :app:test NO-SOURCE`, `> Task :app:test SKIPPED`. With nothing behind it the tests ran; Gradle does not count them.
fn gradle(line: &str) -> Option<i64> {
    let how = gradle_test(line).filter(|how| !is_cached(how))?;
    Some(i64::from(how.is_empty()))
}

fn is_cached(how: &str) -> bool {
    matches!(how, "UP-TO-DATE" | "FROM-CACHE")
}

/// How a test task of Gradle went.
fn gradle_test(line: &str) -> Option<&str> {
    let task = line.strip_prefix("> Task :")?;
    let (name, how) = task.split_once(' ').unwrap_or((task, ""));
    let name = name.rsplit(':').next()?;
    (name == "test" || name.ends_with("Test")).then_some(how)
}

/// `ok | 1 passed (2 steps) | 0 failed | 3 filtered out (5ms)`
fn deno(line: &str) -> Option<i64> {
    let counts = line.strip_prefix("ok | ").or_else(|| line.strip_prefix("FAILED | "))?;
    counted(counts, &["passed", "failed"])
}

/// Whole sentences.
fn no_tests_at_all(line: &str) -> Option<i64> {
    let starts = [
        "No tests found, exiting with code 0",
        "No test files found, exiting with code 0",
        "No tests executed!",
        "No tests were found!!!",
        "No specs found",
        "There are no tests to run",
        "[INFO] No tests to run.",
        "[INFO] Tests are skipped.",
        "No test is available in ",
        "No test matches the given testcase filter ",
    ];
    starts.iter().any(|start| line.starts_with(start)).then_some(0)
}
