//! A repository whose configuration, attributes, hooks and submodule try to run programs wherever git can be made to.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::scene::Scene;

const HOOKS: &[&str] = &[
    "post-checkout",
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "reference-transaction",
    "post-index-change",
    "post-merge",
    "pre-merge-commit",
    "pre-auto-gc",
];

/// Each key with the trap it names.
const KEYS: &[(&str, &str)] = &[
    ("core.fsmonitor", "fsmonitor"),
    ("core.pager", "pager"),
    ("core.editor", "editor"),
    ("core.sshCommand", "ssh"),
    ("core.askPass", "askpass"),
    ("core.alternateRefsCommand", "alternate-refs"),
    ("core.gitProxy", "proxy"),
    ("credential.helper", "credential"),
    ("credential.https://localhost.helper", "credential-url"),
    ("sequence.editor", "sequence-editor"),
    ("interactive.diffFilter", "diff-filter"),
    ("diff.external", "external-diff"),
    ("diff.odd.textconv", "textconv"),
    ("diff.odd.command", "diff-command"),
    ("merge.odd.driver", "merge-driver"),
    ("gpg.program", "gpg"),
    ("gpg.ssh.program", "gpg-ssh"),
    ("gc.recentObjectsHook", "recent-objects"),
    ("uploadpack.packObjectsHook", "pack-objects"),
    ("filter.listed.clean", "clean"),
    ("filter.listed.smudge", "smudge"),
    ("filter.process.process", "process"),
    ("filter.info.clean", "info-clean"),
    ("filter.info.smudge", "info-smudge"),
    ("filter.attributes-file.clean", "file-clean"),
    ("filter.attributes-file.smudge", "file-smudge"),
    ("trailer.sign.command", "trailer"),
    ("remote.origin.uploadpack", "upload-pack"),
];

pub(crate) struct Traps {
    markers: PathBuf,
    directory: PathBuf,
}

impl Traps {
    /// Turns the scene's repository into a hostile one. The commit in it was made before the traps were set.
    pub(crate) fn set(scene: &Scene) -> Traps {
        let root = scene.root.path().canonicalize().unwrap();
        let traps = Traps { markers: root.join("markers"), directory: root.join("traps") };
        fs::create_dir(&traps.markers).unwrap();
        fs::create_dir(&traps.directory).unwrap();
        traps.add_submodule(scene);
        traps.add_files(scene);
        for (key, name) in KEYS {
            scene.plain(&["config", key, &traps.program(name)]);
        }
        scene.plain(&["config", "filter.process.required", "true"]);
        scene.plain(&["config", "commit.gpgSign", "true"]);
        scene.plain(&["config", "log.showSignature", "true"]);
        scene.plain(&["config", "gc.auto", "1"]);
        scene.plain(&["config", "remote.origin.url", "ssh://localhost/none"]);
        traps.add_included(scene);
        traps.add_hooks(scene);
        traps.forget();
        traps
    }

    /// The names of the traps that went off since the last time they were forgotten.
    pub(crate) fn fired(&self) -> BTreeSet<String> {
        let names = fs::read_dir(&self.markers).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    pub(crate) fn forget(&self) {
        for name in self.fired() {
            fs::remove_file(self.markers.join(name)).unwrap();
        }
    }

    /// Gives another worktree the submodule with its trap, as an agent would that checks it out.
    pub(crate) fn populate_submodule(&self, scene: &Scene, worktree: &Path) {
        let (from, to) = (scene.root.path().join("origin"), worktree.join("module"));
        let (from, to) = (from.display().to_string(), to.display().to_string());
        scene.plain_in(worktree, &["clone", "-q", &from, &to]);
        scene.plain_in(Path::new(&to), &["config", "core.fsmonitor", &self.program("submodule-fsmonitor")]);
    }

    /// A program that leaves its mark and passes its input on, as a filter would.
    fn program(&self, name: &str) -> String {
        self.program_in(&self.directory, name, name)
    }

    fn program_in(&self, directory: &Path, file: &str, name: &str) -> String {
        let path = directory.join(file);
        let mark = self.markers.join(name).display().to_string();
        // Hooks and drivers get other input than filters; the mark is all that counts.
        let is_filter = name.contains("clean") || name.contains("smudge");
        let rest = if is_filter { "exec cat" } else { "exit 1" };
        let rest = if HOOKS.contains(&file) { "exit 0" } else { rest };
        fs::write(&path, format!("#!/bin/sh\n: > '{mark}'\n{rest}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    fn add_files(&self, scene: &Scene) {
        let attributes = "*.listed filter=listed\n*.process filter=process\n*.odd diff=odd merge=odd\n\
            *.included filter=included\n*.worktree filter=worktree\n";
        scene.write(".gitattributes", attributes);
        for kind in ["listed", "process", "odd", "included", "worktree", "info", "file", "plain"] {
            scene.write(format!("old.{kind}"), format!("{kind}\n"));
        }
        scene.commit("before the traps");
        scene.plain(&["branch", "-q", "side"]);
        scene.write(".git/info/attributes", "*.info filter=info\n");
        let file = self.directory.join("attributes");
        fs::write(&file, "*.file filter=attributes-file\n").unwrap();
        scene.plain(&["config", "core.attributesFile", &file.display().to_string()]);
    }

    fn add_included(&self, scene: &Scene) {
        let (clean, smudge) = (self.program("included-clean"), self.program("included-smudge"));
        let included = self.directory.join("included");
        fs::write(&included, format!("[filter \"included\"]\n\tclean = {clean}\n\tsmudge = {smudge}\n")).unwrap();
        scene.plain(&["config", "include.path", &included.display().to_string()]);
        scene.plain(&["config", "extensions.worktreeConfig", "true"]);
        scene.plain(&["config", "--worktree", "filter.worktree.clean", &self.program("worktree-clean")]);
        scene.plain(&["config", "--worktree", "filter.worktree.smudge", &self.program("worktree-smudge")]);
    }

    fn add_hooks(&self, scene: &Scene) {
        let hooks = self.directory.join("hooks");
        fs::create_dir(&hooks).unwrap();
        for hook in HOOKS {
            self.program_in(&hooks, hook, hook);
            self.program_in(&scene.project().join(".git/hooks"), hook, &format!("default-{hook}"));
        }
        scene.plain(&["config", "core.hooksPath", &hooks.display().to_string()]);
    }

    fn add_submodule(&self, scene: &Scene) {
        let origin = scene.root.path().join("origin");
        fs::create_dir(&origin).unwrap();
        scene.plain_in(&origin, &["init", "-q"]);
        fs::write(origin.join("inside.txt"), "inside\n").unwrap();
        scene.plain_in(&origin, &["add", "-A"]);
        scene.plain_in(&origin, &["commit", "-q", "-m", "inside"]);
        let url = origin.display().to_string();
        scene.plain(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "module"]);
        let module = scene.project().join("module");
        scene.plain_in(&module, &["config", "core.fsmonitor", &self.program("submodule-fsmonitor")]);
    }
}
