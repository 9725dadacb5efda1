//! One advisory, and the packages that it is about.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use wharf_core::text::line;

use super::{
    AdvisoryMatch,
    versions::{Range, Verdict},
};
use crate::package::{Package, normal_python_name};

/// Bytes of an id and of a summary that are shown, and how many ids.
const MAX_ID_BYTES: usize = 96;
const MAX_SUMMARY_BYTES: usize = 200;
const MAX_ALIASES: usize = 16;

#[derive(Deserialize)]
pub(super) struct Advisory {
    id: String,
    withdrawn: Option<String>,
    #[serde(default)]
    aliases: Vec<String>,
    summary: Option<String>,
    #[serde(default)]
    severity: Vec<Severity>,
    #[serde(default)]
    affected: Vec<Affected>,
    #[serde(default)]
    database_specific: Value,
}

#[derive(Deserialize)]
struct Severity {
    #[serde(default)]
    score: String,
}

#[derive(Deserialize)]
struct Affected {
    package: Option<AffectedPackage>,
    #[serde(default)]
    versions: Vec<String>,
    #[serde(default)]
    ranges: Vec<Range>,
    #[serde(default)]
    severity: Vec<Severity>,
}

#[derive(Deserialize)]
struct AffectedPackage {
    #[serde(default)]
    ecosystem: String,
    #[serde(default)]
    name: String,
}

impl AffectedPackage {
    /// The name that packages are found by: ecosystems may have a release behind a colon.
    fn key(&self) -> (&str, String) {
        let ecosystem = self.ecosystem.split(':').next().unwrap_or_default();
        let name = if ecosystem == "PyPI" { normal_python_name(&self.name) } else { self.name.clone() };
        (ecosystem, name)
    }
}

/// Packages by ecosystem and name.
pub(super) type PackageIndex<'p> = HashMap<(&'p str, &'p str), Vec<&'p Package>>;

/// What an advisory says of the packages.
#[derive(Default)]
pub(super) struct AdvisoryVerdict {
    pub(super) matches: Vec<AdvisoryMatch>,
    /// Packages of which it says something that cannot be decided here.
    pub(super) undecided: u64,
}

impl Advisory {
    pub(super) fn verdict(&self, packages: &PackageIndex<'_>) -> AdvisoryVerdict {
        let mut verdict = AdvisoryVerdict::default();
        if self.withdrawn.is_some() {
            return verdict;
        }
        for affected in &self.affected {
            let Some(package) = &affected.package else { continue };
            let (ecosystem, name) = package.key();
            for package in packages.get(&(ecosystem, name.as_str())).into_iter().flatten() {
                match affected.verdict(ecosystem, package) {
                    Verdict::Affected(fixed) => verdict.matches.push(self.found(affected, package, fixed)),
                    Verdict::Unknown => verdict.undecided += 1,
                    Verdict::Unaffected => {}
                }
            }
        }
        verdict
    }

    fn found(&self, affected: &Affected, package: &Package, fixed: Option<String>) -> AdvisoryMatch {
        let word = self.database_specific.get("severity").and_then(Value::as_str);
        let mut scores = self.severity.iter().chain(&affected.severity).map(|severity| severity.score.as_str());
        AdvisoryMatch {
            id: line(&self.id, MAX_ID_BYTES),
            aliases: self.aliases.iter().take(MAX_ALIASES).map(|alias| line(alias, MAX_ID_BYTES)).collect(),
            summary: self.summary.as_ref().map(|summary| line(summary, MAX_SUMMARY_BYTES)),
            severity: word.or_else(|| scores.next()).map(|word| line(word, MAX_ID_BYTES)),
            package: package.clone(),
            fixed: fixed.map(|fixed| line(&fixed, MAX_ID_BYTES)),
        }
    }
}

impl Affected {
    fn verdict(&self, ecosystem: &str, package: &Package) -> Verdict {
        // Which one it is nobody knows, and nobody can say that it is not affected.
        let Some(version) = &package.version else { return Verdict::Unknown };
        let verdicts: Vec<_> = self.ranges.iter().map(|range| range.verdict(ecosystem, version)).collect();
        let affected = verdicts.iter().find(|verdict| matches!(verdict, Verdict::Affected(_)));
        if let Some(affected) = affected {
            return affected.clone();
        }
        if self.versions.iter().any(|listed| listed == version) {
            return Verdict::Affected(None);
        }
        // A list of all versions decides where ranges cannot.
        if self.versions.is_empty() && verdicts.contains(&Verdict::Unknown) {
            return Verdict::Unknown;
        }
        Verdict::Unaffected
    }
}
