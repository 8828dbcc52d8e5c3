//! Which agents a task may have together, and what follows from a change of them. Checked before anything is stored.
//! Used by everything that submits or edits a task.

use std::collections::BTreeMap;

use longhaul_core::task::{OnLimit, Setting, Submission};

use crate::error::{AppError, ErrorKind};

/// An agent cannot be a fallback of itself.
pub(super) fn refuse_twice(settings: &BTreeMap<String, String>) -> Result<(), AppError> {
    let Some(fallbacks) = settings.get("fallbacks") else { return Ok(()) };
    let fallbacks = fallbacks.split(',').map(str::trim).filter(|name| !name.is_empty());
    let agents: Vec<&str> = settings.get("agent").map(String::as_str).into_iter().chain(fallbacks).collect();
    let twice = agents.iter().enumerate().find(|(at, name)| agents[..*at].contains(name));
    match twice {
        None => Ok(()),
        Some((_, name)) => Err(AppError::new(ErrorKind::Usage, format!("--agents names `{name}` twice"))
            .hint("name each agent once, the preferred one first")),
    }
}

/// Whether a task that switches agents has another one: an error if this request asks for the switch, a warning if it was only configured.
pub(super) fn check_switch(
    submission: &Submission,
    settings: &BTreeMap<String, String>,
) -> Result<Option<String>, AppError> {
    let asked = settings.get("session.on_limit").and_then(|word| OnLimit::from_word(word)) == Some(OnLimit::Switch);
    if submission.on_limit != OnLimit::Switch || !submission.fallbacks.is_empty() {
        return Ok(None);
    }
    let agent = &submission.agent;
    if asked {
        let what = format!("cannot switch at a usage limit: `{agent}` is the task's only agent");
        return Err(AppError::new(ErrorKind::Usage, what).hint(format!("add others, as in --agents {agent},OTHER")));
    }
    Ok(Some(format!(
        "a usage limit should switch agents, but `{agent}` is the only one, so the task will wait; name others with \
         --agents {agent},OTHER"
    )))
}

/// The fallbacks without the first agent.
pub(super) fn others(agent: &str, fallbacks: &[String]) -> Vec<String> {
    fallbacks.iter().filter(|name| *name != agent).cloned().collect()
}

/// What follows from changes of a task: its new first agent is no longer a fallback, and one that stays the first is not chosen
/// again, which would forget its limit.
pub(super) fn complete(submission: &Submission, settings: &mut Vec<Setting>) -> Submission {
    if settings.iter().any(|setting| matches!(setting, Setting::Fallbacks(_))) {
        settings.retain(|setting| *setting != Setting::Agent(submission.agent.clone()));
    }
    let mut after = submission.clone();
    settings.iter().for_each(|setting| after.set(setting));
    let others = others(&after.agent, &after.fallbacks);
    if others != after.fallbacks {
        settings.push(Setting::Fallbacks(others.clone()));
        after.fallbacks = others;
    }
    after
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use longhaul_core::names::TaskName;
    use longhaul_core::task::{OnLimit, Setting, Submission};

    use super::{check_switch, complete, refuse_twice};

    fn submission() -> Submission {
        let name = TaskName::new("t").unwrap();
        let bare = Submission::new("g".into(), name, "/w".into(), "a".into());
        Submission { fallbacks: vec!["b".into(), "c".into()], on_limit: OnLimit::Switch, ..bare }
    }

    #[test]
    fn a_fallback_that_becomes_the_first_agent_is_none_any_more() {
        let mut settings = vec![Setting::Agent("b".into())];
        assert_eq!(complete(&submission(), &mut settings).fallbacks, ["c"]);
        assert_eq!(settings[1], Setting::Fallbacks(vec!["c".into()]));
        let mut settings = vec![Setting::Agent("d".into())];
        assert_eq!(complete(&submission(), &mut settings).fallbacks, ["b", "c"]);
        assert_eq!(settings.len(), 1);
        let mut settings = vec![Setting::Agent("a".into()), Setting::Fallbacks(vec!["d".into()])];
        assert_eq!(complete(&submission(), &mut settings).fallbacks, ["d"]);
        assert_eq!(settings, [Setting::Fallbacks(vec!["d".into()])], "`a` was the first already");
    }

    #[test]
    fn switching_without_others_is_refused_where_it_is_asked_for_and_told_where_it_is_configured() {
        let (asked, configured) = (given(&[("session.on_limit", "switch")]), given(&[]));
        let alone = Submission { fallbacks: Vec::new(), ..submission() };
        assert!(check_switch(&alone, &asked).is_err());
        assert!(check_switch(&submission(), &asked).unwrap().is_none());
        assert!(check_switch(&alone, &configured).unwrap().is_some());
        let waits = Submission { on_limit: OnLimit::Wait, ..alone };
        assert!(check_switch(&waits, &configured).unwrap().is_none());
    }

    fn given(settings: &[(&str, &str)]) -> BTreeMap<String, String> {
        settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn an_agent_is_named_once() {
        assert!(refuse_twice(&given(&[("agent", "a"), ("fallbacks", "b,a")])).is_err());
        assert!(refuse_twice(&given(&[("fallbacks", "b, b")])).is_err());
        assert!(refuse_twice(&given(&[("agent", "a"), ("fallbacks", "b")])).is_ok());
        assert!(refuse_twice(&given(&[("agent", "a"), ("fallbacks", "")])).is_ok());
    }
}
