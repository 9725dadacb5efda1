//! Advisories as they are published, against versions at their edges.

use std::fs;

use serde_json::{Value, json};

use super::*;

fn package(ecosystem: &str, name: &str, version: &str) -> Package {
    let package = Package::named(name, Some(version)).expect("a name");
    package.of_ecosystem(ecosystem)
}

fn advisory(ecosystem: &str, name: &str, affected: &Value) -> Value {
    let mut affected = affected.clone();
    affected["package"] = json!({"ecosystem": ecosystem, "name": name});
    json!({
        "id": "X-1", "aliases": ["CVE-2026-1"], "summary": "reads\u{1b}[2J too far", "affected": [affected],
        "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N"}],
    })
}

fn report(entries: &[Value], packages: &[Package]) -> Result<DatabaseReport, DatabaseError> {
    let directory = tempfile::tempdir().expect("a directory");
    let below = directory.path().join("crates.io");
    fs::create_dir(&below).expect("a directory");
    for (at, entry) in entries.iter().enumerate() {
        fs::write(below.join(format!("{at}.json")), entry.to_string()).expect("a file");
    }
    AdvisoryDatabase::of(directory.path().to_owned()).check(packages)
}

/// The versions that are affected, each with the one that mends it; then how many are undecided.
fn affected(ecosystem: &str, entry: &Value, versions: &[&str]) -> (Vec<String>, u64) {
    let packages: Vec<_> = versions.iter().map(|version| package(ecosystem, "p", version)).collect();
    let report = report(&[advisory(ecosystem, "p", entry)], &packages).expect("a database");
    let told = |found: &AdvisoryMatch| {
        format!("{} {}", found.package.version.as_deref().unwrap_or("-"), found.fixed.as_deref().unwrap_or("-"))
    };
    (report.matches.iter().map(told).collect(), report.undecided)
}

#[test]
fn a_version_is_affected_from_where_a_hole_came_to_where_it_is_mended() {
    let ranges = |kind: &str| {
        json!({"ranges": [{"type": kind, "events": [
            {"introduced": "2.0.0"}, {"fixed": "2.1.0"}, {"introduced": "0"}, {"fixed": "1.2.3"},
        ]}]})
    };
    let versions = ["0.0.1", "1.2.3-rc.1", "1.2.3", "1.2.3+build", "2.0.0", "2.0.9", "2.1.0", "3.0.0"];
    let (found, undecided) = affected("crates.io", &ranges("SEMVER"), &versions);
    assert_eq!(found, ["0.0.1 1.2.3", "1.2.3-rc.1 1.2.3", "2.0.0 2.1.0", "2.0.9 2.1.0"]);
    assert_eq!(undecided, 0);
    // In these ecosystems, the order of versions is the same whatever the range is called.
    assert_eq!(affected("npm", &ranges("ECOSYSTEM"), &["2.0.9", "2.1.0"]).0, ["2.0.9 2.1.0"]);
    assert_eq!(affected("Go", &ranges("SEMVER"), &["v2.0.9"]).0, ["v2.0.9 2.1.0"]);
}

#[test]
fn the_last_affected_version_and_limits_count_as_osv_says() {
    let last = json!({"ranges": [{"type": "SEMVER", "events": [{"introduced": "1.0.0"}, {"last_affected": "1.5.0"}]}]});
    assert_eq!(affected("npm", &last, &["0.9.9", "1.0.0", "1.5.0", "1.5.1"]).0, ["1.0.0 -", "1.5.0 -"]);
    let limited = json!({"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"limit": "2.0.0"}]}]});
    assert_eq!(affected("npm", &limited, &["1.9.9", "2.0.0"]).0, ["1.9.9 -"]);
    let commits = json!({"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]});
    assert_eq!(affected("npm", &commits, &["1.0.0"]), (Vec::new(), 0));
}

#[test]
fn where_the_order_of_versions_is_not_known_only_a_list_decides() {
    let range = json!({"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]});
    assert_eq!(affected("PyPI", &json!({"ranges": [range]}), &["1.0", "3.0"]), (Vec::new(), 2));
    let listed = json!({"ranges": [range], "versions": ["1.0", "1.1"]});
    assert_eq!(affected("PyPI", &listed, &["1.0", "3.0"]), (vec!["1.0 -".to_owned()], 0));
    // Nor where a version is none.
    let ordered = json!({"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}]});
    assert_eq!(affected("npm", &ordered, &["latest"]), (Vec::new(), 1));
    let broken = json!({"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "soon"}]}]});
    assert_eq!(affected("npm", &broken, &["1.0.0"]), (Vec::new(), 1));
}

#[test]
fn a_finding_says_what_it_is_in_clean_lines() {
    let all = json!({"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}]});
    let mut withdrawn = advisory("npm", "p", &all);
    withdrawn["withdrawn"] = json!("2026-01-01T00:00:00Z");
    let mut named = advisory("npm", "p", &all);
    (named["id"], named["database_specific"]) = (json!("X-2"), json!({"severity": "HIGH"}));
    let others = [package("crates.io", "p", "1.0.0"), package("npm", "q", "1.0.0"), package("npm", "p", "1.0.0")];
    let entries = [withdrawn, advisory("npm", "p", &all), named.clone(), named];
    let report = report(&entries, &others).expect("a database");
    let found: Vec<_> = report.matches.iter().map(|found| (found.id.as_str(), found.severity.as_deref())).collect();
    assert_eq!(found, [("X-1", Some("CVSS:3.1/AV:N")), ("X-2", Some("HIGH"))]);
    assert_eq!(report.matches.first().and_then(|found| found.summary.as_deref()), Some("reads[2J too far"));
    assert_eq!((report.advisories, report.unread), (4, 0));
}

#[test]
fn a_database_without_advisories_is_no_clean_bill() {
    assert!(matches!(report(&[], &[]), Err(DatabaseError::Empty { .. })));
    assert!(matches!(report(&[json!({"no": "advisory"})], &[]), Err(DatabaseError::Empty { .. })));
    let missing = AdvisoryDatabase::of("/nowhere/at/all".into());
    assert!(matches!(missing.check([]), Err(DatabaseError::Directory { .. })));
    let all = json!({"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}]});
    let some = report(&[advisory("npm", "p", &all), json!([])], &[]).expect("one of them can be read");
    assert_eq!((some.advisories, some.unread, some.problems.len()), (1, 1, 1));
}
