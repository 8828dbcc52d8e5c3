//! Every kind of launch there is, for the agents' own tests of what their programs accept.
//! Sandboxes, networks, models, directories and conversations in every combination.

use longhaul_core::task::Sandbox;

use crate::launch::{LaunchSpec, Network, User};
use crate::tests::sample::{server, spec};

/// Calls with each.
pub(crate) fn every_launch(mut check: impl FnMut(&LaunchSpec<'_>)) {
    for sandbox in [Sandbox::ReadOnly, Sandbox::Workspace, Sandbox::Full] {
        for (network, user) in [(Network::AsSandboxed, User::Plain), (Network::Open, User::Root)] {
            for resumes in [None, Some("ses_1-a.b")] {
                for (model, writable) in [(None, None), (Some("test/m1"), Some("/elsewhere/a dir"))] {
                    let server = writable.map(|_| server());
                    check(&LaunchSpec { sandbox, network, user, resumes, model, writable, server, ..spec() });
                }
            }
        }
    }
}
