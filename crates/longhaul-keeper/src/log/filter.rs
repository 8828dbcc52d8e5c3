//! What output passes on its way to the logs: the redactor, which knows every secret in the keeper's environment and the
//! home's key for tags.
//!
//! The keeper asks for a maker of filters; each stream gets one at its first byte, so a silent program costs nothing.
//! The environment is the agent's and more, so a secret that was held back from the agent is masked as well.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_redact::{Redactor, Secrets};

use crate::environment::Environment;
use crate::layout::SessionDir;
use crate::log::writer::MakeFilter;

/// The file of the home that holds the key: 32 bytes, made once by a worker, read by all who redact.
pub const REDACT_KEY: &str = "redact.key";

/// Makes the maker for a session.
pub(crate) fn make(directory: &SessionDir, secret_names: &[String]) -> MakeFilter {
    let secret_names = secret_names.to_vec();
    let home = directory.path().ancestors().nth(2).map(PathBuf::from);
    let mut known: Option<Arc<Secrets>> = None;
    Box::new(move || {
        let secrets = known.get_or_insert_with(|| Arc::new(own_secrets(home.as_deref(), &secret_names)));
        Redactor::new(Arc::clone(secrets))
    })
}

/// Reads the key of a home. Without one, or with one of the wrong length, masks carry no tag: never a reason to show a
/// secret or to stop an agent.
pub fn read_redact_key(home: &Path) -> Option<[u8; 32]> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(no_follow.bits()).ok()?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(home.join(REDACT_KEY)).ok()?;
    let mut bytes = Vec::with_capacity(33);
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    file.take(33).read_to_end(&mut bytes).ok()?;
    bytes.try_into().ok()
}

fn own_secrets(home: Option<&Path>, secret_names: &[String]) -> Secrets {
    let secrets = Environment::of_process().secrets(secret_names);
    match home.and_then(read_redact_key) {
        Some(key) => secrets.with_key(key),
        None => secrets,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_plain_file_of_32_bytes() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(read_redact_key(home.path()), None);
        let path = home.path().join(REDACT_KEY);
        for wrong in [0, 31, 33] {
            std::fs::write(&path, vec![1; wrong]).unwrap();
            assert_eq!(read_redact_key(home.path()), None, "{wrong} bytes");
        }
        std::fs::write(&path, [7; 32]).unwrap();
        assert_eq!(read_redact_key(home.path()), Some([7; 32]));
        std::fs::rename(&path, home.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert_eq!(read_redact_key(home.path()), None, "no link is followed");
    }

    #[test]
    fn masks_carry_a_tag_when_the_home_has_a_key() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("sessions").join("0190c5a4-7d4e-7c3a-8f00-0123456789ab");
        let directory = SessionDir::at(&directory).unwrap();
        let masked = || {
            let (mut filter, mut out) = (make(&directory, &[])(), Vec::new());
            filter.push(concat!("gh", "p_0123456789abcdefghijklmnopqrstuvwxyz\n").as_bytes(), &mut out);
            filter.finish(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(masked(), "[redacted:github-token]\n");
        std::fs::write(home.path().join(REDACT_KEY), [7; 32]).unwrap();
        let tagged = masked();
        assert!(
            tagged.starts_with("[redacted:github-token:") && tagged.len() == "[redacted:github-token:01234567]\n".len(),
            "{tagged}"
        );
    }
}
