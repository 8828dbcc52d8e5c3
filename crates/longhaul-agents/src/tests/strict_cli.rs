//! A small model of the command lines that a real program accepts, so that an argument it would refuse fails the suite.
//! The tables are in each agent's own tests; this only walks them. Unknown options and missing values are refused.

/// What a program takes at one level.
pub(crate) struct StrictCli {
    /// Options that stand alone.
    pub(crate) flags: &'static [&'static str],
    /// Options with one value, in the same argument after `=` or in the next one.
    pub(crate) valued: &'static [&'static str],
    /// Options that take every following argument up to the next option.
    pub(crate) greedy: &'static [&'static str],
    /// Subcommands and what they take.
    pub(crate) subcommands: &'static [(&'static str, &'static StrictCli)],
}

/// What was understood.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Understood {
    pub(crate) options: Vec<(String, String)>,
    pub(crate) positional: Vec<String>,
}

impl StrictCli {
    /// Walks the arguments after the program's name.
    pub(crate) fn parse(&self, arguments: &[String]) -> Result<Understood, String> {
        let mut understood = Understood::default();
        self.walk(arguments, &mut understood).map(|()| understood)
    }

    fn walk(&self, arguments: &[String], understood: &mut Understood) -> Result<(), String> {
        let mut rest = arguments;
        while let Some((argument, after)) = rest.split_first() {
            rest = after;
            if let Some((_, subcommand)) = self.subcommands.iter().find(|(name, _)| name == argument) {
                understood.positional.push(argument.clone());
                return subcommand.walk(rest, understood);
            }
            if argument == "-" || !argument.starts_with('-') {
                understood.positional.push(argument.clone());
                continue;
            }
            rest = self.option(argument, rest, understood)?;
        }
        Ok(())
    }

    fn option<'a>(
        &self,
        argument: &str,
        rest: &'a [String],
        understood: &mut Understood,
    ) -> Result<&'a [String], String> {
        let (name, joined) = argument.split_once('=').map_or((argument, None), |(name, value)| (name, Some(value)));
        let known = |names: &[&str]| names.contains(&name);
        match joined {
            Some(value) if known(self.valued) || known(self.greedy) => {
                understood.options.push((name.to_owned(), value.to_owned()));
                Ok(rest)
            }
            None if known(self.flags) => {
                understood.options.push((name.to_owned(), String::new()));
                Ok(rest)
            }
            None if known(self.valued) => {
                let (value, after) = rest
                    .split_first()
                    .filter(|(value, _)| value.as_str() == "-" || !value.starts_with('-'))
                    .ok_or(format!("`{name}` without a value"))?;
                understood.options.push((name.to_owned(), value.clone()));
                Ok(after)
            }
            None if known(self.greedy) => {
                let count = rest.iter().take_while(|value| !value.starts_with('-')).count();
                understood.options.extend(rest[..count].iter().map(|value| (name.to_owned(), value.clone())));
                Ok(&rest[count..])
            }
            _ => Err(format!("unexpected argument `{argument}`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUB: StrictCli = StrictCli { flags: &["--json"], valued: &[], greedy: &[], subcommands: &[] };
    const CLI: StrictCli = StrictCli {
        flags: &["-p"],
        valued: &["-C", "--model"],
        greedy: &["--tools"],
        subcommands: &[("resume", &SUB)],
    };

    fn parse(line: &str) -> Result<Understood, String> {
        CLI.parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_no_table_names_is_refused() {
        assert!(parse("-p -C / --model=x resume ID --json -").is_ok());
        for line in ["--nope", "-p=1", "resume -C /", "-C", "--model --json", "resume ID -p"] {
            assert!(parse(line).is_err(), "{line}");
        }
        assert_eq!(parse("--tools a b -p c").unwrap().positional, ["c"]);
    }
}
