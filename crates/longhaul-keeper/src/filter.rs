//! What output passes on its way to the logs: the redactor, told of every secret in the keeper's environment.
//!
//! The keeper asks for a maker of filters; each stream gets one at its first byte, so a silent program costs nothing.
//! The environment is the agent's and more, so a secret that was held back from the agent is masked as well.

use std::sync::Arc;

use longhaul_core::redact::{Redactor, Secrets};

use crate::logs::{Filter, MakeFilter};

/// Makes the maker.
pub(crate) fn make() -> MakeFilter {
    let mut known: Option<Arc<Secrets>> = None;
    Box::new(move || {
        let secrets = known.get_or_insert_with(|| Arc::new(own_secrets()));
        Box::new(Redactor::new(Arc::clone(secrets)))
    })
}

impl Filter for Redactor {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        Redactor::push(self, bytes, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        Redactor::finish(self, out);
    }
}

fn own_secrets() -> Secrets {
    let text = |part: std::ffi::OsString| part.to_string_lossy().into_owned();
    Secrets::from_env(std::env::vars_os().map(|(name, value)| (text(name), text(value))))
}
