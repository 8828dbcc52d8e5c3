//! The report as a Markdown page. Our own words are plain; everything foreign goes through `markdown`, and tables hold only our words.
//! Pure: it gets the facts and gives text.

use std::fmt::Write as _;

use longhaul_core::task::{Amount, Delivered, state_phrase};

use super::checks::{CheckFacts, EvidenceFacts, Shown};
use super::facts::TaskReport;
use super::markdown::{block, code};
use super::sessions::{SavedWork, SessionRow};
use crate::changed_files::FileChange;
use crate::describe;
use crate::views::{Choices, RunView, ShowView};

/// The whole page.
pub fn page(report: &TaskReport) -> String {
    let (is_tracked, run) = (report.show.is_tracked(), report.show.run.as_ref());
    let said = |run: &RunView| reports(run, if is_tracked { "the program" } else { "the agent" });
    let said = run.filter(|run| is_tracked || run.says_something()).map_or_else(String::new, said);
    // Of a run that an outside program executes there is less to tell.
    let mut parts = match is_tracked {
        true => vec![top_of_run(report), verification(report), said, people(report)],
        false => {
            let work = [top, verification, brief, plan, sessions].map(|part| part(report));
            let end = [changed, limits, usage_limits, people, trouble].map(|part| part(report));
            [&work[..], &[said], &end].concat()
        }
    };
    let next = format!("## Next step\n\n{}\n", sentence(&report.show.next_step));
    let details = if is_tracked { String::new() } else { details(report) };
    parts.extend([notices(report), details, next, rest(report)]);
    parts.retain(|part| !part.is_empty());
    let page = parts.join("\n");
    format!("{}\n", page.trim_end())
}

fn top(report: &TaskReport) -> String {
    let show = &report.show;
    let mut text = format!("# Report of task {}\n\n{}\n\n", code(&show.task.name), headline(show));
    for (label, value) in summary(report) {
        line(&mut text, format_args!("- {label}: {value}"));
    }
    for warning in &show.warnings {
        line(&mut text, format_args!("- Warning: {}", code(warning)));
    }
    line(&mut text, format_args!("\n## Goal\n\n{}", block(&show.goal)));
    text
}

/// What most readers want to know, in a few lines.
fn summary(report: &TaskReport) -> Vec<(&'static str, String)> {
    let (show, task) = (&report.show, &report.show.task);
    let since = report.because.as_ref().map(|event| format!("{}: {}", event.at, code(&event.what)));
    let checks = &show.verification.checks;
    let passed = checks.iter().filter(|check| check.result == Shown::Pass).count();
    let checks = (!checks.is_empty()).then(|| format!("{passed} of {} passed", checks.len()));
    let steps = task.progress.map(|steps| format!("{} of {} done", steps.done, steps.total));
    let cost = task.cost_usd.map_or_else(|| "cost unknown".to_owned(), |usd| format!("${usd:.2}"));
    let worked = Amount::Millis(task.worked_ms);
    let sessions = format!("{}, {worked} of work, {cost}", describe::count(task.sessions, "session"));
    let branch =
        show.workspace.branch.as_ref().map_or_else(String::new, |branch| format!(" on branch {}", code(branch)));
    let changed = report.changed_files.files.as_ref().map(|files| {
        let sum = |lines: fn(&FileChange) -> Option<u64>| files.iter().filter_map(lines).sum::<u64>();
        let total = report.changed_files.files_total.unwrap_or(files.len());
        let total = describe::count(u32::try_from(total).unwrap_or(u32::MAX), "file");
        format!("{total}, +{} -{}{branch}", sum(|file| file.added), sum(|file| file.removed))
    });
    [
        ("State", Some(state_phrase(&task.state).trim_start_matches("is ").to_owned())),
        ("Since", Some(since.unwrap_or_else(|| "unknown".to_owned()))),
        ("Checks", checks),
        ("Steps", steps),
        ("Sessions", Some(sessions)),
        ("Changed", changed),
        ("Agent", Some(agent(show))),
        ("Next", Some(show.next_step.clone())),
    ]
    .into_iter()
    .filter_map(|(label, value)| Some((label, value?)))
    .collect()
}

/// Ids, places and choices, for whoever looks into it.
fn details(report: &TaskReport) -> String {
    let (show, task, place) = (&report.show, &report.show.task, &report.show.workspace);
    let mut text = "## Details\n\n".to_owned();
    let branch = place.branch.as_ref().map_or_else(String::new, |branch| format!(" on branch {}", code(branch)));
    let base = place.base.as_ref().map_or_else(|| "unknown".to_owned(), |base| code(base));
    for (label, value) in [
        ("Task", task.id.clone()),
        ("Sandbox", sandbox(&show.choices)),
        ("Workspace", format!("{} ({}){branch}", code(&place.directory), place.kind.unwrap_or("not made yet"))),
        ("Started from commit", base),
        ("Task directory", code(&place.task_directory)),
        ("Submitted", task.created.clone()),
        ("Last event", task.updated.clone()),
    ] {
        line(&mut text, format_args!("- {label}: {value}"));
    }
    for words in &show.choices.network {
        line(&mut text, format_args!("- Network: {}", code(words)));
    }
    if !show.choices.prompts.is_empty() {
        line(&mut text, format_args!("- Own prompt templates: {}", show.choices.prompts.join(", ")));
    }
    if let Some(old) = &show.retry_of {
        line(&mut text, format_args!("- Retry of: task {old}"));
    }
    text
}

fn top_of_run(report: &TaskReport) -> String {
    let mut text = format!("# Report of task {}\n\n{}\n\n", code(&report.show.task.name), headline(&report.show));
    for (label, value) in [
        ("State", state_phrase(&report.show.task.state).trim_start_matches("is ").to_owned()),
        ("Task", report.show.task.id.clone()),
        ("Executed by", "an outside program, which reports here".to_owned()),
        ("Started", report.show.task.created.clone()),
        ("Last event", report.show.task.updated.clone()),
    ] {
        line(&mut text, format_args!("- {label}: {value}"));
    }
    line(&mut text, format_args!("\n## Goal\n\n{}", block(&report.show.goal)));
    text
}

/// What the program or the agents said. Their words are quoted, never believed.
fn reports(run: &RunView, who: &str) -> String {
    let mut text = format!("## Reported by {who}\n\n");
    match &run.summary {
        Some(summary) => line(&mut text, format_args!("{}", block(summary))),
        None => line(&mut text, format_args!("No summary.")),
    }
    if let Some(cursor) = &run.cursor {
        line(&mut text, format_args!("\nIt works at {}.", code(cursor)));
    }
    if let Some(at) = &run.said_done_at {
        line(&mut text, format_args!("\nIt said at {at} that it is done. That proves nothing."));
    }
    let shown = |heading: &str, kept: usize, total: u64| match kept as u64 {
        kept if kept == total => format!("### {heading}: {total}"),
        kept => format!("### {heading}: {total}, the newest {kept}"),
    };
    let completed = shown("Completed", run.completed.len(), run.completed_total);
    list(&mut text, &completed, &run.completed, |item| format!("- {}", code(item)));
    let failed = shown("Failed", run.failed.len(), run.failed_total);
    list(&mut text, &failed, &run.failed, |failed| format!("- {}: {}", code(&failed.item), code(&failed.reason)));
    list(&mut text, "### References, not verified", &run.references, |reference| {
        format!("- {}", code(&reference.words()))
    });
    if let (Some(checkpoint), Some(at)) = (&run.checkpoint, &run.checkpoint_at) {
        line(&mut text, format_args!("\n### Checkpoint of {at}\n\n{}", block(checkpoint)));
    }
    text
}

fn agent(show: &ShowView) -> String {
    let others: String = show.choices.fallbacks.iter().map(|name| format!(", then {}", code(name))).collect();
    let model = show.choices.model.as_ref().map_or_else(|| "not set".to_owned(), |name| code(name));
    format!("{}{others}, model {model}", show.task.agent)
}

fn sandbox(choices: &Choices) -> String {
    let hours = choices.hours.as_ref().map_or_else(String::new, |hours| format!(", sessions start at {hours} only"));
    format!("{}; context {}{hours}", choices.sandbox, choices.context)
}

/// What a hurried reader must not miss.
fn headline(show: &ShowView) -> String {
    match &show.result {
        Some(result) => {
            let since = show
                .task
                .followed_up
                .as_ref()
                .map_or_else(String::new, |came_to| format!("; {}", code(&came_to.words)));
            format!("**Done**: {}{since}", code(&result.headline))
        }
        None if show.task.is_finished => format!("**Not done**: {}", code(&show.status)),
        None => format!("**Not finished**: {}", code(&show.status)),
    }
}

fn verification(report: &TaskReport) -> String {
    let facts = &report.show.verification;
    let mut text = "## Verification\n\n".to_owned();
    match &facts.round {
        _ if !facts.possible => {
            line(&mut text, format_args!("There are no checks and no expected files, so nothing can be verified."));
        }
        None => line(&mut text, format_args!("The checks have not run on the current work.")),
        Some(round) => {
            let outcome = round.outcome.as_ref().map_or_else(|| "not finished".to_owned(), |words| code(words));
            line(&mut text, format_args!("Round {} of the checks: {outcome}", round.number));
        }
    }
    list(&mut text, "### Criteria", &facts.criteria, |criterion| {
        let shown = criterion
            .check
            .as_ref()
            .map_or_else(|| "no check command".to_owned(), |check| format!("checked by {}", code(check)));
        format!("- **{}**: {} ({shown})", criterion.result.word(), code(&criterion.text))
    });
    list(&mut text, "### Checks", &facts.checks, check);
    for failed in facts.checks.iter().filter(|check| check.result == Shown::Fail) {
        text.push_str(&last_output(failed));
    }
    list(&mut text, "### Expected files", &facts.expected_files, |file| {
        let hash = file.sha256.as_ref().map_or_else(String::new, |hash| format!(", SHA-256 {hash}"));
        format!("- **{}**: {}{hash}", file.result.word(), code(&file.path))
    });
    list(&mut text, "### Earlier rounds", &facts.earlier_rounds, |earlier| {
        let outcome = earlier.round.outcome.as_ref().map_or_else(|| "not finished".to_owned(), |words| code(words));
        let effects = earlier
            .effects()
            .map(|(command, what, names)| format!("\n  - {}, {what}: {}", code(command), code(&names.to_string())));
        format!("- Round {}: {outcome}{}", earlier.round.number, effects.collect::<String>())
    });
    text
}

fn check(check: &CheckFacts) -> String {
    let mut text = format!("- **{}**: {}", check.result.word(), code(&check.command));
    match &check.evidence {
        None => text.push_str("\n  - not run in this round"),
        Some(evidence) => text.push_str(&evidence_lines(evidence)),
    }
    text
}

/// The last a failed check printed: output of a program, quoted.
fn last_output(check: &CheckFacts) -> String {
    match &check.evidence {
        Some(evidence) if !evidence.output_tail.trim().is_empty() => {
            format!("\nThe end of the output of {}:\n\n{}\n", code(&check.command), block(&evidence.output_tail))
        }
        Some(_) | None => String::new(),
    }
}

fn evidence_lines(evidence: &EvidenceFacts) -> String {
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let failure = evidence.failure.as_ref().map_or_else(String::new, |why| format!("\n  - why: {}", code(why)));
    let files = evidence.effects().map(|(what, names)| format!("\n  - {what}: {}", code(&names.to_string())));
    let files: String = files.collect();
    format!(
        "\n  - session {}, {}, {}, ended {}{failure}\n  - output: {} bytes, SHA-256 {}\n  - tree before {}, after {}{files}\n  - full output: {}",
        evidence.session,
        code(&evidence.exit),
        Amount::Millis(evidence.lasted_ms),
        evidence.at,
        evidence.output_bytes,
        known(&evidence.output_sha256),
        known(&evidence.tree_before),
        known(&evidence.tree_after),
        code(&evidence.artifact),
    )
}

fn brief(report: &TaskReport) -> String {
    let mut text = String::new();
    list(&mut text, "## Constraints", &report.constraints, |constraint| format!("- {}", code(constraint)));
    list(&mut text, "## Inputs", &report.inputs, |file| {
        format!("- {}, SHA-256 at submit {}", code(&file.path), file.sha256)
    });
    text.trim_start().to_owned()
}

fn plan(report: &TaskReport) -> String {
    let mut text = "## Plan\n\n".to_owned();
    match &report.show.plan {
        None => line(&mut text, format_args!("No plan has been accepted.")),
        Some(plan) => {
            line(
                &mut text,
                format_args!(
                    "{} of {} steps are ticked (revision {}).\n",
                    plan.progress.done, plan.progress.total, plan.revision
                ),
            );
            for step in &plan.steps {
                let tick = if step.ticked { 'x' } else { ' ' };
                line(&mut text, format_args!("- [{tick}] Task {}: {}", step.number, code(&step.text)));
            }
        }
    }
    list(&mut text, "### Refused changes", &report.refused_plans, |refused| {
        format!("- {}: {}, kept as {}", refused.at, code(&refused.what), code(&refused.kept_as))
    });
    text
}

fn sessions(report: &TaskReport) -> String {
    if report.show.sessions.is_empty() {
        return "## Sessions\n\nNone.\n".to_owned();
    }
    let mut text = "## Sessions\n\n| # | purpose | agent | outcome | exit | time | tokens | cost | work | files |\n|--:|---|---|---|---|--:|--:|--:|---|---|\n".to_owned();
    for row in &report.show.sessions {
        line(&mut text, format_args!("{}", table_row(row)));
    }
    if report.show.degraded > 0 {
        line(
            &mut text,
            format_args!(
                "\n{} of them lost the conversation that they should have continued; see below.",
                report.show.degraded
            ),
        );
    }
    text.push('\n');
    for row in &report.show.sessions {
        line(&mut text, format_args!("- Session {}: {}{}", row.number, code(&row.artifact), session_details(row)));
    }
    text
}

fn table_row(row: &SessionRow) -> String {
    let unknown = || "unknown".to_owned();
    let exit = match row.exit.as_deref() {
        None => "",
        // The system's words about a program that could not be started belong below the table.
        Some(exit) if exit.starts_with("not started") => "not started",
        Some(exit) => exit,
    };
    let cost = row.cost_usd.map(|cost| format!("${cost:.2}"));
    let is_agent = row.agent.is_some();
    let used = |value: Option<String>| if is_agent { value.unwrap_or_else(unknown) } else { "-".to_owned() };
    format!(
        "| {} | {} | {} | {} | {exit} | {} | {} | {} | {} | {} |",
        row.number,
        row.purpose,
        row.agent.as_deref().unwrap_or("-"),
        row.outcome.unwrap_or("running"),
        row.lasted_ms.map_or_else(String::new, |span| Amount::Millis(span).to_string()),
        used(row.tokens.map(|tokens| tokens.to_string())),
        used(cost),
        saved(row.saved.as_ref()),
        row.files_changed.map_or("unknown", |changed| if changed { "changed" } else { "unchanged" }),
    )
}

fn saved(saved: Option<&SavedWork>) -> String {
    match saved {
        None => String::new(),
        Some(SavedWork::NoGit) => "no git".to_owned(),
        Some(SavedWork::Nothing) => "nothing to commit".to_owned(),
        Some(SavedWork::Commit { id }) => format!("commit {}", id.get(..12).unwrap_or(id)),
        Some(SavedWork::Snapshot { .. }) => "snapshot".to_owned(),
        Some(SavedWork::Left { .. }) => "not committed".to_owned(),
    }
}

fn session_details(row: &SessionRow) -> String {
    let mut details = String::new();
    let mut add = |label: &str, value: Option<&str>| {
        if let Some(value) = value {
            details.push_str(&format!("\n  - {label}: {}", code(value)));
        }
    };
    add("command", row.command.as_deref());
    add("conversation", row.conversation.as_deref());
    add("resumed", row.resumed.as_deref());
    add(if row.degraded { "conversation lost, began" } else { "began" }, row.opening.as_deref());
    add("prompt", row.delivered.filter(|delivered| *delivered != Delivered::Unknown).map(describe::delivered));
    row.denied.iter().for_each(|what| add("denied to the agent", Some(what)));
    add("the agent reported", row.error.as_deref());
    add("exit", row.exit.as_deref().filter(|exit| exit.starts_with("not started")));
    match &row.saved {
        Some(SavedWork::Snapshot { reference }) => add("work kept as", Some(reference)),
        Some(SavedWork::Left { why }) => add("work not committed", Some(why)),
        Some(SavedWork::Commit { id }) => add("work committed as", Some(id)),
        Some(SavedWork::NoGit | SavedWork::Nothing) | None => {}
    }
    details
}

fn changed(report: &TaskReport) -> String {
    let mut text = "## Changed files\n\n".to_owned();
    match (&report.changed_files.files, &report.changed_files.unknown) {
        (Some(files), _) if files.is_empty() => line(&mut text, format_args!("None, according to version control.")),
        (Some(files), _) => {
            for file in files {
                let lines = file
                    .added
                    .zip(file.removed)
                    .map_or_else(String::new, |(added, removed)| format!(" (+{added} -{removed})"));
                line(&mut text, format_args!("- {}: {}{lines}", file.status, code(&file.path)));
            }
            let more = report.changed_files.files_total.map_or(0, |total| total.saturating_sub(files.len()));
            if more > 0 {
                line(&mut text, format_args!("- and {more} more"));
            }
        }
        (None, why) => line(&mut text, format_args!("Unknown: {}", code(why.as_deref().unwrap_or("not examined")))),
    }
    text
}

fn limits(report: &TaskReport) -> String {
    let mut text = "## Limits\n\n| limit | used of allowed |\n|---|---|\n".to_owned();
    for row in &report.show.limits {
        line(&mut text, format_args!("| {} | {} |", row.flag, row.words));
    }
    text
}

fn usage_limits(report: &TaskReport) -> String {
    let mut text = format!("## Usage limits\n\nWhen an agent reaches one: {}.\n", report.show.choices.on_limit);
    if report.limits_reached.is_empty() {
        line(&mut text, format_args!("None was reached."));
    }
    list(&mut text, "### Reached", &report.limits_reached, |event| format!("- {}: {}", event.at, code(&event.what)));
    list(&mut text, "### In force now", &report.show.agent_limits, |limit| format!("- {}", code(&limit.sentence())));
    text
}

fn people(report: &TaskReport) -> String {
    let mut text = String::new();
    list(&mut text, "## Questions", &report.questions, |question| {
        let answer = question.answer.as_ref().map_or_else(
            || "open".to_owned(),
            |answer| format!("{}, by {}: {}", answer.at, code(&answer.by), code(&answer.what)),
        );
        format!("- {}: {}\n  - answer: {answer}", question.at, code(&question.asked))
    });
    list(&mut text, "## Guidance", &report.messages, |guidance| {
        let heard = if guidance.waiting { "waiting for the next session" } else { "delivered" };
        format!("- {}, by {} ({heard}):\n\n{}\n", guidance.at, code(&guidance.by), block(&guidance.text))
    });
    text.trim_start().to_owned()
}

fn trouble(report: &TaskReport) -> String {
    let mut text = "## Kills, deaths and gaps\n\n".to_owned();
    if report.trouble.is_empty() {
        line(&mut text, format_args!("None."));
    }
    for event in &report.trouble {
        line(&mut text, format_args!("- {}: {}", event.at, code(&event.what)));
    }
    text
}

fn notices(report: &TaskReport) -> String {
    let mut text = String::new();
    list(&mut text, "## Notices", &report.show.notices, |notice| {
        let why = notice.error.as_ref().map_or_else(String::new, |error| format!(", last error: {}", code(error)));
        format!(
            "- {}: {} by {}: {} ({} tries){why}",
            notice.at, notice.occasion, notice.channel, notice.state, notice.tries
        )
    });
    text.trim_start().to_owned()
}

/// What does not fit on the page.
fn rest(report: &TaskReport) -> String {
    let name = &report.show.task.name;
    let more = |next| {
        format!("The lists are longer than one report: `longhaul report {name} --after {next}` shows the rest.\n")
    };
    report.show.next.map_or_else(String::new, more)
}

fn list<T>(text: &mut String, heading: &str, items: &[T], item: impl Fn(&T) -> String) {
    if items.is_empty() {
        return;
    }
    line(text, format_args!("\n{heading}\n"));
    for found in items {
        line(text, format_args!("{}", item(found)));
    }
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    writeln!(text, "{what}").expect("a string takes all");
}

fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), chars.as_str()))
}
