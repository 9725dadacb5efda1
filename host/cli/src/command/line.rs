//! The command line beside the environment: a flag that is given goes before its
//! variable, whatever that says, and a variable that is empty counts as not set.
//!
//! clap looks at the variables of global flags for each word of a command, also where the
//! flag itself stands behind another one; so those that do not count are taken away first.

use std::{collections::BTreeSet, env};

use clap::{
    Arg, ArgMatches, Command, CommandFactory as _, FromArgMatches as _, Id,
    builder::{OsStr, Resettable},
    parser::ValueSource,
};

use super::Wharf;

impl Wharf {
    /// Reads the command line; where something is wrong with it, says so and ends the
    /// process, as after `--help`.
    pub(crate) fn read() -> Self {
        let given = given();
        let command = each(Wharf::command(), &|argument| {
            let counts = !given.contains(argument.get_id()) && !is_empty(&argument);
            if counts { argument } else { without_variable(argument) }
        });
        let matches = command.get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// The flags that stand on the command line, whatever else is wrong with it.
fn given() -> BTreeSet<Id> {
    let command = each(Wharf::command().ignore_errors(true), &without_variable);
    let mut given = BTreeSet::new();
    // What is asked for help needs no variable.
    let Ok(matches) = command.try_get_matches() else { return given };
    let mut level: Option<&ArgMatches> = Some(&matches);
    while let Some(matches) = level {
        // A global flag of a word is found at words above it, too, which do not know it.
        let is_known = |id: &Id| matches.try_contains_id(id.as_str()).is_ok();
        let is_typed = |id: &Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        given.extend(matches.ids().filter(|id| is_known(id) && is_typed(id)).cloned());
        level = matches.subcommand().map(|(_, matches)| matches);
    }
    given
}

/// Changes each flag of a command and of those below it.
fn each(command: Command, change: &dyn Fn(Arg) -> Arg) -> Command {
    command.mut_args(change).mut_subcommands(|below| each(below, change))
}

fn is_empty(argument: &Arg) -> bool {
    argument.get_env().and_then(env::var_os).is_some_and(|value| value.is_empty())
}

fn without_variable(argument: Arg) -> Arg {
    argument.env(Resettable::<OsStr>::Reset)
}
