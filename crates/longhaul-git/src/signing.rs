//! Signing a commit as the person's own git would: whether and with which key is read at submit, before any agent runs, and the program comes
//! from their global configuration alone, because an agent can write the repository's.
//!
//! Called when work lands. The signing program gets the variables that lead to the person's keys and agents, and nothing else.

use std::ffi::OsString;

use longhaul_core::task::Signing;
use longhaul_keeper::Environment;

use super::command::{Call, LONG, Listed};
use super::repository::Repository;
use super::rules::personal;

/// Which program signs each format: the keys that name it, the first that is set wins, and git's own choice.
const PROGRAMS: &[(&str, &[&str], &str)] = &[
    ("gpg.openpgp.program", &["gpg.openpgp.program", "gpg.program"], "gpg"),
    ("gpg.x509.program", &["gpg.x509.program"], "gpgsm"),
    ("gpg.ssh.program", &["gpg.ssh.program"], "ssh-keygen"),
];
const DEFAULT_KEY: &str = "gpg.ssh.defaultkeycommand";

/// What leads to the person's keys, their agents, and a window that asks for a passphrase.
const VARIABLES: &[&str] = &[
    "HOME",
    "PATH",
    "GNUPGHOME",
    "GPG_AGENT_INFO",
    "GPG_TTY",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// What leads to a remote: proxies, certificates, and the logins of credential helpers.
const NETWORK: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_CONFIG_DIR",
    "GITLAB_TOKEN",
    "GLAB_CONFIG_DIR",
];

/// How this person signs here, if they do.
pub(super) fn signing_of(own: &Listed, personal: &Listed) -> Option<Signing> {
    let wanted = own.overridden("commit.gpgsign").or_else(|| personal.value("commit.gpgsign"))?;
    let signs = ["true", "yes", "on", "1"].iter().any(|yes| wanted.eq_ignore_ascii_case(yes));
    let value = |key: &str| own.value(key).or_else(|| personal.value(key));
    signs.then(|| Signing { format: value("gpg.format"), key: value("user.signingkey") })
}

/// A call that signs what it commits.
pub(super) fn signed(call: Call, repository: &Repository, signing: &Signing, environment: &Environment) -> Call {
    let personal = personal(repository, environment);
    let program = |keys: &[&str], usual: &str| {
        keys.iter().find_map(|key| personal.value(key)).unwrap_or_else(|| usual.to_owned())
    };
    let programs = PROGRAMS.iter().map(|(key, keys, usual)| ((*key).to_owned(), program(keys, usual)));
    let own = [("gpg.format", &signing.format), ("user.signingkey", &signing.key)];
    let own = own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value.clone()?)));
    let default_key = personal.value(DEFAULT_KEY).map(|value| (DEFAULT_KEY.to_owned(), value));
    let settings: Vec<(OsString, OsString)> =
        programs.chain(own).chain(default_key).map(|(key, value)| (key.into(), value.into())).collect();
    with_variables(call.settings(&settings), environment).signing()
}

/// A call whose programs find the person's keys.
fn with_variables(call: Call, environment: &Environment) -> Call {
    passing(call, environment, VARIABLES)
}

/// A call whose programs find the person's keys, and their way to a remote.
pub(super) fn with_network(call: Call, environment: &Environment) -> Call {
    passing(with_variables(call, environment), environment, NETWORK)
}

fn passing(call: Call, environment: &Environment, names: &[&str]) -> Call {
    let known = names.iter().filter_map(|name| Some((*name, environment.get(name)?)));
    known.fold(call, |call, (name, value)| call.variable(name, value)).deadline(LONG)
}
