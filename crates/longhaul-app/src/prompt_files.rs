//! Prompt templates in place of the built-in ones: the user's, beside their configuration, and the project's, when the
//! configuration lets them count. Read by `run` before anything is made; a template that cannot be used is an error.

#[cfg(test)]
mod page;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longhaul_keeper::{Beneath, BeneathError};

use crate::config::{ConfigError, Settings, Sources, read_user_file};
use crate::error::{AppError, ErrorKind};
use crate::prompt::{BadTemplate, TEMPLATES, check_template};

/// Where a project keeps its templates.
pub(crate) const PROJECT_DIR: &str = ".longhaul/prompts";

const USER_DIR: &str = "prompts";
const CAP: u64 = 1 << 20;

/// Why a template cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PromptError {
    #[error("`{path}` cannot be read", path = path.display())]
    User {
        path: PathBuf,
        #[source]
        source: Box<ConfigError>,
    },
    #[error("`{path}` cannot be read", path = path.display())]
    Project {
        path: PathBuf,
        #[source]
        source: BeneathError,
    },
    #[error("`{path}` is not UTF-8", path = path.display())]
    NotUtf8 { path: PathBuf },
    #[error("`{path}` is not a valid prompt template", path = path.display())]
    Bad {
        path: PathBuf,
        #[source]
        source: BadTemplate,
    },
}

/// The templates that count, by name, and the files they came from.
#[derive(Debug, Default)]
pub struct Prompts {
    /// The text of each template, by name.
    pub templates: BTreeMap<String, String>,
    pub(crate) files: BTreeMap<String, PathBuf>,
}

/// Reads the templates of the user, then those of the project over them.
pub fn read(sources: &Sources, settings: &Settings) -> Result<Prompts, AppError> {
    let mut prompts = Prompts::default();
    for (name, _) in TEMPLATES {
        if let Some(directory) = user_dir(sources) {
            prompts.take(name, read_user(&directory, name)?)?;
        }
        if let Some(project) = sources.project.as_deref().filter(|_| settings.prompts.project) {
            prompts.take(name, read_project(project, name)?)?;
        }
    }
    Ok(prompts)
}

impl Prompts {
    fn take(&mut self, name: &str, found: Option<(PathBuf, Vec<u8>)>) -> Result<(), PromptError> {
        let Some((path, bytes)) = found else { return Ok(()) };
        let Ok(text) = String::from_utf8(bytes) else { return Err(PromptError::NotUtf8 { path }) };
        if let Err(source) = check_template(name, &text) {
            return Err(PromptError::Bad { path, source });
        }
        self.templates.insert(name.to_owned(), text);
        self.files.insert(name.to_owned(), path);
        Ok(())
    }
}

/// Beside the user's configuration; whoever says that there is none has no templates either.
fn user_dir(sources: &Sources) -> Option<PathBuf> {
    let (path, _) = sources.user.as_ref()?;
    Some(path.parent().filter(|_| path != Path::new("/dev/null"))?.join(USER_DIR))
}

fn read_user(directory: &Path, name: &str) -> Result<Option<(PathBuf, Vec<u8>)>, PromptError> {
    let path = directory.join(format!("{name}.md"));
    match read_user_file(&path) {
        Ok(bytes) => Ok(bytes.map(|bytes| (path, bytes))),
        Err(source) => Err(PromptError::User { path, source: Box::new(source) }),
    }
}

/// A project is a stranger's: no link of it is followed.
fn read_project(project: &Path, name: &str) -> Result<Option<(PathBuf, Vec<u8>)>, PromptError> {
    let inside = format!("{PROJECT_DIR}/{name}.md");
    let path = project.join(&inside);
    let opened = Beneath::open(project).map_err(|source| BeneathError::Io { name: ".".to_owned(), source });
    match opened.and_then(|beneath| beneath.read(&inside, CAP)) {
        Ok(bytes) => Ok(bytes.map(|bytes| (path, bytes))),
        Err(source) => Err(PromptError::Project { path, source }),
    }
}

impl From<PromptError> for AppError {
    fn from(error: PromptError) -> AppError {
        AppError::new(ErrorKind::Usage, "a prompt template cannot be used; nothing was submitted")
            .because(&error)
            .hint("fix the file, or move it away to use the built-in template (docs/reference/prompts.md)")
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::{PROJECT_DIR, read};
    use crate::config::{Named, Settings, Sources, defaults};

    const GOOD: &str = "Executor Agent\nSession: {MARK}\nTask Directory: {TASK_DIR}\n{NOTICE}";

    fn world() -> (TempDir, Sources) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("config/prompts")).unwrap();
        std::fs::create_dir_all(dir.path().join("project").join(PROJECT_DIR)).unwrap();
        let sources = Sources {
            user: Some((dir.path().join("config/config.toml"), Named::ByCustom)),
            project: Some(dir.path().join("project")),
            home: dir.path().join("home"),
            environment: Vec::new(),
        };
        (dir, sources)
    }

    fn settings(project: bool) -> Settings {
        let mut settings = defaults();
        settings.prompts.project = project;
        settings
    }

    #[test]
    fn the_projects_stand_over_the_users_and_only_when_they_may() {
        let (dir, sources) = world();
        std::fs::write(dir.path().join("config/prompts/work.md"), format!("mine\n{GOOD}")).unwrap();
        std::fs::write(dir.path().join("config/prompts/fix.md"), GOOD).unwrap();
        let project = dir.path().join("project").join(PROJECT_DIR).join("work.md");
        std::fs::write(&project, format!("theirs\n{GOOD}")).unwrap();
        let found = read(&sources, &settings(false)).unwrap().templates;
        assert_eq!((found.len(), found["work"].starts_with("mine")), (2, true));
        let found = read(&sources, &settings(true)).unwrap();
        assert_eq!((found.templates.len(), found.templates["work"].starts_with("theirs")), (2, true));
        assert_eq!(found.files["work"], project);
        let agents = Sources { project: None, ..sources };
        assert!(read(&agents, &settings(true)).unwrap().templates["work"].starts_with("mine"));
    }

    #[test]
    fn nothing_there_is_nothing_taken() {
        let (_dir, sources) = world();
        assert!(read(&sources, &settings(true)).unwrap().templates.is_empty());
        let none = Sources { user: Some(("/dev/null".into(), Named::Expressly)), ..sources };
        assert!(read(&none, &settings(true)).unwrap().templates.is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_file() {
        let (dir, sources) = world();
        let path = dir.path().join("config/prompts/plan.md");
        let cases: [(&[u8], &str); 3] = [
            (GOOD.as_bytes(), "it lacks the words `Initializer Agent` or `{ROLE}`"),
            (b"Initializer Agent", "it lacks a line with `Session: {MARK}`"),
            (b"\xff", "is not UTF-8"),
        ];
        for (bytes, says) in cases {
            std::fs::write(&path, bytes).unwrap();
            let text = read(&sources, &settings(false)).unwrap_err().text();
            assert!(text.contains(says) && text.contains(&path.display().to_string()), "{text}");
        }
    }

    #[test]
    fn a_link_in_a_project_is_not_followed() {
        let (dir, sources) = world();
        std::fs::write(dir.path().join("elsewhere.md"), GOOD).unwrap();
        let link = dir.path().join("project").join(PROJECT_DIR).join("work.md");
        std::os::unix::fs::symlink(dir.path().join("elsewhere.md"), &link).unwrap();
        assert!(read(&sources, &settings(true)).is_err());
        assert!(read(&sources, &settings(false)).unwrap().templates.is_empty(), "the control: not looked at");
    }
}
