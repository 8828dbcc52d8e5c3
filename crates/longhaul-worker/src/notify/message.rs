//! The message of a notice, the same on every channel: facts from the store, redacted. The sender makes it, the channels deliver it.
//! Agent output reaches it only through the sentence of an event. Nothing reads a message back.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Event, Submission, Task, narrate, state_phrase};
use longhaul_core::time::Time;
use longhaul_store::Notice;
use serde::Serialize;

use longhaul_app::{mint_task, now};
use longhaul_keeper::Environment;

/// Longer sentences are cut; the report has the rest.
const LONGEST_SENTENCE: usize = 2_000;

/// One message, as the JSON of every channel has it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Message {
    /// The version of this form.
    v: u32,
    /// The same for every try and every target of one notice, so that a repeat is recognised.
    notice: String,
    pub(crate) task: TaskId,
    pub(crate) name: String,
    /// Where the task was submitted.
    pub(crate) project: String,
    pub(crate) occasion: &'static str,
    /// The state that the task entered.
    pub(crate) state: String,
    /// When the task entered it.
    at: String,
    /// What happened, in the words of `longhaul why`.
    pub(crate) message: String,
    /// Steps done of all, once there is a plan.
    progress: Option<String>,
    /// The command that shows what to do next.
    next: String,
    /// The command that prints the report.
    report: String,
    /// It never starts with a hyphen, because task names never do.
    #[serde(skip)]
    pub(crate) title: String,
    /// The variables of the shell that the task was submitted in, as far as they are known.
    #[serde(skip)]
    pub(crate) environment: Environment,
}

/// The event that a notice is about.
pub(crate) struct Reason {
    pub(crate) at: Time,
    pub(crate) event: Event,
}

impl Message {
    /// The message of this notice.
    pub(crate) fn new(notice: &Notice, task: &Task, reason: Option<&Reason>, environment: &Environment) -> Message {
        let Submission { name, project, secret_names, .. } = &*task.submission;
        let safe = |text: &str| environment.mask(text, secret_names).0;
        let at = reason.map_or(notice.created, |reason| reason.at).rfc3339();
        let why = reason.map_or_else(String::new, |reason| format!(": {}", narrate(&reason.event)));
        let name = safe(name.as_ref());
        Message {
            v: 1,
            notice: format!("{}/{}", notice.task, notice.seq),
            task: notice.task,
            project: safe(project),
            occasion: notice.occasion.word(),
            state: notice.stands.clone(),
            message: cut(&safe(&format!("{name} {} (since {at}){why}", state_phrase(&notice.stands)))),
            at,
            progress: task.plan.as_ref().map(|accepted| accepted.plan.progress()),
            // By id, because a name means something only in its project.
            next: format!("longhaul why {}", notice.task),
            report: format!("longhaul report {}", notice.task),
            title: format!("{name} {}", notice.occasion.phrase()),
            environment: environment.clone(),
            name,
        }
    }

    /// A message that says that messages arrive.
    pub(crate) fn test(environment: &Environment) -> Message {
        Message {
            v: 1,
            notice: "test".to_owned(),
            task: mint_task(),
            name: "test".to_owned(),
            project: String::new(),
            occasion: "test",
            state: "test".to_owned(),
            at: now().rfc3339(),
            message: "this is a test: notifications from Longhaul arrive here".to_owned(),
            progress: None,
            next: "longhaul list".to_owned(),
            report: "longhaul list".to_owned(),
            title: "Longhaul".to_owned(),
            environment: environment.clone(),
        }
    }

    /// The whole message.
    pub(crate) fn json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec(self).expect("a message of texts and numbers has a JSON spelling");
        json.push(b'\n');
        json
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SENTENCE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use longhaul_core::names::TaskName;
    use longhaul_core::task::{HelpReason, Occasion};
    use longhaul_store::NoticeState;

    use super::*;

    /// A message about a task that needs a person for this reason.
    pub(crate) fn sample(why: &str) -> Message {
        let name = TaskName::new("port-it").unwrap();
        let submission = Submission::new("goal".into(), name, "/p".into(), "demo".into());
        let (id, at) = (mint_task(), now());
        let task = Task::begin(id, &Event::Submitted { submission: submission.into() }, at).unwrap();
        let notice = Notice {
            id: 7,
            task: id,
            seq: 3,
            target: 0,
            occasion: Occasion::NeedsPerson,
            stands: "needs_help".into(),
            state: NoticeState::Pending,
            tries: 0,
            next_at: at,
            created: at,
            error: None,
        };
        let reason = HelpReason::AgentRefuses { why: why.into() };
        let event = Event::HelpNeeded { reason };
        Message::new(&notice, &task, Some(&Reason { at, event }), &Environment::of_process())
    }

    #[test]
    fn a_message_has_every_fact_and_no_secret() {
        let message = sample(&format!("log in with sk-ant-api03-{} first", "A".repeat(36)));
        let json: serde_json::Value = serde_json::from_slice(&message.json()).unwrap();
        for key in ["notice", "task", "name", "project", "occasion", "state", "at", "message", "next", "report"] {
            assert!(json[key].is_string(), "{key}: {json}");
        }
        let said = json["message"].as_str().unwrap();
        assert!(said.starts_with("port-it needs you (since ") && said.contains("the agent refuses"), "{said}");
        assert!(!said.contains("AAAAAAAA") && said.contains("redacted"), "{said}");
        assert_eq!(json["occasion"], "needs_person");
        assert!(
            json["next"].as_str().unwrap().contains(&message.task.to_string()),
            "a name alone means nothing elsewhere"
        );
        assert_eq!(message.title, "port-it needs you");
    }

    #[test]
    fn a_long_sentence_is_cut() {
        let message = sample(&"ä".repeat(10_000));
        assert!(message.message.chars().count() <= LONGEST_SENTENCE + 3);
    }
}
