//! What an operation found damaged in the store while it answered with the rest: collected by the call, and one warning of the answer.
//! Changes never come here: on a damaged task they fail.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_store::Damaged;

/// Damaged rows, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Damage(Arc<Mutex<BTreeMap<String, String>>>);

impl Damage {
    pub(crate) fn add(&self, damaged: Vec<Damaged>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(damaged.into_iter().map(|Damaged { row, what }| (row, what)));
    }

    /// How much there is, with an example.
    pub(crate) fn sentence(&self) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (row, what) = known.first_key_value()?;
        Some(format!(
            "stored data is damaged, and what you see may lack changes: {} record(s), such as {row} ({what}); \
             `longhaul store check` lists all damage",
            known.len()
        ))
    }
}
