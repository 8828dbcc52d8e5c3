//! What answers: any function from a turn to a reply is a script.
//! Called by the server, once for each request and from several threads at a time.
//! Scripts with state of their own live in `rules` and here.

use std::time::{Duration, Instant};

use crate::reply::{Refusal, Reply};
use crate::turn::Turn;

/// Something that answers.
pub trait Script: Send + Sync {
    /// Answers one request.
    fn answer(&self, turn: &Turn) -> Reply;
}

impl<F: Fn(&Turn) -> Reply + Send + Sync> Script for F {
    fn answer(&self, turn: &Turn) -> Reply {
        self(turn)
    }
}

/// Refuses with a usage limit until `duration` after its first request, and then does what `then` does.
pub fn limited_for(duration: Duration, then: impl Script) -> impl Script {
    let end = std::sync::OnceLock::new();
    move |turn: &Turn| {
        let end = *end.get_or_init(|| Instant::now() + duration);
        match end.checked_duration_since(Instant::now()) {
            Some(left) => Refusal::UsageLimit { resets_in: left }.into(),
            None => then.answer(turn),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::Value;

    use super::{Script, limited_for};
    use crate::reply::{Refusal, Reply};
    use crate::turn::{Delivery, Dialect, Turn};

    #[test]
    fn a_limit_refuses_until_it_ends() {
        let (dialect, delivery) = (Dialect::Chat, Delivery::Stream);
        let (model, body) = (String::new(), Value::Null);
        let turn = Turn { dialect, history: vec![], tools: vec![], model, delivery, headers: vec![], body };
        let then = |_: &Turn| Reply::text("open");
        let Reply::Refuse(Refusal::UsageLimit { resets_in }) = limited_for(Duration::from_secs(9), then).answer(&turn)
        else {
            panic!("the limit has just begun");
        };
        assert!(resets_in <= Duration::from_secs(9) && resets_in > Duration::from_secs(1), "{resets_in:?}");
        assert_eq!(limited_for(Duration::ZERO, then).answer(&turn), Reply::text("open"));
    }
}
