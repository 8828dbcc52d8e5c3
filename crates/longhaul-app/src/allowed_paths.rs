//! Paths in requests. Whoever calls with an API key may be anywhere, so its paths count only inside the directories that `serve.projects`
//! allows its tenant, links resolved. What lies elsewhere is answered like what does not exist.
//!
//! Used by everything that submits a task. Only the user's own configuration counts, never that of a project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longhaul_git::{Git, GitError};

use crate::app::Call;
use crate::config::{Overrides, Sources, is_path};
use crate::error::{AppError, ErrorKind};
use crate::intake::blocking_here;
use crate::project::Project;
use crate::{Tenant, text};

impl Call {
    /// A path of a request, absolute; for a caller with an API key, of something that exists where its tenant may work.
    pub(crate) fn path(&self, path: &Path) -> Result<PathBuf, AppError> {
        if self.caller.is_local() {
            return self.caller.resolve(path);
        }
        blocking_here(|| Allowed::of(self)?.resolve(path))
    }

    /// The project of a directory. For a caller with an API key, the whole of it has to be where its tenant may work: its repository too.
    pub(crate) fn project_at(&self, directory: &Path) -> Result<Project, AppError> {
        let project = Project::of(&self.path(directory)?)?;
        if !self.caller.is_local() {
            blocking_here(|| Allowed::of(self)?.permit_project(self, &project))?;
        }
        Ok(project)
    }

    /// Refuses settings of a caller with an API key that name files.
    pub(crate) fn permit_settings(&self, settings: &BTreeMap<String, String>) -> Result<(), AppError> {
        let file = settings.keys().find(|key| is_path(key)).filter(|_| !self.caller.is_local());
        let refused = |key: &String| {
            let what = format!("`{key}` names a file of this machine, so a caller with an API key cannot set it");
            AppError::new(ErrorKind::Forbidden, what).hint("ask a person to set it in the configuration")
        };
        file.map_or(Ok(()), |key| Err(refused(key)))
    }
}

/// Where a tenant may work.
struct Allowed<'a> {
    tenant: &'a Tenant,
    directories: Vec<PathBuf>,
}

impl Allowed<'_> {
    fn of(call: &Call) -> Result<Allowed<'_>, AppError> {
        let (environment, tenant) = (&call.app.system.environment, &call.caller.tenant);
        let sources = Sources { project: None, ..Sources::of(environment, &call.caller, Path::new("/"))? };
        let written = sources.load(&Overrides::default())?.settings.serve.projects;
        // One that does not exist allows nothing.
        let directories = written.iter().filter_map(|one| directory_of(one, tenant)?.canonicalize().ok()).collect();
        Ok(Allowed { tenant, directories })
    }

    fn resolve(&self, path: &Path) -> Result<PathBuf, AppError> {
        let physical = if path.is_absolute() { path.canonicalize().ok() } else { None };
        match physical.filter(|physical| self.contains(physical)) {
            Some(physical) => Ok(physical),
            None => Err(self.refusal(path)),
        }
    }

    fn permit_project(&self, call: &Call, project: &Project) -> Result<(), AppError> {
        if !self.contains(&project.root) {
            return Err(self.refusal(&project.directory));
        }
        let refused = |error: GitError| AppError::new(ErrorKind::Usage, "git refuses this repository").because(&error);
        let found = match Git::open(&call.home().git()) {
            Err(GitError::NoProgram) => None,
            git => git.and_then(|git| git.find(&project.root)).map_err(refused)?,
        };
        // A file `.git` may lead anywhere.
        let is_inside = found.is_none_or(|found| self.contains(found.git_dir()) && self.contains(found.common_dir()));
        if is_inside { Ok(()) } else { Err(self.refusal(&project.directory)) }
    }

    fn contains(&self, physical: &Path) -> bool {
        self.directories.iter().any(|directory| physical.starts_with(directory))
    }

    fn refusal(&self, path: &Path) -> AppError {
        let tenant = text::safe(self.tenant.name());
        let what = if self.directories.is_empty() {
            format!(
                "`serve.projects` allows the tenant `{tenant}` no directory, so a caller with an API key cannot name one"
            )
        } else {
            let path = text::safe(&path.display().to_string());
            format!("`{path}` is nothing that `serve.projects` allows the tenant `{tenant}`")
        };
        AppError::new(ErrorKind::Forbidden, what).hint(format!(
            "give the full path of something inside an allowed directory; a person allows one with `projects = [\"{tenant}=/DIRECTORY\"]` \
             below `[serve]` in the configuration of the user who runs the server"
        ))
    }
}

/// The directory that an entry allows this tenant: `TENANT=DIRECTORY`, or the directory alone for the default tenant.
fn directory_of<'a>(entry: &'a str, tenant: &Tenant) -> Option<&'a Path> {
    let (name, directory) = match entry.starts_with('/') {
        true => (Tenant::DEFAULT, entry),
        false => entry.split_once('=')?,
    };
    (name == tenant.name()).then_some(Path::new(directory))
}
