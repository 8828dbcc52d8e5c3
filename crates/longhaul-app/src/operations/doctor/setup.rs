//! Version and configuration: does it load, and what is ignored? One part of `doctor`.
//! A wrong value is not repeated: it may be a secret, and this text is part of bug reports.

use super::Patient;
use crate::config::Notice;
use crate::views::Finding;

const CONFIG: &str = "config";

pub(super) fn version() -> Finding {
    let (version, os, machine) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    let build = if cfg!(debug_assertions) { ", debug build" } else { "" };
    Finding::ok("version", format!("longhaul {version} on {os} {machine}{build}"))
}

pub(super) fn config(patient: &Patient<'_>) -> Vec<Finding> {
    let loaded = match &patient.config {
        Ok(loaded) => loaded,
        Err(error) => {
            return vec![Finding::problem(CONFIG, error.what.clone(), "`longhaul config show` shows where and why")];
        }
    };
    if loaded.notices.is_empty() {
        let facts = match loaded.settings.agent {
            Some(_) => "loads, nothing is ignored",
            None => "loads, nothing is ignored; no agent is set, `longhaul setup` chooses one",
        };
        return vec![Finding::ok(CONFIG, facts)];
    }
    loaded.notices.iter().map(notice).collect()
}

fn notice(notice: &Notice) -> Finding {
    match notice {
        Notice::Stranger { variable } => {
            let facts = format!("the variable `{variable}` is unknown and ignored");
            Finding::warning(CONFIG, facts, "unset it, or correct its name; `longhaul config reference` lists all")
        }
        Notice::Withheld { .. } => Finding::warning(CONFIG, notice.to_string(), "ask a person"),
        Notice::Ignored { project, standing, keys } => {
            let facts = format!(
                "`{}/longhaul.toml` is {}, so these keys are ignored: {}",
                project.display(),
                standing.name(),
                keys.join(", ")
            );
            Finding::warning(CONFIG, facts, format!("read it, then `longhaul trust '{}'`", project.display()))
        }
    }
}
