//! Errors have types: no public function returns one as a text, and no public field holds one.

use super::{
    source::{SourceFile, end_of_code, place},
    violation::Violation,
};

/// What a public function of a library begins with.
const BEGINNINGS: [&str; 4] = ["pub fn ", "pub async fn ", "pub const fn ", "pub unsafe fn "];

pub(super) fn check(source: &SourceFile) -> Vec<Violation> {
    if place(&source.path).is_none() {
        return Vec::new();
    }
    let code = &source.text[..end_of_code(&source.text)];
    let signatures = code.lines().enumerate().filter_map(|(index, line)| {
        let begins = BEGINNINGS.iter().any(|beginning| line.trim_start().starts_with(beginning));
        begins.then(|| (index, signature(code, index)))
    });
    let of_text = signatures.filter(|(_, signature)| returns_text(signature));
    let text = "a public function returns its error as a text - give it a type (thiserror)";
    let functions = of_text.map(|(index, _)| Violation::new(&source.path, index + 1, text));
    let fields = code.lines().enumerate().filter(|(_, line)| is_field_of_text(line));
    let text = "a public field holds an error as a text - give it a type (thiserror)";
    functions.chain(fields.map(|(index, _)| Violation::new(&source.path, index + 1, text))).collect()
}

/// From a line to the brace that opens the body, on one line.
fn signature(code: &str, from: usize) -> String {
    let mut all = String::new();
    for line in code.lines().skip(from) {
        all.push_str(line.trim());
        if line.ends_with('{') || line.ends_with(';') {
            break;
        }
        all.push(' ');
    }
    all
}

fn returns_text(signature: &str) -> bool {
    let Some((_, returned)) = signature.rsplit_once("-> ") else { return false };
    is_of_text(returned.split(" where ").next().unwrap_or(returned))
}

/// `pub name: Result<T, String>,`
fn is_field_of_text(line: &str) -> bool {
    let field = line.trim().strip_prefix("pub ").and_then(|field| field.split_once(": "));
    field.is_some_and(|(_, kind)| is_of_text(kind))
}

/// Whether a type is a result with a text as its error, or holds such a one.
fn is_of_text(kind: &str) -> bool {
    kind.match_indices("Result<").any(|(at, start)| error(&kind[at + start.len()..]).is_some_and(is_text))
}

/// The second of the arguments of a type; text begins behind the bracket that opens them.
fn error(arguments: &str) -> Option<&str> {
    let (mut depth, mut begin) = (0_usize, None);
    for (at, letter) in arguments.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' if depth == 0 => return Some(arguments[begin?..at].trim()),
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => begin = begin.or(Some(at + 1)),
            _ => {}
        }
    }
    None
}

/// Whether a type is a text: `String`, `Arc<str>`, `Cow<'static, str>`, `&'static str`.
fn is_text(kind: &str) -> bool {
    let kind = kind.trim_end_matches([' ', ',']);
    let is_borrowed = kind == "&str" || (kind.starts_with('&') && kind.ends_with(" str"));
    is_borrowed || kind == "String" || kind.ends_with("<str>") || kind.ends_with(" str>")
}

#[cfg(test)]
mod tests {
    use super::{super::violation, *};

    fn lines(text: &str) -> Vec<usize> {
        violation::lines(check, "host/a/src/a.rs", text)
    }

    #[test]
    fn a_public_function_with_an_error_of_text_is_found() {
        assert_eq!(lines("pub fn a() -> Result<(), String> {\n"), [1]);
        assert_eq!(
            lines(
                "impl A {\n    pub async fn a(\n        b: u8,\n    ) -> Result<Vec<u8>, String>\n    where\n        A: B,\n    {\n"
            ),
            [2]
        );
    }

    #[test]
    fn a_public_field_with_an_error_of_text_is_found() {
        assert_eq!(lines("pub struct A {\n    pub a: Result<PathBuf, String>,\n    b: Result<(), String>,\n}\n"), [2]);
        assert!(lines("pub struct A {\n    pub a: Result<String, AError>,\n}\n").is_empty());
    }

    #[test]
    fn each_kind_of_text_is_one() {
        for kind in ["String", "Arc<str>", "Box<str>", "Cow<'static, str>", "&'static str", "&str"] {
            assert_eq!(lines(&format!("pub fn a() -> Result<(u8, u8), {kind}> {{\n")), [1], "{kind}");
            assert_eq!(lines(&format!("pub fn a() -> Option<Result<Vec<u8>, {kind}>> {{\n")), [1], "{kind}");
            assert_eq!(lines(&format!("pub struct A {{\n    pub a: Result<u8, {kind}>,\n}}\n")), [2], "{kind}");
        }
        for kind in ["AError", "Arc<AError>", "Astr", "Text<u8, String, AError>"] {
            assert!(lines(&format!("pub fn a() -> Result<Arc<str>, {kind}> {{\n")).is_empty(), "{kind}");
        }
    }

    #[test]
    fn the_root_of_a_library_counts_too() {
        let text = "pub fn a() -> Result<(), String> {\n".into();
        assert_eq!(check(&SourceFile { path: "host/a/src/lib.rs".into(), text }).len(), 1);
    }

    #[test]
    fn typed_errors_texts_that_are_results_and_private_functions_may_be() {
        assert!(lines("pub fn a() -> Result<String, AError> {\n").is_empty());
        assert!(lines("pub fn a() -> HashMap<u8, String> {\n").is_empty());
        assert!(lines("pub(crate) fn a() -> Result<(), String> {\n").is_empty());
        assert!(lines("#[cfg(test)]\nmod tests {\n    pub fn a() -> Result<(), String> {\n").is_empty());
    }
}
