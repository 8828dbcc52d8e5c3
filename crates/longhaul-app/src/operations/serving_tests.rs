//! What a process that serves many callers needs: its own clock, callers' directories, and threads that no silent worker blocks.
//! The worker here is the application's own process, as a server's will be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use longhaul_core::task::{Actor, Right, Rights};
use longhaul_core::time::Time;
use longhaul_keeper::{Environment, bind_private};
use longhaul_store::NewLease;
use serde_json::json;
use tokio::runtime::Handle;

use super::{
    Config, ConfigInput, Doctor, DoctorBundle, DoctorBundleInput, List, ListInput, StoreBackup, StoreBackupInput,
    Submit, SubmitInput, Tell, TellInput, Trust, TrustInput, TrustRemove, TrustRemoveInput,
};
use crate::config::{self, Overrides};
use crate::operation::{FrontEnd, NoInput};
use crate::{
    App, AppError, Asked, BootService, Call, Caller, ErrorKind, Handover, NewWorker, Processes, Reply, System,
    mint_lease, mint_session, mint_worker,
};

const NOW: Time = Time(1_900_000_000_000_000);

/// Takes a hand-over itself, once it may.
pub(super) struct OwnWorker {
    pub(super) may_start: Mutex<mpsc::Receiver<()>>,
}

impl Processes for OwnWorker {
    fn start_worker(&self, _: &App, _: NewWorker) -> Result<u32, AppError> {
        Ok(1)
    }

    fn start_worker_for(&self, app: &App, handover: &Handover) -> Result<Reply, AppError> {
        self.may_start.lock().unwrap().recv_timeout(Duration::from_secs(60)).expect("leave to start");
        let store = app.whole_store()?;
        let lease = NewLease { id: mint_lease(), worker: mint_worker(), host: "h".into() };
        let System { environment, clock, .. } = &app.system;
        let committed = handover.clone().commit(&**store, &app.home, environment, lease, *clock);
        Ok(Reply::Answer(Handle::current().block_on(committed).into()))
    }

    fn ask(&self, _: &Path, _: &[&str], _: Duration) -> Asked {
        Asked::Unknown
    }

    fn boot_service(&self, _: &Environment) -> Result<Option<BootService>, AppError> {
        Ok(None)
    }
}

struct Scene {
    _dir: tempfile::TempDir,
    project: PathBuf,
    call: Call,
    let_start: mpsc::Sender<()>,
}

impl Scene {
    fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (home, project) = (root.join("home"), root.join("project"));
        std::fs::create_dir(&project).unwrap();
        let environment = Environment::from(vec![
            ("HOME".into(), root.into()),
            ("LONGHAUL_HOME".into(), home.clone().into()),
            ("LONGHAUL_NOTIFY_WEBHOOK".into(), "https://hook.example/secret-place".into()),
        ]);
        let (let_start, may_start) = mpsc::channel();
        let processes = Arc::new(OwnWorker { may_start: Mutex::new(may_start) });
        let app = App::new(&home, System { clock: || NOW, environment, processes });
        let call = Call::new(Arc::new(app), Caller::new(Actor::person("ann"), Ok(project.clone())));
        Scene { _dir: dir, project, call, let_start }
    }
}

fn submission() -> SubmitInput {
    let settings = BTreeMap::from([("agent".to_owned(), "demo".to_owned())]);
    SubmitInput { goal: "?!".into(), in_place: true, settings, ..SubmitInput::default() }
}

#[tokio::test]
async fn every_time_is_the_clocks() {
    let Scene { _dir, call, let_start, .. } = Scene::new();
    let_start.send(()).unwrap();
    let task = call.perform::<Submit>(submission()).await.unwrap().view;
    let name = jiff::Timestamp::from_microsecond(NOW.0).unwrap().to_zoned(jiff::tz::TimeZone::system());
    assert_eq!(task.name, name.strftime("task-%Y%m%d-%H%M%S").to_string());
    let tell = TellInput { task: task.name.clone(), text: "be brief".into(), key: None };
    let told = call.perform::<Tell>(tell).await.unwrap().view;
    assert_eq!([&told.created, &told.since, &told.updated], [&NOW.rfc3339(); 3]);
    let stored = call.load(task.id.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((stored.task.guidance.len(), stored.task.updated), (1, NOW));
    let findings = call.perform::<Doctor>(NoInput {}).await.unwrap().view.findings;
    let clock = findings.iter().find(|finding| finding.subject == "clock").unwrap();
    assert_eq!(clock.facts, NOW.rfc3339());
}

#[tokio::test]
async fn paths_start_at_the_callers_directory() {
    let Scene { _dir, project, call, .. } = Scene::new();
    assert_ne!(std::env::current_dir().unwrap(), project, "the control");
    call.app.create().unwrap();
    let copy = call.perform::<StoreBackup>(StoreBackupInput { file: "./copy".into() }).await.unwrap().view;
    let bundle = DoctorBundleInput { file: "bundle".into(), with_goals: false };
    let bundle = call.perform::<DoctorBundle>(bundle).await.unwrap().view.bundle.unwrap();
    for (path, name) in [(copy.path, "copy"), (bundle, "bundle")] {
        assert_eq!(Path::new(&path), project.join(name));
        assert!(project.join(name).is_file());
    }
    let file = project.join("longhaul.toml").display().to_string();
    std::fs::write(&file, "agent = \"demo\"\n").unwrap();
    for (given, removed) in [(".", "longhaul.toml"), ("longhaul.toml", ".")] {
        let trusted = call.perform::<Trust>(TrustInput { path: given.into(), sha256: None }).await.unwrap().view;
        let gone = call.perform::<TrustRemove>(TrustRemoveInput { path: removed.into() }).await.unwrap().view;
        assert_eq!((trusted.trusted.path, gone.removed.path), (file.clone(), file.clone()));
    }
    let empty = call.perform::<Trust>(TrustInput { path: "".into(), sha256: None }).await.unwrap_err();
    assert_eq!(empty.what, "a path is empty");
}

#[tokio::test]
async fn the_configuration_that_a_variable_names_is_found_from_the_callers_directory() {
    let Scene { _dir, project, call, .. } = Scene::new();
    std::fs::write(project.join("mine.toml"), "agent = \"demo\"\n").unwrap();
    let named = |file: &str| {
        let variables = [("HOME", project.as_os_str()), ("LONGHAUL_CONFIG", file.as_ref())];
        let environment = variables.map(|(name, value)| (name.into(), value.to_owned())).into_iter().collect();
        config::load(&environment, &call.caller, &project, &Overrides::default())
    };
    assert_eq!(named("./mine.toml").unwrap().settings.agent.as_deref(), Some("demo"));
    assert!(named("yours.toml").unwrap_err().text().contains(project.join("yours.toml").to_str().unwrap()));
}

/// An agent that asks over MCP must not get a person's own files because a directory happens to be outside git.
#[tokio::test]
async fn working_in_place_needs_the_right_to_approve() {
    let Scene { _dir, call, let_start, .. } = Scene::new();
    let of = |rights| Call::new(Arc::clone(&call.app), call.caller.clone().through(FrontEnd::Mcp, rights));
    let goal = || SubmitInput { goal: "g".into(), in_place: false, ..submission() };
    let run = Rights::NONE.with(Right::Run);
    let refused = of(run).perform::<Submit>(goal()).await.unwrap_err();
    assert_eq!((refused.kind, refused.hints.len()), (ErrorKind::Forbidden, 1), "{refused:?}");
    assert_eq!(refused.what, "working in place needs the right `approve`, and this is not a git repository");
    assert_eq!(call.perform::<List>(ListInput::default()).await.unwrap().view.tasks.len(), 0);
    let_start.send(()).unwrap();
    of(run.with(Right::Approve)).perform::<Submit>(goal()).await.unwrap();
}

/// The test has one thread, as a busy server may have one left.
#[tokio::test]
async fn a_silent_worker_keeps_no_other_call_waiting() {
    let Scene { _dir, call, let_start, .. } = Scene::new();
    call.app.create().unwrap();
    let deaf = bind_private(&call.home().workers(), "deaf.sock").unwrap();
    let deaf = tokio::net::UnixListener::from_std(deaf).unwrap();
    let waiting = tokio::spawn({
        let call = call.clone();
        async move { call.perform::<Submit>(submission()).await }
    });
    let silence = deaf.accept().await.unwrap();
    let listing = call.perform::<List>(ListInput::default()).await.unwrap().view;
    assert_eq!((listing.tasks.len(), waiting.is_finished()), (0, false));
    // Nor does one that is being started.
    drop(silence);
    call.perform::<List>(ListInput::default()).await.unwrap();
    assert!(!waiting.is_finished());
    let_start.send(()).unwrap();
    waiting.await.unwrap().unwrap();
    assert_eq!(call.perform::<List>(ListInput::default()).await.unwrap().view.tasks.len(), 1);
}

#[tokio::test]
async fn only_people_see_the_webhooks_address() {
    let Scene { _dir, project, call, .. } = Scene::new();
    let agent = Caller::new(Actor::below(mint_session()), Ok(project));
    let agent = Call::new(Arc::clone(&call.app), agent);
    for (call, shown) in [(&call, "https://hook.example/secret-place"), (&agent, "(not shown)")] {
        let answer = call.perform::<Config>(ConfigInput::default()).await.unwrap();
        let entry = answer.view.keys.iter().find(|entry| entry.key == "notify.webhook").unwrap();
        assert_eq!(entry.value, json!(shown));
        assert_eq!(answer.document().unwrap().contains("secret-place"), shown != "(not shown)");
    }
}
