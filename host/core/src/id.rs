//! Ids that cannot be illegal past the edge.

use std::{fmt, io, str::FromStr, sync::Arc};

use crate::handle::Handle;

/// Why a text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {shown:?} is not legal: {rule}")]
pub struct InvalidId {
    what: &'static str,
    shown: String,
    rule: &'static str,
}

impl InvalidId {
    fn new(what: &'static str, raw: &str, rule: &'static str) -> Self {
        // A hostile id may be megabytes long; nobody needs to read all of it.
        let shown = raw.chars().take(64).collect();
        Self { what, shown, rule }
    }
}

const CONTEXT_RULE: &str = "ids are 1 to 128 bytes of [A-Za-z0-9._:-]";

fn context_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-')
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $max:literal, $legal:expr, $rule:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(raw: &str) -> Result<Self, InvalidId> {
                let legal: fn(u8) -> bool = $legal;
                match raw.len() {
                    1..=$max if raw.bytes().all(legal) => Ok(Self(raw.into())),
                    _ => Err(InvalidId::new($what, raw, $rule)),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, formatter)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                raw.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id!(
    /// Who is served: derived from authentication, `local` on stdio.
    TenantId, "tenant", 128, context_byte, CONTEXT_RULE
);
id!(
    /// One conversation, or one run of an agent.
    SessionId, "session", 128, context_byte, CONTEXT_RULE
);
id!(
    /// One assistant of a tenant, in whatever session.
    AssistantId, "assistant", 128, context_byte, CONTEXT_RULE
);
id!(
    /// One thread within a session.
    ThreadId, "thread", 128, context_byte, CONTEXT_RULE
);
id!(
    /// The name under which the operator installed a plugin.
    PluginName,
    "plugin name",
    64,
    |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-',
    "plugin names are 1 to 64 bytes of [a-z0-9-]"
);
id!(
    /// What tells buckets of one scope apart.
    BucketName,
    "bucket name",
    64,
    |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'),
    "bucket names are 1 to 64 bytes of [A-Za-z0-9._-]"
);

/// Has the schema of a configuration say which texts are legal.
macro_rules! schema {
    ($name:ident, $pattern:literal) => {
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "pattern": $pattern})
            }
        }
    };
}

schema!(TenantId, "^[A-Za-z0-9._:-]{1,128}$");
schema!(SessionId, "^[A-Za-z0-9._:-]{1,128}$");
schema!(PluginName, "^[a-z0-9-]{1,64}$");

impl TenantId {
    /// The tenant of a channel that needs no authentication.
    #[must_use]
    pub fn local() -> Self {
        Self("local".into())
    }
}

impl PluginName {
    /// The name under which the host itself owns what no plugin opened.
    #[must_use]
    pub fn host() -> Self {
        Self("host".into())
    }

    /// The name under which the tools of the embedding app are listed.
    #[must_use]
    pub fn app() -> Self {
        Self("app".into())
    }
}

impl SessionId {
    /// The session of calls that name none.
    #[must_use]
    pub fn default_session() -> Self {
        Self("default".into())
    }

    /// A session that nobody had before. Later ones sort behind earlier ones, so that
    /// sessions are listed in the order of their making.
    ///
    /// # Errors
    /// Where the system has no randomness to give.
    pub fn generate() -> io::Result<Self> {
        Ok(Self(format!("session-{}", Handle::ordered()?).into()))
    }
}

/// The legal id for a text that another program chose: the text itself where
/// it is legal, else `x-` and 40 hexadecimal digits of its BLAKE3 hash, so that
/// equal texts meet and different ones do not.
#[must_use]
pub fn foreign<Id: FromStr<Err = InvalidId>>(raw: &str) -> Option<Id> {
    if raw.is_empty() {
        return None;
    }
    raw.parse().ok().or_else(|| {
        let hash = blake3::hash(raw.as_bytes()).to_hex();
        format!("x-{}", &hash[..40]).parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_1_to_128_bytes_of_the_legal_alphabet() {
        assert!("a".repeat(128).parse::<SessionId>().is_ok());
        for illegal in ["", "a b", "ä", "a/b", "a\0", &"a".repeat(129)] {
            let error = illegal.parse::<SessionId>().expect_err("illegal");
            assert!(error.to_string().contains("1 to 128 bytes"), "{error}");
        }
    }

    #[test]
    fn an_illegal_id_is_quoted_in_part_only() {
        let error = "ü".repeat(10_000).parse::<ThreadId>().expect_err("illegal");
        assert!(error.to_string().len() < 300);
    }

    #[test]
    fn foreign_ids_keep_apart_and_never_collide_with_a_prefix_of_another() {
        let one: SessionId = foreign("conversation 1/ä").expect("not empty");
        let two: SessionId = foreign("conversation 1/ö").expect("not empty");
        assert_ne!(one, two);
        assert_eq!(foreign::<SessionId>("plain-1").expect("legal").as_str(), "plain-1");
        assert_eq!(foreign::<SessionId>(""), None);
    }
}
