//! `wharf plugin search`: what indexes list, and the command that adds it.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use wharf::{
    sources::{IndexedPlugin, IndexedVersion, PluginIndex, PluginSource, RegistryLogins},
    text::for_shell,
    with_causes,
};

use super::installation::{Installation, absolute_source, source};
use crate::{
    exit::{FAILED, Misused, Unusable},
    print::{self, print_json},
};

/// Plugins that are printed; `--json` has all.
const MOST_PRINTED: usize = 50;
/// Older versions that are printed.
const MOST_OLDER: usize = 5;

#[derive(Debug, Args)]
pub(super) struct Search {
    /// Words that all have to be in the name or the description [default: every plugin]
    #[arg(value_name = "WORDS")]
    words: Vec<String>,

    /// A file, an https: address, or oci://REGISTRY/NAME:TAG; several times for several [default: `indexes` under [plugins] in wharf.toml]
    #[arg(long, value_name = "INDEX", value_parser = source)]
    index: Vec<PluginSource>,
}

/// A plugin that was found, and where.
struct Finding {
    index: String,
    plugin: IndexedPlugin,
}

impl Search {
    pub(super) fn run(self, installation: &Installation) -> Result<ExitCode> {
        let given: Vec<_> = self.index.into_iter().map(absolute_source).collect::<Result<_>>()?;
        let indexes = if given.is_empty() { installation.configuration.plugin_indexes.clone() } else { given };
        if indexes.is_empty() {
            bail!(Misused(
                "there is no index to search: name one with --index (a file, an https: address, or oci://REGISTRY/NAME:TAG), \
                 or write `indexes = [\"…\"]` under [plugins] in wharf.toml"
                    .to_owned()
            ));
        }
        let (mut read, mut failed) = (Vec::new(), Vec::new());
        for index in indexes {
            let shown = wharf::text::line(&index.to_string(), 512);
            match fetch(installation, &index) {
                Ok(listed) => read.push((shown, listed)),
                Err(problem) => failed.push((shown, problem)),
            }
        }
        if let ([], Some((_, problem))) = (&read[..], failed.first()) {
            bail!(Unusable(problem.clone()));
        }
        let mut findings = Vec::new();
        for (index, listed) in &read {
            let fitting = listed.plugins.iter().filter_map(|plugin| Some((plugin.fit(&self.words)?, plugin)));
            findings
                .extend(fitting.map(|(fit, plugin)| (fit, Finding { index: index.clone(), plugin: plugin.clone() })));
        }
        // Those that a word names come first; beyond that, the order of the indexes.
        findings.sort_by_key(|(fit, _)| std::cmp::Reverse(*fit));
        let findings: Vec<_> = findings.into_iter().map(|(_, finding)| finding).collect();
        for (_, problem) in &failed {
            eprintln!("{problem}");
        }
        for (index, PluginIndex { problems, left_out, .. }) in read.iter().filter(|(_, listed)| listed.left_out > 0) {
            eprintln!("{index}: {left_out} of its entries are left out; {}", problems.join("; "));
        }
        if installation.json {
            print_json(&in_json(&read, &failed, &findings))?;
        } else {
            print_findings(&findings, &self.words)?;
        }
        Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }
}

fn fetch(installation: &Installation, index: &PluginSource) -> Result<PluginIndex, String> {
    let fetching = installation.progress.step(format!("fetching {index}"));
    let fetched = index.fetch_index(&RegistryLogins::of_docker(), &mut |bytes| fetching.came(bytes));
    drop(fetching);
    fetched.map_err(|error| with_causes(&error))
}

/// The command that adds this version, and no other component.
fn adding(plugin: &IndexedPlugin, IndexedVersion { source, digest, .. }: &IndexedVersion) -> String {
    let named = source.stem().is_some_and(|stem| stem == plugin.name.as_str());
    let name = if named { String::new() } else { format!(" --name {}", plugin.name) };
    format!("wharf plugin add {}{name} --digest {digest}", for_shell(&source.to_string()))
}

fn in_json(read: &[(String, PluginIndex)], failed: &[(String, String)], findings: &[Finding]) -> serde_json::Value {
    let indexes = read.iter().map(|(index, listed)| {
        json!({
            "index": index,
            "plugins": listed.plugins.len(),
            "left_out": listed.left_out,
            "problems": listed.problems,
        })
    });
    let failed = failed.iter().map(|(index, problem)| json!({"index": index, "error": problem}));
    let plugins = findings.iter().map(|Finding { index, plugin }| {
        let mut row = json!(plugin);
        row["index"] = json!(index);
        for (written, version) in row["versions"].as_array_mut().into_iter().flatten().zip(&plugin.versions) {
            written["add"] = json!(adding(plugin, version));
        }
        row
    });
    json!({"indexes": indexes.chain(failed).collect::<Vec<_>>(), "plugins": plugins.collect::<Vec<_>>()})
}

fn print_findings(findings: &[Finding], words: &[String]) -> io::Result<()> {
    let mut out = print::listing();
    for Finding { index, plugin } in findings.iter().take(MOST_PRINTED) {
        let IndexedPlugin { name, description, licenses, homepage, languages, versions } = plugin;
        let Some(newest) = plugin.newest() else { continue };
        writeln!(out, "{name} {}", newest.version)?;
        if !description.is_empty() {
            writeln!(out, "  {description}")?;
        }
        let languages = (!languages.is_empty()).then(|| languages.join(", "));
        let about: Vec<_> = [languages, licenses.clone(), homepage.clone()].into_iter().flatten().collect();
        if !about.is_empty() {
            writeln!(out, "  {}", about.join(" · "))?;
        }
        writeln!(out, "  listed by {index}")?;
        let older: Vec<_> = versions.iter().filter(|version| *version != newest).collect();
        if !older.is_empty() {
            let shown: Vec<_> = older.iter().take(MOST_OLDER).map(|version| version.version.to_string()).collect();
            let more = if older.len() > MOST_OLDER { " and more" } else { "" };
            writeln!(out, "  also      {}{more} (--json says how to add them)", shown.join(", "))?;
        }
        writeln!(out, "  {}\n", adding(plugin, newest))?;
    }
    if let Some(more) = findings.len().checked_sub(MOST_PRINTED).filter(|more| *more > 0) {
        writeln!(out, "{more} more fit: say more words, or see them all with --json.\n")?;
    }
    match (findings.len(), words.is_empty()) {
        (0, true) => writeln!(out, "The indexes list no plugin.")?,
        (0, false) => {
            let words = wharf::text::line(&words.join(" "), 200);
            writeln!(out, "No plugin has `{words}` in its name or description.")?;
        }
        _ => writeln!(out, "`wharf plugin add` takes the component of that digest alone, and grants it nothing.")?,
    }
    out.flush()
}
