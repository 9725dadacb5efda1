//! JSON, and JSON lines: the text stays as it is, on one long line too, so that
//! line numbers are those of the document. Its blocks are the entries of the
//! outermost array or object.

use serde::de::IgnoredAny;

use crate::{BlockKind, Limits, ParseError};

/// Where the entries of a text start, which is checked to be JSON.
pub(crate) fn entries(text: &str, limits: &Limits) -> Result<Vec<(usize, BlockKind)>, ParseError> {
    check_depth(text, limits)?;
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut any = false;
    for value in &mut values {
        any = true;
        value.map_err(|error| {
            let problem = error.to_string();
            // The place is given apart.
            let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
            ParseError::InvalidJson { line: error.line(), column: error.column(), problem }
        })?;
    }
    if !any {
        return Err(ParseError::InvalidJson { line: 1, column: 1, problem: "there is no value".into() });
    }
    Ok(starts(text, limits.blocks))
}

/// The parser is recursive and has a limit of its own, which is not a problem
/// of the text.
fn check_depth(text: &str, limits: &Limits) -> Result<(), ParseError> {
    let limit = limits.depth.min(127);
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limit {
            return Err(ParseError::Limit { what: "levels of nested values", limit });
        }
    }
    Ok(())
}

/// Where values at the outermost level and entries in them start.
fn starts(text: &str, most: usize) -> Vec<(usize, BlockKind)> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    // An entry begins with the first thing after what ends the one before.
    let mut expects = true;
    let mut starts = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        if expects && !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b']' | b'}') && starts.len() <= most {
            starts.push((own_line(text, at), BlockKind::Entry));
            expects = false;
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => {
                // The first entry stays with the bracket unless it has a line of its own.
                expects = depth == 0 && text[at + 1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
                depth += 1;
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                expects = depth == 0;
            }
            b',' if depth == 1 => expects = true,
            b'\n' if depth == 0 => expects = true,
            _ => {}
        }
    }
    starts
}

/// The start of the line, where nothing else stands on it before.
fn own_line(text: &str, at: usize) -> usize {
    let before = text[..at].trim_end_matches([' ', '\t']);
    if before.is_empty() || before.ends_with('\n') { before.len() } else { at }
}
