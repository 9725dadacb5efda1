//! What an operator writes to grant requests: methods, an origin, a path.

use std::{fmt, str::FromStr};

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

use super::{NEVER, WantedRequest};
use crate::origin::OriginPattern;

/// How often a path is decoded: servers behind servers decode again.
const DECODINGS: usize = 3;

/// Granted requests: `GET https://api.example.com/v1/*`. Methods come first, several
/// with commas between, `*` for all; without any, `GET` and `HEAD`. The origin is
/// written as for web pages. In the path a `*` stands for anything, slashes
/// included; without a path every path is granted. Queries are not looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct RequestPattern {
    written: String,
    methods: Option<Vec<String>>,
    origin: OriginPattern,
    path: Option<PathPattern>,
}

impl Eq for RequestPattern {}

#[derive(Debug, Clone, PartialEq)]
struct PathPattern {
    raw: WildMatch,
    decoded: WildMatch,
}

/// A text that grants no requests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{written}` names no requests: {problem}; write methods, an origin and, where not all of it is meant, a path, \
     as in `GET https://api.example.com/v1/*` or `GET,POST https://example.com`"
)]
pub struct InvalidRequestPattern {
    written: String,
    problem: &'static str,
}

impl RequestPattern {
    /// Whether it grants this request.
    #[must_use]
    pub fn matches(&self, wanted: &WantedRequest) -> bool {
        let method = self.methods.as_ref().is_none_or(|methods| methods.contains(&wanted.method));
        method
            && self.origin.matches(&wanted.origin)
            && self.path.as_ref().is_none_or(|path| path.matches(&wanted.path))
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// The origin, with a scheme; an address where it is of one server alone.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.origin.as_str()
    }

    /// Whether it is of one server alone: no star in the origin.
    #[must_use]
    pub fn is_of_one_server(&self) -> bool {
        !self.origin.as_str().contains('*')
    }

    fn read(written: &str) -> Result<Self, &'static str> {
        let mut words = written.split(' ');
        let (methods, target) = match (words.next(), words.next(), words.next()) {
            (Some(target), None, _) => (Some(vec!["GET".to_owned(), "HEAD".to_owned()]), target),
            (Some("*"), Some(target), None) => (None, target),
            (Some(methods), Some(target), None) => (Some(self::methods(methods)?), target),
            _ => return Err("it has more than two words"),
        };
        let (origin, path) = split(target);
        let origin = origin.parse().map_err(|_| "it has no origin")?;
        let path = path.map(PathPattern::read).transpose()?;
        Ok(Self { written: written.to_owned(), methods, origin, path })
    }
}

fn methods(written: &str) -> Result<Vec<String>, &'static str> {
    written
        .split(',')
        .map(|method| match method {
            _ if NEVER.contains(&method) => Err("CONNECT and TRACE are never sent for plugins"),
            _ if !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-') => {
                Ok(method.to_owned())
            }
            _ => Err("its methods are no words of capitals with commas between"),
        })
        .collect()
}

/// An origin and the path behind it.
fn split(target: &str) -> (&str, Option<&str>) {
    let begin = target.find("://").map_or(0, |at| at + 3);
    match target[begin..].find('/') {
        Some(at) => (&target[..begin + at], Some(&target[begin + at..])),
        None => (target, None),
    }
}

impl PathPattern {
    fn read(written: &str) -> Result<Self, &'static str> {
        if !written.bytes().all(|byte| byte.is_ascii_graphic()) || written.contains(['?', '#', '\\']) {
            return Err("its path has characters that no path has; queries cannot be granted");
        }
        let decoded = decode(written).filter(|path| is_plain(path)).ok_or("its path leads upwards")?;
        Ok(Self { raw: WildMatch::new(written), decoded: WildMatch::new(&decoded) })
    }

    /// Servers read paths differently: what is granted is granted however a path is
    /// read, so one that leads upwards in any reading is not.
    fn matches(&self, path: &str) -> bool {
        let decoded = decode(path).filter(|path| is_plain(path));
        self.raw.matches(path) && decoded.is_some_and(|decoded| self.decoded.matches(&decoded))
    }
}

/// The path as it is once nothing in it can be decoded; none where that takes too
/// long, or it is no text.
fn decode(path: &str) -> Option<String> {
    let mut path = path.to_owned();
    for _ in 0..=DECODINGS {
        let decoded = percent_decode_str(&path).decode_utf8().ok()?.into_owned();
        if decoded == path {
            return Some(path);
        }
        path = decoded;
    }
    None
}

fn is_plain(path: &str) -> bool {
    // Some servers take what is behind a semicolon for parameters of the segment.
    let name = |segment: &str| !matches!(segment.split(';').next(), Some("." | ".."));
    !path.chars().any(|character| character.is_control() || character == '\\') && path.split('/').all(name)
}

impl FromStr for RequestPattern {
    type Err = InvalidRequestPattern;

    fn from_str(written: &str) -> Result<Self, InvalidRequestPattern> {
        Self::read(written).map_err(|problem| InvalidRequestPattern { written: written.to_owned(), problem })
    }
}

impl TryFrom<String> for RequestPattern {
    type Error = InvalidRequestPattern;

    fn try_from(written: String) -> Result<Self, InvalidRequestPattern> {
        written.parse()
    }
}

impl From<RequestPattern> for String {
    fn from(pattern: RequestPattern) -> Self {
        pattern.written
    }
}

impl fmt::Display for RequestPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

impl schemars::JsonSchema for RequestPattern {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RequestPattern".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": r"^((\*|[A-Z-]+(,[A-Z-]+)*) )?(\*|https?://[^\s@\\?#]+)(/[^\s?#\\]*)?$"
        })
    }
}
