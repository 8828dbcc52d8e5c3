//! Conversations over sessions, and usage limits over agents: which agent is next, how its session opens, until when all wait.
//! Everything goes through `decide` and `apply`, as in life.

use std::time::Duration;

use super::super::*;
use super::fixture::*;
use crate::time::Time;

const OPEN: &[bool] = &[false, false];

fn person() -> Actor {
    Actor::person("tester")
}

/// A working task whose agent has told its conversation.
fn talking() -> Task {
    let task = working();
    let session = task.state.session().expect("a live session").id;
    let said = Said { conversation: Some("c-1".into()), usage: Usage::default() };
    feed(&task, Observation::SessionRead { session, read: ReadTo::default(), said }, &Actor::worker())
}

fn with(mut task: Task, change: impl FnOnce(&mut Submission)) -> Task {
    change(asked(&mut task));
    task
}

fn end(task: &Task, ended: Ended) -> Task {
    feed(task, end_of(task, ended, sight(OPEN)), &Actor::worker())
}

fn next(task: &Task, now: Time) -> Task {
    let look = prepared(session_id(7), sight(OPEN));
    let waits = matches!(task.state, State::Waiting { .. });
    let woke = if waits { decide(task, &Observation::Woke.into(), &Actor::worker(), now).unwrap() } else { Vec::new() };
    let woken = fold(task.clone(), &woke);
    fold(woken.clone(), &decide(&woken, &look.into(), &Actor::worker(), now).unwrap())
}

fn live(task: &Task) -> &SessionRun {
    task.state.session().expect("a live session")
}

fn died(delivered: Delivered) -> Ended {
    Ended { delivered, ..crashed() }
}

fn failed(failure: Failure) -> Ended {
    ended(Exit::Code(1), Outcome::Failed(failure))
}

const LATER: Time = Time(NOW.0 + 3_600_000_000);

#[test]
fn an_interrupted_session_is_resumed_with_what_its_conversation_lacks() {
    let opening = |delivered| {
        let task = next(&end(&talking(), died(delivered)), LATER);
        let run = live(&task);
        (run.resumes.clone(), run.opening.clone(), run.attempt)
    };
    let id = || Some("c-1".to_owned());
    assert_eq!(opening(Delivered::Yes), (id(), Opening::Continue, 2));
    assert_eq!(opening(Delivered::No), (id(), Opening::Again, 2));
    assert_eq!(opening(Delivered::Unknown), (id(), Opening::Unsure, 2));
    let (resumes, opening, attempt) = opening(Delivered::NoTranscript);
    assert_eq!((resumes, attempt), (None, 2));
    assert!(matches!(opening, Opening::Handover { .. }), "{opening:?}");
}

#[test]
fn a_completed_session_is_followed_by_a_fresh_one_unless_a_person_wants_otherwise() {
    let after = |context| {
        let task = with(talking(), |submission| submission.context = context);
        let task = next(&end(&task, completed()), NOW);
        let run = live(&task);
        (run.resumes.clone(), run.opening.clone(), run.attempt)
    };
    assert_eq!(after(Context::Auto), (None, Opening::Fresh, 1));
    assert_eq!(after(Context::Fresh), (None, Opening::Fresh, 1));
    assert_eq!(after(Context::Resume), (Some("c-1".into()), Opening::Again, 1));
}

#[test]
fn without_context_an_interrupted_session_is_handed_over() {
    let task = with(talking(), |submission| submission.context = Context::Fresh);
    let task = next(&end(&task, died(Delivered::Yes)), LATER);
    assert!(matches!(&live(&task).opening, Opening::Handover { .. }));
    assert_eq!(live(&task).resumes, None);
}

#[test]
fn an_agent_that_keeps_no_conversations_hands_over_after_an_interruption_only() {
    let opening = |ended: Ended| {
        let mut task = talking();
        let State::Working { session } = &mut task.state else { panic!("it works") };
        session.conversation = None;
        let task = next(&end(&task, Ended { delivered: Delivered::NoTranscript, ..ended }), LATER);
        (live(&task).resumes.clone(), live(&task).opening.clone())
    };
    let (resumes, after_crash) = opening(crashed());
    assert!(resumes.is_none() && matches!(&after_crash, Opening::Handover { why } if why.contains("no conversations")));
    assert_eq!(opening(completed()), (None, Opening::Fresh));
}

#[test]
fn a_lost_or_full_conversation_is_handed_over_and_named() {
    for failure in [Failure::BadConversation, Failure::ContextFull] {
        let task = next(&end(&talking(), failed(failure)), LATER);
        let Opening::Handover { why } = &live(&task).opening else { panic!("{:?}", live(&task).opening) };
        assert!(why.contains("c-1"), "{why}");
    }
}

#[test]
fn a_conversation_that_fails_again_and_again_is_given_up() {
    let first = next(&end(&talking(), died(Delivered::Yes)), LATER);
    let second = next(&end(&first, died(Delivered::Yes)), LATER);
    assert_eq!(live(&second).resumes.as_deref(), Some("c-1"));
    let third = next(&end(&second, died(Delivered::Yes)), LATER);
    assert_eq!((live(&third).resumes.as_deref(), live(&third).attempt), (None, 4));
}

#[test]
fn another_conversation_than_asked_for_is_seen() {
    let task = next(&end(&talking(), died(Delivered::Yes)), LATER);
    let said = Said { conversation: Some("c-2".into()), usage: Usage::default() };
    let seen = Observation::SessionRead { session: live(&task).id, read: ReadTo::default(), said };
    let task = feed(&task, seen, &Actor::worker());
    assert!(live(&task).strayed());
    assert_eq!(next(&end(&task, died(Delivered::Yes)), LATER).conversation_id(), Some("c-2"));
}

#[test]
fn counters_go_on_in_the_next_session_of_a_conversation() {
    let carry = serde_json::json!({ "input": 7 });
    let task = end(&talking(), Ended { carry: carry.clone(), ..died(Delivered::Yes) });
    assert_eq!(live(&next(&task, LATER)).carry, carry);
}

#[test]
fn sessions_that_did_not_report_their_tokens_are_counted() {
    let before = talking().tally.unmetered;
    assert_eq!(end(&talking(), completed()).tally.unmetered, before + 1);
    let usage = Usage { input: Some(5), output: Some(1), cost_micros: None };
    let said = Said { conversation: None, usage };
    let read = Observation::SessionRead { session: live(&talking()).id, read: ReadTo::default(), said };
    let metered = feed(&talking(), read, &Actor::worker());
    assert_eq!(end(&metered, completed()).tally.unmetered, before);
    let never = ended(Exit::NeverStarted, Outcome::Failed(Failure::Crashed));
    assert_eq!(end(&talking(), never).tally.unmetered, before, "it used nothing");
}

fn limited(until: Option<Time>) -> Ended {
    failed(Failure::Limited(until))
}

#[test]
fn a_limit_of_unknown_length_is_probed_less_and_less_often_and_burns_nothing() {
    let mut task = talking();
    let mut now = NOW;
    let mut waits = Vec::new();
    for _ in 0..6 {
        let events = decide(&task, &end_of(&task, limited(None), sight(OPEN)).into(), &Actor::worker(), now).unwrap();
        task = fold(task, &events);
        let State::Waiting { why: Wait::Limit, until: Some(until), .. } = task.state else {
            panic!("{:?}", task.state)
        };
        waits.push(until.since(now).as_secs() / 60);
        assert_eq!((task.tally.failures, live(&next(&task, until)).agent.as_str()), (0, "demo"));
        now = until;
        task = next(&task, until);
    }
    assert_eq!(waits, [5, 10, 20, 40, 60, 60]);
}

/// Opencode hands on what a server says with each refusal, such as a second, for ever.
#[test]
fn a_limit_that_lasts_longer_than_told_is_believed_less_and_less() {
    let mut task = talking();
    let mut now = NOW;
    let mut waits = Vec::new();
    for _ in 0..5 {
        let told = limited(Some(now.after(Duration::from_secs(2))));
        let events = decide(&task, &end_of(&task, told, sight(OPEN)).into(), &Actor::worker(), now).unwrap();
        task = fold(task, &events);
        let State::Waiting { why: Wait::Limit, until: Some(until), .. } = task.state else {
            panic!("{:?}", task.state)
        };
        waits.push(until.since(now).as_secs() / 2 * 2);
        now = until;
        task = next(&task, until);
    }
    assert_eq!(waits, [2, 14, 30, 60, 120]);
    let crashed = next(&end(&task, died(Delivered::Yes)), LATER);
    assert_eq!(crashed.tally.limits, 0, "it was not limited in between");
}

fn two_agents(on_limit: OnLimit) -> Task {
    with(talking(), |submission| {
        submission.on_limit = on_limit;
        submission.fallbacks = vec!["other".into()];
    })
}

#[test]
fn a_limited_agent_is_replaced_and_returned_to_when_its_quota_is_back() {
    let until = NOW.after(Duration::from_secs(600));
    let task = end(&two_agents(OnLimit::Switch), limited(Some(until)));
    let other = next(&task, NOW);
    let run = live(&other);
    assert_eq!((run.agent.as_str(), run.resumes.as_deref()), ("other", None));
    assert!(matches!(&run.opening, Opening::TakeOver { from } if from == "demo"));
    let back = next(&end(&other, completed()), LATER);
    assert_eq!(live(&back).agent, "demo");
}

#[test]
fn when_every_agent_is_limited_the_first_to_come_back_is_waited_for() {
    let until = |seconds| NOW.after(Duration::from_secs(seconds));
    let task = next(&end(&two_agents(OnLimit::Switch), limited(Some(until(900)))), NOW);
    let task = end(&task, limited(Some(until(600))));
    let State::Waiting { why: Wait::Limit, until: Some(wakes), .. } = task.state else { panic!("{:?}", task.state) };
    assert!(wakes >= until(600) && wakes < until(602));
    assert_eq!(live(&next(&task, wakes)).agent, "other");
}

#[test]
fn a_limit_asks_or_stops_where_a_person_wants_that() {
    let until = Some(NOW.after(Duration::from_secs(600)));
    let asks = end(&two_agents(OnLimit::Ask), limited(until));
    assert!(matches!(&asks.state, State::NeedsHelp { reason: HelpReason::UsageLimit { .. }, .. }));
    let stopped = end(&two_agents(OnLimit::Stop), limited(until));
    assert!(matches!(&stopped.state, State::Stopped { reached: Reached { limit: Limit::Usage, .. }, .. }));
    let again = feed(&stopped, Command::Resume { reason: None, settings: Vec::new() }, &person());
    assert!(matches!(next(&fold(again, &[claimed()]), NOW).state, State::Working { .. }));
}

#[test]
fn an_empty_account_is_for_a_person_unless_another_agent_can_go_on() {
    let empty = || failed(Failure::Exhausted("quota exceeded".into()));
    let asks = end(&two_agents(OnLimit::Wait), empty());
    assert!(matches!(&asks.state, State::NeedsHelp { reason: HelpReason::Exhausted { .. }, .. }));
    let goes_on = next(&end(&two_agents(OnLimit::Switch), empty()), NOW);
    assert_eq!(live(&goes_on).agent, "other");
}

#[test]
fn an_agent_that_cannot_be_used_is_left_out_and_the_first_is_returned_to() {
    let refused = || failed(Failure::Configuration("no such model".into()));
    let later = NOW.after(Duration::from_secs(600));
    let other = next(&end(&two_agents(OnLimit::Switch), limited(Some(later))), NOW);
    let waits = end(&other, refused());
    assert!(matches!(waits.state, State::Waiting { why: Wait::Limit, until: Some(until), .. } if until < LATER));
    assert_eq!(live(&next(&waits, LATER)).agent, "demo", "its quota is back; the other's model is not");
    assert_eq!(
        waits.unavailable("other", LATER),
        Some(Unavailable::Unusable("the agent refuses to work: no such model"))
    );
    let cause = Cause::Program { why: "`other` is not on PATH".into() };
    let limited_first = end(&two_agents(OnLimit::Switch), limited(Some(later)));
    let missing = feed(&limited_first, Observation::CannotPrepare { cause: cause.clone() }, &Actor::worker());
    assert!(matches!(missing.state, State::Waiting { why: Wait::Limit, .. }), "{:?}", missing.state);
    let nobody = end(&next(&waits, LATER), refused());
    assert!(matches!(nobody.state, State::NeedsHelp { reason: HelpReason::AgentRefuses { .. }, .. }));
    let alone = feed(&end(&talking(), completed()), Observation::CannotPrepare { cause }, &Actor::worker());
    assert!(matches!(alone.state, State::Blocked { cause: Cause::Program { .. }, .. }));
}

/// The first agent is limited in the middle of a step, and the stand-in ends like this; then the first one is back.
fn returned(stand_in: Ended, usage: Usage) -> (Option<String>, Opening) {
    let until = NOW.after(Duration::from_secs(600));
    let interrupted = Ended { delivered: Delivered::Yes, ..limited(Some(until)) };
    let other = next(&end(&two_agents(OnLimit::Switch), interrupted), NOW);
    let said = Said { conversation: Some("o-1".into()), usage };
    let read = Observation::SessionRead { session: live(&other).id, read: ReadTo::default(), said };
    let task = next(&end(&feed(&other, read, &Actor::worker()), stand_in), LATER);
    assert_eq!(live(&task).agent, "demo");
    (live(&task).resumes.clone(), live(&task).opening.clone())
}

#[test]
fn a_stand_in_that_did_nothing_costs_the_first_agent_no_conversation() {
    let id = || Some("c-1".to_owned());
    let much_later = Some(LATER.after(Duration::from_secs(600)));
    let used = Usage { input: Some(5), output: Some(1), cost_micros: None };
    assert_eq!(returned(limited(much_later), Usage::default()), (id(), Opening::Continue));
    assert_eq!(returned(limited(much_later), used), (id(), Opening::Again), "it did something: the whole prompt again");
    assert_eq!(returned(died(Delivered::Yes), Usage::default()), (id(), Opening::Again), "what it did is unknown");
    assert_eq!(returned(completed(), used), (None, Opening::Fresh), "what was interrupted is over");
}

#[test]
fn a_login_that_worked_may_be_refused_for_a_moment() {
    let refuse = |task: &Task| end(task, failed(Failure::Auth("401".into())));
    let first = refuse(&talking());
    assert!(matches!(first.state, State::Waiting { why: Wait::Backoff, .. }), "{:?}", first.state);
    let recovered = end(&next(&first, LATER), completed());
    assert_eq!(recovered.tally.refusals, 0);
    let third = refuse(&next(&refuse(&next(&first, LATER)), LATER));
    assert!(matches!(&third.state, State::NeedsHelp { reason: HelpReason::AgentRefuses { .. }, .. }));
    let never_worked =
        feed(&planning(), end_of(&planning(), failed(Failure::Auth("401".into())), nothing_there()), &Actor::worker());
    assert!(matches!(&never_worked.state, State::NeedsHelp { reason: HelpReason::AgentRefuses { .. }, .. }));
    let resume = Command::Resume { reason: Some("logged in".into()), settings: Vec::new() };
    let again = fold(feed(&third, resume, &person()), &[claimed()]);
    let refused_again = refuse(&next(&again, LATER));
    assert!(matches!(refused_again.state, State::NeedsHelp { .. }), "what a person did not fix is asked again at once");
}

fn shared(until: Time) -> AccountLimit {
    let task = crate::ids::TaskId::mint(NOW, [77; 10]);
    AccountLimit { account: "demo of ann".into(), agent: "demo".into(), until, told: true, task }
}

/// A task that is about to start a session and hears of a limit that another one has reached.
fn learning(on_limit: OnLimit, limit: &AccountLimit) -> Task {
    let task = end(&two_agents(on_limit), completed());
    feed(&task, Observation::AccountsLimited { limits: vec![limit.clone()] }, &Actor::worker())
}

#[test]
fn a_limit_that_another_task_reached_is_treated_like_an_own_one() {
    let limit = shared(LATER);
    let waits = learning(OnLimit::Wait, &limit);
    assert!(matches!(waits.state, State::Waiting { why: Wait::Limit, until: Some(until), .. } if until == LATER));
    assert_eq!(
        (waits.tally.limits, waits.unknown_limits(std::slice::from_ref(&limit), NOW)),
        (0, Vec::new()),
        "it is known now"
    );
    assert!(matches!(learning(OnLimit::Ask, &limit).state, State::NeedsHelp { .. }));
    assert!(matches!(learning(OnLimit::Stop, &limit).state, State::Stopped { .. }));
    let switches = learning(OnLimit::Switch, &limit);
    assert_eq!(live(&next(&switches, NOW)).agent, "other");
    let task = end(&talking(), completed());
    assert_eq!(task.unknown_limits(&[shared(NOW)], NOW), [], "it is over");
    let of_another = AccountLimit { agent: "third".into(), ..limit.clone() };
    let own = AccountLimit { task: task.id, ..limit };
    assert_eq!(task.unknown_limits(&[of_another, own], NOW), []);
}

#[test]
fn an_account_is_limited_by_who_reached_it_and_cleared_by_an_answer_or_a_person() {
    let account = || Some("demo of ann".to_owned());
    let until = NOW.after(Duration::from_secs(600));
    let before = talking();
    let reached = end(&before, Ended { account: account(), ..limited(Some(until)) });
    let [AccountChange::Reached(limit)] = &account_changes(&before, &reached)[..] else { panic!("one limit") };
    assert_eq!((limit.agent.as_str(), limit.task, Some(limit.account.clone())), ("demo", before.id, account()));
    let cleared = vec![AccountChange::Cleared { account: limit.account.clone(), until: limit.until }];
    let again = next(&reached, LATER);
    assert_eq!(account_changes(&reached, &again), [], "a session that starts says nothing");
    assert_eq!(account_changes(&again, &end(&again, completed())), cleared);
    let chosen = feed(&reached, Command::Edit { settings: vec![Setting::Agent("demo".into())] }, &person());
    assert_eq!(account_changes(&reached, &chosen), cleared);
    let learned = learning(OnLimit::Wait, &shared(LATER));
    assert_eq!(account_changes(&end(&two_agents(OnLimit::Wait), completed()), &learned), [], "it is the other's");
    let unknown = end(&talking(), limited(Some(until)));
    assert_eq!(account_changes(&talking(), &unknown), [], "the account is unknown");
}

#[test]
fn a_limit_outlasts_a_pause_and_is_of_one_agent_alone() {
    let until = NOW.after(Duration::from_secs(600));
    let task = end(&two_agents(OnLimit::Wait), limited(Some(until)));
    let paused = feed(&task, Command::Pause { mode: StopMode::Graceful }, &person());
    let resume = |settings| Command::Resume { reason: None, settings };
    let same = fold(feed(&paused, resume(Vec::new()), &person()), &[claimed()]);
    assert!(matches!(next(&same, NOW).state, State::Waiting { why: Wait::Limit, .. }));
    let other = fold(feed(&paused, resume(vec![Setting::Agent("other".into())]), &person()), &[claimed()]);
    assert_eq!(live(&next(&other, NOW)).agent, "other");
}

#[test]
fn what_a_person_says_of_the_task_counts_before_what_is_declared_of_an_agent() {
    let table = serde_json::json!({ "silence": "10m", "wall": "1h", "arguments": [] });
    let mut submission = Submission::clone(&talking().submission);
    submission.declared.insert("codex".into(), table);
    submission.set(&Setting::Silence(Some(3000)));
    assert_eq!(submission.declared["codex"], serde_json::json!({ "wall": "1h", "arguments": [] }));
    submission.set(&Setting::Wall(None));
    assert_eq!(submission.declared["codex"], serde_json::json!({ "arguments": [] }));
}

#[test]
fn what_never_ran_changes_no_conversation() {
    let first = end(&talking(), died(Delivered::Yes));
    let second = next(&first, LATER);
    let never = ended(Exit::NeverStarted, Outcome::Failed(Failure::Crashed));
    let third = next(&end(&second, never), LATER);
    assert_eq!((live(&third).resumes.as_deref(), &live(&third).opening), (Some("c-1"), &Opening::Continue));
}

#[test]
fn a_wait_ends_when_a_person_lets_another_agent_go_on() {
    let until = Some(NOW.after(Duration::from_secs(600)));
    let task = end(&two_agents(OnLimit::Wait), limited(until));
    let settings = vec![Setting::OnLimit(OnLimit::Switch)];
    let task = feed(&task, Command::Edit { settings }, &person());
    assert_eq!(live(&next(&task, NOW)).agent, "other");
}

#[test]
fn a_choice_of_fresh_sessions_counts_from_the_next_one_on() {
    let task = end(&talking(), failed(Failure::Crashed));
    assert!(task.conversation_id().is_some(), "the control: it would be resumed");
    let settings = vec![Setting::Context(Context::Fresh)];
    let task = feed(&task, Command::Edit { settings }, &person());
    let State::Waiting { until: Some(until), .. } = task.state else { panic!("{:?}", task.state) };
    let session = live(&next(&task, until)).clone();
    assert_eq!(session.resumes, None);
    assert!(matches!(session.opening, Opening::Handover { .. }));
}

#[test]
fn an_agent_that_a_person_chooses_is_tried_at_once() {
    let until = Some(NOW.after(Duration::from_secs(600)));
    let task = end(&talking(), limited(until));
    assert!(matches!(task.state, State::Waiting { why: Wait::Limit, .. }));
    let agent = Setting::Agent(task.submission.agent.clone());
    let settings = vec![agent, Setting::Model(Some("another".into()))];
    let task = feed(&task, Command::Edit { settings }, &person());
    assert!(matches!(task.state, State::Preparing), "{:?}", task.state);
}

#[test]
fn what_was_refused_and_left_undone_is_asked() {
    let denied = vec!["Bash: rm -rf build".to_owned()];
    let task = end(&talking(), Ended { denied: denied.clone(), ..completed() });
    assert!(
        matches!(&task.state, State::NeedsHelp { reason: HelpReason::Permission { what }, .. } if *what == denied[0])
    );
    let progress =
        feed(&talking(), end_of(&talking(), Ended { denied, ..completed() }, sight(&[true, false])), &Actor::worker());
    assert!(matches!(progress.state, State::Preparing));
    let asked = end(&talking(), failed(Failure::Permission("edit /etc/hosts".into())));
    assert!(matches!(&asked.state, State::NeedsHelp { reason: HelpReason::Permission { .. }, .. }));
}

#[test]
fn outside_its_hours_a_task_waits_for_them() {
    let opens = NOW.after(Duration::from_secs(60));
    let task = end(&talking(), completed());
    let Observation::Prepared { session, plan, tree, phase, files, basis, .. } = prepared(session_id(7), sight(OPEN))
    else {
        unreachable!()
    };
    let look = Observation::Prepared { session, plan, tree, phase, files, basis, opens: Some(opens), saved: None };
    let task = feed(&task, look, &Actor::worker());
    assert!(matches!(task.state, State::Waiting { why: Wait::Hours, until: Some(until), .. } if until == opens));
    assert!(matches!(next(&task, opens).state, State::Working { .. }));
    let other = feed(&task, Command::Edit { settings: vec![Setting::Attempts(9)] }, &person());
    assert_eq!(other.state, task.state, "other changes do not move it");
    let hours = Some("01:00-02:00".parse().unwrap());
    let other = feed(&task, Command::Edit { settings: vec![Setting::Hours(hours)] }, &person());
    assert!(matches!(other.state, State::Preparing), "with other hours it looks again");
}

#[test]
fn an_agent_is_out_until_a_time_or_until_a_person_helps_and_both_are_stored() {
    let person = Until::Person { why: "log in".into() };
    for until in [Until::Time { at: Time(5), told: true }, person] {
        let event = Event::AgentLimited { agent: "codex".into(), until, account: None, found_by: None };
        let stored = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&stored).unwrap(), event, "{stored}");
    }
}
