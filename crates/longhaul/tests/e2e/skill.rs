//! `longhaul skill`: the files come where each agent looks for them, a person's own are left alone, and the shim really runs.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::env::TestEnv;
use crate::sight::listing;

const FILES: [&str; 3] = ["longhaul/SKILL.md", "autonomous-skill/SKILL.md", "autonomous-skill/scripts/run-session.sh"];

fn world() -> TestEnv {
    TestEnv::new().with_stand_ins().var("CODEX_HOME", "").var("CLAUDE_CONFIG_DIR", "").var("PI_CODING_AGENT_DIR", "")
}

#[test]
fn skills_come_where_each_client_looks_for_them_and_go_again() {
    let mut env = world();
    let person = env.user_home();
    let places = [
        ("codex", person.join(".codex/skills")),
        ("claude", person.join(".claude/skills")),
        ("opencode", env.path().join("config/opencode/skills")),
        ("pi", person.join(".pi/agent/skills")),
    ];
    for (client, place) in &places {
        let said = env.ok(&["skill", "install", "--client", client]);
        for file in FILES {
            assert!(place.join(file).is_file() && said.contains(file), "{client}: {file}");
        }
        let mode = place.join(FILES[2]).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o755);
        assert_eq!(env.ok(&["skill", "install", "--client", client]), "", "the second time there is nothing to write");
    }
    let listed = env.json(&["skill", "list"]);
    let rows = listed["skills"].as_array().unwrap();
    assert!(rows.len() == 8 && rows.iter().all(|row| row["state"] == "installed"), "{listed}");
    for (client, place) in &places {
        env.ok(&["skill", "uninstall", "--client", client]);
        assert!(listing(place).is_empty(), "{client}");
    }
    assert!(env.ok(&["skill", "list", "--client", "pi"]).contains("not installed"));
    let moved = env.path().join("moved");
    env.set("CODEX_HOME", moved.to_str().unwrap());
    env.ok(&["skill", "install", "--client", "codex"]);
    assert!(moved.join("skills").join(FILES[0]).is_file());
    assert_eq!(env.run(&["skill", "install"]).code, 2);
}

/// A directory of skills in which one file is somebody's own.
fn changed(env: &TestEnv) -> (PathBuf, Vec<String>) {
    let dir = env.path().join("skills");
    let path = dir.join(FILES[2]);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "#!/bin/bash\n# my own runner\n").unwrap();
    let dir_word = dir.display().to_string();
    (dir, vec!["--dir".to_owned(), dir_word])
}

#[test]
fn a_file_that_somebody_changed_is_replaced_only_by_force_and_never_removed() {
    let env = world();
    let (dir, words) = changed(&env);
    let run = |verb: &str, more: &[&str]| env.run(&[&["skill", verb, &words[0], &words[1]], more].concat());
    let before = listing(&dir);
    let refused = run("install", &[]);
    assert!(refused.code == 8 && refused.stderr.contains("run-session.sh") && refused.stderr.contains("--force"));
    assert_eq!(listing(&dir), before, "nothing at all is written");
    assert!(run("list", &[]).stdout.contains("changed"));
    let kept = run("uninstall", &[]);
    assert!(kept.code == 0 && kept.stderr.contains("kept"), "{}", kept.stderr);
    assert_eq!(listing(&dir), before);
    assert_eq!(run("install", &["--force"]).code, 0);
    assert!(!run("list", &[]).stdout.contains("changed"));
    std::fs::write(dir.join("longhaul/notes.md"), "mine").unwrap();
    assert_eq!(run("uninstall", &[]).code, 0);
    assert_eq!(std::fs::read_to_string(dir.join("longhaul/notes.md")).unwrap(), "mine", "what is beside ours stays");
    assert!(!dir.join("longhaul/SKILL.md").exists() && !dir.join("autonomous-skill").exists());
}

#[test]
fn a_link_is_never_written_through() {
    let env = world();
    let (dir, words) = changed(&env);
    let mine = env.path().join("mine.sh");
    std::fs::write(&mine, "mine").unwrap();
    std::fs::remove_file(dir.join(FILES[2])).unwrap();
    std::os::unix::fs::symlink(&mine, dir.join(FILES[2])).unwrap();
    let refused = env.run(&["skill", "install", &words[0], &words[1], "--force"]);
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
}
