//! Who is notified about a task, and on which occasions: part of the submission, taken from the configuration at submit.
//! Read by `notice` and by whoever delivers. It holds names of variables and never a secret value.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who is notified, and when.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notify {
    /// The occasions that cause a notice.
    pub on: Vec<Occasion>,
    /// Who is notified; each independently, in any order.
    pub targets: Vec<Target>,
    /// How long one try may take.
    pub timeout_ms: u64,
}

/// What a person may want to be notified of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// The task is done.
    Done,
    /// It was given up for now, because its checks do not pass or its sessions keep failing.
    Failed,
    /// Only a person can help.
    NeedsPerson,
    /// It waits for the end of an agent's usage limit.
    Limit,
    /// A limit of the task itself is used up.
    Stopped,
}

/// Where a notice goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "channel", rename_all = "snake_case")]
pub enum Target {
    /// A program of the person's.
    Command {
        /// The program and its arguments; no shell is asked.
        argv: Vec<String>,
    },
    /// A file that is written.
    File {
        /// Its path, in which `{name}`, `{task}` and `{occasion}` are replaced by the task's values.
        path: String,
    },
    /// A request to a server.
    Webhook {
        /// Where to, or `$NAME` for the variable that holds it.
        url: String,
        /// The name of the variable that holds the key of the signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret_env: Option<String>,
    },
    /// The desktop's own notifications.
    Desktop,
}

impl Notify {
    /// Whether nothing is ever sent.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Names of the variables that hold what only the deliverer is to know.
    pub fn variables(&self) -> Vec<String> {
        let named = self.targets.iter().flat_map(|target| match target {
            Target::Webhook { url, secret_env } => [url.strip_prefix('$'), secret_env.as_deref()],
            Target::Command { .. } | Target::File { .. } | Target::Desktop => [None, None],
        });
        named.flatten().map(str::to_owned).collect()
    }

    /// Whether this occasion causes a notice.
    pub fn wants(&self, occasion: Occasion) -> bool {
        self.on.contains(&occasion)
    }
}

spelled!(Occasion: Done = "done", Failed = "failed", NeedsPerson = "needs_person", Limit = "limit", Stopped = "stopped");

impl Occasion {
    /// As people read it, after the task's name.
    pub fn phrase(self) -> &'static str {
        match self {
            Occasion::Done => "is done",
            Occasion::Failed => "failed",
            Occasion::NeedsPerson => "needs you",
            Occasion::Limit => "is waiting for a usage limit to reset",
            Occasion::Stopped => "reached a limit and stopped",
        }
    }
}

impl Target {
    /// The way it goes, as stored and shown.
    pub fn channel(&self) -> &'static str {
        match self {
            Target::Command { .. } => "command",
            Target::File { .. } => "file",
            Target::Webhook { .. } => "webhook",
            Target::Desktop => "desktop",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Command { argv } => write!(f, "command `{}`", argv.first().map_or("", String::as_str)),
            Target::File { path } => write!(f, "file `{path}`"),
            Target::Webhook { url, .. } => write!(f, "webhook `{url}`"),
            Target::Desktop => f.write_str(self.channel()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occasion_has_one_spelling() {
        let words: Vec<&str> = Occasion::ALL.into_iter().map(Occasion::word).collect();
        assert_eq!(words, Occasion::WORDS);
        for occasion in Occasion::ALL {
            assert_eq!(Occasion::from_word(occasion.word()), Some(occasion));
            assert_eq!(serde_json::to_value(occasion).unwrap(), occasion.word());
        }
        assert_eq!(Occasion::from_word("finished"), None);
    }

    #[test]
    fn the_variables_of_a_server_are_named() {
        let webhook = |url: &str, secret: Option<&str>| Target::Webhook {
            url: url.into(),
            secret_env: secret.map(str::to_owned),
        };
        let targets = vec![Target::Desktop, webhook("https://a.example/$X", None), webhook("$HOOK", Some("KEY_OF_IT"))];
        let notify = Notify { targets, ..Notify::default() };
        assert_eq!(notify.variables(), ["HOOK", "KEY_OF_IT"]);
    }

    #[test]
    fn targets_are_stored_by_their_channel() {
        let webhook = Target::Webhook { url: "$HOOK".into(), secret_env: None };
        let command = Target::Command { argv: vec!["a".into()] };
        for target in [command, Target::File { path: "/f".into() }, webhook, Target::Desktop] {
            let json = serde_json::to_value(&target).unwrap();
            assert_eq!(json["channel"], target.channel());
            assert_eq!(serde_json::from_value::<Target>(json).unwrap(), target);
        }
    }
}
