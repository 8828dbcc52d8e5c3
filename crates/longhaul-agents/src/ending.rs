//! What a verdict of the agent's own is worth beside the way its program ended.
//! Shared by agents whose exit codes say little.

use longhaul_core::task::{Exit, Failure, Outcome};

use crate::reading::{Reader, TurnEnd};

/// What the session came to by the agent's own verdict; none when only the exit and stderr can tell.
pub(crate) fn by_verdict(reader: &Reader, exit: &Exit) -> Option<Outcome> {
    let verdict = reader.verdict.as_ref()?;
    match (verdict, exit) {
        (Outcome::Failed(_), _) | (Outcome::Completed, Exit::Code(0)) => Some(verdict.clone()),
        // Whatever killed the program after its turn was over took nothing from that turn.
        (Outcome::Completed, Exit::Signal(_)) if reader.over == Some(TurnEnd::Done) => Some(Outcome::Completed),
        (Outcome::Completed, Exit::Code(_) | Exit::Signal(_)) => None,
        (Outcome::Completed, Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown) => None,
    }
}

/// The end of a session that nobody can explain.
pub(crate) fn crashed() -> Outcome {
    Outcome::Failed(Failure::Crashed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(verdict: Option<Outcome>, over: Option<TurnEnd>, exit: &Exit) -> Option<Outcome> {
        by_verdict(&Reader { verdict, over, ..Reader::default() }, exit)
    }

    #[test]
    fn a_finished_turn_survives_a_signal_but_no_failure_code_and_no_unknown_exit() {
        let done = Some(Outcome::Completed);
        assert_eq!(judge(done.clone(), Some(TurnEnd::Done), &Exit::Code(0)), done);
        assert_eq!(judge(done.clone(), Some(TurnEnd::Done), &Exit::Signal(15)), done);
        assert_eq!(judge(done.clone(), None, &Exit::Signal(15)), None);
        assert_eq!(judge(done.clone(), Some(TurnEnd::Done), &Exit::Code(1)), None);
        assert_eq!(judge(done, Some(TurnEnd::Done), &Exit::Unknown), None);
    }

    #[test]
    fn a_failure_the_agent_told_counts_however_it_ended() {
        let failed = Some(Outcome::Failed(Failure::ContextFull));
        for exit in [Exit::Code(0), Exit::Code(1), Exit::Signal(9), Exit::Unknown] {
            assert_eq!(judge(failed.clone(), None, &exit), failed);
        }
        assert_eq!(judge(None, Some(TurnEnd::Done), &Exit::Code(0)), None);
    }
}
