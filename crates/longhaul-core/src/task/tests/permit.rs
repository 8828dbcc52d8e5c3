//! Every kind of caller against every kind of action, in one table.
//! Whoever adds an action adds a column here; the compiler asks for the rule itself.

use super::super::*;
use super::fixture::{new_task, session_id};

/// `+` may, `s` is refused by its scope, `u` because nobody can tell whether it is an agent.
#[test]
fn every_caller_and_every_action() {
    let task = new_task();
    let pause = Input::from(Command::Pause { mode: StopMode::Graceful });
    let gone = Input::from(Command::Release { how: ReleasedBy::Gone });
    let woke = Input::from(Observation::Woke);
    let actions = [
        Action::Read,
        Action::ReadAll("check the store"),
        Action::Submit("run"),
        Action::Command("pause"),
        Action::Report("update a run"),
        Action::Input(&task, &pause),
        Action::Input(&task, &gone),
        Action::Input(&task, &woke),
        Action::Manage("gc"),
    ];
    for (actor, expected) in [
        (Actor::person("ann"), "+++++++s+"),
        (Actor::below(session_id(1)), "+s+s+ssss"),
        (Actor::unknown("ann"), "++uuuuuuu"),
        (Actor::worker(), "ssssss++s"),
        (Actor::workspace(), "sssssss+s"),
    ] {
        let answer = |action: &Action<'_>| match permit(&actor, action) {
            Ok(()) => '+',
            Err(Refusal::UnknownCaller { .. }) => 'u',
            Err(_) => 's',
        };
        assert_eq!(actions.iter().map(answer).collect::<String>(), expected, "{:?}", actor.scope);
    }
}

/// `+` may, `-` lacks the right: read, run, approve, admin.
#[test]
fn every_set_of_rights_and_every_right() {
    for (rights, expected) in [
        ("", "----"),
        ("read", "+---"),
        ("run", "++--"),
        ("write", "++--"),
        ("approve", "+-+-"),
        ("run, approve", "+++-"),
        ("admin", "++++"),
    ] {
        let set: Rights = rights.parse().expect("rights");
        let answer = |right: Right| {
            let need = Need { right, verb: "go" };
            let refused = Err(Refusal::Right { verb: "go", right: right.word() });
            match permit_with(&Actor::person("ann"), set, need, &Action::Manage("go")) {
                Ok(()) => '+',
                answer if answer == refused => '-',
                answer => panic!("{rights} and {right:?}: {answer:?}"),
            }
        };
        let rights_in_order = [Right::Read, Right::Run, Right::Approve, Right::Admin];
        assert_eq!(rights_in_order.map(answer).iter().collect::<String>(), expected, "{rights}");
        let again: Rights = set.to_string().parse().expect("rights as they are written");
        assert!(rights_in_order.iter().all(|right| again.include(*right) == set.include(*right)), "{rights}");
    }
    assert!("read,rule".parse::<Rights>().is_err());
}

#[test]
fn rights_never_widen_a_scope() {
    let need = Need { right: Right::Run, verb: "pause" };
    let session = Actor::below(session_id(1));
    let refused = permit_with(&session, Rights::ALL, need, &Action::Command("pause"));
    assert!(matches!(refused, Err(Refusal::Scope { .. })), "{refused:?}");
}

#[test]
fn a_worker_pauses_only_the_task_of_a_runner() {
    let pause = Input::from(Command::Pause { mode: StopMode::Graceful });
    let mut task = new_task();
    super::fixture::asked(&mut task).driver = Driver::Runner;
    assert!(permit(&Actor::worker(), &Action::Input(&task, &pause)).is_ok());
}
