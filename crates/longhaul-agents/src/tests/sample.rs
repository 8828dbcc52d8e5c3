//! A moment and a launch to start from, for the agents' own tests.
//! Tests change only what they are about.

use std::sync::LazyLock;

use jiff::tz::TimeZone;
use longhaul_core::task::Sandbox;
use longhaul_core::time::Time;

use crate::launch::{LaunchSpec, Network, SessionServer, User};
use crate::reading::Moment;

/// 2026-11-15 12:00 UTC.
pub(crate) fn moment() -> Moment<'static> {
    static ZONE: TimeZone = TimeZone::UTC;
    Moment { now: Time(1_794_744_000_000_000), zone: &ZONE }
}

/// Longhaul's server for a session, with names and values that need quoting.
pub(crate) fn server() -> SessionServer<'static> {
    static ENVIRONMENT: LazyLock<[(String, String); 2]> = LazyLock::new(|| {
        [("LONGHAUL_HOME", "/my \"home\""), ("LONGHAUL_SESSION", "s-1")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    });
    static INHERITED: LazyLock<[String; 1]> = LazyLock::new(|| ["API_TOKEN".to_owned()]);
    let (environment, inherited) = (&*ENVIRONMENT, &*INHERITED);
    SessionServer { program: "/opt/my bin/longhaul", arguments: &["mcp"], environment, inherited }
}

/// A first session in a workspace.
pub(crate) fn spec() -> LaunchSpec<'static> {
    LaunchSpec {
        own_program: "/proc/self/exe",
        program: None,
        extra: &[],
        session: "0190c5a4-7d4e-7c3a-8f00-0123456789ab",
        mark: "0190c5a4-0000-7c3a-8f00-0123456789ab/1.1",
        resumes: None,
        model: None,
        cwd: "/project",
        writable: None,
        sandbox: Sandbox::Workspace,
        network: Network::AsSandboxed,
        user: User::Plain,
        prompt_file: "/home/session/prompt",
        argument: None,
        server: None,
    }
}
