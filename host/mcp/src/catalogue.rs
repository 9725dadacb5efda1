//! Definitions in the protocol's shape.

use std::sync::Arc;

use rmcp::model::{
    Annotations, JsonObject, MetaObject, Prompt, PromptArgument, Resource, ResourceTemplate, Tool, ToolAnnotations,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use wharf_contract::{
    caller::OWN_PREFIX,
    tools::{ANNOTATIONS, TIMEOUT_MILLISECONDS, TITLE},
};
use wharf_core::{
    ToolDefinition,
    service::offer::{PromptDefinition, ResourceDefinition, ResourceTemplate as TemplateDefinition},
};

pub(crate) fn tool(definition: &ToolDefinition) -> Tool {
    let mut tool = Tool::new(
        definition.name.clone(),
        definition.description.clone(),
        Arc::clone(definition.input_schema.object()),
    );
    tool.output_schema = definition.output_schema.as_ref().map(|schema| Arc::clone(schema.object()));
    tool.meta = further(&definition.meta, |key, value| {
        match (key, value) {
            (TITLE, Value::String(title)) => tool.title = Some(title.clone()),
            (ANNOTATIONS, annotations) => {
                tool.annotations = ToolAnnotations::deserialize(annotations).ok().and_then(said)
            }
            ("icons", icons) => tool.icons = Deserialize::deserialize(icons).ok(),
            _ => return false,
        }
        true
    });
    tool
}

pub(crate) fn prompt(definition: &PromptDefinition) -> Prompt {
    let arguments = definition.arguments.iter().map(|argument| {
        let mut made = PromptArgument::new(argument.name.clone()).with_required(argument.required);
        made.description = present(&argument.description);
        made
    });
    let arguments: Vec<_> = arguments.collect();
    let arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
    let mut prompt = Prompt::new(definition.name.clone(), present(&definition.description), arguments);
    prompt.meta = further(&definition.meta, |key, value| {
        match (key, value) {
            (TITLE, Value::String(title)) => prompt.title = Some(title.clone()),
            ("icons", icons) => prompt.icons = Deserialize::deserialize(icons).ok(),
            _ => return false,
        }
        true
    });
    prompt
}

pub(crate) fn resource(definition: ResourceDefinition) -> Resource {
    // The client's request keeps the memory.
    let ResourceDefinition { uri, name, description, mime_type, meta, memory: _ } = definition;
    let mut resource = Resource::new(uri, name);
    resource.description = present(&description);
    resource.mime_type = mime_type;
    resource.meta = further(&meta, |key, value| {
        match (key, value) {
            (TITLE, Value::String(title)) => resource.title = Some(title.clone()),
            ("size", size) => resource.size = size.as_u64(),
            (ANNOTATIONS, annotations) => resource.annotations = Annotations::deserialize(annotations).ok(),
            ("icons", icons) => resource.icons = Deserialize::deserialize(icons).ok(),
            _ => return false,
        }
        true
    });
    resource
}

pub(crate) fn template(definition: &TemplateDefinition) -> ResourceTemplate {
    let mut template = ResourceTemplate::new(definition.uri_template.clone(), definition.name.clone());
    template.description = present(&definition.description);
    template.mime_type.clone_from(&definition.mime_type);
    template.meta = further(&definition.meta, |key, value| {
        match (key, value) {
            (TITLE, Value::String(title)) => template.title = Some(title.clone()),
            (ANNOTATIONS, annotations) => template.annotations = Annotations::deserialize(annotations).ok(),
            ("icons", icons) => template.icons = Deserialize::deserialize(icons).ok(),
            _ => return false,
        }
        true
    });
    template
}

/// The annotations without what the protocol takes for granted where nothing is said: each list
/// would repeat it for each tool.
fn said(annotations: ToolAnnotations) -> Option<ToolAnnotations> {
    let mut said = annotations;
    if said.read_only_hint == Some(true) {
        // Both say something of tools that change something.
        (said.destructive_hint, said.idempotent_hint) = (None, None);
    }
    said.read_only_hint = said.read_only_hint.filter(|read_only| *read_only);
    said.destructive_hint = said.destructive_hint.filter(|destructive| !destructive);
    said.idempotent_hint = said.idempotent_hint.filter(|idempotent| *idempotent);
    said.open_world_hint = said.open_world_hint.filter(|open| !open);
    (said != ToolAnnotations::default()).then_some(said)
}

fn present(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Offers each further field to `place`; those that it has no place for go into `_meta`.
fn further(fields: &Map<String, Value>, mut place: impl FnMut(&str, &Value) -> bool) -> Option<MetaObject> {
    let mut meta = JsonObject::new();
    for (key, value) in fields {
        if place(key, value) {
            continue;
        }
        match (key.as_str(), value) {
            ("_meta", Value::Object(members)) => meta.extend(members.clone()),
            // The host reads it and keeps to it.
            (TIMEOUT_MILLISECONDS, value) => _ = meta.insert(format!("{OWN_PREFIX}{key}"), value.clone()),
            // All else is the plugin's word, and is not told as the host's.
            (key, value) => _ = meta.insert(key.to_owned(), value.clone()),
        }
    }
    (!meta.is_empty()).then_some(MetaObject(meta))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use wharf_core::{AnswerShare, service::offer};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn definition(name: &str, meta: Value) -> ToolDefinition {
        ToolDefinition {
            name: name.to_owned(),
            description: "what it does".to_owned(),
            input_schema: object(json!({"type": "object"})).into(),
            output_schema: None,
            meta: object(meta),
        }
    }

    fn shown(made: impl serde::Serialize) -> Value {
        serde_json::to_value(made).expect("serializes")
    }

    #[test]
    fn further_fields_go_where_the_protocol_has_a_place_for_them() {
        let given = definition(
            "a__b",
            json!({"title": "B", "annotations": {"readOnlyHint": true}, "timeoutMilliseconds": 5,
                   "com.example/k": 1, "_meta": {"com.example/m": 2}}),
        );
        assert_eq!(
            shown(tool(&given)),
            json!({"name": "a__b", "title": "B", "description": "what it does", "inputSchema": {"type": "object"},
                   "annotations": {"readOnlyHint": true},
                   "_meta": {"dev.wharf/timeoutMilliseconds": 5, "com.example/k": 1, "com.example/m": 2}})
        );
    }

    #[test]
    fn annotations_that_the_protocol_takes_for_granted_are_not_repeated() {
        let said = |annotations: Value| {
            shown(tool(&definition("a__b", json!({"annotations": annotations}))))["annotations"].clone()
        };
        let all = |read_only, destructive, idempotent, open| json!({"readOnlyHint": read_only, "destructiveHint": destructive, "idempotentHint": idempotent, "openWorldHint": open});
        assert_eq!(said(all(false, true, false, true)), Value::Null);
        assert_eq!(said(all(true, false, true, false)), json!({"readOnlyHint": true, "openWorldHint": false}));
        assert_eq!(
            said(all(false, false, true, false)),
            json!({"destructiveHint": false, "idempotentHint": true, "openWorldHint": false})
        );
    }

    #[test]
    fn what_is_offered_beside_tools_has_its_places_too() {
        let argument = |name: &str, description: &str, required| offer::PromptArgument {
            name: name.into(),
            description: description.into(),
            required,
        };
        let asking = PromptDefinition {
            name: "a__p".into(),
            description: "asks".into(),
            arguments: vec![argument("who", "whom", true), argument("how", "", false)],
            meta: object(json!({"title": "P", "x": 1})),
        };
        assert_eq!(
            shown(prompt(&asking)),
            json!({"name": "a__p", "title": "P", "description": "asks", "_meta": {"x": 1},
                   "arguments": [{"name": "who", "description": "whom", "required": true},
                                 {"name": "how", "required": false}]})
        );
        let readable = ResourceDefinition {
            uri: "test://r".into(),
            name: "r".into(),
            description: String::new(),
            mime_type: Some("text/plain".into()),
            meta: object(json!({"title": "R", "size": 7, "annotations": {"priority": 1.0}, "com.example/k": 1})),
            memory: AnswerShare::default(),
        };
        assert_eq!(
            shown(resource(readable)),
            json!({"uri": "test://r", "name": "r", "title": "R", "mimeType": "text/plain", "size": 7,
                   "annotations": {"priority": 1.0}, "_meta": {"com.example/k": 1}})
        );
        let family = TemplateDefinition {
            uri_template: "test://{id}".into(),
            name: "f".into(),
            description: "many".into(),
            mime_type: None,
            meta: Map::new(),
        };
        assert_eq!(shown(template(&family)), json!({"uriTemplate": "test://{id}", "name": "f", "description": "many"}));
    }
}
