//! The store: does it open, is its schema known, and is everything in it sound.
//! One part of `doctor`; it repairs nothing.

use longhaul_app::{AppError, Call, ErrorKind};
use longhaul_store::Damaged;

use super::Patient;
use super::finding::Finding;

const STORE: &str = "store";

pub(super) async fn look(patient: &Patient) -> Vec<Finding> {
    vec![match &patient.opened {
        Err(error) if error.kind == ErrorKind::NotFound => Finding::ok(STORE, "not there yet; the first task makes it"),
        Err(error) => {
            let advice = error.hints.first().cloned().unwrap_or_else(|| "see the guide on care".to_owned());
            Finding::problem(STORE, error.sentence(), advice)
        }
        Ok(call) => match check(call).await {
            Ok(damaged) => match damaged.first() {
                None => Finding::ok(STORE, "opens, its schema is known, every chain and every state is sound"),
                // Below a session other tasks are not to be told of.
                Some(first) => {
                    let first = if call.caller.actor.session.is_none() {
                        format!(", first {}: {}", first.row, first.what)
                    } else {
                        String::new()
                    };
                    let facts = format!("{} damaged row(s){first}", damaged.len());
                    Finding::problem(
                        STORE,
                        facts,
                        "`longhaul store check` names all; keep the file, then restore a backup",
                    )
                }
            },
            Err(error) => Finding::problem(STORE, error.sentence(), "keep the file; `longhaul store check` tells more"),
        },
    }]
}

async fn check(call: &Call) -> Result<Vec<Damaged>, AppError> {
    Ok(call.store()?.check().await?)
}
