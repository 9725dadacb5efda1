//! Patterns of identities: what a certificate says about who signed, an address of a workflow or of mail.

use std::{cmp::Ordering, fmt, hash, str::FromStr};

use wharf_core::text::is_visible;
use wildmatch::WildMatchPattern;

/// An identity, an issuer or a pattern of one is shorter than this.
pub(crate) const IDENTITY_LIMIT_BYTES: usize = 1 << 10;

/// An identity in which `*` stands for any text. No other character is special.
///
/// `https://github.com/acme/*` matches all workflows of `acme`; without the last `/` it would match
/// those of `acme-evil`, too.
#[derive(Clone)]
pub struct IdentityPattern {
    text: String,
    // No identity has the character that stands for one: it is refused in both.
    pattern: WildMatchPattern<'*', '\0'>,
}

/// A text that is no pattern of identities.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidIdentityPattern {
    /// It is empty or too long, or has invisible characters.
    #[error(
        "`identity` is a line of 1 to {most} bytes, such as https://github.com/OWNER/REPOSITORY/.github/workflows/\
         release.yml@refs/tags/*"
    )]
    Malformed {
        /// The most bytes.
        most: usize,
    },
    /// It matches any identity.
    #[error("`identity` matches everybody who has an account at the issuer; write more of it than `*`")]
    Everybody,
}

impl IdentityPattern {
    /// Whether it matches this identity as a whole.
    #[must_use]
    pub fn matches(&self, identity: &str) -> bool {
        self.pattern.matches(identity)
    }

    /// Whether one identity may match both. Where their beginnings differ before any `*`, none does.
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        let (one, other) = (self.beginning(), other.beginning());
        one.starts_with(other) || other.starts_with(one)
    }

    fn beginning(&self) -> &str {
        self.text.split('*').next().unwrap_or_default()
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for IdentityPattern {
    type Err = InvalidIdentityPattern;

    fn from_str(text: &str) -> Result<Self, InvalidIdentityPattern> {
        if !is_line(text) {
            return Err(InvalidIdentityPattern::Malformed { most: IDENTITY_LIMIT_BYTES - 1 });
        }
        if text.bytes().all(|byte| byte == b'*') {
            return Err(InvalidIdentityPattern::Everybody);
        }
        Ok(Self { text: text.to_owned(), pattern: WildMatchPattern::new(text) })
    }
}

impl fmt::Display for IdentityPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for IdentityPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("IdentityPattern").field(&self.text).finish()
    }
}

impl PartialEq for IdentityPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for IdentityPattern {}

impl hash::Hash for IdentityPattern {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl PartialOrd for IdentityPattern {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for IdentityPattern {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

/// Whether a text is one visible line of a legal length.
pub(crate) fn is_line(text: &str) -> bool {
    (1..IDENTITY_LIMIT_BYTES).contains(&text.len()) && is_visible(text) && !text.contains(['\n', '\t', '\0'])
}

/// Whether a text can be an issuer: the address of a provider of identities, matched exactly.
pub(crate) fn is_issuer(text: &str) -> bool {
    is_line(text) && !text.contains(|character: char| character.is_whitespace() || "*()".contains(character))
}
