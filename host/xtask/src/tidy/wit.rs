//! Every item of the contract has a documentation comment.
//!
//! Reads WIT line by line, as rustfmt-like layout has it: one item a line. It
//! does not check that the text is valid; the engine's bindings do.

use super::{source::SourceFile, violation::Violation};

/// What a pair of braces encloses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// An interface, or a resource within one: functions and types.
    Items,
    /// A record, variant, enum or flags: one field or case a line.
    Fields,
    /// A world: what it imports and exports is documented where it is defined.
    World,
    /// Names of a `use`, an inline import.
    Other,
}

/// A line that needs a comment before it.
const WORDS: [&str; 9] =
    ["interface", "world", "record", "variant", "enum", "flags", "resource", "type", "constructor"];

pub(super) fn check(source: &SourceFile) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut blocks = Vec::new();
    let mut documented = false;
    let mut open_brackets = 0_usize;
    for (index, line) in source.text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("///") {
            documented = line.len() > 3 || documented;
            continue;
        }
        // Attributes stand between a comment and its item.
        if line.is_empty() || line.starts_with("//") || line.starts_with('@') {
            continue;
        }
        let code = line.split("//").next().unwrap_or_default();
        if open_brackets == 0
            && let Some(item) = item(code, blocks.last().copied())
            && !documented
        {
            let text = format!("{item} has no documentation - say its purpose, units and errors in a `///`");
            violations.push(Violation::new(&source.path, index + 1, text));
        }
        open_brackets += code.matches(['(', '<']).count();
        open_brackets = open_brackets.saturating_sub(closing(code));
        for brace in code.matches(['{', '}']) {
            if brace == "{" {
                blocks.push(opened(code));
            } else {
                blocks.pop();
            }
        }
        documented = false;
    }
    violations
}

/// Closing brackets, not the head of an arrow.
fn closing(code: &str) -> usize {
    code.matches([')', '>']).count() - code.matches("->").count()
}

fn opened(code: &str) -> Block {
    match first_word(code) {
        "interface" | "resource" => Block::Items,
        "record" | "variant" | "enum" | "flags" => Block::Fields,
        "world" => Block::World,
        _ => Block::Other,
    }
}

/// What to call the item that a line begins, where it begins one.
fn item(code: &str, within: Option<Block>) -> Option<String> {
    if code.starts_with('}') || matches!(within, Some(Block::World | Block::Other)) {
        return None;
    }
    let word = first_word(code);
    if WORDS.contains(&word) && within != Some(Block::Fields) {
        let name: String = code.trim_end_matches(['{', ';', ' ']).chars().take_while(|&letter| letter != '(').collect();
        return Some(format!("`{}`", name.split('=').next().unwrap_or(&name).trim()));
    }
    match within {
        Some(Block::Fields) => Some(format!("`{word}`")),
        Some(Block::Items) if code.contains(':') => Some(format!("`{word}`")),
        _ => None,
    }
}

/// The name a line starts with.
fn first_word(code: &str) -> &str {
    let end = code.find(|letter: char| !(letter.is_alphanumeric() || "-%".contains(letter)));
    &code[..end.unwrap_or(code.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIT: &str = "\
package wharf:plugin@0.1.0;

/// Documented.
interface state {
    use types.{error};

    /// Documented.
    @since(version = 0.1.0)
    record entry {
        /// Documented.
        key: string,
        value: list<u8>,
    }

    resource bucket {
        constructor(name: string);
        /// Documented.
        get: func(
            key: string,
        ) -> result<entry, error>;
        put: func(key: string) -> result<_, error>;
    }

    /// Documented.
    variant answer { none, some(u32) }
}

world plugin {
    import state;
    export tools;
}
";

    #[test]
    fn items_without_documentation_are_found_at_their_lines() {
        let source = SourceFile { path: "wit/state.wit".into(), text: WIT.into() };
        let found: Vec<_> = check(&source)
            .into_iter()
            .map(|violation| (violation.line, violation.text.split(" has").next().unwrap_or_default().to_owned()))
            .collect();
        let expected =
            [(12, "`value`"), (15, "`resource bucket`"), (16, "`constructor`"), (21, "`put`"), (28, "`world plugin`")];
        assert_eq!(found, expected.map(|(line, item)| (line, item.to_owned())));
    }
}
