//! What the caller of `bench` asked for, and the help.
//! Read by `plan` from the arguments; knows the measures only by the table it is given.

use super::plan::{Expense, Measure};

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    pub(super) effort: Effort,
    pub(super) gates: Gates,
    pub(super) result: Destination,
    names: Vec<String>,
    flags: Vec<String>,
}

/// How many of a measure's rounds are run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Effort {
    /// All.
    #[default]
    Full,
    /// A tenth, to see that everything works; the figures mean little.
    Quick,
}

/// What a missed gate means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Gates {
    #[default]
    Reported,
    Required,
}

/// Where the table goes beside standard output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Destination {
    #[default]
    Nowhere,
    Page,
}

/// What the arguments come to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Help,
    Measure(Wishes),
}

impl Effort {
    /// The rounds to run of a measure that has so many.
    pub(super) fn rounds(self, full: usize) -> usize {
        match self {
            Effort::Full => full,
            Effort::Quick => (full / 10).max(3),
        }
    }
}

impl Wishes {
    /// Reads the arguments after the verb.
    pub(super) fn read(arguments: &[String], measures: &[Measure]) -> Result<Asked, String> {
        let mut wishes = Self::default();
        for argument in arguments {
            let is_flag = |measure: &Measure| measure.expense.flag() == Some(argument.as_str());
            match argument.as_str() {
                "--help" | "-h" => return Ok(Asked::Help),
                "--quick" => wishes.effort = Effort::Quick,
                "--gate" => wishes.gates = Gates::Required,
                "--write" => wishes.result = Destination::Page,
                flag if measures.iter().any(is_flag) => wishes.flags.push(flag.to_owned()),
                name if measures.iter().any(|measure| measure.name == name) => wishes.names.push(name.to_owned()),
                other => return Err(format!("`bench` has no option and no measure `{other}`; see `--help`")),
            }
        }
        if wishes.result == Destination::Page && !wishes.names.is_empty() {
            return Err("`--write` replaces the whole table, so it takes no names of measures".to_owned());
        }
        Ok(Asked::Measure(wishes))
    }

    /// Whether a row for this measure is wanted at all. A flag alone adds its measure to the usual ones.
    pub(super) fn wants(&self, measure: &Measure) -> bool {
        self.names.is_empty() || self.is_named(measure) || self.is_flagged(measure)
    }

    /// Why a wanted measure is not taken, if so: expensive ones have to be asked for.
    pub(super) fn why_not(&self, measure: &Measure) -> Option<String> {
        match measure.expense {
            Expense::Usual => None,
            Expense::High { .. } if self.is_named(measure) || self.is_flagged(measure) => None,
            Expense::High { flag, why } => Some(format!("{why}; ask with `{flag}`")),
        }
    }

    fn is_named(&self, measure: &Measure) -> bool {
        self.names.iter().any(|name| name == measure.name)
    }

    fn is_flagged(&self, measure: &Measure) -> bool {
        self.flags.iter().any(|flag| Some(flag.as_str()) == measure.expense.flag())
    }
}

/// The help text.
pub(super) fn help(measures: &[Measure]) -> String {
    let mut text = "\
usage: cargo xtask bench [option]... [measure]...

options:
  --quick   a tenth of the rounds: does it still work?
  --gate    exit code 1 when a gate is missed
  --write   put the table into docs/benchmarks.md
"
    .to_owned();
    for measure in measures {
        if let Expense::High { flag, why } = measure.expense {
            text += &format!("  {flag:<9} measure `{}` too: {why}\n", measure.name);
        }
    }
    text += "\nmeasures, all of them by default:\n";
    for Measure { name, about, .. } in measures {
        text += &format!("  {name:<12} {about}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::plan::MEASURES;
    use super::{Asked, Destination, Effort, Gates, Wishes, help};

    fn read(arguments: &[&str]) -> Result<Asked, String> {
        Wishes::read(&arguments.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>(), MEASURES)
    }

    fn wishes(arguments: &[&str]) -> Wishes {
        match read(arguments) {
            Ok(Asked::Measure(wishes)) => wishes,
            other => panic!("{other:?}"),
        }
    }

    fn wanted(arguments: &[&str]) -> Vec<&'static str> {
        let wishes = wishes(arguments);
        MEASURES.iter().filter(|measure| wishes.wants(measure)).map(|measure| measure.name).collect()
    }

    fn refused_as_expensive(arguments: &[&str]) -> Vec<&'static str> {
        let wishes = wishes(arguments);
        MEASURES.iter().filter(|measure| wishes.why_not(measure).is_some()).map(|measure| measure.name).collect()
    }

    #[test]
    fn options_and_measures_are_read() {
        assert_eq!(read(&[]), Ok(Asked::Measure(Wishes::default())));
        let wishes = wishes(&["--quick", "--gate", "--write"]);
        assert_eq!((wishes.effort, wishes.gates, wishes.result), (Effort::Quick, Gates::Required, Destination::Page));
        assert_eq!(wanted(&["commits", "list"]), ["commits", "list"]);
        assert_eq!(wanted(&["--gate"]).len(), MEASURES.len());
    }

    #[test]
    fn what_is_expensive_has_to_be_asked_for() {
        assert_eq!(refused_as_expensive(&[]), ["scale", "flood", "pueue"]);
        assert_eq!(refused_as_expensive(&["--flood"]), ["scale", "pueue"]);
        assert_eq!(refused_as_expensive(&["pueue"]), ["scale", "flood"]);
        assert_eq!(wanted(&["commits", "--flood"]), ["commits", "flood"]);
    }

    #[test]
    fn unknown_words_and_a_partial_page_are_refused() {
        assert!(read(&["--slow"]).is_err());
        assert!(read(&["commit"]).is_err());
        assert!(read(&["--write", "commits"]).is_err());
    }

    #[test]
    fn the_help_names_every_measure() {
        assert_eq!(read(&["commits", "--help"]), Ok(Asked::Help));
        let text = help(MEASURES);
        assert!(MEASURES.iter().all(|measure| text.contains(&format!("\n  {} ", measure.name))), "{text}");
    }

    #[test]
    fn a_quick_run_still_has_a_median() {
        assert_eq!((Effort::Full.rounds(40), Effort::Quick.rounds(40), Effort::Quick.rounds(5)), (40, 4, 3));
    }
}
