//! A script that is a list: the first rule that fits a request answers it.
//! Used by tests that need a few answers and no program of their own.
//! A request that no rule fits is refused, so a forgotten rule shows.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::reply::{Refusal, Reply};
use crate::script::Script;
use crate::turn::{Dialect, Turn};

/// A list of rules.
#[derive(Default)]
pub struct Rules {
    rules: Vec<Rule>,
    otherwise: Option<Box<dyn Script>>,
}

/// One rule: what a request must be like, and the answer.
pub struct Rule {
    conditions: Vec<Condition>,
    most_uses: usize,
    uses: AtomicUsize,
    reply: Reply,
}

enum Condition {
    Dialect(Dialect),
    PromptHas(String),
    CallNumber(usize),
    ResultHas(String),
    AnswersPrompt,
}

impl Rules {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more rule at the end.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// The same with a script that answers what no rule fits.
    #[must_use]
    pub fn otherwise(self, script: impl Script + 'static) -> Self {
        Self { otherwise: Some(Box::new(script)), ..self }
    }
}

impl Rule {
    /// A rule that fits every request.
    #[must_use]
    pub fn new(reply: impl Into<Reply>) -> Self {
        Self { conditions: vec![], most_uses: usize::MAX, uses: AtomicUsize::new(0), reply: reply.into() }
    }

    /// Only requests of this interface.
    #[must_use]
    pub fn in_dialect(self, dialect: Dialect) -> Self {
        self.when(Condition::Dialect(dialect))
    }

    /// Only when the latest prompt contains `text`.
    #[must_use]
    pub fn when_prompt_has(self, text: impl Into<String>) -> Self {
        self.when(Condition::PromptHas(text.into()))
    }

    /// Only the model's call of this number in its conversation, counted from 1.
    #[must_use]
    pub fn on_call(self, number: usize) -> Self {
        self.when(Condition::CallNumber(number))
    }

    /// Only when a tool result since the latest prompt contains `text`.
    #[must_use]
    pub fn when_result_has(self, text: impl Into<String>) -> Self {
        self.when(Condition::ResultHas(text.into()))
    }

    /// Only when a prompt is to be answered, not a tool's result.
    #[must_use]
    pub fn when_prompted(self) -> Self {
        self.when(Condition::AnswersPrompt)
    }

    /// Only so many times.
    #[must_use]
    pub fn at_most(self, uses: usize) -> Self {
        Self { most_uses: uses, ..self }
    }

    fn when(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    fn fits(&self, turn: &Turn) -> bool {
        self.conditions.iter().all(|condition| condition.holds(turn))
    }

    /// Counts and compares at once, so that two requests at the same time can not share the last use.
    fn take_use(&self) -> bool {
        let take = |uses: usize| (uses < self.most_uses).then_some(uses + 1);
        self.uses.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok()
    }
}

impl Condition {
    fn holds(&self, turn: &Turn) -> bool {
        match self {
            Self::Dialect(dialect) => turn.dialect == *dialect,
            Self::PromptHas(text) => turn.last_prompt().contains(text),
            Self::CallNumber(number) => turn.calls_before() + 1 == *number,
            Self::ResultHas(text) => turn.results_since_prompt().any(|result| result.output.contains(text)),
            Self::AnswersPrompt => turn.answers_prompt(),
        }
    }
}

impl Script for Rules {
    fn answer(&self, turn: &Turn) -> Reply {
        if let Some(rule) = self.rules.iter().find(|rule| rule.fits(turn) && rule.take_use()) {
            return rule.reply.clone();
        }
        match &self.otherwise {
            Some(script) => script.answer(turn),
            None => {
                let body = json!({"error": {"message": "no rule of the script fits this request"}});
                Refusal::Raw { status: 400, headers: vec![], body }.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Rule, Rules};
    use crate::reply::{Refusal, Reply};
    use crate::script::Script;
    use crate::turn::{Delivery, Dialect, Entry, ToolResult, Turn};

    fn turn(history: Vec<Entry>) -> Turn {
        let (dialect, delivery) = (Dialect::Chat, Delivery::Stream);
        Turn { dialect, history, tools: vec![], model: String::new(), delivery, headers: vec![], body: Value::Null }
    }

    fn prompt(text: &str) -> Turn {
        turn(vec![Entry::Prompt(text.into())])
    }

    #[test]
    fn the_first_rule_that_fits_answers_as_often_as_it_may() {
        let rules = Rules::new()
            .rule(Rule::new(Reply::text("once")).when_prompt_has("red").at_most(1))
            .rule(Rule::new(Reply::text("then")).when_prompt_has("red"))
            .otherwise(|_: &Turn| Reply::text("else"));
        let answers = ["red", "red", "blue"].map(|text| rules.answer(&prompt(text)));
        assert_eq!(answers, [Reply::text("once"), Reply::text("then"), Reply::text("else")]);
    }

    #[test]
    fn calls_and_results_are_told_apart() {
        let rules = Rules::new()
            .rule(Rule::new(Reply::text("result")).when_result_has("42"))
            .rule(Rule::new(Reply::text("first")).on_call(1));
        let result = |output: &str| Entry::Returned(ToolResult { id: "1".into(), output: output.into() });
        let said = || Entry::Said("x".into());
        let asked = || Entry::Prompt("x".into());
        assert_eq!(rules.answer(&turn(vec![asked(), said(), result("is 42")])), Reply::text("result"));
        assert_eq!(rules.answer(&turn(vec![asked()])), Reply::text("first"));
        let old = turn(vec![asked(), said(), result("is 42"), asked()]);
        assert!(matches!(rules.answer(&old), Reply::Refuse(Refusal::Raw { status: 400, .. })));
    }
}
