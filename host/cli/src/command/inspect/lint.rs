//! What the author of a plugin would want to know of its tools before a model meets them.

use serde_json::{Map, Value};
use wharf::{ToolDefinition, component::Inspection};

/// A shorter description helps no model to choose; a longer one is paid for in each list.
const SHORTEST: usize = 20;
const LONGEST: usize = 1_500;
/// Capabilities that change something wherever they are used.
const CHANGING: [&str; 2] = ["process", "terminal"];

/// One line for each thing that is probably wrong.
pub(super) fn problems(inspection: &Inspection) -> Vec<String> {
    let mut problems: Vec<_> = inspection.tools.iter().flat_map(of_tool).collect();
    let wanted = inspection.wanted_grants();
    let changing: Vec<_> = CHANGING.into_iter().filter(|capability| wanted.contains(capability)).collect();
    let all_read = !inspection.tools.is_empty() && inspection.tools.iter().all(|tool| hint(tool, "readOnlyHint"));
    if all_read && !changing.is_empty() {
        problems
            .push(format!("every tool says that it only reads, and the component imports {}", changing.join(" and ")));
    }
    problems
}

fn of_tool(tool: &ToolDefinition) -> Vec<String> {
    let mut problems = Vec::new();
    let length = tool.description.trim().len();
    if length < SHORTEST {
        problems.push("its description is too short for a model to choose it by".to_owned());
    }
    if length > LONGEST {
        problems.push(format!("its description has {length} bytes, which each list of tools costs its reader"));
    }
    if hint(tool, "readOnlyHint") && hint(tool, "destructiveHint") {
        problems.push("it says that it only reads, and that it destroys".to_owned());
    }
    of_schema(&tool.input_schema, &mut problems);
    problems.into_iter().map(|problem| format!("{}: {problem}", tool.name)).collect()
}

fn of_schema(schema: &Map<String, Value>, problems: &mut Vec<String>) {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    for (name, property) in properties {
        // A reference has its description where it leads.
        let says = |key: &str| property.get(key).is_some();
        if !says("description") && !says("$ref") {
            problems.push(format!("the argument `{name}` has no description"));
        }
        if property.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) || *property == Value::Bool(false)
        {
            problems.push(format!("no value fits the argument `{name}`"));
        }
    }
    let is_closed =
        schema.get("additionalProperties") == Some(&Value::Bool(false)) && !schema.contains_key("patternProperties");
    for required in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if is_closed && !properties.contains_key(required) {
            problems
                .push(format!("nobody can call it: `{required}` is required, and no argument of that name is allowed"));
        }
    }
}

fn hint(tool: &ToolDefinition, name: &str) -> bool {
    tool.meta.get("annotations").and_then(|annotations| annotations.get(name)) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(description: &str, schema: Value, annotations: Value) -> ToolDefinition {
        ToolDefinition {
            name: "t".to_owned(),
            description: description.to_owned(),
            input_schema: schema.as_object().expect("an object").clone().into(),
            output_schema: None,
            meta: Map::from_iter([("annotations".to_owned(), annotations)]),
        }
    }

    #[test]
    fn each_mistake_of_a_tool_is_told() {
        let good = "Says what it does, and when to use it.";
        let described = json!({ "type": "object", "properties": { "a": { "type": "string", "description": "A." } } });
        assert_eq!(of_tool(&tool(good, described.clone(), json!({ "readOnlyHint": true }))), [""; 0]);
        for (described_as, schema, annotations, told) in [
            ("Echo.", described.clone(), json!({}), "too short"),
            (&*"long ".repeat(400), described.clone(), json!({}), "has 1999 bytes"),
            (good, described, json!({ "readOnlyHint": true, "destructiveHint": true }), "that it destroys"),
            (good, json!({ "properties": { "a": {} } }), json!({}), "`a` has no description"),
            (good, json!({ "properties": { "a": { "description": "A.", "enum": [] } } }), json!({}), "no value fits"),
            (good, json!({ "required": ["b"], "additionalProperties": false }), json!({}), "nobody can call it: `b`"),
        ] {
            let problems = of_tool(&tool(described_as, schema, annotations));
            assert!(problems.len() == 1 && problems[0].contains(told), "{problems:?}");
        }
    }
}
