//! `wharf completions` and `wharf man`: what shells and `man` know of the command, made of its flags.

use std::{
    fs,
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::{Args, Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;

use super::Wharf;

/// Print what a shell needs to complete commands and options
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples, of files that shells read by themselves:
  wharf completions bash > ~/.local/share/bash-completion/completions/wharf
  wharf completions zsh > ~/.zfunc/_wharf    with ~/.zfunc in fpath
  wharf completions fish > ~/.config/fish/completions/wharf.fish")]
pub(super) struct CompletionsArguments {
    /// For which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page of the command, or write those of all commands
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf man | man -l -
  wharf man --output ~/.local/share/man/man1    then `man wharf-serve` shows that of `wharf serve`")]
pub(super) struct ManArguments {
    /// Write the page of each command into this folder, which is made where it is missing
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl CompletionsArguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        // Made before it is written: a reader that goes is no reason to panic.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "wharf", &mut script);
        print(&script)
    }
}

impl ManArguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Some(folder) = self.output else {
            let mut page = Vec::new();
            Man::new(command()).render(&mut page)?;
            return print(&page);
        };
        let written = fs::create_dir_all(&folder).and_then(|()| clap_mangen::generate_to(command(), &folder));
        written.with_context(|| format!("the pages cannot be written into {}", folder.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Without what the variables of this machine say.
fn command() -> Command {
    fn hide(command: Command) -> Command {
        command.mut_args(|argument| argument.hide_env_values(true)).mut_subcommands(hide)
    }
    hide(Wharf::command())
}

fn print(bytes: &[u8]) -> Result<ExitCode> {
    match io::stdout().write_all(bytes) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    Ok(ExitCode::SUCCESS)
}
