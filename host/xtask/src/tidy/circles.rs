//! Circles of files: no crate has one of more than three.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    imports::{self, Imports},
    source::{Module, SourceFile},
    violation::Violation,
};

/// Files that may import each other in a circle: a type, what makes it and what it holds.
const MOST_FILES: usize = 3;

/// `sources` are all files of the repository.
pub(super) fn check(sources: &[SourceFile]) -> Vec<Violation> {
    imports::by_crate(sources).values().flat_map(of_crate).collect()
}

fn of_crate(crate_imports: &Imports<'_>) -> Vec<Violation> {
    let paths: BTreeMap<&Module, &Path> = crate_imports.files().collect();
    let imports: BTreeMap<&Module, BTreeSet<&Module>> =
        paths.keys().map(|module| (*module, crate_imports.of(module))).collect();
    let reached = |from| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            next.extend(imports[module].iter().filter(|import| reached.insert(**import)));
        }
        reached
    };
    let reach: BTreeMap<&Module, BTreeSet<&Module>> = paths.keys().map(|module| (*module, reached(*module))).collect();
    let mut told = BTreeSet::new();
    let mut violations = Vec::new();
    for module in paths.keys().copied() {
        let circle: BTreeSet<_> =
            reach[module].iter().filter(|other| reach[**other].contains(module)).copied().collect();
        if circle.len() > MOST_FILES && told.insert(circle.clone()) {
            let files: Vec<_> = circle.iter().map(|module| shown(paths[*module])).collect();
            let text = format!(
                "{} files import each other in a circle, and {MOST_FILES} may - move what all of them need below \
                 them: {}",
                circle.len(),
                files.join(", ")
            );
            violations.push(Violation::new(paths[module], 0, text));
        }
    }
    violations
}

fn shown(path: &Path) -> String {
    let parts: PathBuf = path.iter().skip_while(|part| *part != "src").skip(1).collect();
    parts.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Vec<SourceFile> {
        files.iter().map(|(path, text)| SourceFile { path: path.into(), text: (*text).to_owned() }).collect()
    }

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&sources(files)).into_iter().map(|violation| violation.text).collect()
    }

    const CIRCLE: [(&str, &str); 4] = [
        ("host/a/src/one.rs", "use crate::two::Two;"),
        ("host/a/src/two.rs", "use crate::{\n    three::{self, Three},\n};"),
        ("host/a/src/three.rs", "mod four;\npub(crate) use four::Four;\nfn x() { super::four_of(); self::four::y() }"),
        ("host/a/src/three/four.rs", "use super::super::one::One as Other;"),
    ];

    #[test]
    fn a_circle_of_four_files_is_found_and_one_of_three_may_be() {
        let told = found(&CIRCLE);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("4 files") && told[0].contains("three/four.rs"), "{told:?}");
        let mut shorter = CIRCLE;
        shorter[3].1 = "use super::super::three::Three;";
        assert_eq!(found(&shorter), [""; 0]);
    }

    #[test]
    fn names_of_the_root_and_suites_of_the_contract_hide_no_circle() {
        let mut files = CIRCLE.to_vec();
        files[0].1 = "use crate::Two;";
        assert_eq!(found(&files), [""; 0]);
        files.push(("host/a/src/lib.rs", "mod one;\nmod three;\nmod two;\n\npub use {one::One, two::Two};"));
        assert_eq!(found(&files).len(), 1);
        let children = ["entries", "quotas", "scans"].map(|name| format!("host/a/src/contract/{name}.rs"));
        let mut suite =
            vec![("host/a/src/contract.rs", "mod entries;\nfn a() { entries::b(); quotas::c(); scans::d() }")];
        suite.extend(children.iter().map(|path| (path.as_str(), "use super::Subject;")));
        assert_eq!(found(&suite).len(), 1);
    }

    #[test]
    fn what_is_for_tests_handed_on_or_of_another_crate_ties_nothing() {
        for text in [
            "// use crate::one::One;",
            "pub use crate::one::One;",
            "use std::one::One;\nfn a() {}\n#[cfg(test)]\nmod tests {\n    use crate::one::One;\n}",
        ] {
            let mut files = CIRCLE;
            files[3].1 = text;
            assert_eq!(found(&files), [""; 0], "{text}");
        }
        let mut tested = CIRCLE;
        tested[3].1 = "#[cfg(test)]\nmod tests;\nuse super::super::one::One;";
        assert_eq!(found(&tested).len(), 1, "tests in a file of their own hide nothing");
        let mut elsewhere = CIRCLE;
        elsewhere[3].0 = "host/b/src/three/four.rs";
        assert_eq!(found(&elsewhere), [""; 0]);
    }
}
