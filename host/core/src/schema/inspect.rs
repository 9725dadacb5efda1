//! What can be refused of a schema by looking at each part of it once.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{
    bounds::MAX_DEPTH,
    budget::SchemaBudget,
    error::{SchemaError, shorten, shorten_value},
};

/// Names that hold subschemas by name.
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "dependentSchemas"];

/// Whether a member of a schema object is data, never a schema.
pub(super) fn is_data(keyword: &str) -> bool {
    matches!(keyword, "const" | "enum" | "default" | "examples" | "required" | "dependentRequired")
}

/// The parts of a schema that were looked at as schemas.
#[derive(Debug, Default)]
pub(super) struct Places(HashSet<*const Value>);

impl Places {
    pub(super) fn has(&self, part: &Value) -> bool {
        self.0.contains(&std::ptr::from_ref(part))
    }
}

/// Looks at all of it.
pub(super) fn inspect(schema: &Value, budget: &mut SchemaBudget) -> Result<Places, SchemaError> {
    let mut places = Places::default();
    look(schema, 0, &mut places, budget)?;
    Ok(places)
}

fn look(schema: &Value, depth: usize, places: &mut Places, budget: &mut SchemaBudget) -> Result<(), SchemaError> {
    if depth > MAX_DEPTH {
        return Err(SchemaError::TooDeep);
    }
    budget.part()?;
    let members = match schema {
        Value::Array(items) => return items.iter().try_for_each(|item| look(item, depth + 1, places, budget)),
        Value::Object(members) => members,
        Value::Bool(_) => {
            places.0.insert(schema);
            return Ok(());
        }
        _ => return Ok(()),
    };
    places.0.insert(schema);
    for (keyword, value) in members {
        match keyword.as_str() {
            "$ref" | "$dynamicRef" => match value.as_str() {
                Some(reference) if reference.starts_with('#') => {}
                _ => return Err(SchemaError::ForeignReference(shorten_value(value))),
            },
            "$schema" if value.as_str() != Some("https://json-schema.org/draft/2020-12/schema") => {
                return Err(SchemaError::Invalid("`$schema` names another dialect than 2020-12".to_owned()));
            }
            "$id" if depth > 0 => return Err(SchemaError::Unsupported("$id")),
            "$dynamicAnchor" if depth > 0 => return Err(SchemaError::Unsupported("$dynamicAnchor")),
            keyword if is_data(keyword) => count(value, budget)?,
            keyword if NAMED.contains(&keyword) => {
                let Value::Object(named) = value else {
                    return Err(SchemaError::Invalid(format!("`{keyword}` must be an object")));
                };
                for (name, subschema) in named {
                    if keyword == "properties" && name.starts_with("__") {
                        return Err(SchemaError::ReservedProperty(shorten(name)));
                    }
                    look(subschema, depth + 1, places, budget)?;
                }
            }
            _ => look(value, depth + 1, places, budget)?,
        }
    }
    // A required reserved name would be asked of the model as much as a listed one.
    let required = members.get("required").and_then(Value::as_array);
    if let Some(name) = required.into_iter().flatten().filter_map(Value::as_str).find(|name| name.starts_with("__")) {
        return Err(SchemaError::ReservedProperty(shorten(name)));
    }
    Ok(())
}

/// Data is kept, too. How deep it goes is bounded by the parser that it came from.
fn count(data: &Value, budget: &mut SchemaBudget) -> Result<(), SchemaError> {
    budget.part()?;
    match data {
        Value::Array(items) => items.iter().try_for_each(|item| count(item, budget)),
        Value::Object(members) => members.values().try_for_each(|member| count(member, budget)),
        _ => Ok(()),
    }
}

/// The schemas with a name that references may use.
pub(super) fn anchors(root: &Value) -> HashMap<&str, &Value> {
    fn collect<'s>(schema: &'s Value, anchors: &mut HashMap<&'s str, &'s Value>) {
        match schema {
            Value::Array(items) => items.iter().for_each(|item| collect(item, anchors)),
            Value::Object(members) => {
                for keyword in ["$anchor", "$dynamicAnchor"] {
                    if let Some(name) = members.get(keyword).and_then(Value::as_str) {
                        anchors.insert(name, schema);
                    }
                }
                let within = members.iter().filter(|(keyword, _)| !is_data(keyword));
                within.for_each(|(_, value)| collect(value, anchors));
            }
            _ => {}
        }
    }
    let mut anchors = HashMap::new();
    collect(root, &mut anchors);
    anchors
}

/// What a reference points to.
pub(super) fn target<'s>(
    root: &'s Value,
    anchors: &HashMap<&str, &'s Value>,
    reference: &str,
) -> Result<&'s Value, SchemaError> {
    let foreign = || SchemaError::ForeignReference(shorten(reference));
    let fragment = reference.strip_prefix('#').ok_or_else(foreign)?;
    // As in an address, where some characters are written as their bytes.
    let fragment = percent_encoding::percent_decode_str(fragment).decode_utf8().map_err(|_| foreign())?;
    let found = if fragment.is_empty() || fragment.starts_with('/') {
        root.pointer(&fragment)
    } else {
        anchors.get(&*fragment).copied()
    };
    found.ok_or_else(foreign)
}
