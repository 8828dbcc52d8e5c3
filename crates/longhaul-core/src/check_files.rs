//! Which files define what a check does: what its command names, build files and scripts, the runner's configuration, and tests.
//!
//! A verdict lists those that changed since the task's base, because a check that the agent rewrote proves less. It is a list for
//! people and never a reason to fail: writing tests is what most tasks ask for.

use crate::task::NameList;

/// Why a file defines a check, the most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Named,
    Build,
    Script,
    Configuration,
    Rules,
    Test,
}

/// Picks the files that define a check from all that changed since the base, the most telling first. Paths are of the repository;
/// the commands run in `directory` of it, which is empty for its root.
pub fn changed<'a>(paths: impl IntoIterator<Item = &'a str>, directory: &str, commands: &[&str]) -> NameList {
    let named: Vec<String> = commands.iter().flat_map(|command| words(command)).collect();
    let mut found: Vec<(Role, &str)> =
        paths.into_iter().filter_map(|path| Some((role(path, directory, &named)?, path))).collect();
    found.sort();
    NameList::new(found.into_iter().map(|(_, path)| path.to_owned()))
}

/// The words of a command that could be paths.
fn words(command: &str) -> impl Iterator<Item = String> {
    let ends = |c: char| c.is_whitespace() || ";&|()<>\"'`=${}".contains(c);
    command.split(ends).map(|word| word.trim_start_matches("./").to_owned()).filter(|word| !word.is_empty())
}

fn role(path: &str, directory: &str, named: &[String]) -> Option<Role> {
    let inside = path.strip_prefix(directory).map_or(path, |rest| rest.trim_start_matches('/'));
    if named.iter().any(|word| word == path || word == inside || is_module(word, inside)) {
        return Some(Role::Named);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let parents: Vec<&str> = path.split('/').rev().skip(1).collect();
    let defines = |(_, names, directories): &&(Role, &str, &str)| {
        names.split_whitespace().any(|pattern| matches(pattern, name))
            || directories.split_whitespace().any(|one| parents.contains(&one))
    };
    ROLES.iter().find(defines).map(|(role, ..)| *role)
}

/// Whether Python would take this file for the module of that name: `python -m pytest` runs a `pytest.py` beside it.
fn is_module(word: &str, path: &str) -> bool {
    let module = word.replace('.', "/");
    ["", "/__init__", "/__main__"].iter().any(|part| path.strip_suffix(".py") == Some(&format!("{module}{part}")))
}

/// The files of each role by their names, and by the directories they are in.
const ROLES: &[(Role, &str, &str)] = &[
    (Role::Build, BUILD, ""),
    (Role::Script, SCRIPTS, "bin script scripts ci hooks .husky .github .gitlab"),
    (Role::Configuration, CONFIGURATION, ".cargo .mvn .config"),
    (Role::Rules, ".gitignore .gitattributes", ""),
    (Role::Test, TESTS, "test tests Tests spec specs __tests__ __snapshots__ testdata e2e snapshots"),
];

/// Each star matches anything.
fn matches(pattern: &str, name: &str) -> bool {
    let (head, rest) = pattern.split_once('*').unwrap_or((pattern, ""));
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    if pattern.contains('*') { name.ends_with(tail) } else { name.is_empty() }
}

const BUILD: &str = "\
    Makefile makefile GNUmakefile *.mk Justfile justfile Taskfile.* package.json deno.json* Cargo.toml build.rs \
    CMakeLists.txt *.cmake meson.build build.ninja BUILD BUILD.bazel pom.xml build.gradle* settings.gradle* \
    gradle.properties *.csproj *.fsproj *.sln Directory.Build.* Package.swift mix.exs Rakefile Gemfile composer.json \
    setup.py go.mod dune-project";

const SCRIPTS: &str = "*.sh *.bash *.bats *.ps1 *.bat *.cmd";

const CONFIGURATION: &str = "\
    pyproject.toml setup.cfg tox.ini noxfile.py pytest.ini conftest.py .coveragerc mypy.ini ruff.toml .ruff.toml \
    sitecustomize.py usercustomize.py clippy.toml rustfmt.toml rust-toolchain* nextest.toml jest.config.* jest.setup.* \
    vitest.config.* vitest.workspace.* vite.config.* .mocharc* karma.conf.* playwright.config.* cypress.config.* \
    babel.config.* .babelrc* tsconfig* eslint.config.* .eslintrc* biome.json* .npmrc bunfig.toml .rspec spec_helper.rb \
    rails_helper.rb test_helper.* phpunit.xml* phpstan.neon* *.runsettings CTestConfig.cmake *.xctestplan .golangci.* \
    longhaul.toml .env*";

const TESTS: &str = "test_* *_test.* *_tests.* *_spec.* *.test.* *.spec.* *Test.* *Tests.* *Spec.* tests.rs test.*";

#[cfg(test)]
mod tests {
    use super::*;

    /// The names found among one path, for commands in the root.
    fn is_found(path: &str, commands: &[&str]) -> bool {
        changed([path], "", commands).total == 1
    }

    #[test]
    fn what_defines_a_check_is_found() {
        for path in [
            "Makefile",
            "web/package.json",
            "run.sh",
            "scripts/check",
            "pytest.ini",
            "conftest.py",
            "web/vitest.config.ts",
            ".gitignore",
            "src/.gitattributes",
            "tests/api.rs",
            "src/parser/tests.rs",
            "test_parser.py",
            "pkg/parse_test.go",
            "src/a.spec.ts",
            "src/test/java/ParserTest.java",
            "app.csproj",
            ".github/workflows/ci.yml",
            ".cargo/config.toml",
        ] {
            assert!(is_found(path, &["true"]), "{path}");
        }
    }

    #[test]
    fn what_the_work_is_about_is_not() {
        for path in [
            "src/main.rs",
            "README.md",
            "docs/testing.md",
            "contest.py",
            "latest.txt",
            "assets/logo.png",
            "src/attest.rs",
        ] {
            assert!(!is_found(path, &["cargo test", "make"]), "{path}");
        }
    }

    #[test]
    fn what_a_command_names_is_found_also_from_a_subdirectory() {
        assert!(is_found("verify", &["./verify --fast"]) && !is_found("verify", &["make"]));
        assert!(is_found("tools/verify.py", &["python tools/verify.py && echo ok"]));
        assert!(is_found("pytest.py", &["python -m pytest"]), "a module that shadows the runner");
        assert!(is_found("acme/check/__main__.py", &["python -m acme.check"]));
        assert_eq!(changed(["web/verify"], "web", &["./verify"]).total, 1);
        assert_eq!(changed(["api/verify"], "web", &["./verify"]).total, 0);
        assert!(is_found("web/verify", &["sh -c 'web/verify'"]));
    }

    #[test]
    fn five_are_named_the_most_telling_first_and_the_rest_counted() {
        let tests: Vec<String> = (0..9).map(|number| format!("tests/t{number}.rs")).collect();
        let paths = tests.iter().map(String::as_str).chain(["verify", "Makefile", "src/lib.rs"]);
        let found = changed(paths, "", &["./verify"]);
        assert_eq!(found.to_string(), "verify, Makefile, tests/t0.rs, tests/t1.rs, tests/t2.rs and 6 more");
    }
}
