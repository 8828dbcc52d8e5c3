//! Tests: unknown keys and bad values fail at load in every layer, with place, nearest name and what is allowed.
//! Driven by the table where every key must behave the same.

use super::super::keys::KEYS;
use super::super::kind::Kind;
use super::super::load::{Named, Notice, Overrides};
use super::{World, path_text};

#[test]
fn an_unknown_key_is_an_error_in_each_layer() {
    let user = World::new().user("# mine\n\n[limits]\nmax_tme = '3h'\n");
    let error = user.error();
    assert!(error.contains(&format!("`{}` line 4", path_text(&user.user_file()))), "{error}");
    assert!(error.contains("unknown key `limits.max_tme`; did you mean `limits.max_time`?"), "{error}");

    let workspace = World::new().workspace("agnet = 'demo'");
    let error = workspace.error();
    assert!(error.contains(&format!("`{}` line 1", path_text(&workspace.workspace_file()))), "{error}");
    assert!(error.contains("did you mean `agent`?"), "{error}");

    let error = World::new().var("LONGHAUL_LIMITS_MAX_TME", "3h").error();
    assert!(error.contains("`LONGHAUL_LIMITS_MAX_TME`") && error.contains("`LONGHAUL_LIMITS_MAX_TIME`"), "{error}");
    let error = World::new().var("LONGHAUL_LIMITS_WHATEVER_ELSE", "3h").error();
    assert!(error.contains("unknown variable `LONGHAUL_LIMITS_WHATEVER_ELSE`"), "{error}");

    let overrides = Overrides::default().word("limits.max_tme", "--max-time", Some("3h"));
    let error = World::new().sources().load(&overrides).unwrap_err().to_string();
    assert!(error.contains("the flag `--max-time`") && error.contains("`limits.max_time`"), "{error}");
}

#[test]
fn a_slip_in_any_key_finds_the_key_again() {
    for key in KEYS {
        let mut slipped = key.name.to_owned();
        slipped.remove(slipped.len() - 2);
        let error = World::new().user(&format!("{slipped} = 1")).error();
        assert!(error.contains(&format!("did you mean `{}`?", key.name)), "{error}");
    }
}

#[test]
fn an_unknown_section_and_a_name_like_nothing_are_errors_too() {
    assert!(World::new().user("[limts]\nattempts = 1").error().contains("unknown key `limts`; did you mean `limits`?"));
    let error = World::new().user("colour = 'red'").error();
    assert!(error.contains("unknown key `colour`") && !error.contains("did you mean"), "{error}");
    let error = World::new().user("\"limits.attempts\" = 3").error();
    assert!(error.contains("unknown key `limits.attempts`"), "a dot inside a quoted name is no section: {error}");
    let error = World::new().user("limits = 3").error();
    assert!(error.contains("`limits` cannot be integer; it takes a table"), "{error}");
    let error = World::new().user("[[limits]]\nattempts = 3").error();
    assert!(error.contains("`limits` cannot be array"), "{error}");
    let error = World::new().user("limits.attempts.of = 3").error();
    assert!(error.contains("`limits.attempts` cannot be a table"), "{error}");
}

#[test]
fn the_first_mistake_of_a_file_is_the_one_that_is_named() {
    let error = World::new().user("[verify]\nfix_attempts = -1\n[agents]\nx = 1\n[limits]\nattempts = 'x'").error();
    assert!(error.contains("line 2") && error.contains("`verify.fix_attempts`"), "{error}");
}

#[test]
fn variables_of_nobody_are_mentioned_and_ours_are_not() {
    let world = World::new().var("LONGHAUL_BANANA", "1").var("LONGHAUL_HOME", "/x").var("LONGHAUL_FAIL_POINTS", "x");
    let world = world.var("LONGHAUL_TASK", "x").var("LONGHAUL_OCCASION", "done");
    let notices = world.load().unwrap().notices;
    assert_eq!(notices, [Notice::Stranger { variable: "LONGHAUL_BANANA".to_owned() }]);
    assert!(World::new().var("OTHER_LIMITS_X", "1").load().unwrap().notices.is_empty());
    let error = World::new().var("LONGHAUL_HOMR", "/x").error();
    assert!(error.contains("did you mean `LONGHAUL_HOME`?"), "{error}");
}

#[test]
fn a_wrong_type_is_an_error_for_every_key() {
    for key in KEYS {
        for wrong in ["1979-05-27", "[1, 2]", "{ a = 1 }", "9223372036854775808", "nan"] {
            let world = World::new().user(&format!("\n{} = {wrong}\n", key.name));
            let error = world.error();
            assert!(error.contains("line 2"), "{} = {wrong}: {error}", key.name);
            // An integer beyond the format's own bound may already be refused by its parser.
            assert!(error.contains(key.name) || error.contains("not valid TOML"), "{} = {wrong}: {error}", key.name);
        }
        let error = World::new().workspace(&format!("{} = 1979-05-27", key.name)).error();
        assert!(error.contains(&format!("`{}` cannot be a date; it takes {}", key.name, key.wanted())), "{error}");
    }
}

#[test]
fn a_wrong_word_is_an_error_in_variables_and_flags() {
    for key in KEYS {
        let wrong = match key.kind {
            Kind::Command | Kind::Commands | Kind::Patterns | Kind::Argv => "a\0b",
            Kind::Model => "--yolo",
            Kind::Names | Kind::Name => "A-B",
            Kind::Agent
            | Kind::Agents
            | Kind::Choice(_)
            | Kind::Hours
            | Kind::Flag
            | Kind::Count { .. }
            | Kind::Span { .. }
            | Kind::Size { .. }
            | Kind::Money
            | Kind::Words(_)
            | Kind::File
            | Kind::Projects
            | Kind::Url => "maybe",
        };
        let error = World::new().var(&key.variable(), wrong).error();
        assert!(error.contains(&format!("the variable `{}`", key.variable())), "{error}");
        let named = matches!(key.kind, Kind::Agent | Kind::Agents);
        let wanted = if named { "an agent, closest match first: `".to_owned() } else { key.wanted() };
        assert!(error.contains(&wanted), "{error}");
        let overrides = Overrides::default().word(key.name, "--flag", Some(wrong));
        let error = World::new().sources().load(&overrides).unwrap_err().to_string();
        assert!(error.contains("the flag `--flag`") && error.contains(key.name), "{error}");
    }
}

#[test]
fn files_are_typed_and_units_are_asked_for() {
    for (text, key) in [
        ("limits.attempts = '5'", "limits.attempts"),
        ("limits.max_time = 90", "limits.max_time"),
        ("floors.disk = 1000", "floors.disk"),
        ("workspace.in_place = 'true'", "workspace.in_place"),
        ("verify.commands = 'make'", "verify.commands"),
        ("verify.commands = ['']", "verify.commands"),
        ("verify.commands = [\"a\\nb\"]", "verify.commands"),
        ("env.need = ['A B']", "env.need"),
        ("agent = 'no-such'", "agent"),
        ("fallbacks = ['no-such']", "fallbacks"),
        ("fallbacks = ['demo', 'demo']", "fallbacks"),
        ("sandbox = 'Full'", "sandbox"),
        ("session.hours = '22:00'", "session.hours"),
        ("session.hours = '7:00-8:00'", "session.hours"),
        ("limits.max_cost = -1", "limits.max_cost"),
        ("limits.max_cost = 0", "limits.max_cost"),
        ("limits.max_cost = inf", "limits.max_cost"),
        ("notify.on = ['done', 'done']", "notify.on"),
        ("notify.command = ['./tell']", "notify.command"),
        ("notify.command = 'tell'", "notify.command"),
        ("notify.file = 'marker'", "notify.file"),
        ("serve.projects = ['work']", "serve.projects"),
        ("serve.projects = ['acme=work']", "serve.projects"),
        ("serve.projects = ['=/work']", "serve.projects"),
        ("serve.projects = ['a b=/work']", "serve.projects"),
        ("notify.webhook = 'https://me@a.example/'", "notify.webhook"),
        ("notify.webhook = 'ftp://a.example/'", "notify.webhook"),
        ("notify.webhook = '$A-B'", "notify.webhook"),
    ] {
        let error = World::new().user(text).error();
        assert!(error.contains(&format!("`{key}` cannot be")), "{text}: {error}");
    }
}

#[test]
fn bounds_hold_at_both_ends() {
    for key in KEYS {
        let (within, beyond) = match key.kind {
            Kind::Count { least, most } => {
                ([least.to_string(), most.to_string()], [format!("-{}", least + 1), (most + 1).to_string()])
            }
            Kind::Size { least, most } => {
                ([format!("{least}B"), format!("{most}B")], ["-1B".into(), format!("{}B", most + 1)])
            }
            Kind::Span { least, most } => {
                let millis = |span: std::time::Duration| span.as_millis();
                (
                    [format!("{}ms", millis(least)), format!("{}ms", millis(most))],
                    ["-1s".into(), format!("{}ms", millis(most) + 1)],
                )
            }
            Kind::Agent
            | Kind::Agents
            | Kind::Choice(_)
            | Kind::Hours
            | Kind::Model
            | Kind::Flag
            | Kind::Money
            | Kind::Command
            | Kind::Commands
            | Kind::Patterns
            | Kind::Names
            | Kind::Name
            | Kind::Words(_)
            | Kind::Argv
            | Kind::File
            | Kind::Projects
            | Kind::Url => continue,
        };
        for word in within {
            World::new().var(&key.variable(), &word).load().unwrap_or_else(|error| panic!("{error}"));
        }
        for word in beyond {
            let error = World::new().var(&key.variable(), &word).error();
            assert!(error.contains(" from ") && error.contains(key.name), "{error}");
        }
    }
    World::new().user("limits.attempts = 0").error();
}

#[test]
fn a_named_file_must_be_there_and_an_unnamed_one_need_not() {
    let world = World::new();
    let mut sources = world.sources();
    assert!(sources.load(&Overrides::default()).is_ok());
    sources.user = Some((world.user_file(), Named::Expressly));
    let error = sources.load(&Overrides::default()).unwrap_err().to_string();
    assert!(error.contains(&path_text(&world.user_file())) && error.contains("LONGHAUL_CONFIG"), "{error}");
    sources.user = Some(("/dev/null".into(), Named::Expressly));
    assert!(sources.load(&Overrides::default()).is_ok());
}

#[test]
fn syntax_errors_have_their_line() {
    for (text, line) in [("a = \n", 1), ("\n\n[limits\n", 3), ("agent = 'demo'\nagent = 'demo'", 2)] {
        let error = World::new().user(text).error();
        assert!(error.contains(&format!("line {line} is not valid TOML")), "{text:?}: {error}");
    }
}
