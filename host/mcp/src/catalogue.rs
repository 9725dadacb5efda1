//! Tool definitions in the protocol's shape, made once for as long as the
//! service offers the same ones.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::Value;
use wharf_core::{ToolDefinition, text};

/// How many names an answer suggests.
const SUGGESTIONS: usize = 5;

/// The last definitions seen, and what they were made into.
#[derive(Default)]
pub(crate) struct Catalogue {
    // A lock of the standard library: held while definitions are compared or
    // converted, never across an await.
    made: Mutex<Option<Made>>,
}

struct Made {
    from: Arc<[ToolDefinition]>,
    tools: Arc<[Tool]>,
}

impl Catalogue {
    /// The protocol's shape of `definitions`, in their order.
    pub(crate) fn tools(&self, definitions: &Arc<[ToolDefinition]>) -> Arc<[Tool]> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some(made) if Arc::ptr_eq(&made.from, definitions) => Arc::clone(&made.tools),
            _ => {
                let tools: Arc<[Tool]> = definitions.iter().map(tool).collect();
                *made = Some(Made { from: Arc::clone(definitions), tools: Arc::clone(&tools) });
                tools
            }
        }
    }
}

/// Where `name` stands in `definitions`, which are ordered by name.
pub(crate) fn find(definitions: &[ToolDefinition], name: &str) -> Option<usize> {
    definitions.binary_search_by(|definition| definition.name.as_str().cmp(name)).ok()
}

/// What to tell a caller who named no tool of ours.
pub(crate) fn unknown(definitions: &[ToolDefinition], name: &str) -> String {
    let shown = text::line(name, 100);
    if definitions.is_empty() {
        return format!("there is no tool {shown:?}; this host offers none");
    }
    let mut ranked: Vec<(usize, &str)> = definitions
        .iter()
        .map(|definition| {
            let common = common(name, &definition.name) + common(own_part(name), own_part(&definition.name));
            (common, definition.name.as_str())
        })
        .collect();
    ranked.sort_by_key(|(common, name)| (std::cmp::Reverse(*common), *name));
    let near: Vec<&str> = ranked.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect();
    format!("there is no tool {shown:?}; tools/list has all, among them {}", near.join(", "))
}

/// The name within its plugin.
fn own_part(name: &str) -> &str {
    name.split_once("__").map_or(name, |(_, own)| own)
}

/// With how many bytes both begin.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

fn tool(definition: &ToolDefinition) -> Tool {
    let mut tool =
        Tool::new(definition.name.clone(), definition.description.clone(), Arc::clone(&definition.input_schema));
    tool.output_schema.clone_from(&definition.output_schema);
    let mut meta = JsonObject::new();
    for (key, value) in &definition.meta {
        match (key.as_str(), value) {
            ("title", Value::String(title)) => tool.title = Some(title.clone()),
            ("annotations", annotations) => tool.annotations = ToolAnnotations::deserialize(annotations).ok(),
            ("icons", icons) => tool.icons = Deserialize::deserialize(icons).ok(),
            ("_meta", Value::Object(members)) => meta.extend(members.clone()),
            // A key with a prefix is as the protocol wants it.
            (key, value) if key.contains('/') => _ = meta.insert(key.to_owned(), value.clone()),
            (key, value) => _ = meta.insert(format!("dev.wharf/{key}"), value.clone()),
        }
    }
    if !meta.is_empty() {
        tool.meta = Some(MetaObject(meta));
    }
    tool
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn definition(name: &str, meta: Value) -> ToolDefinition {
        ToolDefinition {
            name: name.to_owned(),
            description: "what it does".to_owned(),
            input_schema: Arc::new(json!({"type": "object"}).as_object().expect("an object").clone()),
            output_schema: None,
            meta: meta.as_object().expect("an object").clone(),
        }
    }

    #[test]
    fn further_fields_go_where_the_protocol_has_a_place_for_them() {
        let given = definition(
            "a__b",
            json!({"title": "B", "annotations": {"readOnlyHint": true}, "timeoutMilliseconds": 5,
                   "com.example/k": 1, "_meta": {"com.example/m": 2}}),
        );
        assert_eq!(
            serde_json::to_value(tool(&given)).expect("serializes"),
            json!({"name": "a__b", "title": "B", "description": "what it does", "inputSchema": {"type": "object"},
                   "annotations": {"readOnlyHint": true},
                   "_meta": {"dev.wharf/timeoutMilliseconds": 5, "com.example/k": 1, "com.example/m": 2}})
        );
    }

    #[test]
    fn definitions_are_converted_once_and_again_when_they_change() {
        let catalogue = Catalogue::default();
        let one: Arc<[ToolDefinition]> = [definition("a__b", json!({}))].into();
        let first = catalogue.tools(&one);
        assert!(Arc::ptr_eq(&first, &catalogue.tools(&one)));
        let two: Arc<[ToolDefinition]> = [definition("a__c", json!({}))].into();
        assert_eq!(catalogue.tools(&two)[0].name, "a__c");
    }

    #[test]
    fn an_unknown_name_is_answered_with_near_ones() {
        let names = ["browser__open", "planning__add_todo", "planning__create_goal"];
        let definitions: Vec<_> = names.iter().map(|name| definition(name, json!({}))).collect();
        assert_eq!(find(&definitions, "planning__add_todo"), Some(1));
        assert_eq!(find(&definitions, "planning__add"), None);
        for slip in ["create_goal", "planning__create_gaol", "plan__create_goal"] {
            let told = unknown(&definitions, slip);
            assert!(told.contains("among them planning__create_goal,"), "{told}");
        }
        assert!(unknown(&definitions, &"x\u{1b}".repeat(100_000)).len() < 400);
        assert!(unknown(&[], "x").contains("offers none"));
    }
}
