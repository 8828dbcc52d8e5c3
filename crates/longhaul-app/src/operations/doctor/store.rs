//! The store: does it open, is its schema known, and is everything in it sound.
//! One part of `doctor`; it repairs nothing.

use longhaul_store::Damaged;

use super::Patient;
use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::views::Finding;

const STORE: &str = "store";

pub(super) async fn check(patient: &Patient<'_>) -> Vec<Finding> {
    vec![match &patient.opened {
        Err(error) if error.kind == ErrorKind::NotFound => {
            Finding::ok(STORE, "does not exist yet; the first task creates it")
        }
        Err(error) => {
            let advice = error.hints.first().cloned().unwrap_or_else(|| "read the guide on maintenance".to_owned());
            Finding::problem(STORE, error.sentence(), advice)
        }
        Ok(call) => match damage(call).await {
            Ok(damaged) => match damaged.first() {
                None => Finding::ok(STORE, "opens, its schema is known, every chain and every state is sound"),
                // An agent session must not learn of other tasks.
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
                        "`longhaul store check` lists all of them; keep the file, then restore a backup",
                    )
                }
            },
            Err(error) => Finding::problem(STORE, error.sentence(), "keep the file; `longhaul store check` shows more"),
        },
    }]
}

async fn damage(call: &Call) -> Result<Vec<Damaged>, AppError> {
    Ok(call.app.whole_store()?.check().await?)
}
