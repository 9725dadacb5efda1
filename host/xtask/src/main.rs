//! `cargo xtask`: everything a developer or a newcomer runs, in one place.
//!
//! Owns the order of the work (what is built before what is tested), the
//! toolchain for plugins and the rules of the project. It must never know how the
//! host works inside: it starts the `wharf` binary as any user would.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool: printing is what it is for")]

mod attack;
mod author;
mod bench;
mod book;
mod builders;
mod client;
mod command;
mod compiler;
#[path = "../../wharf/build/component.rs"]
mod component;
mod components;
mod console;
mod corpus;
mod coverage;
mod debian;
mod demo;
mod deny;
mod disk;
mod distribution;
mod foreign;
mod fuzz;
mod kits;
mod languages;
mod node;
mod outside;
mod packages;
mod previous;
mod publication;
mod python;
mod record;
mod registry;
mod reproduce;
mod routes;
mod soak;
mod targets;
mod test;
mod tidy;
mod toolchain;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};
use lexopt::Arg;

const HELP: &str = "\
Builds, tests and checks Wharf.

Usage: cargo xtask COMMAND [OPTIONS]

Start here (each does all its own set-up, on a fresh clone too):
  demo       Build the host and watch a client plan a piece of work with sandboxed tools
  test       Build everything and run every test, the end-to-end ones included

While you work:
  plugins    Build the plugins to Wasm components
  console    Build the operator's console, which the host serves
  package    Make what people install: a tarball, a package of Debian, a bundle for clients
  reproduce  Build the plugins in two folders, and say whether they are the same bytes
  tidy       Check the rules of the project: who depends on whom, file sizes, WIT documented
  bench      Measure Wharf against bare wasmtime and a server without Wasm
  attack     Attack a binary by every hostile case of the book, and report
  soak       Kill the host at random moments under load, 300 times
  fuzz       Look for input that breaks what must hold whatever comes
  coverage   Measure which lines the tests reach; fails below 80 %
  check-targets
             Check the host's code for other systems and processors, as far as its compiler
  deny       Check licences, sources, known vulnerabilities and readers of the dependencies
  book       Build the manual as a site

Options of every command:
  --yes      Install missing packages of the system without a question; so do CI in the
             environment and an input that is no terminal

`cargo xtask COMMAND --help` says more about each.
";

fn main() -> ExitCode {
    // Coverage and fuzzing make cargo call a copy of this binary in the place of rustc.
    if compiler::is_called() {
        return compiler::compile();
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    // Of every command, wherever it is written.
    let (yes, others): (Vec<_>, Vec<_>) = std::env::args_os().partition(|argument| argument == "--yes");
    if !yes.is_empty() {
        debian::ask_nothing();
    }
    let mut arguments = lexopt::Parser::from_iter(others);
    match arguments.next()? {
        None | Some(Arg::Short('h') | Arg::Long("help")) => {
            print!("{HELP}");
            Ok(())
        }
        Some(Arg::Value(name)) => match name.to_string_lossy().as_ref() {
            "plugins" => components::run(arguments),
            "console" => console::run(arguments),
            "package" => distribution::run(arguments),
            "reproduce" => reproduce::run(arguments),
            "test" => test::run(arguments),
            "check-targets" => targets::run(arguments),
            "demo" => demo::run(arguments),
            "tidy" => tidy::run(arguments),
            "bench" => bench::run(arguments),
            "coverage" => coverage::run(arguments),
            "soak" => soak::run(arguments),
            "attack" => attack::run(arguments),
            "fuzz" => fuzz::run(arguments),
            "deny" => deny::run(arguments),
            "book" => book::run(arguments),
            "help" => {
                print!("{HELP}");
                Ok(())
            }
            other => bail!("there is no command `{other}`; `cargo xtask --help` lists the commands"),
        },
        Some(other) => Err(other.unexpected().into()),
    }
}
