//! Expected files that exist where the checks ran but are not part of the tree: the result does not hold them, so it is not verified.

use super::{REPOSITORY, is_verified, result, run, world};

#[track_caller]
fn is_doubted(headline: &str, code: i32, name: &str) {
    let words = format!("expected files are not part of the tree: {name} (");
    assert!(code == 10 && headline.contains(&words), "{code} {headline}");
}

#[test]
fn an_ignored_file_is_not_part_of_the_tree() {
    let setup = format!("echo /dist/ >.gitignore; {REPOSITORY}");
    for place in [&[][..], &["--in-place"]] {
        let env = world(&setup, "mkdir dist; echo built >dist/result; echo hello >hello.txt", "");
        let more = [&["--expect", "dist/result", "--expect", "./hello.txt"], place].concat();
        let (code, headline) = run(&env, "true", &more);
        is_doubted(&headline, code, "dist/result");
        let doubt = result(&env)["doubts"][0].clone();
        assert_eq!(
            (&doubt["kind"], &doubt["names"]["first"]),
            (&"expected_files".into(), &serde_json::json!(["dist/result"]))
        );
    }
}

#[test]
fn without_checks_an_ignored_file_is_a_doubt_too() {
    let env = world(&format!("echo /dist/ >.gitignore; {REPOSITORY}"), "mkdir dist; echo built >dist/result", "");
    let done = env.run(&["run", "Do it", "--name", "t", "--delay", "0s", "--expect", "dist/result"]);
    assert_eq!(done.code, 10, "{}", done.stderr);
}

#[test]
fn a_file_that_a_check_left_is_not_part_of_the_tree() {
    let env = world(REPOSITORY, "echo hello >hello.txt", "true");
    let (code, headline) = run(&env, "echo built >built.txt", &["--in-place", "--expect", "built.txt"]);
    is_doubted(&headline, code, "built.txt");
}

#[test]
fn a_file_of_the_tree_is_verified_where_the_agent_works() {
    let env = world(REPOSITORY, "mkdir -p out; echo hello >out/hello.txt", "");
    is_verified(&env, "true", &["--expect", "out/hello.txt"]);
}

#[test]
fn in_a_subdirectory_its_path_in_the_tree_counts() {
    let setup = format!("mkdir sub; echo x >sub/x; echo /sub/built >.gitignore; {REPOSITORY}");
    for (name, code) in [("new", 0), ("built", 10)] {
        // A file of the same name at the top level is another file.
        let env = world(&setup, "echo hello >new; echo hello >built; echo hello >../built", "");
        let mut command = env.command(&["run", "Do it", "--name", "t", "--delay", "0s", "--expect", name]);
        let done = command.current_dir(env.workspace().join("sub")).output().unwrap();
        assert_eq!(done.status.code(), Some(code), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn in_a_clean_checkout_a_check_may_build_it() {
    let setup = format!("echo /dist/ >.gitignore; {REPOSITORY}");
    let env = world(&setup, "echo hello >hello.txt", "").var("LONGHAUL_VERIFY_WHERE", "clean");
    is_verified(&env, "mkdir dist; echo built >dist/result", &["--expect", "dist/result"]);
}
