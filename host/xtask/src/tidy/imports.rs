//! What a file of a crate imports.
//!
//! Owns how imports are read: `use` trees and paths that begin with `crate`, `super`, `self` or a
//! module of the file, without tests. A name that a file hands on, or the crate's root, leads to
//! the file that it comes from. What a file only hands on is no import of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::source::{Module, SourceFile, end_of_code, place};

/// How often a name may be handed on: names that lead to each other end nowhere.
const MOST_STEPS: usize = 8;

/// The files of one crate.
#[derive(Default)]
pub(super) struct Imports<'s> {
    files: BTreeMap<Module, FileImports<'s>>,
}

#[derive(Default)]
struct FileImports<'s> {
    /// Relative to the workspace; none of a root.
    path: Option<&'s Path>,
    /// What the file needs, as it is written there.
    needed: Vec<Module>,
    /// Names that `use` brings into the file, and what they stand for.
    brought: BTreeMap<String, Module>,
}

/// A path of a `use` tree, and the name that it brings.
#[derive(Debug, PartialEq, Eq)]
struct Leaf {
    name: String,
    path: Module,
}

/// The crates of the workspace; `sources` are all files of the repository.
pub(super) fn by_crate(sources: &[SourceFile]) -> BTreeMap<&Path, Imports<'_>> {
    let mut crates = BTreeMap::<&Path, Imports<'_>>::new();
    for source in sources.iter().filter(|source| source.is("rs")) {
        if let Some((root, module)) = place(&source.path) {
            crates.entry(root).or_default().add(module, source);
        }
    }
    crates
}

impl<'s> Imports<'s> {
    fn add(&mut self, module: Module, source: &'s SourceFile) {
        let code = without_tests_and_comments(&source.text);
        let (trees, rest) = uses(&code);
        let is_root = module.is_empty();
        let file = self.files.entry(module).or_default();
        for (tree, hands_on) in trees {
            let mut leaves = Vec::new();
            expand(&[], tree, &mut leaves);
            for Leaf { name, path } in leaves {
                if !hands_on || holds(&rest, &name) {
                    file.needed.push(path.clone());
                }
                file.brought.insert(name, path);
            }
        }
        if !is_root {
            file.path = Some(&source.path);
            file.needed.extend(inline(&rest));
        }
    }

    /// All files but the roots, which import everything, and what they define is for all.
    pub(super) fn files(&self) -> impl Iterator<Item = (&Module, &'s Path)> {
        self.files.iter().filter_map(|(module, file)| Some((module, file.path?)))
    }

    /// The files that a file imports.
    pub(super) fn of(&self, module: &Module) -> BTreeSet<&Module> {
        let needed = self.files.get(module).into_iter().flat_map(|file| &file.needed);
        let resolved = needed.filter_map(|path| self.resolve(module, path, MOST_STEPS));
        resolved.filter(|import| !import.is_empty() && *import != module).collect()
    }

    /// The file in which a path ends; nothing where it leaves the crate.
    fn resolve(&self, from: &Module, path: &[String], steps: usize) -> Option<&Module> {
        let whole = self.absolute(from, path)?;
        let mut lengths = (0..=whole.len()).rev();
        let (owner, file) = lengths.find_map(|length| self.files.get_key_value(&whole[..length]))?;
        let rest = &whole[owner.len()..];
        let handed_on = rest.split_first().and_then(|(name, rest)| Some((file.brought.get(name)?, rest)));
        match handed_on {
            Some((path, rest)) if steps > 0 => {
                let path: Module = path.iter().chain(rest).cloned().collect();
                self.resolve(owner, &path, steps - 1)
            }
            _ => Some(owner),
        }
    }

    /// A path of a file as it is from the root of the crate.
    fn absolute(&self, from: &Module, path: &[String]) -> Option<Module> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let (base, rest) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (&from[..], &path[1..]),
            "super" => (&from[..from.len().checked_sub(ups)?], &path[ups..]),
            // The name of a child or of an import, where the file has one of that name.
            name => {
                let child: Module = from.iter().cloned().chain([name.to_owned()]).collect();
                let is_brought = || self.files.get(from).is_some_and(|file| file.brought.contains_key(name));
                (self.files.contains_key(&child) || is_brought()).then_some((&from[..], path))?
            }
        };
        Some(base.iter().chain(rest).cloned().collect())
    }
}

fn without_tests_and_comments(text: &str) -> String {
    let lines = text[..end_of_code(text)].lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    lines.collect::<Vec<_>>().join("\n")
}

/// The trees of `use` statements, each with whether it hands on; and the code without any.
fn uses(code: &str) -> (Vec<(&str, bool)>, String) {
    let (mut trees, mut rest, mut left) = (Vec::new(), String::new(), code);
    while let Some(at) = left.find("use ") {
        let (before, statement) = left.split_at(at);
        let last = before.trim_end().chars().next_back();
        let hands_on = before.trim_end().ends_with("pub") || last == Some(')');
        match statement[4..].split_once(';') {
            Some((tree, after)) if hands_on || last.is_none_or(|last| "{};]".contains(last)) => {
                trees.push((tree.trim(), hands_on));
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

/// The paths of a tree such as `crate::{a::B, c::{self, D, E as F}}`.
fn expand(prefix: &[&str], tree: &str, leaves: &mut Vec<Leaf>) {
    let (head, body) = match tree.split_once('{') {
        None => (tree, None),
        Some((head, rest)) => (head, Some(rest.rsplit_once('}').map_or(rest, |(body, _)| body))),
    };
    let (head, alias) = head.split_once(" as ").map_or((head, None), |(head, alias)| (head, Some(alias.trim())));
    let parts = head.split("::").map(str::trim).filter(|part| !part.is_empty());
    let mut path: Vec<&str> = prefix.iter().copied().chain(parts).collect();
    let Some(body) = body else {
        path.pop_if(|last| *last == "self" && !prefix.is_empty());
        if let Some(name) = alias.or(path.last().copied()) {
            let path = path.iter().map(|part| (*part).to_owned()).collect();
            leaves.push(Leaf { name: name.to_owned(), path });
        }
        return;
    };
    let (mut depth, mut begin) = (0_usize, 0);
    for (at, letter) in body.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                expand(&path, body[begin..at].trim(), leaves);
                begin = at + 1;
            }
            _ => {}
        }
    }
    if !body[begin..].trim().is_empty() {
        expand(&path, body[begin..].trim(), leaves);
    }
}

/// Paths that stand in code: `crate::text::line(…)`. Who may see an item is no import.
fn inline(code: &str) -> Vec<Module> {
    let mut parts = code.split("pub(in ");
    let first = parts.next().into_iter();
    let code: String = first.chain(parts.filter_map(|part| Some(part.split_once(')')?.1))).collect();
    let legal = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = code.split(|letter: char| !legal(letter));
    let paths = words.filter(|word| word.contains("::") && !word.starts_with(':'));
    paths.map(|path| path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()).collect()
}

/// Whether code uses a name, other than to declare its module or to call a method of that name.
fn holds(code: &str, name: &str) -> bool {
    let continues = |letter: char| letter.is_alphanumeric() || letter == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let is_word = !before.ends_with(continues) && !after.starts_with(continues);
        is_word && !before.ends_with("mod ") && !before.ends_with('.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(files: &[(&str, &str)], module: &str) -> Vec<String> {
        let sources: Vec<_> = files
            .iter()
            .map(|(path, text)| SourceFile { path: format!("host/a/src/{path}").into(), text: (*text).to_owned() })
            .collect();
        let crates = by_crate(&sources);
        let module = module.split('/').map(str::to_owned).collect();
        crates[Path::new("host/a/src")].of(&module).into_iter().map(|module| module.join("/")).collect()
    }

    #[test]
    fn a_name_leads_through_the_root_and_through_others_to_its_file() {
        let files = [
            ("lib.rs", "mod one;\npub mod two;\npub use one::One;\nuse two::{Two as Other, Far};\npub struct Mine;"),
            ("one.rs", "use crate::{Mine, Other};\nfn a() { crate::Far::new() }"),
            ("two.rs", "mod far;\npub use far::Far;\npub struct Two;"),
            ("two/far.rs", "#[cfg(unix)]\nuse crate::{One, two::{self}};\nfn a(b: super::Far) {}"),
            ("three.rs", "use crate::one;\nuse one::Mine;\nfn a() { two::Two }"),
        ];
        assert_eq!(imported(&files, "one"), ["two", "two/far"]);
        assert_eq!(imported(&files, "two/far"), ["one", "two"]);
        assert_eq!(imported(&files, "three"), ["one"], "`two` is no name there");
    }

    #[test]
    fn what_a_file_hands_on_is_its_import_where_it_uses_it() {
        let import = |text: &str| imported(&[("one.rs", text), ("one/two.rs", ""), ("three.rs", "")], "one");
        assert_eq!(import("mod two;\npub use two::two;\nfn a() { b.two() }"), [""; 0]);
        assert_eq!(import("mod two;\npub(crate) use two::Two;\nfn a() -> Two {}"), ["one/two"]);
        assert_eq!(import("mod two;\npub use two::Two;\nfn a() -> Twofold {}"), [""; 0]);
        assert_eq!(import("mod two;\nfn a() { two::b() }"), ["one/two"], "a child by its name alone");
        assert_eq!(import("pub use crate::three::Three;\nstruct One(Three);"), ["three"]);
    }

    #[test]
    fn what_comes_from_another_crate_or_says_who_sees_it_is_no_import() {
        let import =
            |text: &str| imported(&[("one.rs", text), ("two.rs", "pub use serde::Word;\nfn a(b: Word) {}")], "one");
        assert_eq!(import("use crate::two::Word;"), [""; 0]);
        assert_eq!(import("use crate::two::Other;"), ["two"]);
        assert_eq!(import("pub(in crate::two) struct One;"), [""; 0]);
        assert_eq!(import("pub(in crate::two) struct One(crate::two::Two);"), ["two"]);
    }

    #[test]
    fn names_that_lead_to_each_other_end() {
        let files = [("one.rs", "pub use crate::two::A;\nfn b(a: A) {}"), ("two.rs", "pub use crate::one::A;")];
        assert_eq!(imported(&files, "one"), ["two"]);
    }
}
