//! What each command says of itself, word for word: `cargo insta review` takes a change over.

use std::mem::take;

use clap::CommandFactory as _;

use super::Wharf;

/// Lines are broken as in a terminal of this width.
const COLUMNS: usize = 100;

#[test]
fn each_command_teaches_itself() {
    let mut wharf = Wharf::command();
    wharf.build();
    insta::assert_snapshot!("wharf", help(&mut wharf));
    for command in wharf.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        let name = command.get_name().to_owned();
        insta::assert_snapshot!(name, helps(command));
    }
}

/// The help of a command, and those of the commands below it.
fn helps(command: &mut clap::Command) -> String {
    // The same everywhere: they are in that of `wharf`.
    *command = take(command).mut_args(|argument| if argument.is_global_set() { argument.hide(true) } else { argument });
    let mut text = help(command);
    for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help") {
        text.push_str(&format!("\n{}\n{}", "-".repeat(COLUMNS), helps(below)));
    }
    text
}

fn help(command: &mut clap::Command) -> String {
    // What the variables of this machine say belongs to no snapshot.
    *command = take(command).term_width(COLUMNS).mut_args(|argument| argument.hide_env_values(true));
    command.render_long_help().to_string()
}
