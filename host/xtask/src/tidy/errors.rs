//! Errors have types: no public function returns one as a text, and no public field holds one.

use super::{SourceFile, Violation, circles};

/// What a public function of a library begins with.
const BEGINNINGS: [&str; 4] = ["pub fn ", "pub async fn ", "pub const fn ", "pub unsafe fn "];

pub(super) fn check(source: &SourceFile) -> Vec<Violation> {
    if circles::place(&source.path).is_none() {
        return Vec::new();
    }
    let code = &source.text[..circles::end_of_code(&source.text)];
    let signatures = code.lines().enumerate().filter_map(|(index, line)| {
        let begins = BEGINNINGS.iter().any(|beginning| line.trim_start().starts_with(beginning));
        begins.then(|| (index, signature(code, index)))
    });
    let of_text = signatures.filter(|(_, signature)| returns_text(signature));
    let text = "a public function returns its error as a `String` - give it a type (thiserror)";
    let functions = of_text.map(|(index, _)| Violation::new(&source.path, index + 1, text));
    let fields = code.lines().enumerate().filter(|(_, line)| is_field_of_text(line));
    let text = "a public field holds an error as a `String` - give it a type (thiserror)";
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
    let returned = returned.split(" where ").next().unwrap_or(returned).trim_end_matches([' ', '{', ';']);
    returned.starts_with("Result<") && returned.ends_with(", String>")
}

/// `pub name: Result<T, String>,`
fn is_field_of_text(line: &str) -> bool {
    let field = line.trim().strip_prefix("pub ").and_then(|field| field.split_once(": "));
    field.is_some_and(|(_, kind)| kind.starts_with("Result<") && kind.trim_end_matches(',').ends_with(", String>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let source = SourceFile { path: "host/a/src/a.rs".into(), text: text.into() };
        check(&source).into_iter().map(|violation| violation.line).collect()
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
    fn typed_errors_texts_that_are_results_and_private_functions_may_be() {
        assert!(lines("pub fn a() -> Result<String, AError> {\n").is_empty());
        assert!(lines("pub fn a() -> HashMap<u8, String> {\n").is_empty());
        assert!(lines("pub(crate) fn a() -> Result<(), String> {\n").is_empty());
        assert!(lines("#[cfg(test)]\nmod tests {\n    pub fn a() -> Result<(), String> {\n").is_empty());
    }
}
