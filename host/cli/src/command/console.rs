//! `wharf console`: the host in a browser.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::Args;
use wharf::{Host, http::HttpAddress, with_causes};

use super::serve::{Beside, ServeArguments};
use crate::{
    global::{Global, runtime},
    hosts,
};

/// Where a host serves that this command starts.
const ADDRESS: &str = "127.0.0.1:0";
/// A page that leads to the console, below the data directory.
const PAGE: &str = "console.html";

/// Open the console: what the host does, live, and what you decide
///
/// Shows the calls, terminals, processes, pages and plugins of a host that serves over HTTP on this
/// data directory, and the calls that wait for you. Opens a browser with a link that signs in once,
/// within five minutes; with --print it prints the link instead. Where no host serves over HTTP, this
/// command is one, until it is told to end.
///
/// Without a link, sign in with the token of `operator-token` in the data directory, or with one of
/// [[http.tokens]] that has `operator = true`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf console             opens a browser
  wharf console --print     prints the link, for a browser on another machine behind a tunnel")]
pub(super) struct ConsoleArguments {
    /// Print the link, and open nothing
    #[arg(long)]
    print: bool,
}

impl ConsoleArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let data = global.data(&global.configuration()?)?;
        if let Some(link) = link_of_running(&data)? {
            self.show(&link, &data)?;
            return Ok(ExitCode::SUCCESS);
        }
        eprintln!("no host serves the console on this data directory: this command does, until Ctrl-C");
        let address: HttpAddress = ADDRESS.parse().context("an address")?;
        let serving = move |host: &Host| {
            let shown = match host.console_link() {
                Some(Ok(link)) => self.show(&link, &data),
                Some(Err(error)) => Err(error.into()),
                None => Ok(()),
            };
            if let Err(error) = shown {
                eprintln!("error: {error:#}");
            }
        };
        let beside = Beside { serving: Some(Box::new(serving)), ..Beside::default() };
        ServeArguments::over_http(address).serve(global, beside)
    }

    fn show(&self, link: &str, data: &Path) -> Result<()> {
        if self.print {
            println!("{link}");
            return Ok(());
        }
        let page = write_page(data, link)?;
        println!("Opening the console. If no browser appears, open this link (once, within five minutes):\n{link}");
        if let Err(error) = open::that_detached(&page) {
            eprintln!("no browser can be opened: {error}");
        }
        Ok(())
    }
}

/// A link of the first host that serves the console.
fn link_of_running(data: &Path) -> Result<Option<String>> {
    let running = hosts::running(data)?;
    Ok(runtime()?.block_on(async {
        for host in &running {
            match host.console_link().await {
                Ok(Some(link)) => return Some(link),
                Ok(None) => {}
                Err(error) => tracing::warn!("a host does not answer: {}", with_causes(&error)),
            }
        }
        None
    }))
}

/// A page that nobody else can read and that leads on: every user of a machine can read the arguments
/// of a browser, and the first one who has the link is signed in.
fn write_page(data: &Path, link: &str) -> Result<PathBuf> {
    let page = data.join(PAGE);
    let _ = fs::remove_file(&page);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&page).with_context(|| format!("cannot write {}", page.display()))?;
    write!(file, "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={link}\"><title>Wharf</title>")?;
    Ok(page)
}
