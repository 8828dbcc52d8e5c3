//! Line endings, `$Id$` and encodings: git converts files when it stores them and again when it checks them out. A result is verified only
//! if the checks saw the bytes that git checks out from the tree, or ran in a clean checkout of it.

use super::{REPOSITORY, checkout, is_verified, result, run, shell, world};
use crate::env::TestEnv;

/// Passes on CRLF only.
const IS_CRLF: &str = "grep -q \"$(printf '\\r')\" a.txt";

fn with_attributes(attributes: &str) -> String {
    format!("printf '{attributes}\\n' >.gitattributes; printf 'one\\n' >a.txt; {REPOSITORY}")
}

/// The checks pass, the files are named, and a checkout of the tree has other bytes.
#[track_caller]
fn is_doubted(env: &TestEnv, check: &str, more: &[&str], name: &str) {
    let (code, headline) = run(env, check, more);
    assert!(
        code == 10 && headline.contains("not verified, because git checks out different bytes"),
        "{code} {headline}"
    );
    assert!(headline.contains(&format!(": {name} (")) && headline.contains("verify.where = \"clean\""), "{headline}");
    let doubt = result(env)["doubts"][0].clone();
    assert_eq!((&doubt["kind"], &doubt["names"]["first"]), (&"converted_files".into(), &serde_json::json!([name])));
}

#[test]
fn line_endings_that_git_does_not_store_are_not_verified() {
    for place in [&[][..], &["--in-place"]] {
        let env = world(&with_attributes("* text=auto"), "printf 'one\\r\\n' >a.txt", "");
        is_doubted(&env, IS_CRLF, place, "a.txt");
        shell(&env, &checkout(&env), &format!("! {IS_CRLF}"));
    }
}

#[test]
fn a_new_file_with_line_endings_that_git_does_not_store_is_not_verified() {
    let env = world(&with_attributes("*.new text"), "printf 'x\\r\\n' >b.new", "");
    is_doubted(&env, "test $(wc -c <b.new) = 3", &[], "b.new");
}

#[test]
fn line_endings_that_git_checks_out_are_verified() {
    for (attributes, work) in [
        ("* text=auto", "printf 'two\\n' >a.txt; printf 'three\\n' >b.txt"),
        ("* text eol=crlf", "printf 'two\\r\\n' >a.txt; printf 'three\\r\\n' >b.txt"),
        ("* -text", "printf 'two\\r\\n' >a.txt; printf 'three\\r\\n' >b.txt"),
        ("*.txt ident working-tree-encoding=UTF-16LE", "printf 'h\\0i\\0' >b.txt"),
    ] {
        let env = world(&with_attributes(attributes), work, "");
        let (code, headline) = run(&env, "test -s a.txt && test -s b.txt", &[]);
        assert!(code == 0 && headline.contains("verified on tree"), "{attributes}: {headline}");
    }
}

#[test]
fn a_clean_checkout_has_the_bytes_of_the_tree() {
    let env = world(&with_attributes("* text=auto"), "printf 'two\\r\\n' >a.txt", "");
    let env = env.var("LONGHAUL_VERIFY_WHERE", "clean");
    is_verified(&env, &format!("! {IS_CRLF}"), &[]);
}

#[test]
fn attributes_that_an_agent_changes_convert_files_it_does_not_touch() {
    let setup = format!("printf 'one\\r\\n' >a.txt; {REPOSITORY}");
    let env = world(&setup, "echo '*.txt text' >.gitattributes", "");
    is_doubted(&env, IS_CRLF, &[], "a.txt");
    let env = world(&with_attributes("*.c text"), "echo '*.txt eol=crlf' >.gitattributes", "");
    is_doubted(&env, &format!("! {IS_CRLF}"), &[], "a.txt");
}

#[test]
fn attributes_that_are_not_in_the_tree_convert_nothing_of_it() {
    let hidden = "echo .gitattributes >.gitignore; echo '*.txt text' >.gitattributes; printf 'one\\r\\n' >a.txt";
    let env = world(&format!("echo one >a.txt; {REPOSITORY}"), hidden, "");
    is_doubted(&env, IS_CRLF, &[], "a.txt");
    let staged = "mkdir d; echo d/ >.gitignore; echo '* text' >d/.gitattributes; printf 'x\\r\\n' >d/a; git add -f d/a";
    let env = world(REPOSITORY, staged, "");
    is_doubted(&env, "test $(wc -c <d/a) = 3", &[], "d/a");
}

#[test]
fn a_pointer_stands_for_a_file_only_if_the_tree_itself_names_the_filter() {
    let lie = "printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize 6\\n' \
        $(printf 'large\\n' | sha256sum | cut -d' ' -f1) >l.png; git add l.png; git commit -qm l; printf 'large\\n' >l.png; \
        echo .gitattributes >.gitignore; echo '*.png filter=lfs -text' >.gitattributes";
    let env = world(REPOSITORY, lie, "");
    is_doubted(&env, "test \"$(cat l.png)\" = large", &[], "l.png");
}

#[test]
fn an_identifier_that_git_has_not_expanded_is_not_verified() {
    let env = world(&with_attributes("*.h ident"), "echo '$Id$' >v.h", "");
    is_doubted(&env, "grep -qF '$Id$' v.h", &[], "v.h");
}

#[test]
fn a_check_that_converts_a_file_is_noticed() {
    for (place, more) in [("workspace", &[][..]), ("workspace", &["--in-place"]), ("clean", &[])] {
        let env = world(&with_attributes("* text=auto"), "echo hello >hello.txt", "");
        let env = env.var("LONGHAUL_VERIFY_WHERE", place);
        is_doubted(&env, "printf 'one\\r\\n' >a.txt", &[&["--check", IS_CRLF], more].concat(), "a.txt");
        assert_eq!(env.evidence("t")[0]["files"]["converted"]["first"], serde_json::json!(["a.txt"]), "{place}");
    }
}

#[test]
fn a_converted_file_of_a_submodule_is_a_changed_submodule() {
    let setup = format!(
        "git init -q -b main ../sub; echo '* text=auto' >../sub/.gitattributes; echo s >../sub/s; git -C ../sub add -A; \
         git -C ../sub commit -qm s; {REPOSITORY}; git submodule -q add ../sub m; git commit -qm m"
    );
    let fill = "command git -c protocol.file.allow=always submodule -q update --init; echo hello >hello.txt";
    let env = world(&setup, &format!("{fill}; printf 's\\r\\n' >m/s"), "");
    let (code, headline) = run(&env, "test $(wc -c <m/s) = 3", &[]);
    assert!(code == 10 && headline.contains("submodules changed") && headline.contains(": m ("), "{code} {headline}");
    let (code, headline) = run(&world(&setup, fill, ""), "test $(wc -c <m/s) = 2", &[]);
    assert!(code == 0, "the control: {headline}");
}

/// What the agent does to the user's settings counts for nothing; what the user had set before does.
#[test]
fn the_users_own_line_endings_are_those_of_the_moment_the_workspace_was_made() {
    let global = "command git config --global core.autocrlf true";
    let setup = format!("{global}; printf 'one\\r\\n' >a.txt; {REPOSITORY}; rm README; git checkout -q README");
    for place in [&[][..], &["--in-place"]] {
        let env = world(&setup, "printf 'two\\r\\n' >b.txt", "");
        let (code, headline) = run(&env, &format!("{IS_CRLF} && test $(wc -c <b.txt) = 5"), place);
        assert!(code == 0 && headline.contains("verified on tree"), "{headline}");
        let tree = result(&env)["tree"].as_str().unwrap().to_owned();
        assert_eq!(env.git(&["cat-file", "-s", &format!("{tree}:b.txt")]), "4", "stored with LF");
        env.ok(&["gc", "--age", "0s"]);
    }
    let lie =
        world(&format!("printf 'one\\n' >a.txt; {REPOSITORY}"), &format!("{global}; printf 'x\\r\\n' >a.txt"), "");
    is_verified(&lie, IS_CRLF, &[]);
}

#[test]
fn the_repositorys_line_endings_win_over_the_users() {
    let setup = format!(
        "command git config --global core.autocrlf true; printf 'one\\n' >a.txt; git init -q -b main .; \
         git config core.autocrlf false; {REPOSITORY}"
    );
    let env = world(&setup, "printf 'two\\r\\n' >b.txt", "");
    is_verified(&env, &format!("! {IS_CRLF} && test $(wc -c <b.txt) = 5"), &[]);
}
