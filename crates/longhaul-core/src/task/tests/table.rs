//! Every state against every input, written to docs/reference/states.md: a change of behaviour is a diff of one table.
//! Also holds the rules that must be true in every cell: final means final, observations are never refused.

use std::fmt::Write as _;

use super::super::*;
use super::fixture::*;
use crate::ids::TaskId;
use crate::time::Time;

/// A task in every state.
pub(super) fn states() -> Vec<(&'static str, Task)> {
    let person = Actor::person("ann");
    let stopping = |command: Command| feed(&working(), command, &person);
    let with = |state: State| Task { state, ..fold(working(), &[]) };
    vec![
        ("queued", new_task()),
        ("preparing", fold(new_task(), &[claimed()])),
        ("setting_up", setting_up()),
        ("planning", planning()),
        ("working", working()),
        ("verifying", verifying()),
        ("stopping, then pause", stopping(Command::Pause { mode: StopMode::Graceful })),
        ("stopping, then needs you", asked_by_agent()),
        ("stopping, then cancel", stopping(Command::Cancel { reason: None })),
        (
            "stopping, then continue",
            feed(
                &stopping(Command::Pause { mode: StopMode::Graceful }),
                Command::Resume { reason: None, settings: Vec::new() },
                &person,
            ),
        ),
        ("stopping, then stopped", {
            let edit = Setting::Limit(Limit::Time, Some(0));
            feed(&working(), Command::Edit { settings: vec![edit] }, &person)
        }),
        ("waiting, backoff", with(State::Waiting { why: Wait::Backoff, until: Some(NOW), span_ms: Some(0) })),
        ("waiting, delay", with(State::Waiting { why: Wait::Delay, until: Some(NOW), span_ms: Some(0) })),
        ("waiting, after another task", {
            with(State::Waiting { why: Wait::After(other()), until: None, span_ms: None })
        }),
        ("waiting, limit", with(State::Waiting { why: Wait::Limit, until: Some(Time(NOW.0 + 1)), span_ms: Some(1) })),
        ("needs_help", with(State::NeedsHelp { reason: HelpReason::NoProgress { sessions: 3 } })),
        ("needs_help, the agent asks", {
            let task = asked_by_agent();
            feed(&task, end_of(&task, completed(), sight(&[false, false])), &Actor::worker())
        }),
        ("paused", with(State::Paused)),
        ("stopped", stopped()),
        ("blocked, disk", with(State::Blocked { cause: Cause::Disk { path: "/p".into(), free: 1, floor: 2 } })),
        ("blocked, workspace", with(State::Blocked { cause: Cause::Workspace { why: "gone".into() } })),
        ("held", with(State::Held { person: "ann".into() })),
        ("paused, runner", runner(State::Paused)),
        ("working, runner", runner(working().state)),
        ("waiting, runner", runner(State::Waiting { why: Wait::Delay, until: Some(NOW), span_ms: Some(0) })),
        ("landing", landing()),
        ("landing, commit made", fold(landing(), &[Event::LandingStarted { landing: commit_to_land() }])),
        ("landing, merged", fold(landing(), &[merged()])),
        ("preparing, merged work", merging(&[])),
        ("preparing, merged work failed its checks", merging(&[round_of_merge(), failed_round()])),
        ("tracked", tracked()),
        ("tracked, waiting for a person", asking()),
        ("failed", feed(&tracked(), completes(RunStatus::Failed), &person)),
        ("done, tracked", feed(&tracked(), completes(RunStatus::Completed), &person)),
        ("done", with(State::Done { verdict: Verdict::NoChecks })),
        ("cancelled", with(State::Cancelled { by: "ann".into(), reason: None })),
    ]
}

/// A follow-up that has an owner.
fn landing() -> Task {
    let mut task = new_task();
    let name = task.submission.name.clone();
    asked(&mut task).follow_up = Some(FollowUp { task: other(), name, action: FollowUpAction::Discard });
    fold(task, &[claimed()])
}

fn merged() -> Event {
    let merge = Merge { commit: "3e46e".into(), target: "ba5e".into(), conflicts: vec!["a.txt".into()] };
    Event::Merged { merge }
}

/// A landing whose merged work is in the worktree.
fn merging(more: &[Event]) -> Task {
    let mut task = landing();
    let order = LandOrder {
        tip: "71b".into(),
        tree: "7ee".into(),
        onto: "main".into(),
        message: "m".into(),
        author: Author { name: "Ann".into(), email: "a@b".into() },
        unverified: false,
        reason: None,
        keep: false,
        repository: "/r".into(),
        goal: "g".into(),
        yes: false,
        with_history: false,
        signing: None,
        pull_request: None,
    };
    let name = task.submission.name.clone();
    asked(&mut task).follow_up = Some(FollowUp { task: other(), name, action: FollowUpAction::Land(order.into()) });
    fold(task, &[&[merged(), placed()], more].concat())
}

fn placed() -> Event {
    let (root, branch) = ("/w".to_owned(), Some("longhaul/x".to_owned()));
    Event::Placed { workspace: Workspace { cwd: root.clone(), root, branch, base: Some("ba5e".into()), git: None } }
}

fn round_of_merge() -> Event {
    Event::RoundStarted { number: 1, again: false, files: Vec::new(), tree: None, basis: Basis::default() }
}

fn failed_round() -> Event {
    Event::RoundEnded { outcome: RoundOutcome::Failed { why: "conflicts in a.txt".into() } }
}

fn commit_to_land() -> Landing {
    Landing { commit: "c0ffee".into(), from: "ba5e".into() }
}

/// The same task as `run-session` carries it out.
fn runner(state: State) -> Task {
    let mut task = fold(working(), &[]);
    asked(&mut task).driver = Driver::Runner;
    task.run = Some(run());
    Task { state, ..task }
}

fn run() -> RunnerOptions {
    RunnerOptions::new(None, Resume::Never, "/p".into())
}

fn other() -> TaskId {
    TaskId::mint(NOW, [2; 10])
}

fn stopped() -> Task {
    let mut task = fold(working(), &[]);
    task.tally.agent_sessions = 5;
    asked(&mut task).patience.max_sessions = Some(5);
    let reached = task.limit_reached().expect("the limit is used up");
    Task { state: State::Stopped { reached }, ..task }
}

fn inputs(task: &Task) -> Vec<(&'static str, Input, Actor)> {
    let commands = commands().into_iter().map(|(label, command)| (label, command.into(), Actor::person("ann")));
    let below = Command::Pause { mode: StopMode::Graceful };
    let from_below = ("pause from an agent session", below.into(), Actor::below(session_id(3)));
    let another = ("update from another session", updates(None, None).into(), Actor::below(session_id(77)));
    let live = task.state.session().map_or(session_id(7), |session| session.id);
    let said = said_by_session().into_iter().map(|(label, command)| (label, command.into(), Actor::below(live)));
    let seen = observations(task).into_iter().map(|(label, seen)| (label, seen.into(), Actor::worker()));
    commands.chain([from_below, another]).chain(said).chain(seen).collect()
}

/// What an agent says from inside the live session.
fn said_by_session() -> Vec<(&'static str, Command)> {
    vec![
        ("update from its session", updates(None, None)),
        ("update to FAILED from its session", updates(Some(RunStatus::Failed), None)),
        ("checkpoint from its session", checkpoints("half of it is done")),
        ("ask for help from its session", asks_help("no password")),
        ("complete from its session", completes(RunStatus::Completed)),
        ("complete as FAILED from its session", completes(RunStatus::Failed)),
    ]
}

fn commands() -> Vec<(&'static str, Command)> {
    vec![
        ("pause", Command::Pause { mode: StopMode::Graceful }),
        ("pause now", Command::Pause { mode: StopMode::Immediate }),
        ("resume", Command::Resume { reason: None, settings: Vec::new() }),
        ("resume with reason", Command::Resume { reason: Some("fixed".into()), settings: Vec::new() }),
        ("resume, limit raised", {
            let raised = vec![Setting::Limit(Limit::Sessions, Some(9))];
            Command::Resume { reason: Some("more".into()), settings: raised }
        }),
        ("edit", Command::Edit { settings: vec![Setting::Attempts(7)] }),
        ("edit, limit used up", Command::Edit { settings: vec![Setting::Limit(Limit::Time, Some(0))] }),
        ("tell", Command::Tell { text: "mind the gap".into() }),
        ("accept a plan", Command::AcceptPlan { text: list(&[true, false, false]), seen: None }),
        ("take over", Command::TakeOver),
        ("release", Command::Release { how: ReleasedBy::Ended }),
        ("drive", Command::Drive { run: run(), settings: Vec::new() }),
        ("cancel", Command::Cancel { reason: None }),
        ("update", updates(None, None)),
        ("update to RUNNING", updates(Some(RunStatus::Running), None)),
        ("update to RUNNING with reason", updates(Some(RunStatus::Running), Some("fixed"))),
        ("update to NEEDS_HELP", updates(Some(RunStatus::NeedsHelp), None)),
        ("update to COMPLETED", updates(Some(RunStatus::Completed), None)),
        ("checkpoint", checkpoints("half of it is done")),
        ("ask for help", asks_help("no password")),
        ("complete", completes(RunStatus::Completed)),
        ("complete as FAILED", completes(RunStatus::Failed)),
        ("force", Command::Force { target: "keeper 1".into() }),
    ]
}

fn observations(task: &Task) -> Vec<(&'static str, Observation)> {
    let live = task.state.session().map_or(session_id(7), |session| session.id);
    let prepared = |plan: PlanFiles| super::fixture::prepared(session_id(8), plan);
    let other_ended = |verified: bool| Observation::OtherEnded { task: other(), verified, how: "cancelled".into() };
    let workspace = Workspace { root: "/w".into(), cwd: "/w".into(), branch: None, base: None, git: None };
    let end = |ended: Ended, plan: PlanFiles| Observation::SessionEnded { session: live, ended: Box::new(ended), plan };
    let failed = |exit: Exit, failure: Failure| end(ended(exit, Outcome::Failed(failure)), sight(&[false, false]));
    vec![
        ("prepared", prepared(sight(&[false, false]))),
        ("prepared, all ticked", prepared(sight(&[true, true]))),
        ("prepared, list gone", prepared(nothing_there())),
        ("placed", Observation::Placed { workspace }),
        ("other task verified", other_ended(true)),
        ("other task ended unverified", other_ended(false)),
        ("cannot prepare", Observation::CannotPrepare { cause: Cause::Workspace { why: "gone".into() } }),
        ("account limited", {
            let (account, agent, until) = ("demo".into(), "demo".into(), Time(NOW.0 + 9));
            let limit = AccountLimit { account, agent, until, told: true, task: other() };
            Observation::AccountsLimited { limits: vec![limit] }
        }),
        ("family limit reached", {
            let reached = Reached { limit: Limit::Sessions, used: 2, cap: 2, family: Some(other()), family_name: None };
            Observation::FamilyLimit { reached }
        }),
        ("plan restored", Observation::PlanRestored),
        ("another landing is first", Observation::InLine { behind: other() }),
        ("merged", {
            let Event::Merged { merge } = merged() else { unreachable!() };
            Observation::Merged { merge }
        }),
        ("landing started", Observation::LandingStarted { landing: commit_to_land() }),
        ("target moved", Observation::TargetMoved),
        ("followed up", Observation::FollowedUp { result: FollowUpResult::Restored }),
        ("cannot follow up", Observation::CannotFollowUp { why: "the branch is gone".into() }),
        ("woke", Observation::Woke),
        ("read", Observation::SessionRead { session: live, read: ReadTo::default(), said: Said::default() }),
        ("ended, new tick", end(completed(), sight(&[true, false]))),
        ("ended, no tick", end(completed(), sight(&[false, false]))),
        ("ended, all ticked", end(completed(), sight(&[true, true]))),
        ("ended, step removed", end(completed(), sight(&[true]))),
        ("crashed", failed(Exit::Signal(9), Failure::Crashed)),
        ("exit unknown", failed(Exit::Unknown, Failure::Crashed)),
        ("limited", failed(Exit::Code(1), Failure::Limited(Some(Time(NOW.0 + 9))))),
        ("auth", failed(Exit::Code(1), Failure::Auth("log in".into()))),
        ("not executable", failed(Exit::NotExecutable("no such file".into()), Failure::Crashed)),
        ("disk full", {
            let cause = Cause::Disk { path: "/p".into(), free: 1, floor: 2 };
            let starved = Ended { starved: Some(cause), ..crashed() };
            end(starved, sight(&[false, false]))
        }),
        ("never started", failed(Exit::NeverStarted, Failure::Crashed)),
    ]
}

fn cell(task: &Task, input: &Input, actor: &Actor) -> String {
    match decide(task, input, actor, NOW) {
        Err(Refusal::Scope { .. } | Refusal::UnknownCaller { .. }) => "refused: scope".into(),
        Err(refusal) => format!("refused: {}", refusal.to_string().rsplit(": ").next().unwrap_or_default()),
        Ok(events) if events.is_empty() => "no change".into(),
        Ok(events) => {
            let after = fold(task.clone(), &events);
            let kinds: Vec<&str> = events.iter().map(Event::kind).collect();
            format!("**{}** ({})", after.state.name(), kinds.join(", "))
        }
    }
}

fn table() -> String {
    let mut page = String::from(
        "# States and inputs\n\nA test of longhaul-core writes this page from `decide` and `apply` (`UPDATE_DOCS=1 cargo test -p longhaul-core`).\nEach row shows the state that follows an input and the events that are committed. `noted` means that an observation is recorded\nand changes nothing.\n",
    );
    for (name, task) in states() {
        let mover = match task.state.stage().woken_by() {
            WokenBy::Worker => "A worker moves the task on.",
            WokenBy::Nobody => "Final: nothing moves the task on.",
            WokenBy::Person => "A person moves the task on.",
            WokenBy::Program => "The outside program that executes the task moves it on.",
        };
        write!(page, "\n## {name}\n\n{mover}\n\n| input | result |\n|---|---|\n").expect("a string takes all");
        for (label, input, actor) in inputs(&task) {
            writeln!(page, "| {label} | {} |", cell(&task, &input, &actor)).expect("a string takes all");
        }
    }
    page
}

#[test]
fn every_state_against_every_input_is_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/states.md");
    let page = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).expect("docs/reference exists");
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/reference/states.md is stale: run UPDATE_DOCS=1 cargo test -p longhaul-core and look at the diff"
    );
}

/// One line for each state in which the status differs from that of the others.
#[test]
fn the_status_of_every_state_is_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/task-run-status.md");
    let mut page = String::from(
        "# The status of a task as a TaskRun\n\nA test of longhaul-core writes this page from `RunStatus::of` (`UPDATE_DOCS=1 cargo test -p longhaul-core`). `task_run_get` and\n`task_run_list` show every task with one of six statuses.\n\n| state | status |\n|---|---|\n",
    );
    let resumed = Task { state: State::Queued, ..working() };
    for (name, task) in states().into_iter().chain([("queued, after a session", resumed)]) {
        writeln!(page, "| {name} | {} |", RunStatus::of(&task)).expect("a string takes all");
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).expect("docs/reference exists");
    }
    assert_eq!(
        std::fs::read_to_string(path).unwrap_or_default(),
        page,
        "stale: run UPDATE_DOCS=1 cargo test -p longhaul-core"
    );
}

#[test]
fn a_refused_command_makes_no_event_and_final_states_have_no_exits() {
    for (name, task) in states() {
        for (label, input, actor) in inputs(&task) {
            if let Ok(events) = decide(&task, &input, &actor, NOW) {
                let after = fold(task.clone(), &events);
                assert!(!task.state.is_final() || after.state == task.state, "{name} was left by {label}");
            }
        }
    }
}

#[test]
fn observations_are_never_refused_and_an_agent_only_reports_on_its_own_live_session() {
    for (name, task) in states() {
        for (label, input, actor) in inputs(&task) {
            let answer = decide(&task, &input, &actor, NOW);
            match actor.scope {
                Scope::Worker | Scope::Workspace => assert!(answer.is_ok(), "{name}: {label} was refused"),
                Scope::Session => {
                    let live = task.state.session().filter(|live| live.purpose.is_agent());
                    let own = live.is_some_and(|live| actor.session == Some(live.id));
                    let refused = matches!(answer, Err(Refusal::Scope { .. }));
                    assert_eq!(refused, !(own && label.ends_with("from its session")), "{name}: {label}: {answer:?}");
                }
                Scope::Person | Scope::Unknown => {}
            }
            let answer = decide(&task, &input, &Actor::unknown("somebody"), NOW);
            assert!(matches!(answer, Err(Refusal::UnknownCaller { .. })), "{name}: {label} was allowed");
        }
    }
}

#[test]
fn stopping_is_left_only_by_an_observed_end() {
    for (name, task) in states().into_iter().filter(|(name, _)| name.starts_with("stopping")) {
        for (label, input, actor) in inputs(&task) {
            let Ok(events) = decide(&task, &input, &actor, NOW) else { continue };
            let after = fold(task.clone(), &events);
            let ended =
                matches!(&input, Input::Observation(seen) if matches!(**seen, Observation::SessionEnded { .. }));
            assert_eq!(after.state.session().is_none(), ended, "{name}: {label}");
        }
    }
}

#[test]
fn a_state_is_stored_under_its_name_and_its_stage_fits() {
    for (label, task) in states() {
        let state = &task.state;
        let stored = serde_json::to_value(state).expect("a state can be stored");
        assert_eq!(stored["state"], state.name(), "{label}");
        let by_program = state.stage().woken_by() == WokenBy::Program;
        let answers = [state.is_final(), state.waits_for_person(), state.wants_owner(), by_program];
        assert_eq!(answers.iter().filter(|yes| **yes).count(), 1, "{label}: one answer holds");
        assert!(state.session().is_none() || state.wants_owner(), "{label}: a session has an owner");
        assert!(due(&task).is_empty() || state.wants_owner(), "{label}: only an owner has something to do");
        assert_eq!(state.is_held(), state.name() == State::HELD, "{label}");
    }
}

#[test]
fn whatever_is_worth_a_notice_has_an_event_that_tells_why() {
    let mut told = 0;
    for (name, task) in states() {
        for (label, input, actor) in inputs(&task) {
            let Ok(events) = decide(&task, &input, &actor, NOW) else { continue };
            let after = fold(task.clone(), &events);
            if notice(&task, &events, &after).is_some() {
                assert!(events.iter().any(tells_why), "{name}: {label}: {events:?}");
                told += 1;
            }
        }
    }
    assert!(told > 10, "the control: there are notices");
}

#[test]
fn a_state_that_only_a_person_leaves_is_entered_by_an_event_with_a_reason() {
    for (name, task) in states() {
        for (label, input, actor) in inputs(&task) {
            let Ok(events) = decide(&task, &input, &actor, NOW) else { continue };
            let after = fold(task.clone(), &events);
            if after.state.waits_for_person() && after.state.name() != task.state.name() {
                assert!(events.iter().any(|event| event.role() != Role::Beside), "{name}: {label}: {events:?}");
            }
        }
    }
}

#[test]
fn what_follows_a_session_runs_as_long_as_it_is_due_and_the_rest_answers_once() {
    for (name, task) in states() {
        for effect in due(&task) {
            let of_session = matches!(effect, Effect::Attend(_) | Effect::Stop(..));
            assert_eq!(effect.answers_once(), !of_session, "{name}: {effect:?}");
        }
    }
}
