//! Who read what: the packages of registries that `Cargo.lock` names, and what
//! `supply-chain/` says of them in the format of cargo-vet.
//!
//! Reads names and versions only. What an entry is worth, cargo-vet decides.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};

use crate::command;
use crate::workspace::Workspace;

/// What we read.
pub(crate) const AUDITS: &str = "supply-chain/audits.toml";
/// What we use without having read it.
pub(crate) const EXEMPTIONS: &str = "supply-chain/config.toml";
/// What others read, for those who import their records.
const IMPORTS: &str = "supply-chain/imports.lock";

/// A package of a registry, at one version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pinned {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// What the record says.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) read: BTreeSet<Pinned>,
    pub(crate) exempt: BTreeSet<Pinned>,
    pub(crate) imported: BTreeSet<Pinned>,
}

impl Record {
    pub(crate) fn of(workspace: &Workspace) -> Result<Self> {
        let text = |path: &str| {
            fs::read_to_string(workspace.root.join(path))
                .with_context(|| format!("cannot read {path} - `cargo vet init` writes it"))
        };
        Ok(Self::parse(&text(AUDITS)?, &text(EXEMPTIONS)?, &text(IMPORTS)?))
    }

    pub(crate) fn parse(audits: &str, exemptions: &str, imports: &str) -> Self {
        let mut imported = entries(imports, "audits");
        // Every version of a publisher whom somebody trusts.
        imported.extend(entries(imports, "publisher"));
        Self { read: entries(audits, "audits"), exempt: entries(exemptions, "exemptions"), imported }
    }

    /// Whether somebody decided on this very version.
    pub(crate) fn names(&self, package: &Pinned) -> bool {
        [&self.read, &self.exempt, &self.imported].iter().any(|some| some.contains(package))
    }
}

/// What the command depends on, by dependencies of these kinds: packages of registries, and those of this workspace.
pub(crate) fn of_command(workspace: &Workspace, kinds: &str) -> Result<BTreeSet<Pinned>> {
    let mut tree = command::cargo(&workspace.root);
    tree.args(["tree", "--locked", "--package=wharf-cli", "--prefix=none", "--format={p}", "--edges", kinds]);
    Ok(in_tree(&command::capture(&mut tree)?))
}

/// The packages of a tree, each of which begins a line: `NAME vVERSION`, and what it came from.
pub(crate) fn in_tree(tree: &str) -> BTreeSet<Pinned> {
    let package = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        Some(Pinned { name: name.to_owned(), version: version.to_owned() })
    };
    tree.lines().filter_map(package).collect()
}

/// The packages of registries in the lock file of this workspace.
pub(crate) fn locked(workspace: &Workspace) -> Result<Vec<(usize, Pinned)>> {
    let text = fs::read_to_string(workspace.root.join("Cargo.lock")).context("cannot read Cargo.lock")?;
    Ok(packages(&text))
}

/// The packages of registries in a lock file, each with the line that names it.
pub(crate) fn packages(lock: &str) -> Vec<(usize, Pinned)> {
    let mut packages = Vec::new();
    let (mut at, mut name, mut version) = (0, "", "");
    for (index, line) in lock.lines().enumerate() {
        if line == "[[package]]" {
            (at, name, version) = (0, "", "");
        } else if let Some(value) = value(line, "name") {
            (at, name) = (index + 1, value);
        } else if let Some(value) = value(line, "version") {
            version = value;
        } else if value(line, "source").is_some_and(|source| source.starts_with("registry+")) {
            packages.push((at, Pinned { name: name.into(), version: version.into() }));
        }
    }
    packages
}

/// The packages of the tables of one kind: `[[KIND.NAME]]`, or `[[audits.IMPORT.KIND.NAME]]`.
fn entries(text: &str, kind: &str) -> BTreeSet<Pinned> {
    let mut entries = BTreeSet::new();
    let mut name = None;
    let mut is_in_notes = false;
    for line in text.lines() {
        let was_in_notes = is_in_notes;
        is_in_notes ^= line.matches("\"\"\"").count() % 2 == 1;
        if was_in_notes {
            continue;
        }
        if line.starts_with('[') {
            let mut segments = line.trim_matches(['[', ']']).rsplit('.');
            let last = segments.next();
            name = last.filter(|_| segments.next() == Some(kind)).map(|name| name.trim_matches('"'));
        } else if let Some(name) = name {
            // An audit of a change stands for the version that it leads to.
            let changed = value(line, "delta").and_then(|delta| delta.split_once(" -> ")).map(|(_, to)| to);
            if let Some(version) = value(line, "version").or(changed) {
                entries.insert(Pinned { name: name.into(), version: version.into() });
            }
        }
    }
    entries
}

/// The text that a line gives to a key.
fn value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    line.strip_prefix(key)?.trim_start().strip_prefix('=')?.trim().strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(name: &str, version: &str) -> Pinned {
        Pinned { name: name.into(), version: version.into() }
    }

    #[test]
    fn packages_of_the_workspace_and_of_repositories_are_not_of_a_registry() {
        let lock = "version = 4\n\n[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\ndependencies = [\n \"hex\",\n]\n\n\
                    [[package]]\nname = \"hex\"\nversion = \"0.4.3\"\nsource = \"registry+https://example.org/index\"\n\n\
                    [[package]]\nname = \"cloned\"\nversion = \"1.0.0\"\nsource = \"git+https://example.org/cloned\"\n";
        assert_eq!(packages(lock), [(11, pinned("hex", "0.4.3"))]);
    }

    #[test]
    fn an_audit_is_of_its_version_or_of_the_one_that_its_change_leads_to() {
        let audits = "[[audits.hex]]\nwho = \"a\"\nversion = \"0.4.3\"\n\n[[audits.hex]]\ndelta = \"0.4.3 -> 0.4.4\"\n\n\
                      [[audits.bad]]\nviolation = \"*\"\n\n[[trusted.other]]\nuser-id = 1\n";
        let record = Record::parse(audits, "", "");
        assert_eq!(record.read, BTreeSet::from([pinned("hex", "0.4.3"), pinned("hex", "0.4.4")]));
    }

    #[test]
    fn notes_are_no_entries() {
        let audits =
            "[[audits.hex]]\nnotes = \"\"\"\n[[audits.hex]]\nversion = \"9.9.9\"\n\"\"\"\nversion = \"0.4.3\"\n";
        assert_eq!(Record::parse(audits, "", "").read, BTreeSet::from([pinned("hex", "0.4.3")]));
    }

    #[test]
    fn policies_and_imports_of_the_configuration_are_no_exemptions() {
        let configuration = "[cargo-vet]\nversion = \"0.10\"\n\n[policy.ours]\ncriteria = \"safe-to-run\"\n\n\
                             [[exemptions.hex]]\nversion = \"0.4.3\"\ncriteria = \"safe-to-deploy\"\n";
        assert_eq!(Record::parse("", configuration, "").exempt, BTreeSet::from([pinned("hex", "0.4.3")]));
    }

    #[test]
    fn what_others_read_or_published_counts_where_it_was_imported() {
        let imports = "[[unpublished.ours]]\nversion = \"0.1.0\"\n\n\
                       [[publisher.hex]]\nversion = \"0.4.3\"\nuser-id = 1\n\n\
                       [[audits.mozilla.audits.fnv]]\nversion = \"1.0.7\"\n\n\
                       [[audits.mozilla.wildcard-audits.rand]]\nuser-id = 1\n";
        let record = Record::parse("", "", imports);
        assert!(record.names(&pinned("hex", "0.4.3")) && record.names(&pinned("fnv", "1.0.7")));
        assert_eq!(record.imported.len(), 2);
    }
}
