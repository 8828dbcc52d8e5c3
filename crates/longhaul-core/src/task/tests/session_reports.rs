//! What an agent says from inside its session: what follows, how much is taken, and that it decides nothing.
//! Every state against every call is in docs/reference/states.md.

use super::super::*;
use super::fixture::*;

fn agent() -> Actor {
    Actor::below(session_id(2))
}

fn refusal(task: &Task, command: Command, actor: &Actor) -> String {
    decide(task, &command.into(), actor, NOW).expect_err("refused").to_string()
}

fn resume(reason: Option<&str>) -> Command {
    Command::Resume { reason: reason.map(str::to_owned), settings: Vec::new() }
}

/// The task after its agent asked, its session ended, and a person answered.
fn answered(asked: &Task, ended: Ended, answer: &str) -> Task {
    let parked = feed(asked, end_of(asked, ended, sight(&[false, false])), &Actor::worker());
    let resumed = fold(feed(&parked, resume(Some(answer)), &Actor::person("ann")), &[claimed()]);
    feed(&resumed, prepared(session_id(4), sight(&[false, false])), &Actor::worker())
}

#[test]
fn a_report_changes_what_is_known_and_nothing_else() {
    let before = working();
    let after = feed(&feed(&before, updates(None, None), &agent()), completes(RunStatus::Completed), &agent());
    assert_eq!(after.state.name(), before.state.name());
    assert_eq!((&after.plan, &after.tally, due(&after)), (&before.plan, &before.tally, due(&before)));
    let said = after.tracked.as_deref().expect("reports");
    assert_eq!((said.reported.summary.as_deref(), said.said_done), (Some("page 2"), Some(NOW)));
    let ended = feed(&after, end_of(&after, completed(), sight(&[false, false])), &Actor::worker());
    assert_eq!(
        (ended.state.name(), ended.phase()),
        ("preparing", Phase::Work),
        "its word that it is done ends nothing"
    );
}

#[test]
fn a_request_for_help_stops_the_session_then_waits_for_a_person() {
    let task = asked_by_agent();
    assert_eq!(task.state.question(), Some(("no password", None)));
    assert_eq!(due(&task), [Effect::Attend(session_id(2)), Effect::Stop(session_id(2), StopMode::Graceful)]);
    let parked = feed(&task, end_of(&task, completed(), sight(&[true, false])), &Actor::worker());
    let reason = HelpReason::Asked { question: "no password".into(), hint: None };
    assert_eq!(parked.state, State::NeedsHelp { reason });
    assert_eq!(decide(&parked, &resume(None).into(), &Actor::person("ann"), NOW), Err(Refusal::ReasonMissing));
    let resumed = feed(&parked, resume(Some("it is on the desk")), &Actor::person("ann"));
    assert_eq!(resumed.state, State::Queued);
    assert_eq!(resumed.guidance, ["An earlier session asked: \"no password\". The answer: it is on the desk"]);
    assert_eq!(resumed.tracked.as_deref().and_then(|said| said.answer.as_ref()).map(|it| it.by.as_str()), Some("ann"));
}

/// The question came in the middle of the work, so the work continues where it was, also if the agent ended its turn in time.
#[test]
fn a_session_that_asked_is_continued_in_its_conversation() {
    let heard = Said { conversation: Some("talk".into()), usage: Usage::default() };
    let read = Observation::SessionRead { session: session_id(2), read: ReadTo::default(), said: heard };
    let asked = feed(&feed(&working(), read, &Actor::worker()), asks_help("which one?"), &agent());
    let next = answered(&asked, Ended { delivered: Delivered::Yes, ..completed() }, "the first");
    let session = next.state.session().expect("a session");
    assert_eq!((session.resumes.as_deref(), &session.opening), (Some("talk"), &Opening::Continue));
    assert_eq!(next.guidance.len(), 1, "its prompt has the answer");
}

#[test]
fn an_answer_while_the_session_still_stops_is_kept_and_a_pause_keeps_the_question() {
    let task = asked_by_agent();
    let paused = feed(&task, Command::Pause { mode: StopMode::Graceful }, &Actor::person("ann"));
    assert!(paused.state.question().is_some());
    assert_eq!(decide(&task, &resume(Some(" ")).into(), &Actor::person("ann"), NOW), Err(Refusal::ReasonMissing));
    let answered = feed(&task, resume(Some("on the desk")), &Actor::person("ann"));
    assert!(matches!(&answered.state, State::Stopping { then: Then::GoOn, .. }), "{:?}", answered.state);
    assert_eq!(answered.guidance.len(), 1);
}

#[test]
fn an_agent_cannot_give_up_leave_help_or_speak_for_another_session() {
    let task = working();
    for command in
        [completes(RunStatus::Failed), completes(RunStatus::Cancelled), updates(Some(RunStatus::Failed), None)]
    {
        assert!(refusal(&task, command, &agent()).contains("`task_run_needs_help`"));
    }
    let asked = asked_by_agent();
    for command in [updates(Some(RunStatus::Running), Some("never mind")), checkpoints("x"), asks_help("again")] {
        assert!(refusal(&asked, command, &agent()).contains("being stopped"));
    }
    let parked = feed(&asked, end_of(&asked, completed(), sight(&[true, false])), &Actor::worker());
    let others =
        [(&parked, agent()), (&task, Actor::below(session_id(1))), (&verifying(), Actor::below(session_id(3)))];
    for (task, actor) in others {
        assert!(refusal(task, updates(None, None), &actor).contains("while it runs"), "{:?}", task.state);
    }
    assert!(refusal(&task, updates(None, None), &Actor::person("ann")).contains("Longhaul executes it"));
    assert!(refusal(&task, asks_help(" "), &agent()).contains("empty reason"));
}

#[test]
fn a_session_in_a_loop_is_refused_before_it_fills_the_store_and_the_next_one_is_not() {
    let mut task = working();
    let mut stored = 0;
    let refused = (0..2000).find_map(|_| match decide(&task, &updates(None, None).into(), &agent(), NOW) {
        Ok(events) => {
            stored += serde_json::to_string(&events).expect("JSON").len();
            task = fold(task.clone(), &events);
            None
        }
        Err(refusal) => Some(refusal.to_string()),
    });
    assert!(refused.is_some_and(|why| why.contains("1 MiB")) && stored < 1024 * 1024);
    let asked = feed(&task, asks_help("stuck"), &agent());
    assert!(asked.state.question().is_some(), "help is always heard");
    feed(&answered(&asked, completed(), "go"), updates(None, None), &Actor::below(session_id(4)));
}

#[test]
fn a_checkpoint_names_its_session() {
    let task = feed(&working(), checkpoints("half"), &agent());
    let checkpoint = task.tracked.as_deref().and_then(|said| said.checkpoint.clone()).expect("a checkpoint");
    assert_eq!((checkpoint.session, checkpoint.summary.as_str()), (Some(2), "half"));
}
