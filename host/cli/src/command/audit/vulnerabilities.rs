//! `wharf audit vulnerabilities`: what plugins and Wharf itself are made of, against advisories on disk.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use wharf::{
    Configuration, PluginName,
    materials::{
        AdvisoryDatabase, AdvisoryMatch, DatabaseReport, FoundMaterials, Package, UnreadComponent, packages_of_bill,
    },
    text::line,
};

use crate::{
    exit::{FAILED, Unusable},
    global::Global,
    listing::Listing,
    print::{self, print_json},
};

/// Where advisories are, below the data directory.
const ADVISORIES: &str = "advisories";
const MAX_LINE_BYTES: usize = 512;

/// Say which plugins have libraries with known holes
///
/// Holds the bills of materials of plugins against advisories in the form of OSV that you have on disk:
/// unpack the export of an ecosystem, such as
/// https://osv-vulnerabilities.storage.googleapis.com/crates.io/all.zip, into the directory. No server is asked.
/// It exits with 1 where something was found. A plugin without a bill of materials is told, and not checked.
/// `--bill` checks what no plugin is, such as Wharf itself by the bill in its package.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  wharf audit vulnerabilities                           all plugins, against DATA/advisories
  wharf audit vulnerabilities greeter --database osv    one plugin, against the files below osv
  wharf audit vulnerabilities --json                    the same as one JSON object
  wharf audit vulnerabilities --bill /usr/share/doc/wharf/sbom.cdx.json
                                                        Wharf itself, as a package of it was made

Exit codes: 0 nothing was found; 1 something was; 3 there is no advisory, or no bill of materials of the plugin.")]
pub(super) struct Vulnerabilities {
    /// The plugin; all where absent
    name: Option<PluginName>,

    /// A bill of materials (CycloneDX or SPDX 2 as JSON) in the place of those of plugins
    #[arg(long, value_name = "FILE", conflicts_with = "name")]
    bill: Option<PathBuf>,

    /// The directory of advisories, `*.json` in it and below it (default: `advisories` in the data directory)
    #[arg(long, value_name = "DIRECTORY")]
    database: Option<PathBuf>,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// What is known of the plugins that are checked, or of what a bill is about.
struct CheckedPlugins {
    /// What is checked: `plugin`, or `bill`.
    kind: &'static str,
    /// The packages of each, in order.
    checked: BTreeMap<String, Vec<Package>>,
    /// Those of which nobody says what they are made of.
    unknown: Vec<PluginName>,
    unread: Vec<UnreadComponent>,
}

impl Vulnerabilities {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let own = global.configuration()?;
        let data = global.data(&own)?;
        let plugins = self.wanted(&own, &data)?;
        if let Some(name) = self.name.as_ref().filter(|name| plugins.unknown.contains(*name)) {
            bail!(Unusable(format!(
                "nobody says what {name} is made of: it has no bill of materials within or beside it; `wharf build` puts one \
                 into a component of Rust"
            )));
        }
        let directory = self.database.unwrap_or_else(|| data.join(ADVISORIES));
        if !directory.is_dir() {
            bail!(Unusable(format!(
                "there is no directory {} with advisories; unpack an export of OSV there, or name another one with \
                 `--database` (`wharf audit vulnerabilities --help` says where exports are)",
                line(&directory.display().to_string(), MAX_LINE_BYTES)
            )));
        }
        let database = AdvisoryDatabase::of(directory);
        let packages = plugins.checked.values().flatten();
        let report = database.check(packages).map_err(|error| Unusable::of(&error))?;
        let found = plugins.found(&report);
        if self.json {
            print_json(&plugins.to_json(&report, &found))?;
        } else {
            plugins.print(&report, &found)?;
        }
        Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }

    /// What is to be checked.
    fn wanted(&self, own: &Configuration, data: &Path) -> Result<CheckedPlugins> {
        if let Some(bill) = &self.bill {
            return Ok(CheckedPlugins::of_bill(bill, packages_of_bill(bill).map_err(|error| Unusable::of(&error))?));
        }
        let configuration = own.as_of_cluster(data).map_err(|error| Unusable::of(&error))?;
        let Some(name) = &self.name else {
            return Ok(CheckedPlugins::sort(configuration.all_materials(data).map_err(|error| Unusable::of(&error))?));
        };
        match configuration.materials(data, name).map_err(|error| Unusable::of(&error))? {
            Some(materials) => Ok(CheckedPlugins::sort([(name.clone(), Ok(materials))])),
            None => {
                bail!(Unusable(format!("there is no plugin {name}; `wharf plugin list` shows those that there are")))
            }
        }
    }
}

/// A hole in what is checked.
type Finding<'r> = (&'r String, &'r AdvisoryMatch);

impl CheckedPlugins {
    fn of_bill(file: &Path, packages: Vec<Package>) -> Self {
        let checked = BTreeMap::from([(file.display().to_string(), packages)]);
        Self { kind: "bill", checked, unknown: Vec::new(), unread: Vec::new() }
    }

    fn sort(all: impl IntoIterator<Item = (PluginName, Result<FoundMaterials, UnreadComponent>)>) -> Self {
        let mut plugins = Self { kind: "plugin", checked: BTreeMap::new(), unknown: Vec::new(), unread: Vec::new() };
        for (name, materials) in all {
            match materials {
                Ok(materials) if materials.bills.is_empty() => plugins.unknown.push(name),
                Ok(materials) => {
                    let packages = materials.packages().into_iter().cloned().collect();
                    plugins.checked.insert(name.to_string(), packages);
                }
                Err(error) => plugins.unread.push(error),
            }
        }
        plugins
    }

    fn found<'r>(&'r self, report: &'r DatabaseReport) -> Vec<Finding<'r>> {
        let of = |(name, packages): (&'r String, &'r Vec<Package>)| {
            let within = |found: &&AdvisoryMatch| packages.binary_search(&found.package).is_ok();
            report.matches.iter().filter(within).map(|found| (name, found)).collect::<Vec<_>>()
        };
        self.checked.iter().flat_map(of).collect()
    }

    /// Packages of no ecosystem that OSV has, of which no advisory can speak.
    fn unnamed(&self) -> usize {
        let packages = self.checked.values().flatten();
        packages.filter(|package| package.ecosystem.is_none()).count()
    }

    fn to_json(&self, report: &DatabaseReport, found: &[Finding<'_>]) -> Value {
        let findings: Vec<_> = found
            .iter()
            .map(|(name, AdvisoryMatch { id, aliases, summary, severity, package, fixed, .. })| {
                json!({self.kind: name, "id": id, "aliases": aliases, "summary": summary, "severity": severity,
                       "package": package, "fixed": fixed})
            })
            .collect();
        let unread: Vec<_> =
            self.unread.iter().map(|error| json!({"plugin": error.name, "reason": error.reason})).collect();
        json!({
            "findings": findings,
            "checked": self.checked.keys().collect::<Vec<_>>(),
            "unknown": self.unknown,
            "unread": unread,
            "packages_without_ecosystem": self.unnamed(),
            "advisories": {"read": report.advisories, "undecided": report.undecided, "unread": report.unread,
                           "problems": report.problems},
        })
    }

    fn print(&self, report: &DatabaseReport, found: &[Finding<'_>]) -> io::Result<()> {
        let mut out = print::listing();
        if !found.is_empty() {
            let mut listing = Listing::new([self.kind, "package", "version", "advisory", "severity", "fixed in"], 6..6);
            for (name, found) in found {
                let AdvisoryMatch { id, aliases, summary, severity, package, fixed, .. } = found;
                let Package { name: of, version, .. } = package;
                let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".to_owned());
                listing.row([&line(name, MAX_LINE_BYTES), of, &word(version), id, &word(severity), &word(fixed)]);
                if !aliases.is_empty() {
                    listing.note(format!("also {}", aliases.join(", ")));
                }
                if let Some(summary) = summary {
                    listing.note(summary.clone());
                }
            }
            write!(out, "{listing}")?;
        }
        writeln!(
            out,
            "{} finding(s) in {} {}(s), by {} advisories.",
            found.len(),
            self.checked.len(),
            self.kind,
            report.advisories
        )?;
        if !self.unknown.is_empty() {
            let names: Vec<_> = self.unknown.iter().map(PluginName::as_str).collect();
            writeln!(out, "Not checked, since nobody says what they are made of: {}.", names.join(", "))?;
        }
        for error in &self.unread {
            writeln!(out, "Not checked: {}", line(&error.to_string(), MAX_LINE_BYTES))?;
        }
        if self.unnamed() > 0 {
            writeln!(out, "{} package(s) are of no ecosystem that OSV has advisories about.", self.unnamed())?;
        }
        if report.undecided > 0 {
            writeln!(
                out,
                "Undecided: advisories about {} package(s) have versions in an order that Wharf does not know; look \
                 there.",
                report.undecided
            )?;
        }
        if report.unread > 0 {
            writeln!(out, "{} file(s) are no advisories:", report.unread)?;
            for problem in &report.problems {
                writeln!(out, "  {}", line(problem, MAX_LINE_BYTES))?;
            }
        }
        out.flush()
    }
}
