//! How a session began, what it may reach and whether its prompt arrived, in words: the one wording for `show`, `why` and the report.
//! Ids and reasons come from agents; whoever prints them makes them safe.

use longhaul_core::task::{Delivered, Opening, SessionRun, Submission};

/// How a session began.
pub fn opening(run: &SessionRun) -> String {
    if let (true, Some(asked), Some(got)) = (run.strayed(), &run.resumes, &run.conversation) {
        return format!("asked for conversation {asked}, got {got}");
    }
    match (&run.opening, &run.resumes) {
        (Opening::Handover { why }, _) => format!("in a new conversation, with a note, because {why}"),
        (Opening::TakeOver { from }, _) => format!("in a new conversation, with a note, taking over from {from}"),
        (Opening::Fresh | Opening::Continue | Opening::Again | Opening::Unsure, None) => "fresh".to_owned(),
        (Opening::Fresh, Some(id)) => format!("resumed conversation {id}"),
        (Opening::Continue, Some(id)) => format!("resumed conversation {id}, asked to continue"),
        (Opening::Again, Some(id)) => format!("resumed conversation {id} with a new prompt"),
        (Opening::Unsure, Some(id)) => {
            format!("resumed conversation {id}, which may already have the prompt, with one that is safe to read twice")
        }
    }
}

/// Whether it did not continue as intended: in a new conversation in the middle of the work, or in another one.
pub fn is_degraded(run: &SessionRun) -> bool {
    run.strayed() || matches!(run.opening, Opening::Handover { .. })
}

/// Whether the prompt arrived.
pub fn delivered(delivered: Delivered) -> &'static str {
    match delivered {
        Delivered::Yes => "is in the agent's transcript",
        Delivered::No => "is not in the agent's transcript",
        Delivered::NoTranscript => "unknown: there is no transcript of the conversation",
        Delivered::Unknown => "unknown",
    }
}

/// What `--network` means for each agent of a task that asks for it: the same flag is worth different things.
pub fn network(submission: &Submission) -> Vec<String> {
    let agents = submission.agents().filter(|_| submission.network);
    let known = agents.filter_map(|name| longhaul_agents::choose(name, &submission.declared).ok());
    known.map(|agent| format!("--network for {}: {}", agent.about().name, agent.about().modes.network)).collect()
}

#[cfg(test)]
mod tests {
    use crate::mint_session;
    use longhaul_core::task::{Opening, Purpose, SessionRun};
    use longhaul_core::time::Time;

    use super::{is_degraded, opening};

    fn run(how: Opening, resumes: Option<&str>, got: Option<&str>) -> SessionRun {
        let bare = SessionRun::new(mint_session(), 2, Purpose::Work, Time(0));
        SessionRun { opening: how, resumes: resumes.map(Into::into), conversation: got.map(Into::into), ..bare }
    }

    #[test]
    fn every_rung_has_its_words() {
        let handover = Opening::Handover { why: "conversation c is full".into() };
        let cases = [
            (run(Opening::Fresh, None, Some("c")), "fresh", false),
            (
                run(handover, None, Some("d")),
                "in a new conversation, with a note, because conversation c is full",
                true,
            ),
            (run(Opening::Continue, Some("c"), Some("c")), "resumed conversation c, asked to continue", false),
            (run(Opening::Again, Some("c"), None), "resumed conversation c with a new prompt", false),
            (run(Opening::Continue, Some("c"), Some("d")), "asked for conversation c, got d", true),
        ];
        for (run, words, degraded) in cases {
            assert_eq!((opening(&run).as_str(), is_degraded(&run)), (words, degraded));
        }
    }
}
