//! The commands of the guide, as a reader would paste them. They need `curl`, which is on every system that runs the tests.

use std::process::Output;

use crate::env::TestEnv;

use super::client::Serving;
use super::open;

const GUIDE: &str = include_str!("../../../../../docs/guide/http.md");
/// How curl ends when its `--max-time` is over.
const OUT_OF_TIME: i32 = 28;

fn shell(env: &TestEnv, serving: &Serving, key: &str, command: &str) -> Output {
    let longhaul = env.command(&[]);
    let mut shell = std::process::Command::new("sh");
    let vars = longhaul.get_envs().filter_map(|(name, value)| Some((name, value?)));
    shell.args(["-ec", command]).envs(vars).current_dir(env.workspace());
    shell.env("KEY", key).env("URL", format!("http://{}", serving.address)).output().unwrap()
}

#[test]
fn the_commands_of_the_guide_work() {
    let env = open();
    let serving = Serving::start(&env, &["--no-worker"]);
    let blocks = GUIDE.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let program = env!("CARGO_BIN_EXE_longhaul");
    let create = GUIDE.lines().find_map(|line| line.strip_prefix("KEY=$(longhaul ")?.strip_suffix(')')).unwrap();
    let key = env.ok(&create.split(' ').collect::<Vec<_>>());
    let mut ran = 0;
    for block in blocks.filter(|block| block.contains("curl")) {
        let command = block
            .replace("longhaul ", &format!("{program} "))
            .replace("/src/parser", env.workspace().to_str().unwrap());
        let done = shell(&env, &serving, key.trim(), &command);
        let (code, text) = (done.status.code().unwrap(), String::from_utf8_lossy(&done.stdout));
        let expected = if block.contains("--max-time") { OUT_OF_TIME } else { 0 };
        assert_eq!(code, expected, "{block}\n{text}\n{}", String::from_utf8_lossy(&done.stderr));
        let has_answer = text.contains("\"data\":{") && !text.contains("\"error\"");
        assert!(has_answer, "{block}\n{text}");
        ran += 1;
    }
    assert_eq!(ran, 4, "the guide has that many");
}
