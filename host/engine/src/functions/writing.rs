//! From what a function returned to the answer of its tool.

use std::io;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};
use wasmtime::component::Val;
use wharf_core::Code;

use super::{
    refusal::refused,
    schema::{RESULT, value_of},
    shape::{Returned, Shape},
};
use crate::bindings::{exports::wharf::plugin::tools, wharf::plugin::types};

/// The answer. An error that the function returns is a failed call.
pub(super) fn answer(
    returned: &Returned,
    value: Option<Val>,
    output_bytes: u64,
) -> Result<tools::Answer, types::Error> {
    let (shape, value) = match (returned, value) {
        (Some(Shape::Result(_, shape)), Some(Val::Result(Err(error)))) => {
            let said = match (shape, &error) {
                (Some(shape), Some(error)) => text(shape, error, output_bytes)?,
                _ => "the function failed, and does not say why".to_owned(),
            };
            return Ok(tools::Answer { is_error: true, ..saying(said) });
        }
        (Some(Shape::Result(shape, _)), Some(Val::Result(Ok(value)))) => (shape.as_deref(), value.map(|value| *value)),
        (Some(shape), value) => (value_of(shape), value),
        (None, _) => (None, None),
    };
    let (Some(shape), Some(value)) = (shape, value) else {
        return Ok(saying("Done; the function returns nothing.".to_owned()));
    };
    let said = text(shape, &value, output_bytes)?;
    let structured = match shape {
        Shape::String => None,
        Shape::Record(_) => Some(said.clone()),
        _ => Some(format!("{{\"{RESULT}\":{said}}}")),
    };
    Ok(tools::Answer { structured, ..saying(said) })
}

fn saying(text: String) -> tools::Answer {
    let part = tools::Content { mime_type: "text/plain".to_owned(), data: text.into_bytes(), meta: None };
    tools::Answer { content: vec![part], structured: None, is_error: false, meta: None }
}

/// A text as it is, and anything else as JSON.
fn text(shape: &Shape, value: &Val, most_bytes: u64) -> Result<String, types::Error> {
    if let (Shape::String, Val::String(text)) = (shape, value) {
        return Ok(text.clone());
    }
    let mut bounded = BoundedText { written: Vec::new(), most: usize::try_from(most_bytes).unwrap_or(usize::MAX) };
    let written = serde_json::to_writer(&mut bounded, &ValueWriter { shape, value });
    let written = written.map(|()| String::from_utf8(bounded.written));
    match written {
        Ok(Ok(text)) => Ok(text),
        Err(error) if error.is_io() => Err(refused(
            Code::Limit,
            format!("the function's result has more than {most_bytes} bytes as JSON (limit `output_bytes`)"),
        )),
        Ok(Err(_)) | Err(_) => Err(refused(Code::Internal, "the function's result is not of its own type".to_owned())),
    }
}

/// Takes so many bytes and no more.
struct BoundedText {
    written: Vec<u8>,
    most: usize,
}

impl io::Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.most - self.written.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value that is written by its shape.
struct ValueWriter<'v> {
    shape: &'v Shape,
    value: &'v Val,
}

impl Serialize for ValueWriter<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.shape, self.value) {
            (Shape::Bool, Val::Bool(value)) => serializer.serialize_bool(*value),
            (Shape::Integer(_), Val::S8(value)) => serializer.serialize_i8(*value),
            (Shape::Integer(_), Val::U8(value)) => serializer.serialize_u8(*value),
            (Shape::Integer(_), Val::S16(value)) => serializer.serialize_i16(*value),
            (Shape::Integer(_), Val::U16(value)) => serializer.serialize_u16(*value),
            (Shape::Integer(_), Val::S32(value)) => serializer.serialize_i32(*value),
            (Shape::Integer(_), Val::U32(value)) => serializer.serialize_u32(*value),
            (Shape::Integer(_), Val::S64(value)) => serializer.serialize_i64(*value),
            (Shape::Integer(_), Val::U64(value)) => serializer.serialize_u64(*value),
            (Shape::Float32, Val::Float32(value)) if value.is_finite() => serializer.serialize_f32(*value),
            (Shape::Float32, Val::Float32(value)) => serializer.serialize_str(unbounded(f64::from(*value))),
            (Shape::Float64, Val::Float64(value)) if value.is_finite() => serializer.serialize_f64(*value),
            (Shape::Float64, Val::Float64(value)) => serializer.serialize_str(unbounded(*value)),
            (Shape::Char, Val::Char(value)) => serializer.serialize_char(*value),
            (Shape::String, Val::String(text)) | (Shape::Enum(_), Val::Enum(text)) => serializer.serialize_str(text),
            (Shape::Bytes, Val::List(items)) => {
                let byte = |item: &Val| if let Val::U8(byte) = item { Some(*byte) } else { None };
                let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
                serializer.serialize_str(&STANDARD.encode(bytes.ok_or_else(other::<S>)?))
            }
            (Shape::List(shape), Val::List(items)) => {
                serializer.collect_seq(items.iter().map(|value| ValueWriter { shape, value }))
            }
            (Shape::Tuple(shapes), Val::Tuple(items)) => {
                let mut sequence = serializer.serialize_seq(Some(items.len()))?;
                for (shape, value) in shapes.iter().zip(items) {
                    sequence.serialize_element(&ValueWriter { shape, value })?;
                }
                sequence.end()
            }
            (Shape::Record(shapes), Val::Record(fields)) => {
                let mut object = serializer.serialize_map(Some(fields.len()))?;
                for ((name, shape), (_, value)) in shapes.iter().zip(fields) {
                    object.serialize_entry(name, &ValueWriter { shape, value })?;
                }
                object.end()
            }
            (Shape::Flags(_), Val::Flags(names)) => serializer.collect_seq(names),
            (Shape::Variant(cases), Val::Variant(name, value)) => {
                let shape = cases.iter().find(|(case, _)| case == name).and_then(|(_, shape)| shape.as_ref());
                case(serializer, name, shape, value.as_deref())
            }
            (Shape::Result(shape, _), Val::Result(Ok(value))) => {
                case(serializer, "ok", shape.as_deref(), value.as_deref())
            }
            (Shape::Result(_, shape), Val::Result(Err(value))) => {
                case(serializer, "error", shape.as_deref(), value.as_deref())
            }
            (Shape::Option(_), Val::Option(None)) => serializer.serialize_unit(),
            (Shape::Option(shape), Val::Option(Some(value))) if shape.may_be_null() => {
                case(serializer, "some", Some(shape), Some(value))
            }
            (Shape::Option(shape), Val::Option(Some(value))) => ValueWriter { shape, value }.serialize(serializer),
            _ => Err(other::<S>()),
        }
    }
}

fn case<S: Serializer>(
    serializer: S,
    name: &str,
    shape: Option<&Shape>,
    value: Option<&Val>,
) -> Result<S::Ok, S::Error> {
    let (Some(shape), Some(value)) = (shape, value) else { return serializer.serialize_str(name) };
    let mut object = serializer.serialize_map(Some(1))?;
    object.serialize_entry(name, &ValueWriter { shape, value })?;
    object.end()
}

fn unbounded(value: f64) -> &'static str {
    match value {
        value if value.is_nan() => "NaN",
        value if value > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

fn other<S: Serializer>() -> S::Error {
    S::Error::custom("the value is of another type")
}
