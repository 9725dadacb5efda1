//! `wharf dev`: a plugin that is being written, served while it changes.

mod story;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};
use clap::Args;
use tokio::runtime::Handle;
use wharf::{Host, http::HttpAddress, with_causes};
use wharf_author::{Project, SourceWatch};

use self::story::Story;
use super::serve::{Beside, ServeArguments};
use crate::{bytes::size, global::Global};

/// Serve the plugin in a folder, and build and swap it at each save
///
/// Clients that are connected are told of its tools, and calls go on: what runs ends
/// with the component that it began with. A source that does not build changes
/// nothing. Standard error shows each build, each call with its time, its
/// memory and its host calls, and what was denied.
///
/// The `wharf.toml` of the folder says what the plugin may use; its grants hold for
/// this command alone, since no other one reads that file.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  wharf dev                                      the plugin here, at http://127.0.0.1:8737/mcp
  wharf dev plugins/tracker --http 127.0.0.1:0
  claude mcp add dev -- wharf dev /home/me/tracker --stdio")]
pub(super) struct DevArguments {
    /// The folder of the plugin
    #[arg(default_value = ".")]
    folder: PathBuf,

    /// Talk over standard input and output, for a client that starts this
    #[arg(long, conflicts_with = "http")]
    stdio: bool,

    /// Serve over HTTP at this address of this machine; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8737")]
    http: HttpAddress,
}

/// For as long as nothing changes, the watch is asked again.
const LONG: Duration = Duration::from_secs(3_600);

impl DevArguments {
    pub(super) fn run(self, mut global: Global) -> Result<ExitCode> {
        let project = Project::open(&self.folder).map_err(super::build::unusable)?;
        global.prefer_configuration(project.folder().join(Project::CONFIGURATION));
        // A source that does not build is mended while this serves.
        if !build(&project, &global) {
            match project.built() {
                Ok(built) => eprintln!("serving the component of an earlier build: {}", built.file.display()),
                Err(_) => eprintln!("there is no earlier build; the plugin is served once a save builds"),
            }
        }
        let watch = SourceWatch::begin(project.folder())
            .with_context(|| format!("cannot watch {}", project.folder().display()))?;
        let reading = global.clone();
        let beside = Beside {
            audit: Some(Arc::new(Story::default())),
            functions: Global::compiled_functions(),
            serving: None,
            opened: Some(Box::new(move |host: &Host| follow(host.clone(), project, watch, reading))),
        };
        ServeArguments::of_dev(self.stdio, self.http).serve(&global, beside)
    }
}

/// Builds at each save, on a thread of its own, until the process ends.
fn follow(host: Host, project: Project, mut watch: SourceWatch, global: Global) {
    let runtime = Handle::current();
    thread::spawn(move || {
        loop {
            let Some(changed) = watch.wait(LONG) else { continue };
            eprintln!("{} has changed", changed.display());
            if changed != Path::new(Project::CONFIGURATION) && !build(&project, &global) {
                eprintln!("still serving the build before");
                continue;
            }
            // Its grants may be others, too.
            let reloaded = global
                .configuration()
                .and_then(|configuration| Ok(runtime.block_on(host.reconfigure_plugins(configuration))?));
            match reloaded {
                Ok(true) => eprintln!("served"),
                Ok(false) => eprintln!("the component is the same: still serving it"),
                Err(error) => eprintln!("error: {}", with_causes(error.as_ref())),
            }
            for rejected in host.rejected() {
                eprintln!("error: {}: {}", rejected.name, rejected.reason);
            }
        }
    });
}

/// Builds the component, and says how that went.
fn build(project: &Project, global: &Global) -> bool {
    let began = std::time::Instant::now();
    match super::build::build(project, None, &[], global) {
        Ok(built) => {
            let took = began.elapsed().as_secs_f64();
            eprintln!("built {} in {took:.1} s: {}", built.name, size(built.bytes));
            true
        }
        Err(error) => {
            eprintln!("error: {}", with_causes(&error));
            false
        }
    }
}
