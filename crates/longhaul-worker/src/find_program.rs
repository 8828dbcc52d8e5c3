//! Where a program is, as a shell would find it. Asked before a session of an agent, by `doctor` and by `agents`; runs nothing.
//! It trusts no relative directory of PATH.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The program's path: itself when it is one, else the first of this name on PATH.
pub fn find_program(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| is_program(path));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(program))
        .find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::find_program;

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
    }
}
