//! What a component says of itself, and what it is made of: the words of its builder, which the
//! host does not rely on, the bytes of its parts, and the languages in it.

use std::collections::BTreeMap;

use wasmparser::{Parser, Payload};
use wharf_core::{grant::Capability, text};

use crate::{
    languages::{LanguageRuntime, LanguageRuntimes},
    manifest,
};

/// Longest word of a builder that is shown; the rest is cut.
const MAX_WORD_BYTES: usize = 256;
/// How deep parts are told from what they are in.
const ROOT: usize = 1;

/// The custom sections of the tools conventions, by what they say.
const WORDS: [&str; 6] = ["version", "description", "licenses", "homepage", "source", "authors"];
/// The list of libraries, as `cargo auditable` and others write it.
const LIBRARIES: &str = ".dep-v0";
/// Lists that are read: each module of a component may have one.
const MAX_LISTS: usize = 16;

/// What a component says of itself, and its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComponentAbout {
    /// `version`, `description`, `licenses`, `homepage`, `source` and `authors`, as far as they are
    /// said, each as one line.
    pub words: BTreeMap<&'static str, String>,
    /// Whether it lists the libraries in it, or one of its modules does.
    pub lists_libraries: bool,
    /// Bytes by kind of part: `code`, `data`, `tables and types`, `custom`.
    pub parts: BTreeMap<&'static str, u64>,
    /// The languages that it was made of and the interpreters in it, as far as they are known by
    /// their marks.
    pub runtimes: Vec<LanguageRuntime>,
}

/// All that the bytes of a component say, read in one pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ComponentReading {
    pub(crate) about: ComponentAbout,
    /// Why it asks for each capability, in its own words.
    pub(crate) reasons: BTreeMap<Capability, String>,
}

impl ComponentReading {
    /// Reads it, as far as the bytes are a component.
    pub(crate) fn of(component: &[u8]) -> Self {
        let (mut reading, mut runtimes) = (Self::default(), LanguageRuntimes::default());
        let mut depth = 0_usize;
        let mut reasons = None;
        for payload in Parser::new(0).parse_all(component).map_while(Result::ok) {
            match &payload {
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::CustomSection(section) => {
                    reading.about.lists_libraries |= section.name() == LIBRARIES;
                    if depth == ROOT {
                        reading.about.hear(section.name(), section.data());
                    }
                    // The first of this name, wherever a linker put it.
                    if section.name() == manifest::SECTION {
                        reasons = reasons.or_else(|| Some(manifest::reasons(section.data())));
                    }
                }
                _ => {}
            }
            runtimes.hear(&payload, component);
            let (kind, range) = match &payload {
                Payload::CodeSectionStart { range, .. } => ("code", range.clone()),
                Payload::DataSection(data) => ("data", data.range()),
                Payload::CustomSection(section) => ("custom", section.range()),
                // What is in them is told by itself.
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } | Payload::CodeSectionEntry(_) => {
                    continue;
                }
                other => match other.as_section() {
                    Some((_, range)) => ("tables and types", range),
                    None => continue,
                },
            };
            *reading.about.parts.entry(kind).or_default() += range.len() as u64;
        }
        reading.about.runtimes = runtimes.found();
        reading.reasons = reasons.unwrap_or_default();
        reading
    }
}

/// The lists of libraries in a component, each as it is: the first of them, wherever they are, since
/// compilers put them into modules.
#[must_use]
pub fn library_lists(component: &[u8]) -> Vec<&[u8]> {
    let payloads = Parser::new(0).parse_all(component).map_while(Result::ok);
    let lists = payloads.filter_map(|payload| match payload {
        Payload::CustomSection(section) if section.name() == LIBRARIES => Some(section.data()),
        _ => None,
    });
    lists.take(MAX_LISTS).collect()
}

impl ComponentAbout {
    /// What these bytes say, as far as they are a component. Nothing of them is compiled or checked.
    #[must_use]
    pub fn of(component: &[u8]) -> Self {
        ComponentReading::of(component).about
    }

    fn hear(&mut self, name: &str, data: &[u8]) {
        let word = WORDS.into_iter().find(|word| *word == name);
        // Only the first one counts, as in other readers.
        if let Some(word) = word.filter(|word| !self.words.contains_key(word)) {
            let said =
                text::line(&String::from_utf8_lossy(&data[..data.len().min(MAX_WORD_BYTES * 4)]), MAX_WORD_BYTES);
            if !said.trim().is_empty() {
                self.words.insert(word, said);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{Component, CustomSection};

    use super::*;

    #[test]
    fn a_component_is_heard_and_what_is_within_it_is_not() {
        let custom = |name: &'static str, data: &'static [u8]| CustomSection { name: name.into(), data: data.into() };
        let mut inner = Component::new();
        inner.section(&custom("version", b"9.9.9"));
        let mut component = Component::new();
        component.section(&wasm_encoder::NestedComponentSection(&inner));
        component.section(&custom("version", b"1.2.3\x1b[2J\nnow"));
        component.section(&custom("version", b"4.5.6"));
        component.section(&custom("licenses", b" "));
        let mut module = wasm_encoder::Module::new();
        module.section(&custom(".dep-v0", b"x"));
        component.section(&wasm_encoder::ModuleSection(&module));
        let component = component.finish();
        assert_eq!(library_lists(&component), [b"x"]);
        let about = ComponentReading::of(&component).about;
        assert_eq!(about.words, BTreeMap::from([("version", "1.2.3[2Jnow".to_owned())]));
        assert!(about.lists_libraries);
        assert_eq!(about.parts.keys().collect::<Vec<_>>(), [&"custom"]);
        assert_eq!(ComponentReading::of(b"\0asm"), ComponentReading::default());
    }
}
