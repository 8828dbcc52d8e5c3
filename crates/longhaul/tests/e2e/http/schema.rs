//! The OpenAPI document and the real server, compared by schemathesis: what the document allows, and what it does not, on every route.
//! It wants answers that the document describes, no failure of the server, no route without a key, and nothing for other methods.

use std::path::Path;

use crate::env::{TestEnv, done};

use super::client::Serving;
use super::key;

/// Rules of fields that a schema cannot say, such as that an id exists, refuse what the document allows; that is no fault.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method";

#[test]
fn what_the_document_says_is_what_the_server_does() {
    let env = TestEnv::new();
    let key = key(&env, "schema", "run,approve,admin", "default");
    let serving = Serving::start(&env, &["--no-worker"]);
    let document = format!("http://{}/api/v1/openapi.json", serving.address);
    let header = format!("Authorization: Bearer {key}");
    let mut command = env.command_of(Path::new("python3"), &["-m", "schemathesis.cli", "run", &document]);
    command.args(["--header", &header, "--checks", CHECKS, "--max-examples", "10", "--rate-limit", "100/s"]);
    // Without waiting, and without looking at the programs of this machine.
    command.args(["--exclude-path-regex", "/wait$|/doctor$|/agents$", "--seed", "1", "--no-color"]);
    command.env("PYTHONPATH", longhaul_scripted_model::schemathesis().unwrap()).env("PYTHONDONTWRITEBYTECODE", "1");
    let done = done(&command.current_dir(env.path()).output().unwrap());
    assert_eq!(done.code, 0, "{}\n{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("Tested: 29"), "{}", done.stdout);
    assert_eq!(serving.get(&key, "/api/v1/tasks").status, 200, "it still serves");
}
