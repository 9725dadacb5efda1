//! Names of types: no name is shared by types of more than three crates.
//!
//! Owns which items count: structs, enums, unions, traits and aliases of a crate's own source, also
//! of its root, without tests. What is shared by many crates says nothing where it is read.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{
    source::{SourceFile, end_of_code, place},
    violation::Violation,
};

/// Crates that may have a type of the same name.
const MOST_CRATES: usize = 3;

/// Names that are the field's own word in each crate that has one.
const EXCEPTIONS: [&str; 0] = [];

const ITEMS: [&str; 5] = ["struct ", "enum ", "union ", "trait ", "type "];

/// `sources` are all files of the repository.
pub(super) fn check(sources: &[SourceFile]) -> Vec<Violation> {
    let mut owners = BTreeMap::<&str, BTreeMap<&Path, (&Path, usize)>>::new();
    for source in sources.iter().filter(|source| source.is("rs")) {
        let Some((crate_root, _)) = place(&source.path) else { continue };
        for (line, name) in types(&source.text) {
            owners.entry(name).or_default().entry(crate_root).or_insert((&source.path, line));
        }
    }
    let shared = owners.into_iter().filter(|(name, owners)| owners.len() > MOST_CRATES && !EXCEPTIONS.contains(name));
    shared.flat_map(|(name, owners)| told(name, &owners)).collect()
}

fn told(name: &str, owners: &BTreeMap<&Path, (&Path, usize)>) -> Option<Violation> {
    let folders: BTreeSet<_> = owners
        .keys()
        .filter_map(|root| root.parent())
        .map(|folder| folder.display())
        .map(|folder| folder.to_string())
        .collect();
    let (path, line) = owners.values().next()?;
    let text = format!(
        "`{name}` names types of {} crates, and {MOST_CRATES} may share a name - say in the name which one it is: {}",
        owners.len(),
        folders.into_iter().collect::<Vec<_>>().join(", ")
    );
    Some(Violation::new(path, *line, text))
}

/// The types that a file declares at its top, with their lines from 1.
fn types(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = end_of_code(text);
    text[..end].lines().enumerate().filter_map(|(index, line)| Some((index + 1, declared(line)?)))
}

fn declared(line: &str) -> Option<&str> {
    let item = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let rest = ITEMS.iter().find_map(|kind| item.strip_prefix(kind))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(crates: &[&str], text: &str) -> Vec<String> {
        let sources: Vec<_> = crates
            .iter()
            .map(|name| SourceFile { path: format!("host/{name}/src/a.rs").into(), text: text.to_owned() })
            .collect();
        check(&sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn three_crates_may_share_a_name_and_four_may_not() {
        assert!(shared(&["a", "b", "c"], "pub struct Place;\n").is_empty());
        let told = shared(&["a", "b", "c", "d"], "\npub(crate) struct Place;\n");
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("host/a/src/a.rs:2: `Place` names types of 4 crates"), "{told:?}");
        assert!(told[0].ends_with("host/a, host/b, host/c, host/d"), "{told:?}");
    }

    #[test]
    fn roots_and_suites_of_the_contract_count_too() {
        let paths = ["a/src/main.rs", "b/src/lib.rs", "c/src/contract/place.rs", "d/src/contract.rs"];
        let text = "struct Place;\n";
        let sources = paths.map(|path| SourceFile { path: format!("host/{path}").into(), text: text.to_owned() });
        assert_eq!(check(&sources).len(), 1);
    }

    #[test]
    fn each_kind_of_type_counts_and_nothing_else() {
        for item in ["struct Place(u8);", "pub enum Place {", "pub(super) trait Place: Send {", "type Place<T> = T;"] {
            assert_eq!(declared(item), Some("Place"), "{item}");
        }
        for other in ["    struct Place;", "fn place() {", "pub mod place;", "// struct Place;", "structure Place"] {
            assert_eq!(declared(other), None, "{other}");
        }
    }

    #[test]
    fn names_of_tests_do_not_count() {
        let text = "#[cfg(test)]\nmod tests {\nstruct Place;\n}\n";
        assert!(shared(&["a", "b", "c", "d"], text).is_empty());
    }
}
