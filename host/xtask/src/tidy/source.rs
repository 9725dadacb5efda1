//! A file of the repository, and where one of Rust stands: its crate and its name there, and where
//! its code ends.

use std::path::{Path, PathBuf};

/// A text file of the repository.
pub(super) struct SourceFile {
    /// Relative to the root.
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl SourceFile {
    pub(super) fn is(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|present| present == extension)
    }
}

/// Names a file within its crate: `["host", "calling"]` is `src/host/calling.rs`. The roots,
/// `lib.rs` and `main.rs`, have no name.
pub(super) type Module = Vec<String>;

/// The crate of a source file, and its name there. Tests have none, and what stands in `bin` is
/// a crate of its own.
pub(super) fn place(path: &Path) -> Option<(&Path, Module)> {
    let root = path.ancestors().find(|folder| folder.ends_with("src"))?;
    let inside = path.strip_prefix(root).ok()?.with_extension("");
    let mut module: Module = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if matches!(module.as_slice(), [name] if name == "lib" || name == "main") {
        module.clear();
    }
    let is_apart = module.iter().any(|part| part == "tests" || part == "bin");
    (!is_apart).then_some((root, module))
}

/// Whether code begins with an attribute that compiles what follows for tests alone.
pub(super) fn is_of_tests(code: &str) -> bool {
    code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test,")
}

/// Where what is compiled for tests alone begins, on all systems or on some.
pub(super) fn end_of_code(text: &str) -> usize {
    text.match_indices("]\nmod tests {")
        .find_map(|(at, _)| {
            let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
            is_of_tests(&text[line..]).then_some(line)
        })
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_ends_where_the_tests_of_any_system_begin() {
        for attribute in ["#[cfg(test)]", "#[cfg(all(test, unix))]"] {
            let text = format!("fn a() {{}}\n\n{attribute}\nmod tests {{\n}}\n");
            assert_eq!(&text[..end_of_code(&text)], "fn a() {}\n\n", "{attribute}");
        }
        let other = "#[cfg(unix)]\nmod tests {\n}\n";
        assert_eq!(end_of_code(other), other.len());
    }

    #[test]
    fn roots_and_suites_of_the_contract_have_a_place_and_tests_have_none() {
        let root = Path::new("host/a/src");
        for (path, module) in [
            ("host/a/src/lib.rs", &[][..]),
            ("host/a/src/main.rs", &[]),
            ("host/a/src/contract/quotas.rs", &["contract", "quotas"]),
            ("host/a/src/call/main.rs", &["call", "main"]),
        ] {
            let module = module.iter().map(|part| (*part).to_owned()).collect();
            assert_eq!(place(Path::new(path)), Some((root, module)), "{path}");
        }
        for path in ["host/a/src/call/tests.rs", "host/a/src/bin/b.rs", "host/a/tests/a.rs", "host/a/build.rs"] {
            assert_eq!(place(Path::new(path)), None, "{path}");
        }
    }
}
