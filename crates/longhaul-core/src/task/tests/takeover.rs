//! A person in the agent's conversation: the session ends first, nobody else starts one, and what follows is a pause.
//! Pure: every rule is shown by the events that `decide` answers with.

use super::super::*;
use super::fixture::*;

fn taken(task: &Task) -> Task {
    feed(task, Command::TakeOver, &Actor::person("ann"))
}

#[test]
fn a_live_session_ends_before_a_person_takes_over() {
    let stopping = taken(&working());
    assert!(matches!(&stopping.state, State::Stopping { then: Then::Hold { person }, .. } if person == "ann"));
    let held = feed(&stopping, end_of(&stopping, crashed(), sight(&[false, false])), &Actor::worker());
    assert!(matches!(&held.state, State::Held { person, .. } if person == "ann"), "{:?}", held.state);
    assert!(!held.state.wants_owner(), "no worker may own it");
    assert!(due(&held).is_empty());
}

#[test]
fn what_ends_a_takeover_is_a_pause_and_never_work() {
    let held = taken(&fold(new_task(), &[claimed()]));
    for how in [ReleasedBy::Ended, ReleasedBy::Gone] {
        let after = feed(&held, Command::Release { how }, &Actor::person("ann"));
        assert_eq!(after.state.name(), "paused");
        assert_eq!(feed(&after, Command::Release { how }, &Actor::person("ann")).version, after.version, "once");
    }
}

#[test]
fn while_a_person_holds_it_only_cancel_moves_it() {
    let held = taken(&fold(new_task(), &[claimed()]));
    let resume = Command::Resume { reason: Some("go".into()), settings: Vec::new() };
    for command in [resume, Command::Pause { mode: StopMode::Immediate }, Command::TakeOver] {
        let answer = decide(&held, &command.into(), &Actor::person("bob"), NOW);
        assert!(matches!(answer, Err(Refusal::WrongState { from: "held", .. })), "{answer:?}");
    }
    assert!(fold(held.clone(), &[]).apply(&claimed(), NOW).is_err(), "nor can it be claimed");
    assert_eq!(feed(&held, Command::Cancel { reason: None }, &Actor::person("bob")).state.name(), "cancelled");
}

#[test]
fn a_worker_may_tell_that_the_person_is_gone_and_command_nothing_else() {
    let held = taken(&fold(new_task(), &[claimed()]));
    let asked = |command: Command, actor: &Actor| decide(&held, &command.into(), actor, NOW);
    let gone = Command::Release { how: ReleasedBy::Gone };
    assert_eq!(feed(&held, gone.clone(), &Actor::worker()).state.name(), "paused");
    for command in [Command::Release { how: ReleasedBy::Ended }, Command::TakeOver, Command::Cancel { reason: None }] {
        assert!(matches!(asked(command, &Actor::worker()), Err(Refusal::Scope { .. })));
    }
    for actor in [Actor::workspace(), Actor::below(session_id(3))] {
        assert!(matches!(asked(gone.clone(), &actor), Err(Refusal::Scope { .. })), "{actor:?}");
    }
}
