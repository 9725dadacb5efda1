//! `wharf connect`: this host among the servers that an MCP client starts or reaches.

mod client;
mod document;

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::Args;

use self::{
    client::{HostConnection, McpClient, TOKEN_VARIABLE},
    document::{DocumentError, ServerEntry},
};
use crate::{
    exit::{Misused, Unusable},
    global::Global,
    replaced_file,
};

/// Write this host into the configuration of an MCP client, or take it out
///
/// The client then starts `wharf serve --stdio` by itself, with the --config, --data and
/// --profile that are given here, or reaches one that serves over HTTP. The command shows
/// what changes. Comments and all other settings of the file stay as they are, and what
/// it said before is kept beside it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Files:
  claude-code     .mcp.json in this folder
  claude-desktop  claude_desktop_config.json of the user
  codex           ~/.codex/config.toml, or below CODEX_HOME
  cursor          ~/.cursor/mcp.json
  gemini          ~/.gemini/settings.json
  vscode          .vscode/mcp.json in this folder
  zed             settings.json of the user

Examples:
  wharf connect cursor                       Cursor starts the host, with a session for each process
  wharf connect codex --profile developer    the same with a shell, terminals and web pages
  wharf connect claude-code --session work   all that start in this folder share the session `work`
  wharf connect vscode --http                the host that serves at http://127.0.0.1:8080/mcp
  wharf connect zed --print                  print it, and write nothing
  wharf connect cursor --remove              take it out again")]
pub(super) struct ConnectArguments {
    /// Which client
    #[arg(value_enum)]
    client: McpClient,

    /// Reach a host that serves over HTTP, rather than start one
    #[arg(
        long,
        value_name = "URL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "http://127.0.0.1:8080/mcp"
    )]
    http: Option<String>,

    /// Session of the client's calls; `new` for one of each process that it starts
    #[arg(long, value_name = "NAME", default_value = "new", conflicts_with = "http")]
    session: String,

    /// What the client calls this server
    #[arg(long, value_name = "NAME", default_value = "wharf")]
    name: String,

    /// The file of the client, where it is not the usual one
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Print what belongs into the file, and write nothing
    #[arg(long, conflicts_with = "remove")]
    print: bool,

    /// Take the server out of the file
    #[arg(long, conflicts_with_all = ["http", "session"])]
    remove: bool,
}

impl ConnectArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let connection = self.connection(global)?;
        let settings = self.client.settings(&connection).map_err(Misused)?;
        let entry = ServerEntry { name: &self.name, settings: &settings, syntax: self.client.syntax() };
        if self.print {
            print!("{}", entry.added_to("").map_err(unusable)?);
            return Ok(ExitCode::SUCCESS);
        }
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.client.file().with_context(|| {
                format!("there is no home directory with a file of {}; name one with --file", self.client.title())
            })?,
        };
        // A link stays one: what it leads to is replaced.
        let file = fs::canonicalize(&file).unwrap_or(file);
        let before = replaced_file::read(&file).map_err(|error| at_file(&file, &error))?;
        let text = before.as_deref().unwrap_or_default();
        let after = if self.remove { entry.removed_from(text) } else { entry.added_to(text) };
        let after = after.map_err(|error| {
            Unusable(format!(
                "{} is not what {} reads: {error}; nothing was changed",
                file.display(),
                self.client.title()
            ))
        })?;
        if after == text {
            println!("Nothing changes: {} {}", file.display(), self.as_it_is());
            return Ok(ExitCode::SUCCESS);
        }
        self.write(&file, before.as_deref(), &after)?;
        self.advise(&connection);
        Ok(ExitCode::SUCCESS)
    }

    fn connection(&self, global: &Global) -> Result<HostConnection> {
        if let Some(address) = &self.http {
            if !address.starts_with("http://") && !address.starts_with("https://") {
                return Err(
                    Misused(format!("--http={address}: write an address such as http://127.0.0.1:8080/mcp")).into()
                );
            }
            return Ok(HostConnection::Http { address: address.clone() });
        }
        let command = env::current_exe().context("the path of this program is not known")?;
        let command = command.to_str().context("the path of this program is no text that a configuration may have")?;
        let mut arguments = vec!["serve".to_owned(), "--stdio".to_owned()];
        arguments.extend(["--session".to_owned(), self.session.clone()]);
        arguments.extend(global.chosen()?);
        Ok(HostConnection::Stdio { command: command.to_owned(), arguments })
    }

    fn as_it_is(&self) -> String {
        if self.remove { format!("has no server `{}`.", self.name) } else { "says so already.".to_owned() }
    }

    fn write(&self, file: &Path, before: Option<&str>, after: &str) -> Result<()> {
        let shown = file.display();
        let difference = similar::TextDiff::from_lines(before.unwrap_or_default(), after);
        println!("{}", difference.unified_diff().context_radius(2).header(&shown.to_string(), "changed"));
        let failed = |error: io::Error| at_file(file, &error);
        let mut kept = file.as_os_str().to_owned();
        kept.push(".before-wharf");
        if before.is_some() {
            fs::copy(file, &kept).map_err(failed)?;
        }
        if !replaced_file::replace(file, before, after).map_err(failed)? {
            return Err(Unusable(format!("{shown} has changed meanwhile, and was not written; try again")).into());
        }
        match before {
            Some(_) => println!("Written to {shown}. What it said before is in {}.", kept.display()),
            None => println!("Written to {shown}, which is new."),
        }
        Ok(())
    }

    fn advise(&self, connection: &HostConnection) {
        let title = self.client.title();
        println!("{title} reads it when it starts.");
        if let (HostConnection::Http { .. }, false) = (connection, self.remove) {
            match self.client {
                McpClient::Vscode => {
                    println!("It asks for the token once: `http-token` in the data directory of the host has one.")
                }
                _ => println!(
                    "Have the variable {TOKEN_VARIABLE} where {title} starts: a token of that host, such as the content of \
                     `http-token` in its data directory."
                ),
            }
        }
    }
}

fn unusable(error: DocumentError) -> Unusable {
    Unusable(error.to_string())
}

fn at_file(file: &Path, error: &io::Error) -> Unusable {
    Unusable(format!("{}: {error}", file.display()))
}
