//! The official MCP client for TypeScript drives the server from its start to a verified task (`e2e/clients/drive.mjs`). It validates every
//! answer against the published schema, errors too, and complains about schemas that it cannot read.

use std::path::Path;

use serde_json::{Value, json};

use super::{READERS, RUNNERS, sorted};
use crate::env::{TestEnv, done};

#[test]
fn the_official_client_runs_a_task_to_its_verified_end() {
    let env = TestEnv::new();
    env.make_repository();
    let clients = longhaul_scripted_model::clients().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e/clients/drive.mjs");
    let arguments = [script, clients.to_str().unwrap(), env!("CARGO_BIN_EXE_longhaul")];
    let node = done(&env.command_of(Path::new("node"), &arguments).output().unwrap());
    assert_eq!((node.code, node.stderr.as_str()), (0, ""), "{}", node.stdout);
    let found: Value = serde_json::from_str(&node.stdout).unwrap();
    assert_eq!((&found["server"], &found["tools"]), (&"longhaul".into(), &json!(sorted(&[READERS, RUNNERS]))));
    assert_eq!(found["end"]["result"], "verified", "{found}");
    assert_eq!((&found["refused"], &found["wrong"]), (&"forbidden".into(), &"invalid_argument".into()), "{found}");
}
