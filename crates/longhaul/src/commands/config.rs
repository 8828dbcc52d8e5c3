//! `longhaul config`: every key with its value and where it comes from, which files are used, and the schema for editors.
//! The output of `show` is itself a valid configuration file with the same settings.

use longhaul_app::AppError;
use longhaul_app::config::{page, schema};
use longhaul_app::operation::NoInput;
use longhaul_app::operations::ConfigPath;

use crate::cli::{Config, ConfigVerb};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn config(line: &CommandLine, args: &Config) -> Result<Code, AppError> {
    match args.verb {
        ConfigVerb::Show { origin, json } => {
            let answer = line.call()?.perform::<longhaul_app::operations::Config>(NoInput {}).await?;
            out::answer(&answer, json, |view| {
                for entry in &view.keys {
                    let origin = if origin { format!("  # {}", entry.origin) } else { String::new() };
                    out::data(&out::safe(&format!("{} = {}{origin}", entry.key, entry.written)));
                }
            })
        }
        ConfigVerb::Path { json } => {
            let answer = line.call()?.perform::<ConfigPath>(NoInput {}).await?;
            out::answer(&answer, json, |view| {
                for file in &view.files {
                    out::data(&out::safe(&format!("{:10} {} ({})", file.layer, file.path, file.state)));
                }
            })
        }
        ConfigVerb::Reference => {
            out::data(page().trim_end());
            Ok(Code::Done)
        }
        ConfigVerb::Schema => {
            out::data(&format!("{:#}", schema()));
            Ok(Code::Done)
        }
    }
}
