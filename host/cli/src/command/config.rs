//! `wharf config`: is the configuration right, what all hosts of a cluster have, and what can be set
//! and limited.

mod reference;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    rc::Rc,
};

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;
use wharf::{
    CallLimits, Configuration, ConfigurationReport, HostLimits,
    limit::{HttpLimits, LimitInfo, ProcessLimits, RequestLimits, StreamLimits, TerminalLimits, WebViewLimits},
};

use crate::{
    cluster_shelf::ClusterShelf,
    configuration_edit::{ConfigurationEdit, EditError},
    exit::{UNUSABLE, Unusable},
    global::Global,
    print::print_json,
};

/// Check the configuration, change that of all hosts of a cluster, or list every limit
#[derive(Debug, Args)]
pub(super) struct ConfigArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read the configuration, open what it names, and say what it amounts to; exit code 3 where it is not usable
    ///
    /// Sources of plugins are loaded without any grant, and tokens, secrets, certificates,
    /// folders and patterns are read as a host reads them when it starts. Nothing is
    /// granted, started or kept, but for compiled code where hosts keep it.
    Check {
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of wharf.toml, for editors
    #[command(after_long_help = "\
Example:
  wharf config schema > wharf.schema.json
  and as the first line of wharf.toml: #:schema ./wharf.schema.json")]
    Schema {
        /// Print every key as the Markdown of the documentation
        #[arg(long)]
        markdown: bool,
    },
    /// Print what all hosts of the cluster are configured with, or write it
    ///
    /// All hosts may have [plugin.NAME] tables, tokens with a digest, limits, ceilings and the
    /// profile. What the wharf.toml of a host says goes before. Tables of plugins and tokens
    /// hold at once; limits and the profile hold at each host from its next start on, so
    /// restart the hosts one after the other.
    #[command(after_long_help = "\
Example:
  wharf config cluster > all.toml
  and once it is edited: wharf config cluster --write all.toml")]
    Cluster {
        /// Put this file in the place of all of it, unless it is not usable or changes meanwhile
        #[arg(long, value_name = "FILE")]
        write: Option<PathBuf>,
    },
    /// List every limit with its default, its ceiling and what happens there
    Limits {
        /// Print as the Markdown of the documentation
        #[arg(long)]
        markdown: bool,
    },
}

impl ConfigArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        match self.command {
            Command::Check { json } => return check(global, json),
            Command::Cluster { write } => return of_cluster(global, write.as_deref()),
            Command::Schema { markdown: true } => print!("{}", reference::markdown(&Configuration::schema())),
            Command::Schema { markdown: false } => print_json(&Configuration::schema())?,
            Command::Limits { markdown: true } => print!("{}", markdown()),
            Command::Limits { markdown: false } => {
                for (title, rows) in GROUPS {
                    print_table(&title.replace('`', ""), rows);
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn of_cluster(global: &Global, write: Option<&Path>) -> Result<ExitCode> {
    let shelf = Rc::new(ClusterShelf::of_command(global)?);
    let unusable = |error: EditError| Unusable(wharf::with_causes(&error));
    let mut edit = ConfigurationEdit::of_cluster(&shelf).map_err(unusable)?;
    match write {
        None => print!("{}", edit.text()),
        Some(file) => {
            let text = std::fs::read_to_string(file);
            let text = text.map_err(|error| Unusable(format!("cannot read {}: {error}", file.display())))?;
            edit.replace(&text).and_then(|()| edit.save()).map_err(unusable)?;
            println!(
                "All hosts have it. Tables of plugins and tokens hold at once, and the other settings at each host \
                 from its next start on."
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Every table, with where it is configured.
const GROUPS: [(&str, &[LimitInfo]); 8] = [
    ("One call: `[limits]` for all plugins, `[plugin.NAME.limits]` for one", CallLimits::TABLE),
    ("The host: `[host.limits]`", HostLimits::TABLE),
    ("Child processes and the files of a session: `[process.limits]`", ProcessLimits::TABLE),
    ("Terminals: `[terminal.limits]`", TerminalLimits::TABLE),
    ("Web pages: `[webview.limits]`", WebViewLimits::TABLE),
    ("Streams of events: `[stream.limits]`", StreamLimits::TABLE),
    ("HTTP requests of plugins: `[request.limits]`", RequestLimits::TABLE),
    ("Serving over HTTP: `[http.limits]`", HttpLimits::TABLE),
];

fn check(global: &Global, as_json: bool) -> Result<ExitCode> {
    let path = global.configuration_path();
    let configuration = global.configuration()?;
    let data = global.data(&configuration)?;
    let ConfigurationReport { problems, warnings, notes, .. } = {
        let _step = global.progress().step("checking the configuration, and the plugins that it names");
        configuration.check_named(&data, |name| std::env::var(name).ok())
    };
    let code = if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(UNUSABLE) };
    let changed: Vec<_> = configuration
        .host_limits
        .values()
        .chain(configuration.call_limits.values())
        .chain(configuration.process_limits.values())
        .chain(configuration.terminal.limits.values())
        .chain(configuration.webview.limits.values())
        .chain(configuration.stream_limits.values())
        .chain(configuration.request_limits.values())
        .chain(configuration.http.limits.values())
        .filter(|(info, value)| info.default != *value)
        .collect();
    if as_json {
        let plugins: serde_json::Map<_, _> = configuration
            .plugins
            .iter()
            .map(|(name, plugin)| {
                let grants = plugin.grants.as_ref().map(serde_json::to_value).transpose();
                grants.map(|grants| (name.to_string(), json!({"enabled": plugin.enabled, "grants": grants})))
            })
            .collect::<Result<_, _>>()?;
        let limits: serde_json::Map<_, _> =
            changed.iter().map(|(info, value)| (info.name.to_owned(), json!(value))).collect();
        let traces = configuration
            .traces
            .endpoint
            .as_ref()
            .map(|endpoint| json!({"endpoint": endpoint.as_str(), "ratio": configuration.traces.sampling.ratio}));
        print_json(&json!({
            "file": path, "data": data, "limits": limits, "plugins": plugins, "traces": traces,
            "problems": problems, "warnings": warnings, "notes": notes,
        }))?;
        return Ok(code);
    }
    for warning in &warnings {
        eprintln!("warning: {}", warning.says);
    }
    if !problems.is_empty() {
        for problem in &problems {
            eprintln!("error: {}", problem.says);
        }
        if let Some(path) = &path {
            let count = problems.len();
            eprintln!("{} is not right: {count} problem{}", path.display(), if count == 1 { "" } else { "s" });
        }
        return Ok(code);
    }
    match &path {
        Some(path) => println!("{} is right.", path.display()),
        None => println!("There is no configuration file; the defaults hold."),
    }
    println!("Data is kept in {}.", data.display());
    if let Some(endpoint) = &configuration.traces.endpoint {
        println!("Spans are sent to {endpoint}, of a part of {} of all requests.", configuration.traces.sampling.ratio);
    }
    for (info, value) in changed {
        println!("{} is {value} instead of {}.", info.name, info.default);
    }
    let ceilings = CallLimits::TABLE.iter().zip(configuration.call_ceilings.values());
    for (row, (_, value)) in ceilings.filter(|(row, (_, value))| row.ceiling != *value) {
        println!("{} has the ceiling {value} instead of {}.", row.name, row.ceiling);
    }
    for (name, plugin) in &configuration.plugins {
        println!("Plugin {name} is {}.", if plugin.enabled { "enabled" } else { "disabled" });
    }
    for note in &notes {
        println!("{}.", note.says);
    }
    Ok(code)
}

fn print_table(title: &str, rows: &[LimitInfo]) {
    println!("{title}");
    for row in rows {
        println!("  {}\n    default {}, ceiling {}. {}", row.name, row.default, row.ceiling, row.description);
    }
}

fn markdown() -> String {
    let mut text = String::from(
        "# Limits\n\nEvery limit that an operator can set: whose it is, its default, the ceiling that no configuration \
         exceeds, and what happens there. Times are in milliseconds, sizes in bytes, unless the name says otherwise. \
         [Limits by session, tenant and host](../security/shares.md) puts those of one resource side by side.\n\n\
         Limits that are the same for everybody (parts of an answer, tools of a plugin, bytes of a schema) are in the \
         contract, `wit/`. This page is `wharf config limits --markdown`; a test keeps it so.\n",
    );
    for (title, rows) in GROUPS {
        let head = "| limit | whose | default | ceiling | what happens |\n|---|---|---|---|---|\n";
        text.push_str(&format!("\n## {title}\n\n{head}"));
        for row in rows {
            let whose = row.scope.as_str();
            text.push_str(&format!(
                "| `{}` | {whose} | {} | {} | {} |\n",
                row.name, row.default, row.ceiling, row.description
            ));
        }
    }
    text
}
