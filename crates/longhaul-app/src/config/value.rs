//! One value on its way from a file, a variable or a flag into the settings, and the fields of the settings that take one.
//! `kind.rs` makes values from raw input; nothing here knows keys or layers.

use std::time::Duration;

use longhaul_core::task::{ChecksIn, Context, Hours, OnLimit, Sandbox};

/// A value as written, before a key's kind has read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Raw {
    /// A word from the environment or the command line, which is untyped.
    Word(String),
    /// A string of a file.
    Text(String),
    /// An integer of a file.
    Integer(i64),
    /// A decimal of a file, as it was written.
    Decimal(String),
    /// A boolean of a file.
    Flag(bool),
    /// Strings of a file or of a repeated flag.
    List(Vec<String>),
    /// Something no key takes, with a description.
    Other(&'static str),
}

/// What a key is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Explicitly nothing: no limit, no model.
    Nothing,
    /// Yes or no.
    Flag(bool),
    /// A count, bytes, milliseconds, or millionths of a dollar.
    Number(u64),
    /// A name, or one of several words.
    Text(String),
    /// Commands or names.
    List(Vec<String>),
}

impl Value {
    /// Whether this limit is at most as high as the other one. `Nothing` means no limit, so it is the highest.
    pub(crate) fn is_at_most(&self, other: &Value) -> bool {
        match (self, other) {
            (_, Value::Nothing) => true,
            (Value::Number(own), Value::Number(other)) => own <= other,
            _ => false,
        }
    }
}

/// A field of the settings that holds one value.
pub(crate) trait Slot {
    /// Stores a value; returns false if the type is wrong, which the key's kind prevents.
    fn put(&mut self, value: Value) -> bool;
    /// The value in it.
    fn get(&self) -> Value;
}

/// Fields that hold a value as it is.
macro_rules! plain_slot {
    ($($type:ty: $kind:ident),+) => {
        $(impl Slot for $type {
            fn put(&mut self, value: Value) -> bool {
                let Value::$kind(value) = value else { return false };
                *self = value;
                true
            }

            fn get(&self) -> Value {
                Value::$kind(self.clone())
            }
        })+
    };
}

plain_slot!(bool: Flag, u64: Number, String: Text, Vec<String>: List);

impl Slot for u32 {
    fn put(&mut self, value: Value) -> bool {
        let Value::Number(number) = value else { return false };
        u32::try_from(number).map(|number| *self = number).is_ok()
    }

    fn get(&self) -> Value {
        Value::Number(u64::from(*self))
    }
}

impl Slot for Duration {
    fn put(&mut self, value: Value) -> bool {
        let Value::Number(millis) = value else { return false };
        *self = Duration::from_millis(millis);
        true
    }

    fn get(&self) -> Value {
        Value::Number(millis(*self))
    }
}

/// A length of time as a value.
pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Choices that are stored as enums, and read and shown as words.
macro_rules! choice_slot {
    ($($type:ty),+) => {
        $(impl Slot for $type {
            fn put(&mut self, value: Value) -> bool {
                let Value::Text(word) = value else { return false };
                <$type>::from_word(&word).map(|choice| *self = choice).is_some()
            }

            fn get(&self) -> Value {
                Value::Text(self.to_string())
            }
        })+
    };
}

choice_slot!(ChecksIn, Sandbox, Context, OnLimit);

/// `Hours` has no default, so only `Option<Hours>` is a slot.
impl Slot for Option<Hours> {
    fn put(&mut self, value: Value) -> bool {
        let hours = match value {
            Value::Nothing => Some(None),
            Value::Text(text) => text.parse().ok().map(Some),
            Value::Flag(_) | Value::Number(_) | Value::List(_) => None,
        };
        hours.map(|hours| *self = hours).is_some()
    }

    fn get(&self) -> Value {
        self.map_or(Value::Nothing, |hours| Value::Text(hours.to_string()))
    }
}

impl<T: Slot + Default> Slot for Option<T> {
    fn put(&mut self, value: Value) -> bool {
        if value == Value::Nothing {
            *self = None;
            return true;
        }
        let mut inner = T::default();
        let taken = inner.put(value);
        if taken {
            *self = Some(inner);
        }
        taken
    }

    fn get(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, Slot::get)
    }
}
