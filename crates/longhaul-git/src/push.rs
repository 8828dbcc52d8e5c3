//! Pushing a commit to the remote of the submission, for a pull request: the one call of the wrapper that opens a connection.
//!
//! Called by the effect of a follow-up with `--pr` only. It runs in a private git directory, so nothing of the repository's configuration
//! counts, no hook runs, and the person's own global configuration decides about ssh, credentials and proxies.

use longhaul_keeper::Environment;

use super::command::{LONG, Listed};
use super::error::GitError;
use super::references::CommitId;
use super::repository::Repository;
use super::rules::personal;
use super::signing::with_network;
use super::view::{Objects, View};

/// What no configuration may decide.
const SETTINGS: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
    ("push.recurseSubmodules", "no"),
    ("submodule.recurse", "false"),
    ("protocol.ext.allow", "never"),
    ("gc.auto", "0"),
];

impl Repository {
    /// Pushes a commit to a branch of a remote, which must be absent or behind it. Else git's reason.
    pub fn push(
        &self,
        url: &str,
        commit: &CommitId,
        branch: &str,
        environment: &Environment,
    ) -> Result<Result<(), String>, GitError> {
        let shared = self.shared_view()?;
        let view = View::new(&shared, Objects::Repository)?;
        let personal = personal(self, environment);
        let ssh = environment.get("GIT_SSH_COMMAND").and_then(|command| command.to_str().map(str::to_owned));
        let ssh = ssh.or_else(|| personal.value("core.sshcommand")).unwrap_or_else(|| "ssh".to_owned());
        let fixed = SETTINGS.iter().map(|(key, value)| (key.into(), value.into()));
        let settings: Vec<_> = personal.into_settings().into_iter().chain(fixed).collect();
        let call = with_network(view.call_with(&settings), environment).variable("GIT_SSH_COMMAND", ssh);
        let call = call.variable("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh");
        let call = call.words(&["push", "--quiet", "--no-verify", "--no-signed", "--"]).value(url)?;
        let answer = call.value(format!("{commit}:refs/heads/{branch}"))?.deadline(LONG).run()?;
        Ok(if answer.is_success() { Ok(()) } else { Err(answer.refused().to_string()) })
    }
}

/// The URL of the remote that a branch belongs to, without a password: that one is the credential helper's.
pub(super) fn remote_of(own: &Listed, branch: Option<&str>) -> Option<String> {
    let of_branch = branch.and_then(|branch| own.value(&format!("branch.{branch}.remote")));
    let name = of_branch.filter(|name| name != ".").unwrap_or_else(|| "origin".to_owned());
    own.value(&format!("remote.{name}.url")).map(|url| without_password(&url))
}

fn without_password(url: &str) -> String {
    let parts = url.split_once("://").filter(|(scheme, _)| scheme.starts_with("http"));
    let Some((scheme, rest)) = parts else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn no_password_of_a_url_is_stored() {
        assert_eq!(without_password("https://ann:secret@example.org/a/b.git"), "https://example.org/a/b.git");
        assert_eq!(without_password("https://example.org/a@b.git"), "https://example.org/a@b.git");
        assert_eq!(without_password("git@example.org:a/b.git"), "git@example.org:a/b.git");
    }
}
