//! Tables and properties of plans: reading, comparing, writing back.
//! Properties over random plans: what is rendered parses back, and a merge never loses an accepted step or tick.

use proptest::prelude::*;

use super::{Merge, Plan, PlanChange, Reason, Refused, Step, merge, parse, render};

fn step(number: u32, text: &str) -> Step {
    Step { number, text: text.into(), phase: None, ticked: false }
}

fn ticked(number: u32, text: &str) -> Step {
    Step { ticked: true, ..step(number, text) }
}

fn plan(steps: &[Step]) -> Plan {
    Plan { steps: steps.to_vec() }
}

const LIST: &str = "\
# Task List: demo

## Meta
- Total: 3
- [ ] Task 9: not in the section

## Progress Notes
- [a link](https://example.com)

## Tasks

### Phase 1: Setup
- [x] Task 1: make the crate
  - [ ] an indented note
- [ ] Task 2: write it: all of it
* [ ] Task 7: a star is no task line

### Phase 2
- [ ] Task 5: ship

## Later
- [ ] Task 6: not counted
";

#[test]
fn reads_only_the_tasks_section() {
    let found = parse(LIST).unwrap();
    let phase = |text: &str| Some(text.to_owned());
    let expected = [
        Step { phase: phase("Phase 1: Setup"), ..ticked(1, "make the crate") },
        Step { phase: phase("Phase 1: Setup"), ..step(2, "write it: all of it") },
        Step { phase: phase("Phase 2"), ..step(5, "ship") },
    ];
    assert_eq!(found, plan(&expected));
    assert_eq!((found.progress().as_str(), found.percent(), found.is_complete()), ("1/3", 33, false));
    assert_eq!(found.current().map(|step| step.number), Some(2));
}

#[test]
fn accepts_what_editors_and_people_do() {
    let expected = plan(&[ticked(1, "a"), step(20, "b"), step(21, "")]);
    for text in [
        "## Tasks\n- [x] Task 1: a\n- [ ] Task 20: b\n- [ ] Task 21:",
        "\u{feff}## Tasks  \r\n- [X] Task 1: a \t\r\n- [ ] Task 20:   b\r\n- [ ] Task 21:\r\n",
        "## Tasks\n\n- [x] Task 01:a\nprose - [ ] Task 3: no\n- [ ] Task 20: b\n- plain\n- [ ] Task 21: \n##\n- [ ] Task 2: x\n",
    ] {
        assert_eq!(parse(text).as_ref(), Ok(&expected), "{text:?}");
    }
}

#[test]
fn refuses_with_line_and_reason() {
    let table = [
        ("", 1, Reason::NoTasksSection),
        ("# x\n## tasks\n- [ ] Task 1: a\n", 3, Reason::NoTasksSection),
        ("### Tasks\n- [ ] Task 1: a\n", 2, Reason::NoTasksSection),
        ("## Tasks\n\n## Other\n- [ ] Task 1: a", 4, Reason::NoSteps),
        ("## Tasks\n- [ ] Task 1: a\n- [ ] do it\n", 3, Reason::NotATaskLine),
        ("## Tasks\n- [link](x)\n", 2, Reason::NotATaskLine),
        ("## Tasks\n- [*] Task 1: a\n", 2, Reason::NotATaskLine),
        ("## Tasks\n- [ ] Task +1: a\n", 2, Reason::NotATaskLine),
        ("## Tasks\n- [ ] Task one: a\n", 2, Reason::NotATaskLine),
        ("## Tasks\n- [ ] Task 1 a\n", 2, Reason::NotATaskLine),
        ("## Tasks\n- [ ] Task 99999999999: a\n", 2, Reason::NumberTooLarge { digits: "99999999999".into() }),
        ("## Tasks\n- [ ] Task 1: a\n\n- [x] Task 1: a\n", 4, Reason::Duplicate { number: 1 }),
        ("## Tasks\n- [ ] Task 3: a\n- [ ] Task 2: b\n", 3, Reason::Decreasing { number: 2, previous: 3 }),
        ("## Tasks\n- [ ] Task 1: a\n\0", 3, Reason::Nul),
    ];
    for (text, line, reason) in table {
        let bad = parse(text).unwrap_err();
        assert_eq!((bad.line, &bad.reason), (line, &reason), "{text:?}");
        assert!(bad.to_string().starts_with(&format!("line {line}: ")));
    }
}

#[test]
fn refuses_what_is_too_large() {
    let many = |count: u32| (1..=count).fold("## Tasks\n".to_owned(), |text, n| text + &format!("- [ ] Task {n}: x\n"));
    assert_eq!(parse(&many(10_000)).unwrap().total(), 10_000);
    let bad = parse(&many(10_001)).unwrap_err();
    assert_eq!((bad.line, bad.reason), (10_002, Reason::TooManySteps));
    let long = format!("## Tasks\n- [ ] Task 1: {}", "x".repeat(4 << 20));
    assert!(matches!(parse(&long).unwrap_err().reason, Reason::TooLong { .. }));
}

#[test]
fn no_steps_is_never_complete() {
    assert!(!Plan::default().is_complete());
    assert_eq!((Plan::default().percent(), Plan::default().progress().as_str()), (0, "0/0"));
    assert!(plan(&[ticked(1, "a")]).is_complete());
    assert_eq!(plan(&[ticked(1, "a"), ticked(2, "b"), step(3, "c")]).percent(), 66);
}

#[test]
fn takes_ticks_and_additions() {
    let accepted = plan(&[ticked(1, "a"), step(3, "c"), step(4, "d")]);
    let seen = plan(&[ticked(1, "a"), step(2, "b"), ticked(3, "c"), step(4, "d"), ticked(9, "c")]);
    let merged = merge(Some(&accepted), &seen);
    assert_eq!(merged, Merge { plan: seen, new_ticks: vec![3], added: vec![2, 9], refused: vec![] });
}

#[test]
fn takes_the_first_plan_as_it_is() {
    let seen = plan(&[ticked(1, "a"), step(2, "b")]);
    assert_eq!(
        merge(None, &seen),
        Merge { plan: seen.clone(), new_ticks: vec![1], added: vec![1, 2], refused: vec![] }
    );
}

#[test]
fn refuses_loss_and_rewriting() {
    let accepted = plan(&[ticked(1, "a"), step(2, "b"), step(3, "c"), step(4, "d"), step(6, "f")]);
    let seen = plan(&[step(1, "a"), ticked(2, "easier"), ticked(4, "d"), step(5, "new"), ticked(7, "f")]);
    let merged = merge(Some(&accepted), &seen);
    let kept = [ticked(1, "a"), step(2, "b"), step(3, "c"), ticked(4, "d"), step(5, "new"), step(6, "f")];
    let refused = vec![
        Refused::Unticked { number: 1 },
        Refused::Renamed { number: 2, was: "b".into(), now: "easier".into() },
        Refused::Removed { number: 3 },
        Refused::Moved { number: 6, now: 7 },
    ];
    assert_eq!(merged, Merge { plan: plan(&kept), new_ticks: vec![4], added: vec![5], refused });
    assert_eq!(merged.refused[1].to_string(), "task 2 was renamed from `b` to `easier`");
}

#[test]
fn refuses_additions_beyond_the_limit() {
    let accepted = Plan { steps: (1..=10_000).map(|n| step(n, "x")).collect() };
    let mut seen = accepted.clone();
    seen.steps.push(step(10_001, "y"));
    let merged = merge(Some(&accepted), &seen);
    assert_eq!((merged.plan, merged.refused), (accepted, vec![Refused::TooMany { number: 10_001 }]));
}

#[test]
fn writing_back_keeps_the_rest_of_the_document() {
    let mut wanted = parse(LIST).unwrap();
    assert_eq!(render(Some(LIST), &wanted), LIST);
    assert_eq!(render(Some(&LIST.replace('\n', "\r\n")), &wanted), LIST.replace('\n', "\r\n"));

    let edited = LIST.replace("- [ ] Task 2: write it: all of it\n", "").replace("Task 5: ship", "Task 5: skip");
    let edited = edited.replace("### Phase 2\n", "### Phase 2\n- [?] what\n");
    wanted.steps[1].ticked = true;
    wanted.steps.push(Step { phase: Some("Phase 2".into()), ..step(8, "added") });
    let expected = LIST
        .replace("- [ ] Task 2: write it: all of it\n* [ ] Task 7", "* [ ] Task 7")
        .replace("a star is no task line\n", "a star is no task line\n- [x] Task 2: write it: all of it\n")
        .replace("- [ ] Task 5: ship\n", "- [ ] Task 5: ship\n- [ ] Task 8: added\n");
    assert_eq!(render(Some(&edited), &wanted), expected);
}

#[test]
fn writing_back_replaces_the_section_when_headings_disagree() {
    let mut wanted = parse(LIST).unwrap();
    wanted.steps[0].phase = Some("Phase 0".into());
    let text = render(Some(LIST), &wanted);
    assert_eq!(parse(&text), Ok(wanted));
    assert!(text.starts_with("# Task List: demo\n\n## Meta\n- Total: 3\n") && text.contains("## Later\n"), "{text}");
}

#[test]
fn writes_a_new_document() {
    let phase = Some("One".to_owned());
    let wanted = plan(&[ticked(1, "a"), Step { phase, ..step(2, "b") }, step(4, "c")]);
    let expected = "# Task List\n\n## Meta\n- Total Tasks: 3\n- Completed: 1\n\n## Tasks\n\n- [x] Task 1: a\n\n\
                    ### One\n- [ ] Task 2: b\n\n###\n- [ ] Task 4: c\n";
    assert_eq!(render(None, &wanted), expected);
    assert_eq!(render(Some("bad \0 text"), &wanted), expected);
    let odd = plan(&[step(1, " two\nlines ")]);
    assert_eq!(parse(&render(None, &odd)), Ok(plan(&[step(1, "two lines")])));
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![Just("same".to_owned()), "[a-c]", "\\PC{0,20}", "(- \\[ \\] Task|## Tasks|###|\u{feff})[ :a]{0,3}"]
        .prop_map(|text| text.trim().to_owned())
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let phase = proptest::option::of(any_text().prop_filter("a heading has a text", |text| !text.is_empty()));
    let parts = (1u32..4, any_text(), phase, any::<bool>());
    proptest::collection::vec(parts, 1..12).prop_map(|parts| {
        let mut number = 0;
        let steps = parts.into_iter().map(|(gap, text, phase, ticked)| {
            number += gap;
            Step { number, text, phase, ticked }
        });
        Plan { steps: steps.collect() }
    })
}

fn any_document() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("## Tasks".to_owned()),
        Just("## Notes".to_owned()),
        Just(String::new()),
        "### [ab]?",
        "- \\[[ xX?]\\] Task [0-9]{1,2}: [ab]",
        "- \\[ab",
        any_text(),
    ];
    (proptest::collection::vec(line, 0..20), prop_oneof![Just("\n"), Just("\r\n")], any::<bool>())
        .prop_map(|(lines, end, last)| lines.join(end) + if last { end } else { "" })
}

proptest! {
    #[test]
    fn a_rendered_plan_reads_back(wanted in any_plan(), document in any_document()) {
        prop_assert_eq!(parse(&render(None, &wanted)), Ok(wanted.clone()));
        prop_assert_eq!(parse(&render(Some(&document), &wanted)), Ok(wanted));
    }

    #[test]
    fn merging_loses_nothing_and_settles(accepted in any_plan(), seen in any_plan()) {
        let merged = merge(Some(&accepted), &seen);
        for old in &accepted.steps {
            let kept = merged.plan.step(old.number).expect("an accepted step stays");
            prop_assert_eq!(&kept.text, &old.text);
            prop_assert!(kept.ticked || !old.ticked);
        }
        prop_assert!(merged.plan.steps.is_sorted_by(|a, b| a.number < b.number));
        let again = merge(Some(&merged.plan), &seen);
        let settled = Merge { new_ticks: vec![], added: vec![], ..merged.clone() };
        prop_assert_eq!(again, settled);
        let back = parse(&render(Some(&render(None, &seen)), &merged.plan));
        prop_assert_eq!(back, Ok(merged.plan));
    }

    #[test]
    fn a_change_leads_from_one_plan_to_the_other(before in proptest::option::of(any_plan()), after in any_plan()) {
        let is_new = |step: &&Step| step.ticked && before.as_ref().is_none_or(|plan| plan.step(step.number).is_none_or(|old| !old.ticked));
        let ticked: Vec<u32> = after.steps.iter().filter(is_new).map(|step| step.number).collect();
        let change = PlanChange::between(before.as_ref(), &ticked, &after);
        let stored: PlanChange = serde_json::from_str(&serde_json::to_string(&change).unwrap()).unwrap();
        prop_assert_eq!(&stored, &change);
        prop_assert_eq!(change.progress(), after.progress());
        prop_assert_eq!(change.apply_to(before.as_ref(), &ticked), after);
    }

    #[test]
    fn any_text_is_read_or_refused(document in any_document(), noise in "\\PC{0,200}") {
        drop((parse(&document), parse(&noise)));
    }
}
