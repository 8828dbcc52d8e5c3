//! Examples for every verb, as `--help` and the manual pages show them.
//! A test compares the table with the existing verbs and parses every line. Nothing here acts.

/// The lines below "Examples:", by verb.
pub(super) const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "run",
        &[
            "longhaul run \"port the parser to winnow\" --check 'cargo test'",
            "longhaul run -d \"fix the flaky login test\" --agent codex --max-time 2h",
            "longhaul run -f goal.md --agents claude,codex --on-limit switch",
            "longhaul run --dry-run \"bump the dependencies\" --profile night --base develop",
            "longhaul run -d \"bump the dependencies\" --key bump-2026-11 --json",
        ],
    ),
    ("retry", &["longhaul retry my-task", "longhaul retry my-task --agent claude -d"]),
    (
        "reopen",
        &[
            "longhaul reopen my-task \"now also update the changelog\"",
            "longhaul reopen my-task \"the tests are slow: find out why\" --agent claude -d",
        ],
    ),
    ("demo", &["longhaul demo", "longhaul demo --pace 500 --no-kills"]),
    (
        "run-session",
        &[
            "longhaul run-session \"Build a REST API for a todo app\"",
            "longhaul run-session --task-name my-task --continue",
            "longhaul run-session --list",
        ],
    ),
    ("list", &["longhaul list", "longhaul list --watch", "longhaul list --all --json", "longhaul list --tenant acme"]),
    ("show", &["longhaul show my-task", "longhaul show my-task --json | jq .data"]),
    ("why", &["longhaul why", "longhaul why my-task"]),
    (
        "logs",
        &[
            "longhaul logs -f my-task",
            "longhaul logs my-task --session 3",
            "longhaul logs my-task -n 50 --since 10m --errors",
        ],
    ),
    ("events", &["longhaul events -f my-task", "longhaul events my-task --verify"]),
    ("attach", &["longhaul attach my-task", "longhaul attach my-task --read-only --json"]),
    (
        "wait",
        &["longhaul wait my-task --timeout 1h30m && echo done", "longhaul wait parser docs", "longhaul wait --any"],
    ),
    (
        "plan",
        &[
            "longhaul plan my-task",
            "longhaul plan my-task --accept            # task_list.md in the task directory",
            "longhaul plan my-task --accept list.md",
        ],
    ),
    ("diff", &["longhaul diff my-task", "longhaul diff my-task --raw | git apply"]),
    (
        "prompt",
        &[
            "longhaul prompt",
            "PS1='$(longhaul prompt) '$PS1",
            "set -g status-right '#(longhaul prompt --all)'   # tmux.conf",
        ],
    ),
    ("report", &["longhaul report my-task", "longhaul report my-task -o report.md"]),
    ("pause", &["longhaul pause my-task --now", "longhaul pause parser docs", "longhaul pause --all"]),
    (
        "resume",
        &[
            "longhaul resume my-task --reason \"logged in again\"",
            "longhaul resume -d my-task",
            "longhaul resume --all",
        ],
    ),
    ("tell", &["longhaul tell my-task \"use the existing HTTP client\"", "longhaul tell my-task - < notes.md"]),
    ("edit", &["longhaul edit my-task --max-time 8h", "longhaul edit my-task --check 'make test'"]),
    ("rename", &["longhaul rename my-task better-name"]),
    ("path", &["longhaul path my-task", "longhaul path my-task --json | jq -r .data.root"]),
    ("shell", &["longhaul shell my-task"]),
    ("takeover", &["longhaul takeover my-task"]),
    (
        "land",
        &[
            "longhaul land my-task",
            "longhaul land my-task --dry-run",
            "longhaul land my-task --onto develop -m \"parser: port to winnow\"",
        ],
    ),
    ("discard", &["longhaul discard my-task", "longhaul rm parser docs", "longhaul discard --undo my-task"]),
    ("cancel", &["longhaul cancel my-task --reason \"no longer needed\"", "longhaul cancel --all"]),
    (
        "mcp",
        &[
            "longhaul mcp install --client claude",
            "longhaul mcp tools --json",
            "longhaul mcp --rights approve",
            "longhaul mcp --read-only",
        ],
    ),
    ("serve", &["longhaul serve", "longhaul serve --listen 127.0.0.1:0 --no-worker"]),
    ("import", &["longhaul import openchrome ~/.openchrome --dry-run", "longhaul import openchrome ~/.openchrome"]),
    ("keys", &["longhaul keys create ci --rights read --expires 30d", "longhaul keys list", "longhaul keys revoke ci"]),
    (
        "session",
        &[
            "longhaul session report \"half of the files are ported\" --completed src/parser.rs",
            "longhaul session checkpoint - < notes.md",
            "longhaul session help \"which database should the tests use?\"",
            "longhaul session done \"everything is ported\"",
        ],
    ),
    ("setup", &["longhaul setup"]),
    ("agents", &["longhaul agents", "longhaul agents --json"]),
    (
        "config",
        &[
            "longhaul config set agent claude",
            "longhaul config set --project verify.commands \"cargo test\" \"cargo clippy\"",
            "longhaul config get limits",
            "longhaul config show --origin",
        ],
    ),
    ("notify", &["longhaul notify test"]),
    ("trust", &["longhaul trust .", "longhaul trust --list"]),
    ("service", &["longhaul service install --dry-run", "longhaul service install", "longhaul service status"]),
    ("skill", &["longhaul skill install --client codex", "longhaul skill list"]),
    (
        "completions",
        &[
            "source <(longhaul completions bash)       # in ~/.bashrc",
            "source <(longhaul completions zsh)        # in ~/.zshrc, after compinit",
            "longhaul completions fish | source        # in ~/.config/fish/config.fish",
        ],
    ),
    ("man", &["longhaul man | man -l -", "mkdir -p ~/.local/share/man && longhaul man ~/.local/share/man/man1"]),
    ("doctor", &["longhaul doctor", "longhaul doctor --bundle report.txt"]),
    ("worker", &["longhaul worker -d", "longhaul worker -d --sessions 16"]),
    ("gc", &["longhaul gc --dry-run", "longhaul gc --age 30d"]),
    ("store", &["longhaul store check", "longhaul store backup ~/longhaul-backup.db"]),
];

/// The examples of a verb as one text.
pub(super) fn text(verb: &str) -> Option<String> {
    let (_, lines) = EXAMPLES.iter().find(|(name, _)| *name == verb)?;
    Some(format!("Examples:\n  {}", lines.join("\n  ")))
}
