//! What the previous version and today's compile alike: cargo compiles a library once for both where its
//! features and its profile are the same.
//!
//! Owns what makes them the same: a crate that asks for today's features in the previous version's workspace,
//! and options of today's profile. Reads manifests and what cargo tells; builds nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::command::{self, say};

/// Libraries by name and version, each with the sets of features that it is compiled with: one for the
/// machine that builds and one for the program may differ.
type Libraries = BTreeMap<(String, String), BTreeSet<BTreeSet<String>>>;

/// The features to ask for, by library.
type MissingFeatures<'libraries> = BTreeMap<&'libraries (String, String), BTreeSet<&'libraries str>>;

/// What cargo tells of a library, and of its features.
const FORMAT: &str = "{p}|{f}";

/// Does not take today's features: they have it link another SQLite, which the previous version had not.
const OF_ITS_OWN: [&str; 2] = ["libsqlite3-sys", "rusqlite"];

/// The crate that asks for features.
const ASKING: &str = "shared-features";

/// Has the workspace in `source` take the features that libraries have in `today`. Returns the options of
/// cargo that have it take their profile.
pub(super) fn align(today: &Path, source: &Path) -> Result<Vec<String>> {
    let (of_today, before) = (libraries(today, true)?, libraries(source, false)?);
    let (missing, left) = missing(&before, &of_today);
    add(source, &missing)?;
    if !left.is_empty() {
        say(&format!("Compiled for the previous version alone, since their features differ: {}", left.join(", ")));
    }
    let manifest = fs::read_to_string(today.join("Cargo.toml"))?;
    let known: BTreeSet<&str> = before.keys().map(|(name, _)| name.as_str()).collect();
    Ok(profile(&manifest).filter(|(name, _)| known.contains(name)).map(|(name, level)| option(name, level)).collect())
}

fn option(library: &str, level: &str) -> String {
    format!("profile.dev.package.{library}.opt-level={level}")
}

/// What cargo compiles for the workspace in a folder.
fn libraries(root: &Path, is_locked: bool) -> Result<Libraries> {
    let mut cargo = command::cargo(root);
    cargo.args(["tree", "--workspace", "--edges", "normal,build,dev", "--prefix", "none", "--format", FORMAT]);
    cargo.args(is_locked.then_some("--locked"));
    Ok(read(&command::capture(&mut cargo)?))
}

fn read(tree: &str) -> Libraries {
    let mut libraries = Libraries::new();
    for line in tree.lines() {
        let Some((package, features)) = line.split_once('|') else { continue };
        let mut words = package.split(' ');
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        // A path: a member, which is compiled for each.
        if words.any(|word| word.starts_with("(/")) {
            continue;
        }
        let features = features.trim_end_matches(" (*)").split(',').filter(|feature| !feature.is_empty());
        let key = (name.to_owned(), version.trim_start_matches('v').to_owned());
        libraries.entry(key).or_default().insert(features.map(str::to_owned).collect());
    }
    libraries
}

/// The features to ask for, by library, and the libraries for which asking does not help.
fn missing<'libraries>(
    before: &'libraries Libraries,
    today: &'libraries Libraries,
) -> (MissingFeatures<'libraries>, Vec<&'libraries str>) {
    let (mut missing, mut left) = (MissingFeatures::new(), Vec::new());
    for (library, sets) in before {
        let Some(todays) = today.get(library) else { continue };
        if OF_ITS_OWN.contains(&library.0.as_str()) {
            continue;
        }
        for features in sets.difference(todays) {
            match todays.iter().find(|of_today| of_today.is_superset(features)) {
                Some(more) => missing.entry(library).or_default().extend(more.difference(features).map(String::as_str)),
                None => left.push(library.0.as_str()),
            }
        }
    }
    (missing, left)
}

/// Adds the crate that asks for features to a workspace. Its lock file gets one crate more and keeps the
/// versions of all others.
fn add(source: &Path, features: &MissingFeatures<'_>) -> Result<()> {
    let (manifest, begins) = (source.join("Cargo.toml"), "\nmembers = [");
    let text = fs::read_to_string(&manifest)?;
    ensure!(text.matches(begins).count() == 1, "{} does not list its members as expected", manifest.display());
    fs::write(&manifest, text.replace(begins, &format!("{begins}\n    \"{ASKING}\",")))?;
    let folder = source.join(ASKING);
    fs::create_dir(&folder)?;
    fs::write(folder.join("Cargo.toml"), asking(features))?;
    Ok(fs::write(folder.join("lib.rs"), "")?)
}

fn asking(features: &MissingFeatures<'_>) -> String {
    let mut text =
        format!("[package]\nname = \"{ASKING}\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n[dependencies]\n");
    for (number, ((name, version), features)) in features.iter().enumerate() {
        // Two versions of a library have two names here.
        let _ = writeln!(
            text,
            "library-{number} = {{ package = \"{name}\", version = \"={version}\", default-features = false, \
             features = {features:?} }}",
            features = features.iter().collect::<Vec<_>>(),
        );
    }
    text
}

/// Libraries that are optimised more than others, and how far.
fn profile(manifest: &str) -> impl Iterator<Item = (&str, &str)> {
    let section = manifest.lines().skip_while(|line| *line != "[profile.dev.package]").skip(1);
    section.take_while(|line| !line.starts_with('[')).filter_map(|line| {
        let (name, level) = line.strip_suffix(" }")?.split_once(" = { opt-level = ")?;
        Some((name, level))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn todays() -> Libraries {
        read(
            "a v1.0.0|std\nb v2.0.0 (proc-macro)|\nours v0.1.0 (/somewhere/ours)|\nc v1.0.0|more,std (*)\nc v1.0.0|std",
        )
    }

    #[test]
    fn libraries_are_read_with_each_of_their_sets_of_features_and_without_members() {
        let names: Vec<_> = todays().into_iter().map(|((name, version), sets)| (name, version, sets.len())).collect();
        let expected = [("a", "1.0.0", 1), ("b", "2.0.0", 1), ("c", "1.0.0", 2)];
        assert_eq!(names, expected.map(|(name, version, sets)| (name.to_owned(), version.to_owned(), sets)));
    }

    #[test]
    fn features_are_asked_for_where_today_has_more_and_told_where_that_does_not_help() {
        let (today, before) = (todays(), read("a v1.0.0|\nb v2.0.0|other\nc v1.0.0|std\nd v1.0.0|std"));
        let (missing, left) = missing(&before, &today);
        assert_eq!(left, ["b"]);
        let text = asking(&missing);
        assert!(text.contains("package = \"a\", version = \"=1.0.0\""), "{text}");
        assert!(text.contains("features = [\"std\"]") && !text.contains("\"c\""), "{text}");
    }

    #[test]
    fn an_encrypted_sqlite_is_not_given_to_a_version_that_had_none() {
        let (today, before) = (read("rusqlite v1.0.0|bundled,cipher"), read("rusqlite v1.0.0|bundled"));
        let (missing, left) = missing(&before, &today);
        assert!(missing.is_empty() && left.is_empty());
    }

    #[test]
    fn the_profile_names_what_runs_every_task() {
        let manifest = include_str!("../../../../Cargo.toml");
        assert!(profile(manifest).any(|library| library == ("tokio", "2")));
        let entries = manifest.lines().skip_while(|line| *line != "[profile.dev.package]").skip(1);
        let entries = entries.take_while(|line| !line.starts_with('['));
        let entries = entries.filter(|line| !line.is_empty() && !line.starts_with('#')).count();
        assert_eq!(profile(manifest).count(), entries, "one has another form than `name = {{ opt-level = 2 }}`");
    }
}
