//! Reads and changes the `Task N:` lines of a `task_list.md`, leaving every other byte as it was.
//!
//! Called by the plan and work roles. This is the agent's own parser; the supervisor has another one and trusts no agent.

/// One step of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) number: u32,
    pub(super) text: String,
    pub(super) ticked: bool,
}

/// The steps of the `## Tasks` section.
pub(super) fn parse(list: &str) -> Vec<Step> {
    lines_with_steps(list).filter_map(|(_, step)| step).collect()
}

/// The list with the box of one open step ticked, or `None` if there is no such open step.
pub(super) fn tick(list: &str, number: u32) -> Option<String> {
    let mut found = false;
    let changed = lines_with_steps(list).map(|(line, step)| match step {
        Some(step) if !found && !step.ticked && step.number == number => {
            found = true;
            line.replacen("- [ ]", "- [x]", 1)
        }
        _ => line.to_owned(),
    });
    let changed: String = changed.collect();
    found.then_some(changed)
}

/// Each line with its end, and the step in it if it is one.
fn lines_with_steps(list: &str) -> impl Iterator<Item = (&str, Option<Step>)> {
    let mut inside = false;
    list.split_inclusive('\n').map(move |line| {
        let bare = line.trim_end();
        if bare.starts_with("## ") {
            inside = bare == "## Tasks";
        }
        (line, if inside { parse_step(bare) } else { None })
    })
}

fn parse_step(line: &str) -> Option<Step> {
    let (ticked, rest) = match line.strip_prefix("- [ ] Task ") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("- [x] Task ")?),
    };
    let (number, text) = rest.split_once(':')?;
    Some(Step { number: number.parse().ok()?, text: text.trim().to_owned(), ticked })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# T\n- [ ] Task 9: not here\n## Tasks\r\n### Phase 1\n- [x] Task 1: a\n\
        - [ ] Task 2: b\r\n- [ ] Task 3: c: d\n* [ ] Task 4: e\n## Later\n- [ ] Task 5: f";

    #[test]
    fn reads_only_the_tasks_section() {
        let steps = parse(LIST);
        let numbers: Vec<_> = steps.iter().map(|step| (step.number, step.ticked, step.text.as_str())).collect();
        assert_eq!(numbers, [(1, true, "a"), (2, false, "b"), (3, false, "c: d")]);
        assert_eq!(parse(""), []);
    }

    #[test]
    fn ticks_one_box_and_nothing_else() {
        assert_eq!(tick(LIST, 2).unwrap(), LIST.replace("[ ] Task 2", "[x] Task 2"));
        for absent in [1, 5, 9] {
            assert_eq!(tick(LIST, absent), None);
        }
    }
}
