//! What a client has to be able to do so that it can be asked.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use wharf_core::service::{InputMethod, InputRequest};

/// What of the requests needs something that `declared` does not have, in the
/// protocol's shape of capabilities.
pub(super) fn missing(
    requests: &BTreeMap<String, InputRequest>,
    declared: Option<&Map<String, Value>>,
) -> Map<String, Value> {
    let mut missing = Map::new();
    for request in requests.values() {
        let capability = request.method.capability();
        let has = declared.and_then(|declared| declared.get(capability)).and_then(Value::as_object);
        let part = part(request);
        let can = match (has, part) {
            (None, _) => false,
            (Some(_), None) => true,
            // A client that names no kind can fill forms: at first there was no other kind.
            (Some(has), Some("form")) => has.contains_key("form") || !has.contains_key("url"),
            (Some(has), Some(part)) => has.contains_key(part),
        };
        if !can {
            let needed = missing.entry(capability).or_insert_with(|| json!({}));
            if let (Some(part), Some(needed)) = (part, needed.as_object_mut()) {
                needed.insert(part.to_owned(), json!({}));
            }
        }
    }
    missing
}

/// The part of the capability that a request needs.
fn part(request: &InputRequest) -> Option<&'static str> {
    let parameters = &request.parameters;
    match request.method {
        InputMethod::Elicitation if parameters.get("mode").and_then(Value::as_str) == Some("url") => Some("url"),
        InputMethod::Elicitation => Some("form"),
        InputMethod::Sampling => {
            (parameters.contains_key("tools") || parameters.contains_key("toolChoice")).then_some("tools")
        }
        InputMethod::Roots => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn needed(requests: &[(InputMethod, Value)], declared: Value) -> Value {
        let requests = requests.iter().enumerate().map(|(at, (method, parameters))| {
            (at.to_string(), InputRequest { method: *method, parameters: object(parameters.clone()) })
        });
        Value::Object(missing(&requests.collect(), Some(&object(declared))))
    }

    #[test]
    fn only_what_is_asked_for_and_not_declared_is_missing() {
        let form = (InputMethod::Elicitation, json!({}));
        let page = (InputMethod::Elicitation, json!({"mode": "url"}));
        let sample = (InputMethod::Sampling, json!({}));
        let tools = (InputMethod::Sampling, json!({"tools": []}));
        let roots = (InputMethod::Roots, json!({}));
        let all = [form.clone(), page.clone(), sample.clone(), tools.clone(), roots.clone()];
        assert_eq!(
            needed(&all, json!({})),
            json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}})
        );
        assert_eq!(
            needed(&all, json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}})),
            json!({})
        );
        assert_eq!(
            needed(std::slice::from_ref(&form), json!({"elicitation": {}})),
            json!({}),
            "nothing further means forms"
        );
        assert_eq!(needed(&[form], json!({"elicitation": {"url": {}}})), json!({"elicitation": {"form": {}}}));
        assert_eq!(needed(&[page], json!({"elicitation": {}})), json!({"elicitation": {"url": {}}}));
        assert_eq!(needed(&[sample], json!({})), json!({"sampling": {}}));
        assert_eq!(needed(&[tools], json!({"sampling": {}})), json!({"sampling": {"tools": {}}}));
        assert_eq!(
            needed(&[roots], json!({"roots": true})),
            json!({"roots": {}}),
            "what is no object declares nothing"
        );
    }
}
