//! The JSON of a schema. A host has hundreds of schemas from its start on and looks into few of
//! them, so one that was checked before stays text until then.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A JSON Schema of an object. Clones share what it is and what was parsed.
#[derive(Clone, Default)]
pub struct SchemaDocument(Arc<Document>);

#[derive(Default)]
struct Document {
    /// Empty where it came as an object.
    text: Bytes,
    object: OnceLock<Arc<Map<String, Value>>>,
}

impl SchemaDocument {
    /// The text of a schema that was checked before; it is parsed when it is first looked into.
    /// A text that is no object stands for a schema that is refused.
    #[must_use]
    pub fn checked_before(text: Bytes) -> Self {
        Self(Arc::new(Document { text, object: OnceLock::new() }))
    }

    /// Its members, shared.
    #[must_use]
    pub fn object(&self) -> &Arc<Map<String, Value>> {
        self.0.object.get_or_init(|| serde_json::from_slice(&self.0.text).unwrap_or_default())
    }

    /// Its members, for one who changes them.
    pub(crate) fn into_object(self) -> Map<String, Value> {
        let object = Arc::clone(self.object());
        // Where nobody else has the schema, nobody else has its members.
        drop(self);
        Arc::unwrap_or_clone(object)
    }
}

impl Deref for SchemaDocument {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        self.object()
    }
}

impl From<Arc<Map<String, Value>>> for SchemaDocument {
    fn from(object: Arc<Map<String, Value>>) -> Self {
        Self(Arc::new(Document { text: Bytes::new(), object: OnceLock::from(object) }))
    }
}

impl From<Map<String, Value>> for SchemaDocument {
    fn from(object: Map<String, Value>) -> Self {
        Arc::new(object).into()
    }
}

impl PartialEq for SchemaDocument {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (!self.0.text.is_empty() && self.0.text == other.0.text)
            || self.object() == other.object()
    }
}

impl Serialize for SchemaDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object().serialize(serializer)
    }
}

impl fmt::Debug for SchemaDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &'static str) -> SchemaDocument {
        SchemaDocument::checked_before(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn texts_are_the_objects_that_they_say() {
        let object = || Map::from_iter([("type".to_owned(), "object".into())]);
        assert_eq!(text(r#"{"type":"object"}"#), SchemaDocument::from(object()));
        assert_eq!(text(r#"{"type": "object"}"#), text(r#"{"type":"object"}"#));
        assert_ne!(text(r#"{"type":"object"}"#), text(r#"{"type":"array"}"#));
        assert_eq!(text(r#"{"type":"object"}"#).into_object(), object());
    }

    #[test]
    fn a_text_that_is_no_object_is_refused_where_it_is_used() {
        for broken in ["", "[]", "{\"type\":", "\u{7f}"] {
            let schema =
                crate::Schema::checked_before(&text(broken), crate::SchemaLimits::new(&crate::HostLimits::default()));
            assert!(schema.prepare().is_err(), "{broken:?}");
        }
    }
}
