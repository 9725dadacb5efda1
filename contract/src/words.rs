//! How a list of words becomes a type.

use std::fmt;

/// A word that is not in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// What the list is of, such as `signal`.
    noun: &'static str,
    /// The first 64 characters of the word.
    given: String,
    /// The words that there are.
    words: &'static [&'static str],
}

impl UnknownWord {
    pub(crate) fn new(noun: &'static str, given: &str, words: &'static [&'static str]) -> Self {
        Self { noun, given: given.chars().take(64).collect(), words }
    }
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { noun, given, words } = self;
        write!(formatter, "there is no {noun} {given:?}; there are {}", words.join(", "))
    }
}

impl std::error::Error for UnknownWord {}

/// Makes the type of a closed list of words, and of the open list beside it
/// where that is named: `Status, open AnyStatus, "status" { … }`.
macro_rules! words {
    (
        $(#[$doc:meta])*
        $name:ident, $noun:literal { $($(#[$word_doc:meta])* $variant:ident = $word:literal;)+ }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $name {
            $($(#[$word_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every one, in the order of the contract.
            pub const ALL: [Self; Self::WORDS.len()] = [$(Self::$variant),+];

            /// Every word, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word of the contract.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The one that this word stands for.
            #[must_use]
            pub fn find(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> Result<Self, $crate::UnknownWord> {
                Self::find(word).ok_or_else(|| $crate::UnknownWord::new($noun, word, Self::WORDS))
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        #[cfg(feature = "schema")]
        impl ::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "type": "string", "enum": Self::WORDS })
            }
        }
    };
    (
        $(#[$doc:meta])*
        $name:ident, open $open:ident, $noun:literal { $($(#[$word_doc:meta])* $variant:ident = $word:literal;)+ }
    ) => {
        $crate::words::words! {
            $(#[$doc])*
            $name, $noun { $($(#[$word_doc])* $variant = $word;)+ }
        }

        $(#[$doc])*
        ///
        /// Open: a word of a later contract is kept as it is.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(from = "String", into = "String")]
        #[non_exhaustive]
        pub enum $open {
            $($(#[$word_doc])* $variant,)+
            /// A word of a later contract.
            Other(String),
        }

        impl $open {
            /// The word of the contract.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }

            /// The one of the closed list; none where the word is of a later
            /// contract.
            #[must_use]
            pub fn known(&self) -> Option<$name> {
                $name::find(self.as_str())
            }
        }

        impl From<String> for $open {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)+
                    _ => Self::Other(word),
                }
            }
        }

        impl From<$open> for String {
            fn from(word: $open) -> Self {
                match word {
                    $open::Other(word) => word,
                    known => known.as_str().to_owned(),
                }
            }
        }

        impl From<$name> for $open {
            fn from(word: $name) -> Self {
                match word {
                    $($name::$variant => Self::$variant,)+
                }
            }
        }

        impl ::std::fmt::Display for $open {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;
