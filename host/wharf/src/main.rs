//! The `wharf` command: reads what was asked, calls the library, prints.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool: printing is what it is for")]

mod command;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match command::Wharf::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(error.downcast_ref::<command::Unusable>().map_or(1, |_| command::UNUSABLE))
        }
    }
}
