//! The JSON schemas of what a function takes and returns.

use serde_json::{Map, Value, json};

use super::shape::{Integer, Parameters, Returned, Shape};

/// The member that has what a function returns, where that is no record.
pub(super) const RESULT: &str = "result";

/// Which way a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Taken,
    Returned,
}

/// An object with a member for each parameter.
pub(super) fn of_parameters(parameters: &Parameters) -> Map<String, Value> {
    of_record(parameters, Direction::Taken)
}

/// What the structured answer is: the record itself, else an object with `result`. Nothing where
/// the function returns nothing or a text, which is the answer's text. An error is no answer.
pub(super) fn of_returned(returned: &Returned) -> Option<Map<String, Value>> {
    match value_of(returned.as_ref()?)? {
        Shape::String => None,
        Shape::Record(fields) => Some(of_record(fields, Direction::Returned)),
        other => {
            let properties = json!({RESULT: of(other, Direction::Returned)});
            Some(object(properties, vec![RESULT.into()]))
        }
    }
}

/// What a function returns where it does not fail.
pub(super) fn value_of(returned: &Shape) -> Option<&Shape> {
    match returned {
        Shape::Result(value, _) => value.as_deref(),
        other => Some(other),
    }
}

fn of_record(fields: &[(String, Shape)], direction: Direction) -> Map<String, Value> {
    let properties: Map<_, _> = fields.iter().map(|(name, shape)| (name.clone(), of(shape, direction))).collect();
    // What may be absent is always written.
    let is_required = |shape: &Shape| direction == Direction::Returned || !matches!(shape, Shape::Option(_));
    let required = fields.iter().filter(|(_, shape)| is_required(shape)).map(|(name, _)| name.as_str().into());
    object(properties.into(), required.collect())
}

fn object(properties: Value, required: Vec<Value>) -> Map<String, Value> {
    let mut schema = Map::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), properties),
        ("additionalProperties".to_owned(), false.into()),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

fn of(shape: &Shape, direction: Direction) -> Value {
    let one_member =
        |name: &str, shape: &Shape| Value::Object(object(json!({name: of(shape, direction)}), vec![name.into()]));
    match shape {
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Integer(integer) => of_integer(*integer),
        Shape::Float32 | Shape::Float64 => match direction {
            Direction::Taken => json!({"type": "number"}),
            Direction::Returned => json!({"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}),
        },
        Shape::Char => json!({"type": "string", "minLength": 1, "maxLength": 1}),
        Shape::String => json!({"type": "string"}),
        Shape::Bytes => json!({"type": "string", "contentEncoding": "base64", "description": "Bytes in base64."}),
        Shape::List(item) => json!({"type": "array", "items": of(item, direction)}),
        Shape::Record(fields) => Value::Object(of_record(fields, direction)),
        Shape::Tuple(items) => json!({
            "type": "array",
            "prefixItems": items.iter().map(|item| of(item, direction)).collect::<Vec<_>>(),
            "items": false,
            "minItems": items.len(),
        }),
        Shape::Variant(cases) => {
            let bare: Vec<_> = cases.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
            let bare = (!bare.is_empty()).then(|| json!({"enum": bare}));
            let with_value =
                cases.iter().filter_map(|(name, value)| value.as_ref().map(|value| one_member(name, value)));
            any_of(bare.into_iter().chain(with_value).collect())
        }
        Shape::Enum(names) => json!({"enum": names}),
        Shape::Flags(names) => json!({"type": "array", "items": {"enum": names}, "uniqueItems": true}),
        Shape::Option(value) if value.may_be_null() => any_of(vec![json!({"type": "null"}), one_member("some", value)]),
        Shape::Option(value) => any_of(vec![of(value, direction), json!({"type": "null"})]),
        Shape::Result(value, error) => {
            let case = |name, value: &Option<Box<Shape>>| {
                value.as_ref().map_or_else(|| json!({"const": name}), |value| one_member(name, value))
            };
            any_of(vec![case("ok", value), case("error", error)])
        }
    }
}

fn any_of(mut schemas: Vec<Value>) -> Value {
    match schemas.len() {
        1 => schemas.remove(0),
        _ => json!({"anyOf": schemas}),
    }
}

fn of_integer(integer: Integer) -> Value {
    let (least, greatest) = integer.range();
    json!({"type": "integer", "minimum": least, "maximum": greatest})
}

impl Shape {
    /// Whether `null` is one of its values.
    pub(super) fn may_be_null(&self) -> bool {
        matches!(self, Self::Option(_))
    }
}
