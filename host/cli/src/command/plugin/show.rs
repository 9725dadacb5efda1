//! `wharf plugin list` and `wharf plugin info`, and what the other commands say at their
//! end.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use wharf::{
    Digest, PluginName,
    added::Receipt,
    grant::Capability,
    materials::FoundMaterials,
    sources::read_component,
    trust::{Evidence, FoundSignatures},
};

use super::{
    installation::{Installation, unusable},
    materials,
};
use crate::{
    bytes::size,
    exit::{FAILED, Unusable},
    hosts::HostAnswers,
    listing::Listing,
    print::{self, print_json},
    tables,
};

/// A plugin that the next host would know of.
pub(super) struct KnownPlugin {
    pub(super) name: PluginName,
    origin: &'static str,
    is_on: bool,
}

/// What the configuration, the binary, the data directory and the folder name.
pub(super) fn known(installation: &Installation) -> Result<Vec<KnownPlugin>> {
    let disabled = installation.added.disabled().map_err(|error| unusable(&error))?;
    let mut origins: BTreeMap<PluginName, &'static str> = BTreeMap::new();
    let written = installation.configuration.plugins.iter().filter(|(_, settings)| settings.source.is_some());
    origins.extend(written.map(|(name, _)| (name.clone(), "configuration")));
    for name in wharf::bundled_names() {
        origins.entry(name).or_insert("bundled");
    }
    for name in installation.added.list().map_err(|error| unusable(&error))?.into_keys() {
        origins.entry(name).or_insert("added");
    }
    for (name, _) in installation.configuration.folder_plugins() {
        origins.entry(name).or_insert("folder");
    }
    let is_on = |name: &PluginName| {
        let settings = installation.configuration.plugins.get(name);
        settings.is_none_or(|settings| settings.enabled) && !disabled.contains(name)
    };
    Ok(origins.into_iter().map(|(name, origin)| KnownPlugin { is_on: is_on(&name), name, origin }).collect())
}

pub(super) fn list(installation: &Installation) -> Result<ExitCode> {
    if let Some(problem) = installation.configuration.misspelt(&installation.data) {
        bail!(Unusable(format!("no host starts with this configuration: {problem}")));
    }
    let hosts = HostAnswers::ask(&installation.data)?;
    let mut rows: Vec<Value> = Vec::new();
    for served in hosts.served() {
        for plugin in &served.plugins {
            // Hosts that say the same of it share a row.
            match rows.iter_mut().find(|row| same(row, plugin)) {
                Some(row) => row["hosts"] = json!(row["hosts"].as_u64().unwrap_or_default() + 1),
                None => {
                    let mut row = plugin.clone();
                    row["hosts"] = json!(1);
                    rows.push(row);
                }
            }
        }
    }
    for plugin in known(installation)? {
        if !rows.iter().any(|row| row["name"].as_str() == Some(plugin.name.as_str())) {
            rows.push(not_running(installation, &plugin)?);
        }
    }
    rows.sort_by(|one, other| one["name"].as_str().cmp(&other["name"].as_str()));
    if installation.json {
        print_json(&json!({"hosts": hosts.len(), "plugins": rows}))?;
        return Ok(hosts.code());
    }
    hosts.print_problems();
    print(&rows, hosts.len())?;
    Ok(hosts.code())
}

/// A plugin that no host serves: what its receipt says where it was added, and of others
/// which component a host would load.
fn not_running(installation: &Installation, plugin: &KnownPlugin) -> Result<Value> {
    let KnownPlugin { name, origin, is_on } = plugin;
    let state = if *is_on { "not-running" } else { "disabled" };
    let mut row = json!({"name": name, "origin": origin, "state": state, "hosts": 0});
    if *origin == "added"
        && let Some(receipt) = installation.added.receipt(name).map_err(|error| unusable(&error))?
    {
        row["digest"] = json!(receipt.digest);
        row["tools"] = json!(receipt.tools);
        row["source"] = json!(receipt.source);
        row["added"] = json!(receipt.added);
    }
    if *origin == "bundled"
        && let Some(component) = wharf::bundled_component(name)
    {
        row["digest"] = json!(component.digest());
    }
    let file = match *origin {
        "configuration" => installation.configuration.settings_of(name).source,
        "folder" => installation
            .configuration
            .folder_plugins()
            .into_iter()
            .find_map(|(found, file)| (found == *name).then_some(file)),
        _ => None,
    };
    if let Some(file) = file {
        row["source"] = json!(file);
        // One that cannot be read is told by the host that would load it.
        if let Ok(bytes) = read_component(&file, installation.configuration.host_limits.component_bytes) {
            row["digest"] = json!(Digest::of(&bytes));
        }
    }
    Ok(row)
}

/// Whether two hosts say the same of a plugin.
fn same(row: &Value, plugin: &Value) -> bool {
    ["name", "state", "digest", "reason", "origin", "tools", "grants", "withheld"]
        .iter()
        .all(|field| row[field] == plugin[field])
}

fn print(rows: &[Value], hosts: usize) -> io::Result<()> {
    let mut out = print::listing();
    let mut listing = Listing::new(["name", "origin", "state", "tools", "digest"], 3..4);
    for row in rows {
        let text = |field: &str| row[field].as_str().unwrap_or("-");
        let tools = row["tools"].as_array().map_or("-".to_owned(), |tools| tools.len().to_string());
        // Enough to tell it from others.
        let digest: String = text("digest").chars().take(19).collect();
        listing.row([&text("name"), &text("origin"), &text("state"), &tools, &digest]);
        if let Some(source) = row["source"].as_str() {
            listing.note(format!("from {}", wharf::text::line(source, 512)));
        }
        if let Some(reason) = row["reason"].as_str() {
            listing.note(wharf::text::line(reason, 512));
        }
        if let Some(withheld) = row["withheld"].as_str() {
            listing.note(format!("may use nothing: {}", wharf::text::line(withheld, 512)));
        }
    }
    write!(out, "{listing}")?;
    match hosts {
        0 => writeln!(out, "No host serves on this data directory; the next one loads these.")?,
        1 => writeln!(out, "One host serves.")?,
        many => writeln!(out, "{many} hosts serve.")?,
    }
    out.flush()
}

pub(super) fn info(installation: &Installation, name: &PluginName) -> Result<ExitCode> {
    let receipt = installation.added.receipt(name).map_err(|error| unusable(&error))?;
    let hosts = HostAnswers::ask(&installation.data)?;
    let wanted = known(installation)?.into_iter().find(|plugin| plugin.name == *name);
    if receipt.is_none() && wanted.is_none() && !hosts.know(name) {
        bail!(Unusable(format!("there is no plugin {name}; `wharf plugin list` shows those that there are")));
    }
    let found = installation.configuration.materials(&installation.data, name);
    // A component that cannot be read is told by the host that would load it.
    let found = found.ok().flatten().unwrap_or_default();
    if installation.json {
        let origin = wanted.as_ref().map(|plugin| plugin.origin);
        print_json(&json!({
            "name": name, "origin": origin, "receipt": receipt.as_ref().map(told_of),
            "materials": materials::told(&found), "hosts": hosts.to_json(Some(name)),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    println!("{name}");
    match &receipt {
        Some(receipt) => print_receipt(receipt),
        None => println!("  It was not added by command, so there is no receipt."),
    }
    materials::print(&found);
    for status in hosts.of(name) {
        print_status(status, receipt.is_none());
    }
    if hosts.is_empty() {
        println!("  No host serves on this data directory.");
    }
    Ok(ExitCode::SUCCESS)
}

/// A receipt as people see it: what was found out by its signatures, without their texts, and without the
/// packages that it is made of.
fn told_of(receipt: &Receipt) -> Receipt {
    let mut told = receipt.clone();
    told.signatures = FoundSignatures::default();
    told.materials = FoundMaterials::default();
    told
}

fn print_receipt(receipt: &Receipt) {
    let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    println!("  source   {}", wharf::text::line(&receipt.source, 512));
    if let Some(manifest) = &receipt.manifest {
        println!("  manifest {}", wharf::text::line(manifest, 512));
    }
    println!("  digest   {}{}", receipt.digest, if receipt.pinned { " (named when it was added)" } else { "" });
    print_evidence(receipt.evidence.as_ref());
    println!("  size     {}", size(receipt.bytes));
    println!("  added    {} by {}", receipt.added, receipt.by);
    println!("  tools    {}", list(&receipt.tools));
    println!("  asks for {}", list(&receipt.wanted_grants));
    println!("  granted  {} when this component came", list(&receipt.grants));
}

fn print_evidence(evidence: Option<&Evidence>) {
    let Some(Evidence { signer, name, form, covers, signed_at, log_index, .. }) = evidence else { return };
    let name = name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    println!("  signed   by {signer}{name}");
    let at = signed_at.as_ref().map(|at| format!(", {at}")).unwrap_or_default();
    let entry = log_index.map(|index| format!(", entry {index} of the log")).unwrap_or_default();
    println!("           {form} over the {covers}{at}{entry}");
}

fn print_status(status: &Value, with_component: bool) {
    let names = |field: &str| {
        let names = status[field].as_array().map(Vec::as_slice).unwrap_or_default();
        let names: Vec<_> = names.iter().filter_map(Value::as_str).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    if with_component && let Some(digest) = status["digest"].as_str() {
        println!("  digest   {digest}");
        let evidence = serde_json::from_value(status["evidence"].clone()).ok();
        print_evidence(evidence.as_ref());
        println!("  tools    {}", names("tools"));
        println!("  asks for {}", names("wanted_grants"));
    }
    match status["reason"].as_str() {
        Some(reason) => println!(
            "  A running host has it {}: {}",
            status["state"].as_str().unwrap_or("otherwise"),
            wharf::text::line(reason, 512)
        ),
        None => println!("  A running host serves it. It may use: {}.", names("grants")),
    }
    if let Some(withheld) = status["withheld"].as_str() {
        println!("  {}", wharf::text::line(withheld, 512));
    }
}

/// Says that hosts elsewhere follow, where they do.
pub(super) fn tell_cluster(installation: &Installation) {
    if installation.is_of_cluster() {
        println!("All hosts of the cluster have it so within seconds.");
    }
}

/// What a plugin is now, and what the running hosts made of it.
pub(super) fn changed(installation: &Installation, receipt: &Receipt, hosts: &HostAnswers) -> Result<ExitCode> {
    let name = &receipt.name;
    if installation.json {
        print_json(&json!({"receipt": told_of(receipt), "hosts": hosts.to_json(Some(name))}))?;
        return Ok(code(name, hosts));
    }
    print_receipt(receipt);
    tell_cluster(installation);
    let missing = receipt.wanted_grants.iter().filter(|asked| !receipt.grants.contains(asked));
    let written = installation.configuration.settings_of(name).grants.unwrap_or_default();
    let is_written = |asked: &&String| Capability::from_word(asked).is_some_and(|asked| written.names(asked));
    let (waiting, missing): (Vec<_>, Vec<_>) = missing.partition(is_written);
    let file = installation.file.display();
    if !waiting.is_empty() {
        let waiting: Vec<_> = waiting.into_iter().map(String::as_str).collect();
        println!(
            "{file} grants {} to the component before; `wharf grant {name} --confirm` lets this one have it.",
            waiting.join(", ")
        );
    }
    if !missing.is_empty() {
        println!("What it asks for is refused until {file} grants it:");
        for capability in missing {
            print!("\n{}", tables::of_grant(name, capability, None));
        }
        println!("\n`wharf grant {name}` says what it could do with that, writes it down, and tells running hosts.");
    }
    told(installation, name, hosts)
}

/// What the running hosts made of a plugin.
pub(super) fn told(installation: &Installation, name: &PluginName, hosts: &HostAnswers) -> Result<ExitCode> {
    if installation.json {
        print_json(&json!({"name": name, "hosts": hosts.to_json(Some(name))}))?;
        return Ok(code(name, hosts));
    }
    if hosts.is_empty() {
        match installation.configuration.misspelt(&installation.data) {
            None => println!("No host serves on this data directory; the next one takes it as it is now."),
            Some(problem) => {
                println!("No host serves on this data directory, and none starts before this is mended: {problem}")
            }
        }
    }
    for status in hosts.of(name) {
        print_status(status, false);
    }
    hosts.print_problems();
    Ok(code(name, hosts))
}

/// A plugin that a host cannot load was not changed as was asked.
fn code(name: &PluginName, hosts: &HostAnswers) -> ExitCode {
    let is_rejected = hosts.of(name).any(|status| status["state"].as_str() == Some("rejected"));
    if is_rejected { ExitCode::from(FAILED) } else { hosts.code() }
}
