//! Takes the arguments out of a large call: what the protocol crate sees is a call with their
//! outline, which has all that headers may have to repeat (`Mcp-Param-…`): texts of some
//! length, numbers and truth values that stand in objects.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::carried::CarriedArguments;

/// Values in an outline.
const OUTLINED_VALUES: usize = 1_000;
/// Longest text in an outline: no header is longer.
const OUTLINED_BYTES: usize = 64 << 10;

/// Takes the arguments out of the text of a call: the text with their outline alone,
/// and the arguments. Nothing where it has none, is no call, or has a long outline.
pub(super) fn take_out(call: &[u8]) -> Option<(Vec<u8>, CarriedArguments)> {
    let mut call: Map<String, Value> = serde_json::from_slice(call).ok()?;
    let mut left = OUTLINED_VALUES;
    let place = call.get_mut("params")?.get_mut("arguments")?;
    let outline = outline(place.as_object()?, &mut left)?;
    let Value::Object(arguments) = std::mem::replace(place, Value::Object(outline)) else { return None };
    let text = serde_json::to_vec(&call).ok()?;
    Some((text, CarriedArguments(Arc::new(Mutex::new(Some(arguments))))))
}

/// The objects, and what is short in them. Nothing where that is more than is left.
fn outline(members: &Map<String, Value>, left: &mut usize) -> Option<Map<String, Value>> {
    let mut short = Map::new();
    for (name, member) in members {
        *left = left.checked_sub(1)?;
        let member = match member {
            Value::Array(_) => continue,
            Value::String(text) if text.len() > OUTLINED_BYTES => continue,
            Value::Object(members) => Value::Object(outline(members, left)?),
            scalar => scalar.clone(),
        };
        short.insert(name.clone(), member);
    }
    Some(short)
}

#[cfg(test)]
mod tests {
    use rmcp::model::Extensions;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_goes_on_without_its_arguments_and_what_is_no_call_goes_on_as_it_is() {
        let call = json!({"id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {"x": [1], "y": {"z": 1, "t": "é".repeat(40_000)}}, "_meta": {}}});
        let whole = call["params"]["arguments"].clone();
        let (text, carried) = take_out(call.to_string().as_bytes()).expect("a call");
        let rest: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(
            rest,
            json!({"id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {"y": {"z": 1}}, "_meta": {}}})
        );
        let mut extensions = Extensions::new();
        let (mut parts, ()) = http::Request::new(()).into_parts();
        parts.extensions.insert(carried);
        extensions.insert(parts);
        assert_eq!(CarriedArguments::take(&extensions).map(Value::Object), Some(whole));
        assert_eq!(CarriedArguments::take(&extensions), None, "they are there once");
        let many: Map<String, Value> = (0..1_001).map(|at| (at.to_string(), json!({}))).collect();
        assert!(take_out(json!({"params": {"arguments": many}}).to_string().as_bytes()).is_none());
        for other in [json!({"params": {"arguments": 1}}), json!({"params": []}), json!({"method": "x"}), json!([1])] {
            assert!(take_out(other.to_string().as_bytes()).is_none(), "{other}");
        }
    }
}
