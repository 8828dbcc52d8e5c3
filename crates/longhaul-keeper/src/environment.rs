//! The variables that a program runs with, as a value: no caller uses its own process's variables for somebody else's program.
//! Kept in memory only. Whoever looks up a variable, a program or a secret value for a task asks here.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_redact::{Secrets, redact_text};
use serde::{Deserialize, Serialize};

/// One set of variables, cheap to clone.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<(OsString, OsString)>", from = "Vec<(OsString, OsString)>")]
pub struct Environment(Arc<BTreeMap<OsString, OsString>>);

/// Values may be secrets, so none is ever shown.
impl std::fmt::Debug for Environment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Environment({} variables)", self.0.len())
    }
}

impl From<Vec<(OsString, OsString)>> for Environment {
    fn from(variables: Vec<(OsString, OsString)>) -> Self {
        variables.into_iter().collect()
    }
}

impl From<Environment> for Vec<(OsString, OsString)> {
    fn from(environment: Environment) -> Self {
        environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<Variables: IntoIterator<Item = (OsString, OsString)>>(variables: Variables) -> Self {
        Environment(Arc::new(variables.into_iter().collect()))
    }
}

impl Environment {
    /// The variables of this process.
    pub fn of_process() -> Environment {
        std::env::vars_os().collect()
    }

    /// The same with one more variable, or with another value of it.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Environment {
        Arc::make_mut(&mut self.0).insert(name.into(), value.into());
        self
    }

    /// The value of a variable, if it is set.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// All variables.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The program's path: itself when it is one, else the first of this name on PATH. Relative directories of PATH are not trusted.
    pub fn find_program(&self, program: &str) -> Option<PathBuf> {
        if program.contains('/') {
            return Some(PathBuf::from(program)).filter(|path| is_program(path));
        }
        on_path(program, self.get("PATH")?)
    }

    /// The secret values among the variables, with those that are secret only because the task names them.
    pub fn secrets(&self, secret_names: &[String]) -> Secrets {
        let texts =
            self.iter().filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())));
        let named = secret_names.iter().filter_map(|name| Some((name, self.get(name)?.to_str()?)));
        named.fold(Secrets::from_env(texts), |secrets, (name, value)| secrets.with(name, value))
    }

    /// The text with every secret value masked, and how many there were.
    pub fn mask(&self, text: &str, secret_names: &[String]) -> (String, usize) {
        redact_text(&self.secrets(secret_names), text)
    }
}

/// The first program of this name in these directories. Relative ones would let a workspace bring its own "agent".
pub(crate) fn on_path(program: &str, directories: &OsStr) -> Option<PathBuf> {
    let absolute = std::env::split_paths(directories).filter(|directory| directory.is_absolute());
    absolute.map(|directory| directory.join(program)).find(|path| is_program(path))
}

/// Where this process finds a program, as a shell would. Runs nothing.
pub fn find_program(program: &str) -> Option<PathBuf> {
    Environment::of_process().find_program(program)
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        let shell = find_program("sh").unwrap();
        assert!(shell.is_absolute());
        assert_eq!(find_program(shell.to_str().unwrap()), Some(shell));
        assert_eq!(find_program("no-such-program-here"), None);
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("not-executable");
        std::fs::write(&file, "").unwrap();
        assert_eq!(find_program(file.to_str().unwrap()), None);
        assert_eq!(find_program(directory.path().to_str().unwrap()), None);
        assert_eq!(Environment::from(Vec::new()).find_program("sh"), None, "without PATH there is nowhere to look");
    }

    #[test]
    fn only_an_absolute_executable_file_is_a_program_of_path() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("git");
        let found = |path: &Path| Environment::from(Vec::new()).with("PATH", path).find_program("git");
        std::fs::write(&file, "").unwrap();
        assert_eq!(found(directory.path()), None);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(found(directory.path()), Some(file));
        assert_eq!(found(Path::new("bin:.:")), None);
    }

    #[test]
    fn every_byte_of_a_variable_survives_the_way_to_the_worker() {
        let odd = OsString::from_vec(vec![b'a', 0xff, b'\n', b'=']);
        let sent: Environment = [(OsString::from("ODD"), odd.clone())].into_iter().collect();
        let line = serde_json::to_string(&sent).unwrap();
        let arrived: Environment = serde_json::from_str(&line).unwrap();
        assert_eq!(arrived.get("ODD"), Some(odd.as_os_str()));
    }

    #[test]
    fn no_value_is_shown_and_secret_ones_are_masked() {
        let value = "correct-horse-battery";
        let environment: Environment = [("MY_TOKEN".into(), value.into())].into_iter().collect();
        assert!(!format!("{environment:?}").contains(value));
        let (masked, hits) = environment.mask(&format!("see {value}"), &[]);
        assert!(hits == 1 && !masked.contains(value), "{masked}");
    }
}
