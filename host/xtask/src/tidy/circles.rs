//! Circles of files: no crate has one of more than three.
//!
//! Owns how imports are read: `use` trees and paths that begin with `crate`, `super` or
//! `self`, without tests. What a file only hands on (`pub use`) is no import of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{SourceFile, Violation};

/// Files that may import each other in a circle: a type, what makes it and what it holds.
const MOST_FILES: usize = 3;

/// Names a file within its crate: `["host", "calling"]` is `src/host/calling.rs`.
type Module = Vec<String>;

/// `sources` are all files of the repository.
pub(super) fn check(sources: &[SourceFile]) -> Vec<Violation> {
    let mut crates = BTreeMap::<&Path, BTreeMap<Module, &SourceFile>>::new();
    for source in sources.iter().filter(|source| source.is("rs")) {
        if let Some((root, module)) = place(&source.path) {
            crates.entry(root).or_default().insert(module, source);
        }
    }
    crates.values().flat_map(of_crate).collect()
}

/// The crate of a source file, and its name there.
pub(super) fn place(path: &Path) -> Option<(&Path, Module)> {
    let root = path.ancestors().find(|folder| folder.ends_with("src"))?;
    let inside = path.strip_prefix(root).ok()?.with_extension("");
    let module: Module = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    // The roots import everything, and what they define is for all.
    let is_root = matches!(module.as_slice(), [name] if name == "lib" || name == "main");
    let is_test = module.iter().any(|part| part == "tests" || part == "contract" || part == "bin");
    (!is_root && !is_test).then_some((root, module))
}

fn of_crate(files: &BTreeMap<Module, &SourceFile>) -> Vec<Violation> {
    let imports: BTreeMap<&Module, BTreeSet<&Module>> =
        files.iter().map(|(module, source)| (module, imported(module, &source.text, files))).collect();
    let reached = |from| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            next.extend(imports[module].iter().filter(|import| reached.insert(**import)));
        }
        reached
    };
    let reach: BTreeMap<&Module, BTreeSet<&Module>> = files.keys().map(|module| (module, reached(module))).collect();
    let mut told = BTreeSet::new();
    let mut violations = Vec::new();
    for module in files.keys() {
        let circle: BTreeSet<_> =
            reach[module].iter().filter(|other| reach[**other].contains(module)).copied().collect();
        if circle.len() > MOST_FILES && told.insert(circle.clone()) {
            let paths: Vec<_> = circle.iter().map(|module| shown(&files[*module].path)).collect();
            let text = format!(
                "{} files import each other in a circle, and {MOST_FILES} may - move what all of them need below \
                 them: {}",
                circle.len(),
                paths.join(", ")
            );
            violations.push(Violation::new(&files[module].path, 0, text));
        }
    }
    violations
}

fn shown(path: &Path) -> String {
    let parts: PathBuf = path.iter().skip_while(|part| *part != "src").skip(1).collect();
    parts.display().to_string()
}

/// The files that this one imports.
fn imported<'f>(module: &Module, text: &str, files: &'f BTreeMap<Module, &SourceFile>) -> BTreeSet<&'f Module> {
    let code = without_tests_and_comments(text);
    let (trees, code) = uses(&code);
    let mut paths = Vec::new();
    for tree in trees {
        expand(&[], tree, &mut paths);
    }
    paths.extend(inline(&code));
    let resolved = paths.iter().filter_map(|path| resolve(module, path, files));
    resolved.filter(|import| *import != module).collect()
}

/// Where what is compiled for tests alone begins.
pub(super) fn end_of_code(text: &str) -> usize {
    text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len())
}

fn without_tests_and_comments(text: &str) -> String {
    let lines = text[..end_of_code(text)].lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    lines.collect::<Vec<_>>().join("\n")
}

/// The trees of `use` statements, without those that hand on; and the code without any.
fn uses(code: &str) -> (Vec<&str>, String) {
    let (mut trees, mut rest, mut left) = (Vec::new(), String::new(), code);
    while let Some(at) = left.find("use ") {
        let (before, statement) = left.split_at(at);
        let last = before.trim_end().chars().next_back();
        let hands_on = before.trim_end().ends_with("pub") || last == Some(')');
        match statement[4..].split_once(';') {
            Some((tree, after)) if hands_on || last.is_none_or(|last| "{};".contains(last)) => {
                if !hands_on {
                    trees.push(tree.trim());
                }
                rest.push_str(before);
                left = after;
            }
            // It is the end of a word, or no statement.
            _ => {
                rest.push_str(&left[..at + 4]);
                left = &left[at + 4..];
            }
        }
    }
    rest.push_str(left);
    (trees, rest)
}

/// The paths of a tree such as `crate::{a::B, c::{D, E as F}}`.
fn expand(prefix: &[&str], tree: &str, paths: &mut Vec<Module>) {
    let (head, body) = match tree.split_once('{') {
        None => (tree.split(" as ").next().unwrap_or(tree), None),
        Some((head, rest)) => (head, Some(rest.rsplit_once('}').map_or(rest, |(body, _)| body))),
    };
    let parts = head.split("::").map(str::trim).filter(|part| !part.is_empty());
    let path: Vec<&str> = prefix.iter().copied().chain(parts).collect();
    let Some(body) = body else {
        paths.push(path.into_iter().map(str::to_owned).collect());
        return;
    };
    let (mut depth, mut begin) = (0_usize, 0);
    for (at, letter) in body.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                expand(&path, body[begin..at].trim(), paths);
                begin = at + 1;
            }
            _ => {}
        }
    }
    if !body[begin..].trim().is_empty() {
        expand(&path, body[begin..].trim(), paths);
    }
}

/// Paths that stand in code: `crate::text::line(…)`.
fn inline(code: &str) -> impl Iterator<Item = Module> {
    let legal = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = code.split(move |letter: char| !legal(letter));
    let paths = words.filter(|word| ["crate::", "super::", "self::"].iter().any(|start| word.starts_with(start)));
    paths.map(|path| path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect())
}

/// The file in which a path ends; nothing where it leaves the crate, or ends in its root.
fn resolve<'f>(module: &Module, path: &[String], files: &'f BTreeMap<Module, &SourceFile>) -> Option<&'f Module> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let mut whole: Module = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => module[..module.len().checked_sub(ups)?].to_vec(),
        // The name of a child, where the file has one of that name.
        child => {
            let mut own = module.clone();
            own.push(child.to_owned());
            files.contains_key(&own).then_some(())?;
            module.clone()
        }
    };
    let skipped = if ups > 0 { ups } else { usize::from(["crate", "self"].contains(&path[0].as_str())) };
    whole.extend(path[skipped..].iter().cloned());
    (1..=whole.len()).rev().find_map(|length| files.get_key_value(&whole[..length]).map(|(known, _)| known))
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
