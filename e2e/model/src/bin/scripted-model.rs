//! `scripted-model`: a scripted model for trying agents by hand; prints its address and serves until it is ended.
//! Started by a person; `--home DIR` also prints the variables with which an agent talks to it.
//! It never reaches another host.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for a person talks to the terminal")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs, thread};

use longhaul_scripted_model::{
    Agent, Answer, Ending, Login, Place, Programs, Refusal, Reply, Script, Server, Setup, Turn, limited_for, worker,
};

const USAGE: &str = "\
usage: scripted-model [--script SCRIPT] [--port PORT] [--record DIR] [--home DIR [--subscription]]
  SCRIPT: worker             plans and does a task of two steps (the default)
          say:TEXT           always says TEXT
          limit:SECONDS      a usage limit for so long, then worker
          rate-limit | rate-limit:SECONDS | quota | unauthorized | server-error | overloaded | context
          hang | hang-before | cut | reset
  --record DIR       writes each request's body into DIR
  --home DIR         prepares DIR as the agents' home and prints the variables to set
  --subscription     logs claude in with a subscription's token instead of a key";

struct Wishes {
    script: String,
    port: u16,
    record: Option<PathBuf>,
    home: Option<PathBuf>,
    login: Login,
}

fn main() -> ExitCode {
    let wishes = match Wishes::read(env::args().skip(1)) {
        Ok(wishes) => wishes,
        Err(problem) => return fail(&format!("{problem}\n{USAGE}"), 2),
    };
    match serve(&wishes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(&problem, 1),
    }
}

fn fail(problem: &str, code: u8) -> ExitCode {
    eprintln!("error: {problem}");
    ExitCode::from(code)
}

impl Wishes {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut wishes = Self { script: "worker".to_owned(), port: 0, record: None, home: None, login: Login::Key };
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{option}` needs a value"));
            match option.as_str() {
                "--script" => wishes.script = value()?,
                "--port" => wishes.port = value()?.parse().map_err(|_| "the port is not a number".to_owned())?,
                "--record" => wishes.record = Some(value()?.into()),
                "--home" => wishes.home = Some(value()?.into()),
                "--subscription" => wishes.login = Login::Subscription,
                _ => return Err(format!("there is no option `{option}`")),
            }
        }
        Ok(wishes)
    }
}

fn serve(wishes: &Wishes) -> Result<(), String> {
    let script = script(&wishes.script)?;
    let record = wishes.record.clone();
    let answer = move |turn: &Turn| {
        if let Some(directory) = &record {
            write_request(directory, turn);
        }
        script.answer(turn)
    };
    let server = Server::start_on(wishes.port, answer).map_err(|error| error.to_string())?;
    println!("{}", server.url());
    if let Some(home) = &wishes.home {
        print_variables(&server, home, wishes.login)?;
    }
    loop {
        thread::park();
    }
}

fn print_variables(server: &Server, home: &Path, login: Login) -> Result<(), String> {
    let home = std::path::absolute(home).map_err(|error| error.to_string())?;
    let programs = Programs::find().map_err(|error| error.to_string())?;
    let setup = Setup::new(server.url(), home).with_login(login);
    let variables = programs.environments(&Agent::ALL, &setup).map_err(|error| error.to_string())?;
    for (name, value) in variables {
        println!("export {name}='{}'", value.replace('\'', r"'\''"));
    }
    Ok(())
}

fn write_request(directory: &Path, turn: &Turn) {
    let count = fs::read_dir(directory).map_or(0, Iterator::count);
    let path = directory.join(format!("{count:03}-{:?}.json", turn.dialect).to_lowercase());
    if let Err(error) = fs::create_dir_all(directory).and_then(|()| fs::write(&path, turn.body.to_string())) {
        eprintln!("warning: failed to write `{}`: {error}", path.display());
    }
}

fn script(name: &str) -> Result<Box<dyn Script>, String> {
    let (word, value) = name.split_once(':').unwrap_or((name, ""));
    let fixed = |reply: Reply| -> Box<dyn Script> { Box::new(move |_: &Turn| reply.clone()) };
    let answer = || Answer::text("some words that come late or not at all");
    Ok(match word {
        "worker" => Box::new(worker),
        "say" => fixed(Reply::text(value)),
        "limit" => Box::new(limited_for(seconds(value)?, worker)),
        "rate-limit" if value.is_empty() => fixed(Refusal::RateLimited { retry_after: None }.into()),
        "rate-limit" => fixed(Refusal::RateLimited { retry_after: Some(seconds(value)?) }.into()),
        "quota" => fixed(Refusal::QuotaGone.into()),
        "unauthorized" => fixed(Refusal::Unauthorized.into()),
        "server-error" => fixed(Refusal::ServerError.into()),
        "overloaded" => fixed(Refusal::Overloaded.into()),
        "context" => fixed(Refusal::ContextTooLong.into()),
        "hang" => fixed(Reply::Hang { at: Place::MidStream, then: answer() }),
        "hang-before" => fixed(Reply::Hang { at: Place::BeforeHeaders, then: answer() }),
        "cut" => fixed(Reply::Cut { at: Place::MidStream, ending: Ending::Close, answer: answer() }),
        "reset" => fixed(Reply::Cut { at: Place::MidStream, ending: Ending::Reset, answer: answer() }),
        _ => return Err(format!("there is no script `{name}`")),
    })
}

fn seconds(value: &str) -> Result<Duration, String> {
    let number = value.trim_end_matches('s').parse().map_err(|_| format!("`{value}` is not a number of seconds"))?;
    Ok(Duration::from_secs(number))
}

#[cfg(test)]
mod tests {
    use super::{Wishes, script};

    fn read(arguments: &[&str]) -> Result<Wishes, String> {
        Wishes::read(arguments.iter().map(|&argument| argument.to_owned()))
    }

    #[test]
    fn scripts_are_found_by_name_and_others_are_refused() {
        for name in ["worker", "say:hello", "limit:20s", "limit:20", "rate-limit", "rate-limit:3", "hang", "reset"] {
            assert!(script(name).is_ok(), "{name}");
        }
        for name in ["", "works", "limit", "limit:soon", "rate-limit:soon"] {
            assert!(script(name).is_err(), "{name}");
        }
    }

    #[test]
    fn options_are_read_and_unknown_ones_refused() {
        let wishes =
            read(&["--script", "hang", "--port", "8080", "--home", "h"]).unwrap_or_else(|text| panic!("{text}"));
        assert_eq!((wishes.script.as_str(), wishes.port), ("hang", 8080));
        for arguments in [&["--script"][..], &["--port", "high"], &["--speed"], &["worker"]] {
            assert!(read(arguments).is_err(), "{arguments:?}");
        }
    }
}
