//! What the agents' own interfaces accept, as their help tells it, against every start that is made of a task's choices.
//! Runs none of them.

use longhaul_core::task::Sandbox;

use super::{Interactive, LaunchSpec, Network, User};
use crate::AGENTS;
use crate::tests::every_launch::every_launch;
use crate::tests::sample::spec;
use crate::tests::strict_cli::{StrictCli, Understood};

const ID: &str = "ses_1-a.b";

/// `codex resume` of 0.166.0.
const CODEX_RESUME: StrictCli = StrictCli {
    flags: &["--search", "--no-alt-screen", "--no-daemon", "--dangerously-bypass-approvals-and-sandbox"],
    valued: &["-c", "-m", "--model", "-p", "-s", "--sandbox", "-C", "--cd", "--add-dir", "-a"],
    greedy: &[],
    subcommands: &[],
};
const CODEX: StrictCli = StrictCli { flags: &[], valued: &[], greedy: &[], subcommands: &[("resume", &CODEX_RESUME)] };

/// `claude` of 2.1.325 without `-p`: what is for printing only is left out.
const CLAUDE: StrictCli = StrictCli {
    flags: &["--dangerously-skip-permissions"],
    valued: &["--permission-mode", "--resume", "--model"],
    greedy: &["--allowedTools", "--disallowedTools", "--add-dir"],
    subcommands: &[],
};

/// `opencode` of 1.18.33; `--continue` is left out on purpose.
const OPENCODE: StrictCli =
    StrictCli { flags: &["--auto"], valued: &["--model", "--session"], greedy: &[], subcommands: &[] };

/// `pi` of 1.5.0; `--continue` and `--resume`, which asks, are left out on purpose.
const PI: StrictCli =
    StrictCli { flags: &[], valued: &["--model", "--session", "--tools"], greedy: &[], subcommands: &[] };

/// `gemini` of 0.61.0.
const GEMINI: StrictCli = StrictCli {
    flags: &[],
    valued: &["--approval-mode", "--model", "--include-directories", "--resume"],
    greedy: &[],
    subcommands: &[],
};

const INTERFACES: [(&str, &StrictCli); 5] =
    [("codex", &CODEX), ("claude", &CLAUDE), ("opencode", &OPENCODE), ("pi", &PI), ("gemini", &GEMINI)];

fn start(agent: &str, spec: &LaunchSpec<'_>) -> Option<Interactive> {
    crate::find(agent).unwrap().interactive(ID, spec)
}

fn understood(agent: &str, cli: &StrictCli, argv: &[String]) -> Understood {
    cli.parse(&argv[1..]).unwrap_or_else(|error| panic!("{agent}: {error}: {argv:?}"))
}

fn value<'a>(options: &'a [(String, String)], name: &str) -> Option<&'a str> {
    options.iter().find(|(option, _)| option == name).map(|(_, value)| value.as_str())
}

#[test]
fn every_agent_has_an_interface_but_the_demo() {
    let without: Vec<&str> = AGENTS
        .iter()
        .filter(|agent| agent.interactive(ID, &spec()).is_none())
        .map(|agent| &*agent.about().name)
        .collect();
    assert_eq!(without, ["demo"]);
}

#[test]
fn every_start_is_accepted_and_names_the_conversation_once() {
    for (agent, cli) in INTERFACES {
        every_launch(|spec| {
            let argv = start(agent, spec).unwrap().argv;
            let understood = understood(agent, cli, &argv);
            let named = argv.iter().filter(|argument| argument.contains(ID)).count();
            assert_eq!((argv[0].as_str(), named), (agent, 1), "{argv:?}");
            let model = value(&understood.options, "--model");
            assert_eq!(model, spec.model, "{argv:?}");
        });
    }
}

#[test]
fn nothing_of_an_unwatched_session_is_in_it() {
    let extra = ["--profile".to_owned(), "fast".to_owned()];
    for (agent, _) in INTERFACES {
        let argv = start(agent, &LaunchSpec { extra: &extra, resumes: Some("other"), ..spec() }).unwrap().argv;
        for word in ["exec", "-p", "-", "json", "--json", "other", "fast", spec().session, spec().mark] {
            assert!(!argv.iter().any(|argument| argument == word), "{agent}: `{word}` in {argv:?}");
        }
        assert!(!argv.iter().any(|argument| argument.contains("approval_policy")), "{argv:?}");
    }
    let codex = start("codex", &spec()).unwrap().argv;
    assert!(codex.contains(&"--no-daemon".to_owned()), "the turn ends with the program: {codex:?}");
}

#[test]
fn the_sandbox_is_the_tasks() {
    let in_mode = |agent, sandbox| start(agent, &LaunchSpec { sandbox, ..spec() }).unwrap();
    let modes = [Sandbox::ReadOnly, Sandbox::Workspace, Sandbox::Full];
    let codex = modes.map(|sandbox| in_mode("codex", sandbox).argv[6].clone());
    assert_eq!(codex, ["read-only", "workspace-write", "danger-full-access"]);
    let gemini = modes.map(|sandbox| in_mode("gemini", sandbox).argv[1].clone());
    assert_eq!(gemini, ["--approval-mode=default", "--approval-mode=auto_edit", "--approval-mode=yolo"]);
    let claude = modes.map(|sandbox| in_mode("claude", sandbox).argv[1].clone());
    assert_eq!(
        claude,
        ["--permission-mode=dontAsk", "--permission-mode=acceptEdits", "--dangerously-skip-permissions"]
    );
    let opencode = modes.map(|sandbox| in_mode("opencode", sandbox).env_set.len());
    assert_eq!(opencode, [1, 1, 0], "rules are a variable");
    assert!(in_mode("opencode", Sandbox::Full).argv.contains(&"--auto".to_owned()));
    let pi = modes.map(|sandbox| in_mode("pi", sandbox).argv.contains(&"read,grep,find,ls".to_owned()));
    assert_eq!(pi, [true, false, false]);
}

#[test]
fn what_a_mode_needs_of_the_environment_comes_along() {
    let root = LaunchSpec { sandbox: Sandbox::Full, user: User::Root, ..spec() };
    let names = |agent, spec: &LaunchSpec<'_>| {
        let set = start(agent, spec).unwrap().env_set;
        set.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names("claude", &root), ["IS_SANDBOX"]);
    assert!(names("claude", &LaunchSpec { user: User::Plain, ..root }).is_empty());
    assert_eq!(names("gemini", &root), ["GEMINI_CLI_NO_RELAUNCH", "GEMINI_CLI_TRUST_WORKSPACE"]);
    let open = LaunchSpec { network: Network::Open, ..spec() };
    assert!(start("codex", &open).unwrap().argv.contains(&"sandbox_workspace_write.network_access=true".to_owned()));
    assert!(names("codex", &open).is_empty());
}

#[test]
fn a_configured_program_is_taken() {
    for (agent, _) in INTERFACES {
        let argv = start(agent, &LaunchSpec { program: Some("/opt/it"), ..spec() }).unwrap().argv;
        assert_eq!(argv[0], "/opt/it");
    }
}

/// The control: what these interfaces do not take is refused by the models.
#[test]
fn the_models_refuse_what_the_programs_refuse() {
    let refused: [(&StrictCli, &str); 5] = [
        (&CODEX, "resume --json ID"),
        (&CLAUDE, "--resume"),
        (&OPENCODE, "--dir=/p --session=x"),
        (&PI, "--session --model"),
        (&GEMINI, "--output-formats=x"),
    ];
    for (cli, line) in refused {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert!(cli.parse(&arguments).is_err(), "{line}");
    }
}
