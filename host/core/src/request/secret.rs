//! Secrets that the host adds to requests: a plugin uses them and never sees
//! them.

use std::{fmt, sync::Arc};

use zeroize::Zeroizing;

use super::{RequestPattern, WantedRequest};

/// The shortest secret: shorter ones would be found where they are not meant, and
/// taken out of there, too.
const SHORTEST_BYTES: usize = 8;
/// The longest.
const LONGEST_BYTES: usize = 4 << 10;
/// Bytes of a secret's name, and of what stands around it.
const MAX_NAME_BYTES: usize = 64;
const MAX_TEMPLATE_BYTES: usize = 1 << 10;

/// Headers that frame a message or name the server that is asked.
const NOT_FILLED: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "expect",
    "host",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "keep-alive",
];

/// The text of a secret. No output shows it, and its memory is overwritten when it goes.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(Arc<Zeroizing<Box<str>>>);

impl SecretText {
    /// The text itself, for the request that it is added to.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretText")
    }
}

/// Why a secret cannot be used. Never says what its text is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSecret {
    /// Its name is no name.
    #[error("its name must be 1 to {MAX_NAME_BYTES} letters, digits, `-` and `_`")]
    Name,
    /// It would go to more than one server.
    #[error("`to` must name one server, with no * before the path: a secret is bound to where it belongs")]
    Servers,
    /// It cannot fill this header.
    #[error(
        "`header` must be a header and what it says, with {{}} once where the secret goes, such as \
         \"Authorization: Bearer {{}}\""
    )]
    Header,
    /// Its header frames the message.
    #[error("`header` may not be `{0}`, which the host sets itself")]
    Reserved(String),
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It would be found everywhere.
    #[error("it has fewer than {SHORTEST_BYTES} bytes")]
    Short,
    /// It is no secret.
    #[error("it has more than {LONGEST_BYTES} bytes")]
    Long,
    /// It cannot stand in a header.
    #[error("it must be one line of visible ASCII characters")]
    Characters,
}

/// A secret without its text: where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRule {
    name: Box<str>,
    to: RequestPattern,
    header: Box<str>,
    before: Box<str>,
    after: Box<str>,
}

impl SecretRule {
    /// Where a secret of this name goes: which requests, and which header of
    /// theirs, as `NAME: VALUE` with `{}` in the value.
    ///
    /// # Errors
    /// Where one of them is not fit for that.
    pub fn new(name: &str, to: RequestPattern, header: &str) -> Result<Self, InvalidSecret> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if !(1..=MAX_NAME_BYTES).contains(&name.len()) || !name.bytes().all(legal) {
            return Err(InvalidSecret::Name);
        }
        if !to.is_of_one_server() {
            return Err(InvalidSecret::Servers);
        }
        let (header, value) = header.split_once(':').ok_or(InvalidSecret::Header)?;
        let (before, after) = value.trim().split_once("{}").ok_or(InvalidSecret::Header)?;
        let visible = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let fits = header.len() + value.len() <= MAX_TEMPLATE_BYTES && visible(before) && visible(after);
        if header.is_empty() || !header.bytes().all(legal) || !fits || after.contains("{}") {
            return Err(InvalidSecret::Header);
        }
        let header = header.to_ascii_lowercase();
        if NOT_FILLED.contains(&header.as_str()) || header.starts_with("proxy-") {
            return Err(InvalidSecret::Reserved(header));
        }
        Ok(Self { name: name.into(), to, header: header.into(), before: before.into(), after: after.into() })
    }

    /// The secret itself. What surrounds the text, such as the end of its line, is
    /// left out.
    ///
    /// # Errors
    /// Where a secret cannot have this text.
    pub fn with_text(&self, text: &str) -> Result<Secret, InvalidSecret> {
        let text = text.trim();
        match text.len() {
            0 => return Err(InvalidSecret::Empty),
            length if length < SHORTEST_BYTES => return Err(InvalidSecret::Short),
            length if length > LONGEST_BYTES => return Err(InvalidSecret::Long),
            _ => {}
        }
        if !text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(InvalidSecret::Characters);
        }
        Ok(Secret { rule: self.clone(), text: SecretText(Arc::new(Zeroizing::new(text.into()))) })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The requests that it goes to.
    #[must_use]
    pub fn to(&self) -> &RequestPattern {
        &self.to
    }

    /// The header that it fills, in lower case.
    #[must_use]
    pub fn header(&self) -> &str {
        &self.header
    }
}

/// A secret and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    rule: SecretRule,
    text: SecretText,
}

impl Secret {
    /// Where it goes.
    #[must_use]
    pub fn rule(&self) -> &SecretRule {
        &self.rule
    }

    /// The text itself.
    #[must_use]
    pub fn text(&self) -> &SecretText {
        &self.text
    }

    /// What its header says, with the text in it.
    #[must_use]
    pub fn value(&self) -> Zeroizing<String> {
        let SecretRule { before, after, .. } = &self.rule;
        let parts = [before, self.text.reveal(), after];
        // Made at once: a text that grows leaves copies behind.
        let mut value = Zeroizing::new(String::with_capacity(parts.iter().map(|part| part.len()).sum()));
        parts.iter().for_each(|part| value.push_str(part));
        value
    }
}

/// The secrets of one plugin. No part of what was granted: they are never written
/// with the grants that they stand beside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Secrets(Arc<[Secret]>);

impl Secrets {
    /// These.
    #[must_use]
    pub fn new(secrets: Vec<Secret>) -> Self {
        Self(secrets.into())
    }

    /// Those that go to this request.
    pub(crate) fn of(&self, wanted: &WantedRequest) -> Vec<Secret> {
        self.0.iter().filter(|secret| secret.rule.to.matches(wanted)).cloned().collect()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Secret> {
        self.0.iter()
    }
}
