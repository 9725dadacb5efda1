//! The arguments of a call: parsed once, serialised once.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use serde_json::{Map, Value};

use crate::{json::InvalidJson, tool::json_bytes};

/// The arguments of a call, as values and as their JSON text.
///
/// The text is made when it is first asked for and then shared: a plugin is handed it, a call
/// that is made again is read from it, and a sealed state is bound to its digest. Members
/// stand in the order of their names, whatever order they came in.
#[derive(Clone)]
pub struct Arguments {
    values: Map<String, Value>,
    text: OnceLock<Arc<str>>,
}

impl Arguments {
    /// The values.
    #[must_use]
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// The values, without their text.
    #[must_use]
    pub fn into_values(self) -> Map<String, Value> {
        self.values
    }

    /// The JSON text of an object.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        // What was parsed as JSON has a form in JSON.
        self.text.get_or_init(|| serde_json::to_string(&self.values).unwrap_or_default().into())
    }

    /// How long the text is. Makes none where there is none yet.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.text.get().map_or_else(|| json_bytes(&self.values), |text| text.len() as u64)
    }

    /// Reads arguments from their text.
    ///
    /// # Errors
    /// Where it is no JSON object.
    pub fn parse(text: Arc<str>) -> Result<Self, InvalidJson> {
        let values = serde_json::from_str(&text).map_err(|error| InvalidJson::of(&error))?;
        Ok(Self { values, text: text.into() })
    }
}

impl From<Map<String, Value>> for Arguments {
    fn from(values: Map<String, Value>) -> Self {
        Self { values, text: OnceLock::new() }
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments may hold secrets; a log never shows them.
        formatter.debug_struct("Arguments").finish_non_exhaustive()
    }
}
