//! What a schema multiplies out to, for one value at one place.
//!
//! The steps of a check bound what a schema costs; this refuses those at once that
//! would only ever fail for that.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    bounds::{MAX_RECURSIONS, MAX_WEIGHT},
    error::SchemaError,
    inspect::{anchors, is_data, target},
};

/// References that lead from one to the next.
const MAX_OPEN: usize = 512;

/// How often a schema refers to itself.
///
/// # Errors
/// Where it multiplies out to too much.
pub(super) fn recursions(root: &Value) -> Result<u64, SchemaError> {
    let mut weigher = Weigher { root, anchors: anchors(root), known: HashMap::new(), open: Vec::new(), recursions: 0 };
    let weight = weigher.weigh(root)?;
    if weight > MAX_WEIGHT || weigher.recursions > MAX_RECURSIONS {
        return Err(SchemaError::TooHeavy);
    }
    Ok(weigher.recursions)
}

/// Counts what evaluating a schema may touch for one value at one place.
struct Weigher<'s> {
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
    known: HashMap<*const Value, u64>,
    /// References being followed. Meeting one of them again is recursion: it
    /// goes on with a smaller value, and weighs one.
    open: Vec<*const Value>,
    recursions: u64,
}

impl<'s> Weigher<'s> {
    fn weigh(&mut self, schema: &'s Value) -> Result<u64, SchemaError> {
        let address: *const Value = schema;
        if let Some(weight) = self.known.get(&address) {
            return Ok(*weight);
        }
        if self.open.contains(&address) {
            self.recursions += 1;
            return Ok(1);
        }
        if self.open.len() >= MAX_OPEN {
            return Err(SchemaError::TooDeep);
        }
        self.open.push(address);
        let mut weight: u64 = 1;
        match schema {
            Value::Array(items) => {
                for item in items {
                    weight = weight.saturating_add(self.weigh(item)?);
                }
            }
            Value::Object(members) => {
                for (keyword, value) in members {
                    // Definitions weigh where they are used.
                    if is_data(keyword) || keyword == "$defs" {
                        continue;
                    }
                    let part = match (keyword.as_str(), value) {
                        ("$ref" | "$dynamicRef", Value::String(reference)) => {
                            let target = target(self.root, &self.anchors, reference)?;
                            self.weigh(target)?
                        }
                        (_, Value::Object(_) | Value::Array(_)) => self.weigh(value)?,
                        _ => 0,
                    };
                    weight = weight.saturating_add(part);
                }
            }
            _ => {}
        }
        self.open.pop();
        self.known.insert(address, weight);
        Ok(weight)
    }
}
