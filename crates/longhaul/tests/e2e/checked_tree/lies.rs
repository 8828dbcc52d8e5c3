//! Agents that hide what they did from git, one trick each; and causes that an agent can remove, removed or not.

use super::{REPOSITORY, is_verified, run, world};

/// A repository whose check script fails.
fn failing() -> String {
    format!(
        "printf '#!/bin/sh\\ntest \"$(cat answer)\" = 42\\n' >check.sh; chmod +x check.sh; echo 0 >answer; \
         mkdir lib; echo x >lib/x; {REPOSITORY}"
    )
}

/// The agent makes the script pass and hides that: the tree must hold the script that passed.
#[track_caller]
fn is_in_the_tree(trick: &str) {
    let env = world(&failing(), trick, "");
    is_verified(&env, "./check.sh", &[]);
    let changed = env.git(&["diff", "--name-only", "main", "longhaul/t"]);
    assert!(!changed.is_empty(), "the branch holds it");
    assert!(env.ok(&["diff", "t"]).contains(changed.lines().next().unwrap()));
}

macro_rules! hidden {
    ($($name:ident: $trick:expr,)*) => {
        $(
            #[test]
            fn $name() {
                is_in_the_tree($trick);
            }
        )*
    };
}

hidden! {
    skip_worktree: "echo 'exit 0' >check.sh; git update-index --skip-worktree check.sh",
    assume_unchanged: "echo 'exit 0' >check.sh; git update-index --assume-unchanged check.sh",
    an_index_with_the_old_content_and_times_of_the_file:
        "t=$(stat -c %y check.sh); printf '#!/bin/sh\\nexit 0; \"$(cat answer)\" = 42\\n' >check.sh; touch -d \"$t\" check.sh",
    an_index_of_garbage: "echo 42 >answer; echo garbage >$(git rev-parse --git-path index)",
    an_index_that_is_locked: "echo 42 >answer; touch $(git rev-parse --git-path index.lock)",
    a_line_in_the_shared_exclude_file:
        "echo /answer2 >>$(git rev-parse --git-common-dir)/info/exclude; echo 42 >answer2; echo 'test -s answer2' >check.sh",
    an_ignore_file_of_the_users_configuration:
        "echo /answer2 >$HOME/ignore; command git config --global core.excludesFile $HOME/ignore; echo 42 >answer2; \
         echo 'test -s answer2' >check.sh",
    an_ignore_file_of_the_repositorys_configuration:
        "echo /answer2 >$HOME/ignore; git config core.excludesFile $HOME/ignore; echo 42 >answer2; echo 'test -s answer2' >check.sh",
    an_ignored_file_that_is_staged: "echo /answer2 >.gitignore; echo 42 >answer2; git add -f answer2; echo 'test -s answer2' >check.sh",
    a_sparse_checkout:
        "echo 42 >answer; git config extensions.worktreeConfig true; git config core.sparseCheckout true; \
         mkdir -p $(git rev-parse --git-path info); echo /README >$(git rev-parse --git-path info/sparse-checkout)",
    the_mode_of_a_file:
        "git config core.fileMode false; echo 'exit 0' >b.sh; chmod +x b.sh; git add b.sh; git commit -qm b; \
         printf '#!/bin/sh\\n./b.sh\\n' >check.sh",
    links_that_are_not_links: "git config core.symlinks false; ln -s README l; echo 'test -L l' >check.sh",
    names_that_are_the_same: "git config core.ignoreCase true; echo 1 >LIB; echo 'test -f LIB' >check.sh",
    line_endings: "git config core.autocrlf true; git config core.eol crlf; echo 42 >answer",
    file_times_that_count_for_nothing: "git config core.trustctime false; git config core.checkStat minimal; echo 42 >answer",
    attributes_of_the_repository: "echo '* filter=x' >>$(git rev-parse --git-common-dir)/info/attributes; echo 42 >answer",
    attributes_of_the_configuration:
        "echo '* filter=x' >$HOME/attributes; git config core.attributesFile $HOME/attributes; echo 42 >answer",
    a_tracked_directory_that_became_a_link: "mkdir other; echo 1 >other/new; rm -r lib; ln -s other lib; echo 'test -s lib/new' >check.sh",
    a_branch_that_was_moved: "git update-ref refs/heads/longhaul/t $(git commit-tree -m x HEAD^{tree}); echo 42 >answer",
}

/// Something is wrong that an agent can put right: it is told, and verified once it did; else a person is asked.
#[track_caller]
fn is_put_right(trick: &str, told: &str, fix: &str) {
    let env = world(&failing(), trick, fix);
    is_verified(&env, "./check.sh", &[]);
    let prompts = std::fs::read_to_string(env.path().join("prompts")).unwrap();
    assert!(prompts.contains(told), "the fixing session is told: {prompts}");
    let stubborn = world(&failing(), trick, "true");
    let (code, headline) = run(&stubborn, "./check.sh", &["--fix-attempts", "1"]);
    assert!(code == 3 && headline.contains(told), "{code} {headline}");
    assert!(stubborn.evidence("t").is_empty(), "no check ran");
}

#[test]
fn a_merge_in_progress_is_finished_first() {
    let merge = "git checkout -q -b side; echo 42 >answer; git commit -qam side; git checkout -q longhaul/t; \
        echo 1 >answer; git commit -qam ours; git merge -q side; echo 42 >answer";
    is_put_right(merge, "a merge is in progress", "git add -A; git commit -qm merged");
}

#[test]
fn a_rebase_in_progress_is_finished_first() {
    let rebase = "git checkout -q -b side; echo 42 >answer; git commit -qam side; git checkout -q longhaul/t; \
        echo 1 >answer; git commit -qam ours; git rebase -q side; echo 42 >answer";
    is_put_right(rebase, "a rebase is in progress", "git add -A; GIT_EDITOR=true git rebase --skip");
}

#[test]
fn a_head_on_another_branch_is_put_back_first() {
    let other = "git checkout -q -b side; echo 42 >answer; git commit -qam side";
    is_put_right(other, "HEAD is on `side`, not on `longhaul/t`", "git checkout -q longhaul/t; git merge -q side");
}

#[test]
fn a_nested_repository_is_removed_first() {
    let nested = "git init -q n; echo 42 >n/a; git -C n add a; git -C n commit -qm a; echo 'test -s n/a' >check.sh";
    is_put_right(nested, "`n/` is a separate git repository", "rm -rf n/.git");
}

#[test]
fn a_changed_submodule_is_not_verified_and_named() {
    let setup = format!(
        "git init -q -b main ../sub; echo s >../sub/s; git -C ../sub add s; git -C ../sub commit -qm s; {}; \
         git submodule -q add ../sub m; git commit -qm m",
        failing()
    );
    let fill = "command git -c protocol.file.allow=always submodule -q update --init;";
    for (lie, work) in [
        ("a changed file", format!("{fill} echo 42 >m/s; echo 'test 42 = $(cat m/s)' >check.sh")),
        (
            "a hidden change",
            format!(
                "{fill} echo 42 >m/s; git -C m update-index --skip-worktree s; echo 'test 42 = $(cat m/s)' >check.sh"
            ),
        ),
        (
            "another commit",
            format!(
                "{fill} echo 42 >m/s; git -C m commit -qam s; git add m; git commit -qm m; echo 'test 42 = $(cat m/s)' >check.sh"
            ),
        ),
        ("files where none is checked out", "echo 42 >m/s; echo 'test 42 = $(cat m/s)' >check.sh".to_owned()),
    ] {
        let env = world(&setup, &work, "");
        let (code, headline) = run(&env, "./check.sh", &[]);
        assert!(
            code == 10 && headline.contains("submodules changed") && headline.contains(": m ("),
            "{lie}: {code} {headline}"
        );
    }
    let env = world(&setup, &format!("{fill} echo 42 >answer"), "");
    let (code, headline) = run(&env, "./check.sh && test -s m/s", &[]);
    assert!(code == 0 && headline.contains("verified on tree"), "the control: {headline}");
}
