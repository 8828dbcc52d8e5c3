//! What a caller with an API key can name: only what lies in its tenant's allowed directories, in every field of every operation.
//! Whatever lies elsewhere is answered like what does not exist.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, mpsc};

use longhaul_core::names::TaskName;
use longhaul_core::task::{Actor, Event, InputFile, Submission};
use longhaul_keeper::Environment;
use longhaul_store::{Change, Guard, Tenant};
use serde_json::{Value, json};

use super::OPERATIONS;
use super::serving_tests::OwnWorker;
use super::tests::table;
use crate::operation::{Entry, FrontEnd};
use crate::{App, AppError, Call, Caller, ErrorKind, System, mint_task, now};

const CONTENT: &str = "the content of a file elsewhere";

struct Scene {
    _dir: tempfile::TempDir,
    root: PathBuf,
    app: Arc<App>,
    let_start: mpsc::Sender<()>,
}

impl Scene {
    /// The tenant `acme` may work in `allowed` and in a part of a repository; the default tenant elsewhere.
    fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["allowed/sub", "allowed2", "elsewhere", "mine", "repo/inner"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join("allowed/input.txt"), "input").unwrap();
        std::fs::write(root.join("elsewhere/secret.txt"), CONTENT).unwrap();
        symlink("../elsewhere", root.join("allowed/link")).unwrap();
        symlink("../elsewhere/secret.txt", root.join("allowed/file-link")).unwrap();
        symlink("loop", root.join("allowed/loop")).unwrap();
        git(&root.join("repo"), &["init", "-q"]);
        git(
            &root.join("repo"),
            &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "c"],
        );
        git(&root.join("repo"), &["worktree", "add", "-q", "../allowed/linked"]);
        let projects = format!("acme={0}/allowed\nacme={0}/repo/inner\n{0}/mine", root.display());
        let environment = Environment::from(vec![
            ("HOME".into(), root.clone().into()),
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("LONGHAUL_HOME".into(), root.join("home").into()),
            ("LONGHAUL_AGENT".into(), "demo".into()),
            ("LONGHAUL_SERVE_PROJECTS".into(), projects.into()),
        ]);
        let (let_start, may_start) = mpsc::channel();
        let processes = Arc::new(OwnWorker { may_start: Mutex::new(may_start) });
        let app = Arc::new(App::new(&root.join("home"), System { environment, clock: now, processes }));
        app.create().unwrap();
        Scene { _dir: dir, root, app, let_start }
    }

    fn path(&self, name: &str) -> String {
        self.root.join(name).display().to_string()
    }

    /// A caller with a key of this tenant that allows everything, through HTTP or, over HTTP, through MCP.
    fn call(&self, tenant: &str, front_end: FrontEnd) -> Call {
        let (tenant, rights) = (Tenant::new(tenant), "approve,run".parse().unwrap());
        let (id, name) = ("k1".to_owned(), "ci".to_owned());
        let key = longhaul_store::ApiKey { id, tenant, name, rights, created: now(), expires: None, revoked: None };
        Call::new(Arc::clone(&self.app), Caller::of_key(key).through(front_end, rights))
    }

    fn here(&self) -> Call {
        Call::new(Arc::clone(&self.app), Caller::new(Actor::person("ann"), Ok(self.root.join("allowed"))))
    }

    /// A finished task of `acme` in this directory that started from this file.
    async fn finished(&self, name: &str, directory: &str, input: &str) -> String {
        let call = self.call("acme", FrontEnd::Http);
        let bare = Submission::new("g".into(), TaskName::new(name).unwrap(), self.path(directory), "demo".into());
        let input = InputFile { path: self.path(input), sha256: "0".repeat(64) };
        let submission = Submission { inputs: vec![input], ..bare }.into();
        let (task, actor) = (mint_task(), Actor::person("ann"));
        let events = vec![Event::Submitted { submission }, Event::Cancelled { by: "ann".into(), reason: None }];
        let change =
            Change { task, guard: Guard::New, events, actor, at: now(), key: None, claim: None, session_cap: None };
        call.store().unwrap().commit(change).await.unwrap();
        task.to_string()
    }

    /// Whether the database has the text.
    fn has_stored(&self, text: &str) -> bool {
        ["longhaul.db", "longhaul.db-wal"].iter().any(|file| {
            let bytes = std::fs::read(self.root.join("home").join(file)).unwrap();
            bytes.windows(text.len()).any(|part| part == text.as_bytes())
        })
    }
}

fn git(directory: &Path, args: &[&str]) {
    let done = Command::new("git").args(args).current_dir(directory).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

async fn perform(call: &Call, operation: &str, input: Value) -> Result<Value, AppError> {
    let entry = OPERATIONS.iter().find(|entry| entry.about.name == operation).unwrap();
    (entry.perform)(call, input).await.map(|document| serde_json::from_str(&document).unwrap())
}

fn submission(workspace: &str) -> Value {
    json!({ "goal": "g", "in_place": true, "workspace": workspace })
}

#[tokio::test]
async fn a_workspace_lies_in_an_allowed_directory_with_all_of_its_repository() {
    let scene = Scene::new();
    let mut answers = Vec::new();
    for refused in [
        "elsewhere",
        "elsewhere/absent",
        "allowed2",
        "mine",
        "",
        "allowed/..",
        "allowed/../elsewhere",
        "allowed/link",
        "allowed/link/../elsewhere",
        "allowed/loop",
        "allowed/absent",
        "allowed/link/absent",
        "repo",
        "repo/inner",
        "allowed/linked",
        "allowed/input.txt/..",
    ] {
        let workspace = scene.path(refused);
        for (front_end, operation) in [(FrontEnd::Http, "submit"), (FrontEnd::Mcp, "submit"), (FrontEnd::Mcp, "run")] {
            let answer = perform(&scene.call("acme", front_end), operation, submission(&workspace)).await.unwrap_err();
            assert_eq!(answer.kind, ErrorKind::Forbidden, "{refused}: {answer:?}");
            answers.push(answer.text().replace(&workspace, "PATH"));
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "what exists elsewhere is answered like what does not: {answers:?}");
    for relative in [".", "", "allowed", "../allowed", "~"] {
        let refused = perform(&scene.call("acme", FrontEnd::Http), "submit", submission(relative)).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Forbidden, "{relative}: {refused:?}");
    }
    for (tenant, allowed) in [("acme", "allowed"), ("acme", "allowed/sub/../sub"), ("default", "mine")] {
        scene.let_start.send(()).unwrap();
        let answer = perform(&scene.call(tenant, FrontEnd::Http), "submit", submission(&scene.path(allowed))).await;
        assert!(answer.is_ok(), "control: {allowed}: {answer:?}");
    }
}

#[tokio::test]
async fn without_an_allowed_directory_nothing_is_submitted_and_the_key_to_set_is_named() {
    let scene = Scene::new();
    for input in [submission(&scene.path("allowed")), json!({ "goal": "g" })] {
        let refused = perform(&scene.call("other", FrontEnd::Http), "submit", input).await.unwrap_err();
        assert!(refused.what.contains("`serve.projects` allows the tenant `other` no directory"), "{refused:?}");
        assert!(refused.hints[0].contains("[\"other=/DIRECTORY\"]"), "{refused:?}");
    }
}

#[tokio::test]
async fn files_to_start_from_lie_in_an_allowed_directory() {
    let scene = Scene::new();
    let with_input =
        |input: String| json!({ "goal": "g", "in_place": true, "workspace": scene.path("allowed"), "inputs": [input] });
    let call = scene.call("acme", FrontEnd::Http);
    for refused in ["elsewhere/secret.txt", "elsewhere/absent", "allowed/file-link", "allowed/link/secret.txt", "mine"]
    {
        let refused = perform(&call, "submit", with_input(scene.path(refused))).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Forbidden, "{refused:?}");
    }
    for setting in ["notify.file", "serve.projects"] {
        let settings = json!({ setting: scene.path("allowed/notices") });
        let input = json!({ "goal": "g", "workspace": scene.path("allowed"), "settings": settings });
        let refused = perform(&call, "submit", input).await.unwrap_err();
        assert!(refused.what.contains("names a file of this machine"), "{refused:?}");
    }
    scene.let_start.send(()).unwrap();
    perform(&call, "submit", with_input(scene.path("allowed/input.txt"))).await.unwrap();
}

#[tokio::test]
async fn a_retry_reaches_no_further_than_a_new_task() {
    let scene = Scene::new();
    let call = scene.call("acme", FrontEnd::Http);
    for (name, directory, input, is_refused) in [
        ("one", "elsewhere", "allowed/input.txt", true),
        ("two", "allowed", "elsewhere/secret.txt", true),
        ("three", "allowed/linked", "allowed/input.txt", true),
        ("four", "allowed", "allowed/input.txt", false),
    ] {
        let task = scene.finished(name, directory, input).await;
        scene.let_start.send(()).unwrap();
        let answer = perform(&call, "retry", json!({ "task": task })).await;
        match is_refused {
            true => assert_eq!(answer.unwrap_err().kind, ErrorKind::Forbidden, "{name}"),
            false => assert!(answer.is_ok(), "{name}: {answer:?}"),
        }
    }
}

/// Makes the value of a field from a text.
type OfText = fn(&str) -> Value;

/// The fields of an operation that take a text or texts.
fn texts(entry: &Entry) -> Vec<(String, OfText)> {
    let schema = (entry.input_schema)().to_value();
    let fields = schema["properties"].as_object().cloned().unwrap_or_default();
    let kind_of = |schema: &Value| -> Option<OfText> {
        let named = schema["type"].to_string();
        match (named.contains("string"), named.contains("array") && schema["items"]["type"] == "string") {
            (true, _) => Some(|text| json!(text)),
            (_, true) => Some(|text| json!([text])),
            (false, false) => None,
        }
    };
    fields.iter().filter_map(|(name, schema)| Some((name.clone(), kind_of(schema)?))).collect()
}

/// Also for fields and operations that do not exist yet: no text makes an operation read a file elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn no_field_of_any_operation_reads_a_file_elsewhere() {
    let scene = Scene::new();
    let secret = scene.path("elsewhere/secret.txt");
    let digest = longhaul_core::fingerprint::of_reader(CONTENT.as_bytes()).unwrap();
    let mut asked = 0;
    for (name, input, _) in table() {
        let entry = OPERATIONS.iter().find(|entry| entry.about.name == name).unwrap();
        for front_end in [FrontEnd::Http, FrontEnd::Mcp].into_iter().filter(|end| entry.about.is_offered_by(*end)) {
            for (field, value) in texts(entry) {
                let mut input = input.clone();
                input["workspace"] = scene.path("allowed").into();
                input["in_place"] = true.into();
                input["timeout_ms"] = 1.into();
                input[&field] = value(&secret);
                // A worker may start: what is accepted is looked at, too.
                scene.let_start.send(()).unwrap();
                let answer = match perform(&scene.call("acme", front_end), name, input).await {
                    Ok(answer) => answer.to_string(),
                    Err(error) => error.text(),
                };
                assert!(!answer.contains(CONTENT) && !answer.contains(&digest), "{name} {field}: {answer}");
                asked += 1;
            }
        }
    }
    assert!(asked > 60, "{asked}");
    assert!(!scene.has_stored(&digest));
    scene.let_start.send(()).unwrap();
    let input = json!({ "goal": "g", "in_place": true, "inputs": [secret], "name": "control" });
    perform(&scene.here(), "submit", input).await.unwrap();
    assert!(scene.has_stored(&digest), "control: the digest of an input is stored");
}
