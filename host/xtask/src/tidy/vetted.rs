//! No package of a registry comes or changes unless somebody decides: each that `Cargo.lock`
//! names was read, or is exempt, at that very version.

use std::path::Path;

use anyhow::Result;

use super::violation::Violation;
use crate::record::{self, AUDITS, EXEMPTIONS, Pinned, Record};
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Violation>> {
    Ok(undecided(&record::locked(workspace)?, &Record::of(workspace)?))
}

fn undecided(locked: &[(usize, Pinned)], record: &Record) -> Vec<Violation> {
    let undecided = locked.iter().filter(|(_, package)| !record.names(package));
    let violation = |(line, Pinned { name, version }): &(usize, Pinned)| {
        let text = format!(
            "cargo vet: {name} {version} is neither in {AUDITS} nor exempt in {EXEMPTIONS} - read what changed \
             (`cargo vet diff`) and `cargo vet certify` it, or `cargo vet regenerate exemptions` says that nobody did"
        );
        Violation::new(Path::new("Cargo.lock"), *line, text)
    };
    undecided.map(violation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "[[package]]\nname = \"hex\"\nversion = \"0.4.3\"\nsource = \"registry+https://example.org\"\n\n\
                        [[package]]\nname = \"fnv\"\nversion = \"1.0.7\"\nsource = \"registry+https://example.org\"\n";
    const READ: &str = "[[audits.hex]]\nversion = \"0.4.3\"\n";

    fn lines(exemptions: &str) -> Vec<usize> {
        let record = Record::parse(READ, exemptions, "");
        undecided(&record::packages(LOCK), &record).into_iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn a_package_is_read_or_exempt() {
        assert!(lines("[[exemptions.fnv]]\nversion = \"1.0.7\"\n").is_empty());
        assert_eq!(lines(""), [7]);
    }

    #[test]
    fn another_version_of_it_is_not_meant() {
        assert_eq!(lines("[[exemptions.fnv]]\nversion = \"1.0.6\"\n"), [7]);
    }

    #[test]
    fn the_violation_names_the_package_and_the_command() {
        let record = Record::parse(READ, "", "");
        let violations = undecided(&record::packages(LOCK), &record);
        let text = &violations[0].text;
        assert!(text.contains("fnv 1.0.7") && text.contains("cargo vet regenerate exemptions"), "{text}");
    }
}
