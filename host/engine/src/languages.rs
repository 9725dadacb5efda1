//! The languages that a component was made of, and the interpreters in it, by their marks:
//! the sections of producers, names of modules, exports between its modules, and texts that
//! an interpreter has in its data.
//!
//! A component may bear any mark, so this is what it says, and the host relies on none of it.

use std::collections::BTreeMap;

use memchr::memmem;
use wasmparser::{BinaryReader, KnownCustom, Name, Payload, ProducersSectionReader};
use wharf_core::text;

/// Longest version or mark that is shown; the rest is cut.
const MAX_MARK_BYTES: usize = 64;
/// Producers that are read of a component.
const MAX_PRODUCERS: usize = 1_000;
/// Bytes behind a mark in data among which its version is.
const VERSION_BYTES: usize = 16;

/// What an adapter of WASI alone exports. Each is made of Rust, whatever it adapts.
const OF_ADAPTER: &str = "cabi_import_realloc";

/// Tools that leave their name, and the language that they are of. `true` where the version of
/// the tool is the one of the language.
const TOOLS: [(&str, &str, bool); 8] = [
    ("rustc", "Rust", true),
    ("wit-bindgen-rust", "Rust", false),
    ("Go cmd/compile", "Go", true),
    ("TinyGo", "TinyGo", true),
    ("clang", "C or C++", true),
    ("ComponentizeJS", "StarlingMonkey", false),
    ("componentize-js", "StarlingMonkey", false),
    ("componentize-py", "CPython", false),
];

/// Beginnings of exports by which modules of an interpreter are linked.
const EXPORTS: [(&str, &str); 2] = [("componentize_qjs_runtime", "QuickJS"), ("libcomponentize_py_runtime", "CPython")];

/// Texts in the data of an interpreter.
const DATA: [(&str, &str); 3] =
    [("rquickjs-core-", "QuickJS"), ("StarlingMonkey/", "StarlingMonkey"), ("System.Private.CoreLib", ".NET")];

/// A language that a component was made of, or an interpreter in it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct LanguageRuntime {
    /// Its name, such as `Rust` or `CPython`.
    pub name: &'static str,
    /// Its version, where the component says it.
    pub version: Option<String>,
    /// By which mark it is known.
    pub mark: String,
}

/// The languages of one component, while it is read.
#[derive(Debug, Default)]
pub(crate) struct LanguageRuntimes {
    found: BTreeMap<&'static str, LanguageRuntime>,
    /// The modules and components around what is read: whether each is an adapter.
    around: Vec<bool>,
    producers: usize,
}

impl LanguageRuntimes {
    /// Takes the next part of the component.
    pub(crate) fn hear(&mut self, payload: &Payload<'_>, component: &[u8]) {
        match payload {
            Payload::Version { .. } => self.around.push(false),
            Payload::End(_) => {
                self.around.pop();
            }
            Payload::ExportSection(exports) => {
                let names = exports.clone().into_iter().map_while(Result::ok).map(|export| export.name);
                names.for_each(|name| self.hear_export(name));
            }
            Payload::DataSection(data) => self.hear_data(component.get(data.range()).unwrap_or_default()),
            Payload::CustomSection(section) => match section.as_known() {
                KnownCustom::Producers(producers) => self.hear_producers(producers),
                KnownCustom::Name(names) => {
                    let module = names.into_iter().map_while(Result::ok).find_map(|name| match name {
                        Name::Module { name, .. } => Some(name),
                        _ => None,
                    });
                    module.into_iter().for_each(|name| self.hear_module(name));
                }
                // In a component it is no known one.
                _ if section.name() == "producers" => {
                    let reader = BinaryReader::new(section.data(), section.data_offset());
                    ProducersSectionReader::new(reader)
                        .into_iter()
                        .for_each(|producers| self.hear_producers(producers));
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// What was found, by name.
    pub(crate) fn found(self) -> Vec<LanguageRuntime> {
        self.found.into_values().collect()
    }

    fn hear_producers(&mut self, producers: ProducersSectionReader<'_>) {
        if self.around.last() == Some(&true) {
            return;
        }
        for field in producers.into_iter().map_while(Result::ok) {
            for value in field.values.into_iter().map_while(Result::ok) {
                self.producers += 1;
                if self.producers > MAX_PRODUCERS {
                    return;
                }
                let tool = TOOLS.iter().find(|(tool, ..)| *tool == value.name);
                let Some((tool, language, is_version)) = tool.filter(|_| field.name != "language") else { continue };
                let version = word(value.version);
                let mark = format!("processed by {tool} {}", version.as_deref().unwrap_or_default());
                self.add(language, version.filter(|_| *is_version), mark.trim_end());
            }
        }
    }

    fn hear_export(&mut self, name: &str) {
        if name == OF_ADAPTER
            && let Some(is_adapter) = self.around.last_mut()
        {
            *is_adapter = true;
        }
        for (beginning, language) in EXPORTS {
            if name.starts_with(beginning) {
                self.add(language, None, &format!("export {beginning}"));
            }
        }
    }

    fn hear_module(&mut self, name: &str) {
        let version = name.strip_prefix("libpython").and_then(|rest| rest.strip_suffix(".so"));
        if let Some(version) = version {
            self.add("CPython", word(version), &format!("module {name}"));
        }
        if matches!(name, "dotnet.wasm" | "dotnet.native.wasm") {
            self.add(".NET", None, &format!("module {name}"));
        }
    }

    fn hear_data(&mut self, data: &[u8]) {
        for (mark, language) in DATA {
            let Some(at) = memmem::find(data, mark.as_bytes()) else { continue };
            let behind = data.get(at + mark.len()..).unwrap_or_default();
            let of_version = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            let version: String = behind
                .iter()
                .take(VERSION_BYTES)
                .take_while(|byte| of_version(byte))
                .map(|byte| char::from(*byte))
                .collect();
            // It is the one of what binds the interpreter, which has another.
            self.add(language, None, &format!("data {mark}{version}"));
        }
    }

    /// The first mark stays, unless a later one says the version, or what its builder wrote
    /// follows what was only found in data.
    fn add(&mut self, name: &'static str, version: Option<String>, mark: &str) {
        let found = LanguageRuntime { name, version, mark: text::line(mark, MAX_MARK_BYTES) };
        let known = self.found.entry(name).or_insert_with(|| found.clone());
        if known.version.is_none() && (found.version.is_some() || known.mark.starts_with("data ")) {
            *known = found;
        }
    }
}

/// The version alone: what stands behind it says when and of what it was built.
fn word(version: &str) -> Option<String> {
    let word = text::line(version.split([' ', '(']).next().unwrap_or_default(), MAX_MARK_BYTES);
    Some(word).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        Component, CustomSection, DataSection, ExportKind, ExportSection, MemorySection, MemoryType, Module,
        ModuleSection, NameSection, ProducersField, ProducersSection,
    };

    use crate::about::ComponentReading;

    fn producers(values: &[(&str, &str, &str)]) -> ProducersSection {
        let mut section = ProducersSection::new();
        for (field, name, version) in values {
            let mut written = ProducersField::new();
            written.value(name, version);
            section.field(field, &written);
        }
        section
    }

    fn module(exports: &[&str], data: &[u8], name: &str, made_by: &[(&str, &str, &str)]) -> Module {
        let mut module = Module::new();
        let mut memories = MemorySection::new();
        memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
        let mut exported = ExportSection::new();
        for export in exports {
            exported.export(export, ExportKind::Memory, 0);
        }
        let mut segments = DataSection::new();
        segments.passive(data.iter().copied());
        let mut names = NameSection::new();
        names.module(name);
        module.section(&memories).section(&exported).section(&segments).section(&names).section(&producers(made_by));
        module
    }

    /// What is found of a component of these modules: name, version, mark.
    fn found(modules: &[Module], made_by: &[(&str, &str, &str)]) -> Vec<String> {
        let mut component = Component::new();
        for module in modules {
            component.section(&ModuleSection(module));
        }
        component.section(&producers(made_by));
        let runtimes = ComponentReading::of(&component.finish()).about.runtimes.into_iter();
        runtimes.map(|one| format!("{} {} {}", one.name, one.version.unwrap_or_default(), one.mark)).collect()
    }

    #[test]
    fn each_language_is_known_by_its_marks() {
        let rustc = ("processed-by", "rustc", "1.88.0 (6b00bc388 2025-06-23)");
        assert_eq!(found(&[module(&[], b"", "m", &[rustc])], &[]), ["Rust 1.88.0 processed by rustc 1.88.0"]);
        let bindgen = ("processed-by", "wit-bindgen-rust", "0.45.0");
        assert_eq!(found(&[module(&[], b"", "m", &[bindgen])], &[]), ["Rust  processed by wit-bindgen-rust 0.45.0"]);
        assert_eq!(
            found(&[module(&[], b"", "m", &[bindgen]), module(&[], b"", "m", &[rustc])], &[]),
            ["Rust 1.88.0 processed by rustc 1.88.0"]
        );
        let python = [
            module(&["libcomponentize_py_runtime.so:memory_base"], b"", "", &[]),
            module(&[], b"", "libpython3.14.so", &[]),
        ];
        assert_eq!(found(&python, &[]), ["CPython 3.14 module libpython3.14.so"]);
        assert_eq!(
            found(&[], &[("language", "JavaScript", ""), ("processed-by", "ComponentizeJS", "0.23.0")]),
            ["StarlingMonkey  processed by ComponentizeJS 0.23.0"]
        );
        let both = [module(&[], b"StarlingMonkey/crates", "m", &[])];
        assert_eq!(
            found(&both, &[("processed-by", "ComponentizeJS", "0.23.0")]),
            ["StarlingMonkey  processed by ComponentizeJS 0.23.0"]
        );
        let quickjs = module(&[], b"/src/rquickjs-core-0.13.0/src/class.rs", "m", &[]);
        assert_eq!(found(&[quickjs], &[]), ["QuickJS  data rquickjs-core-0.13.0"]);
        let go =
            module(&[], b"", "m", &[("language", "Go", "go1.25.1"), ("processed-by", "Go cmd/compile", "go1.25.1")]);
        assert_eq!(found(&[go], &[]), ["Go go1.25.1 processed by Go cmd/compile go1.25.1"]);
        assert_eq!(found(&[module(&[], b"", "dotnet.native.wasm", &[])], &[]), [".NET  module dotnet.native.wasm"]);
        assert_eq!(
            found(&[module(&[], b"System.Private.CoreLib", "m", &[])], &[]),
            [".NET  data System.Private.CoreLib"]
        );
    }

    #[test]
    fn an_adapter_of_wasi_is_no_language_of_the_component() {
        let rustc = ("processed-by", "rustc", "1.75.0");
        assert_eq!(found(&[module(&["cabi_import_realloc"], b"", "", &[rustc])], &[]), [""; 0]);
    }

    #[test]
    fn a_hostile_mark_is_one_short_line() {
        let long = "9\u{1b}[2J\u{202e}".repeat(1_000);
        let marks = found(&[module(&[], b"", "m", &[("processed-by", "rustc", &long)])], &[]);
        assert!(marks.len() == 1 && marks[0].len() < 200 && !marks[0].contains(['\u{1b}', '\u{202e}']), "{marks:?}");
        let mut component = Component::new();
        component.section(&CustomSection { name: "producers".into(), data: (&[0xff; 64]).into() });
        assert!(ComponentReading::of(&component.finish()).about.runtimes.is_empty());
    }
}
