//! Resources: what a plugin has to read, named by addresses.

use serde_json::{Map, Value};

use crate::answer::Content;
use crate::{Call, ToolError};

/// What a plugin has to read; `plugin!(…; resources: Manual)` exports it.
///
/// ```
/// use wharf_sdk::{
///     Call, Content, Resource, ResourcePart, ResourceTemplate, Resources, ToolError, resource::variables,
///     testing::TestCall,
/// };
///
/// struct Manual;
///
/// const CHAPTER: &str = "manual://chapters/{number}";
///
/// impl Resources for Manual {
///     const CLAIMS: &'static [&'static str] = &["manual://"];
///
///     fn templates() -> Vec<ResourceTemplate> {
///         vec![ResourceTemplate::new(CHAPTER, "Chapter").described("One chapter of the manual.")]
///     }
///
///     fn list(_call: &Call) -> Result<Vec<Resource>, ToolError> {
///         Ok(vec![Resource::new("manual://chapters/1", "Casting off").typed("text/plain")])
///     }
///
///     fn read(_call: &Call, uri: &str) -> Result<Vec<ResourcePart>, ToolError> {
///         let number = variables(CHAPTER, uri).and_then(|variables| variables["number"].parse::<u32>().ok());
///         match number {
///             Some(1) => Ok(vec![ResourcePart::new(uri, Content::text("Let go forward, let go aft."))]),
///             _ => Err(ToolError::not_found("there is no such chapter")),
///         }
///     }
/// }
///
/// wharf_sdk::plugin!(; resources: Manual);
///
/// let host = TestCall::new();
/// assert_eq!(host.read_resource::<WharfPlugin>("manual://chapters/1")?[0].uri, "manual://chapters/1");
/// assert!(host.read_resource::<WharfPlugin>("manual://chapters/2").is_err());
/// # Ok::<(), ToolError>(())
/// ```
pub trait Resources {
    /// The beginnings of the addresses that the plugin answers for, 1 to 16: a
    /// scheme of its own (`manual://`), or a part of one
    /// (`https://manual.example.org/`). No other plugin may claim the same.
    const CLAIMS: &'static [&'static str];

    /// Families of resources, the same each time. None where this is left out.
    #[must_use]
    fn templates() -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// What can be read in the context of this call, at most 1,024; what a template
    /// describes need not be among it. Nothing where this is left out.
    ///
    /// # Errors
    /// Whatever it fails with.
    fn list(_call: &Call) -> Result<Vec<Resource>, ToolError> {
        Ok(Vec::new())
    }

    /// Reads one: 1 to 256 parts. The address starts with a claim; nothing else is
    /// known of it.
    ///
    /// # Errors
    /// `not-found` where there is no such resource in this context, and whatever
    /// else it fails with.
    fn read(call: &Call, uri: &str) -> Result<Vec<ResourcePart>, ToolError>;
}

macro_rules! described {
    ($name:ident, $address:ident) => {
        impl $name {
            /// With an address and a name for people.
            #[must_use]
            pub fn new(address: impl Into<String>, name: impl Into<String>) -> Self {
                Self {
                    $address: address.into(),
                    name: name.into(),
                    description: String::new(),
                    mime_type: None,
                    meta: Map::new(),
                }
            }

            /// What it is.
            #[must_use]
            pub fn described(self, description: impl Into<String>) -> Self {
                Self { description: description.into(), ..self }
            }

            /// Its media type.
            #[must_use]
            pub fn typed(self, mime_type: impl Into<String>) -> Self {
                Self { mime_type: Some(mime_type.into()), ..self }
            }

            /// A further protocol field, such as `title`, `annotations` or `size`.
            #[must_use]
            pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
                self.meta.insert(field.to_owned(), value.into());
                self
            }
        }
    };
}

/// Something that can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Starts with a claim of the plugin.
    pub uri: String,
    /// For people.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Its media type, where that is known.
    pub mime_type: Option<String>,
    /// Further protocol fields.
    pub meta: Map<String, Value>,
}

described!(Resource, uri);

/// A family of resources.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceTemplate {
    /// RFC 6570, level 1: `{name}` stands for one part of a path. What is before
    /// the first brace starts with a claim of the plugin.
    pub uri_template: String,
    /// For people.
    pub name: String,
    /// What they are.
    pub description: String,
    /// Their media type, where all have the same.
    pub mime_type: Option<String>,
    /// Further protocol fields.
    pub meta: Map<String, Value>,
}

described!(ResourceTemplate, uri_template);

/// One part of what was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourcePart {
    /// The address that was asked for, or one below it.
    pub uri: String,
    /// What it has.
    pub content: Content,
}

impl ResourcePart {
    /// A part of this address.
    #[must_use]
    pub fn new(uri: impl Into<String>, content: Content) -> Self {
        Self { uri: uri.into(), content }
    }
}

/// The variables of a template in an address, or nothing where the address is none
/// of it. A variable is one part of a path, not empty, and is given as it was
/// before it was percent-encoded; one that is then no UTF-8 does not count.
#[must_use]
pub fn variables(template: &str, uri: &str) -> Option<std::collections::BTreeMap<String, String>> {
    let mut found = std::collections::BTreeMap::new();
    let (mut template, mut uri) = (template, uri);
    while let Some((literal, rest)) = template.split_once('{') {
        uri = uri.strip_prefix(literal)?;
        let (name, after) = rest.split_once('}')?;
        // Up to what stands behind it in the template, and never beyond its part.
        let next = after.chars().next().filter(|next| *next != '{');
        let end = uri.find(|letter| letter == '/' || Some(letter) == next).unwrap_or(uri.len());
        let (value, behind) = uri.split_at(end);
        if value.is_empty() {
            return None;
        }
        found.insert(name.to_owned(), decoded(value)?);
        (template, uri) = (after, behind);
    }
    (template == uri).then_some(found)
}

fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

impl Call {
    /// Tells clients that a list of this plugin's has become another one, soon and
    /// once for several changes.
    ///
    /// # Errors
    /// `denied` where events are not granted; `limit` after too many.
    pub fn changed(&self, list: Changed) -> Result<(), ToolError> {
        crate::host::HostChanges::changed(&self.host, list.as_str())
    }

    /// Tells clients of this session that have subscribed to a resource of this
    /// plugin that it has changed.
    ///
    /// # Errors
    /// `denied` where events are not granted; `invalid` where the address does not
    /// start with a claim of this plugin; `limit` after too many.
    pub fn updated(&self, uri: &str) -> Result<(), ToolError> {
        crate::host::HostChanges::updated(&self.host, uri)
    }
}

pub use wharf_contract::events::List as Changed;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_read_back_part_by_part() {
        let read = |template, uri| {
            variables(template, uri).map(|found| found.into_iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>())
        };
        assert_eq!(read("a://{id}/data", "a://1%2F2/data"), Some(vec!["id=1/2".to_owned()]));
        assert_eq!(read("a://{x}-{y}.txt", "a://one-two.txt"), Some(vec!["x=one".to_owned(), "y=two".to_owned()]));
        assert_eq!(read("a://b", "a://b"), Some(Vec::new()));
        for (template, uri) in [
            ("a://{id}/data", "a://1/2/data"),
            ("a://{id}/data", "a:///data"),
            ("a://{id}", "a://1/"),
            ("a://{id}", "b://1"),
            ("a://{id}", "a://%f"),
            ("a://{id}", "a://%ff"),
            ("a://{id", "a://1"),
        ] {
            assert_eq!(read(template, uri), None, "{template} {uri}");
        }
    }
}
