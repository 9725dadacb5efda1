//! The browser's answer to a script, as far as it matters here. A hostile page has a
//! hand in all of it.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Evaluation {
    pub(super) result: RemoteValue,
    pub(super) exception_details: Option<ThrownException>,
}

/// A value of the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RemoteValue {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default, deserialize_with = "text_alone")]
    pub(super) value: Option<String>,
    pub(super) class_name: Option<String>,
    pub(super) description: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThrownException {
    pub(super) text: String,
    pub(super) stack_trace: Option<StackTrace>,
    pub(super) exception: Option<RemoteValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackTrace {
    pub(super) call_frames: Vec<IgnoredAny>,
}

/// Reads a text, and skips any other value unread: a hostile page may make it large and
/// deep.
fn text_alone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    struct TextAlone;
    impl<'de> Visitor<'de> for TextAlone {
        type Value = Option<String>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("anything")
        }
        fn visit_str<E>(self, text: &str) -> Result<Option<String>, E> {
            Ok(Some(text.to_owned()))
        }
        fn visit_string<E>(self, text: String) -> Result<Option<String>, E> {
            Ok(Some(text))
        }
        fn visit_unit<E>(self) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_bool<E>(self, _: bool) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Option<String>, A::Error> {
            while sequence.next_element::<IgnoredAny>()?.is_some() {}
            Ok(None)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<String>, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(None)
        }
    }
    deserializer.deserialize_any(TextAlone)
}
