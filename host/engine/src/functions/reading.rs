//! From the JSON of a call to the values of a function's parameters, within a bound of memory.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use wasmtime::component::Val;
use wharf_core::Code;

use super::{
    refusal::refused,
    shape::{Integer, Parameters, Shape},
};
use crate::bindings::wharf::plugin::types;

/// The values of a function's parameters, in their order. `most_bytes` is what they may take in
/// the host.
pub(super) fn parameters(parameters: &Parameters, json: &str, most_bytes: u64) -> Result<Vec<Val>, types::Error> {
    let mut memory = ValueMemory { left: usize::try_from(most_bytes).unwrap_or(usize::MAX), is_full: false };
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let read = RecordReader { fields: parameters, memory: &mut memory }.deserialize(&mut deserializer);
    match read {
        Ok(fields) => Ok(fields.into_iter().map(|(_, value)| value).collect()),
        Err(_) if memory.is_full => Err(refused(
            Code::Limit,
            format!(
                "the arguments take more than {most_bytes} bytes as values of the component (16 times the limit \
                 `output_bytes`); pass less at a time"
            ),
        )),
        Err(error) => Err(refused(Code::Invalid, format!("the arguments do not fit the function: {error}"))),
    }
}

/// What the values may still take.
struct ValueMemory {
    left: usize,
    is_full: bool,
}

impl ValueMemory {
    fn take<E: serde::de::Error>(&mut self, bytes: usize) -> Result<(), E> {
        if let Some(left) = self.left.checked_sub(bytes) {
            self.left = left;
            return Ok(());
        }
        self.is_full = true;
        Err(E::custom("too much memory"))
    }

    fn take_values<E: serde::de::Error>(&mut self, values: usize) -> Result<(), E> {
        self.take(values.saturating_mul(size_of::<Val>()))
    }
}

/// Reads one value of a shape. Its place is paid by what it is in; what it owns besides it pays
/// itself.
struct ValueReader<'r> {
    shape: &'r Shape,
    memory: &'r mut ValueMemory,
}

impl<'de> DeserializeSeed<'de> for ValueReader<'_> {
    type Value = Val;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Val, D::Error> {
        match self.shape {
            Shape::Record(fields) => {
                let fields = RecordReader { fields, memory: self.memory }.deserialize(deserializer)?;
                Ok(Val::Record(fields))
            }
            Shape::Option(_) => deserializer.deserialize_option(self),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl ValueReader<'_> {
    /// Another value, which gets a place of its own.
    fn boxed<'de, D: Deserializer<'de>>(
        shape: &Shape,
        memory: &mut ValueMemory,
        from: D,
    ) -> Result<Box<Val>, D::Error> {
        memory.take_values(1)?;
        ValueReader { shape, memory }.deserialize(from).map(Box::new)
    }

    fn named<E: serde::de::Error>(&mut self, name: &str) -> Result<String, E> {
        self.memory.take(name.len())?;
        Ok(name.to_owned())
    }
}

impl<'de> Visitor<'de> for ValueReader<'_> {
    type Value = Val;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.shape {
            Shape::Bool => "true or false",
            Shape::Integer(_) => "a whole number within the range of its type",
            Shape::Float32 | Shape::Float64 => "a number",
            Shape::Char => "a text of one character",
            Shape::String => "a text",
            Shape::Bytes => "bytes in base64",
            Shape::List(_) | Shape::Tuple(_) => "a list",
            Shape::Record(_) => "an object",
            Shape::Variant(_) => "the name of a case, or an object with the one member that is a case",
            Shape::Enum(_) => "one of the names",
            Shape::Flags(_) => "a list of names",
            Shape::Option(_) => "a value or null",
            Shape::Result(..) => "an object with `ok` or `error`",
        })
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Val, E> {
        match self.shape {
            Shape::Bool => Ok(Val::Bool(value)),
            _ => Err(E::invalid_type(serde::de::Unexpected::Bool(value), &self)),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Val, E> {
        self.number(i128::from(value)).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Unsigned(value), &self))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Val, E> {
        self.number(i128::from(value)).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Signed(value), &self))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Val, E> {
        let read = match self.shape {
            #[expect(clippy::cast_possible_truncation, reason = "the type has no more digits")]
            Shape::Float32 => Some(Val::Float32(value as f32)),
            Shape::Float64 => Some(Val::Float64(value)),
            // JSON has one kind of number: `2.0` and `1e3` are whole.
            #[expect(clippy::cast_possible_truncation, reason = "it is whole, and the bound is far within the range")]
            Shape::Integer(_) if value.fract() == 0.0 && value.abs() < 1e19 => self.number(value as i128),
            _ => None,
        };
        read.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Float(value), &self))
    }

    fn visit_str<E: serde::de::Error>(mut self, value: &str) -> Result<Val, E> {
        let unexpected = |own: &Self| E::invalid_value(serde::de::Unexpected::Other("another text"), own);
        match self.shape {
            Shape::String => self.named(value).map(Val::String),
            Shape::Char => {
                let mut characters = value.chars();
                match (characters.next(), characters.next()) {
                    (Some(character), None) => Ok(Val::Char(character)),
                    _ => Err(unexpected(&self)),
                }
            }
            Shape::Bytes => {
                self.memory.take_values(value.len() / 4 * 3)?;
                let bytes = STANDARD.decode(value).map_err(|error| E::custom(format_args!("no base64: {error}")))?;
                Ok(Val::List(bytes.into_iter().map(Val::U8).collect()))
            }
            Shape::Enum(names) if is_named(names, value) => self.named(value).map(Val::Enum),
            Shape::Variant(cases) if cases.iter().any(|(name, of)| name == value && of.is_none()) => {
                Ok(Val::Variant(self.named(value)?, None))
            }
            Shape::Result(None, _) if value == "ok" => Ok(Val::Result(Ok(None))),
            Shape::Result(_, None) if value == "error" => Ok(Val::Result(Err(None))),
            _ => Err(unexpected(&self)),
        }
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Val, E> {
        match self.shape {
            Shape::Option(_) => Ok(Val::Option(None)),
            _ => Err(E::invalid_type(serde::de::Unexpected::Unit, &self)),
        }
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Val, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Val, D::Error> {
        let Shape::Option(value) = self.shape else { return Err(D::Error::custom("no option")) };
        if value.may_be_null() {
            // An object with `some`, since `null` alone would not say which of both is absent.
            return deserializer.deserialize_map(self);
        }
        Self::boxed(value, self.memory, deserializer).map(|value| Val::Option(Some(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Val, A::Error> {
        match self.shape {
            Shape::List(item) => {
                let mut values = Vec::new();
                while let Some(value) = items.next_element_seed(ValueReader { shape: item, memory: self.memory })? {
                    self.memory.take_values(1)?;
                    values.push(value);
                }
                Ok(Val::List(values))
            }
            Shape::Tuple(shapes) => {
                self.memory.take_values(shapes.len())?;
                let mut values = Vec::with_capacity(shapes.len());
                for shape in shapes {
                    let value = items.next_element_seed(ValueReader { shape, memory: self.memory })?;
                    values.push(value.ok_or_else(|| A::Error::custom("the list is too short"))?);
                }
                match items.next_element::<IgnoredAny>()? {
                    None => Ok(Val::Tuple(values)),
                    Some(_) => Err(A::Error::custom("the list is too long")),
                }
            }
            Shape::Flags(names) => {
                let mut set: Vec<String> = Vec::new();
                while let Some(name) = items.next_element::<String>()? {
                    if !is_named(names, &name) {
                        return Err(A::Error::custom("there is no such flag"));
                    }
                    if !is_named(&set, &name) {
                        self.memory.take(size_of::<String>())?;
                        set.push(self.named(&name)?);
                    }
                }
                Ok(Val::Flags(set))
            }
            _ => Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self)),
        }
    }

    /// An object of one member: a case with its value.
    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Val, A::Error> {
        let Some(name) = members.next_key::<String>()? else {
            return Err(A::Error::custom("the object is empty"));
        };
        let unknown = || A::Error::custom("there is no such case");
        let of = |shape: &Shape, memory: &mut ValueMemory, members: &mut A| {
            memory.take_values(1)?;
            members.next_value_seed(ValueReader { shape, memory }).map(Box::new)
        };
        let value = match self.shape {
            Shape::Variant(cases) => {
                let (_, shape) = cases.iter().find(|(case, _)| *case == name).ok_or_else(unknown)?;
                let value = of(shape.as_ref().ok_or_else(unknown)?, self.memory, &mut members)?;
                Val::Variant(self.named(&name)?, Some(value))
            }
            Shape::Option(value) if name == "some" => Val::Option(Some(of(value, self.memory, &mut members)?)),
            Shape::Result(Some(value), _) if name == "ok" => {
                Val::Result(Ok(Some(of(value, self.memory, &mut members)?)))
            }
            Shape::Result(_, Some(error)) if name == "error" => {
                Val::Result(Err(Some(of(error, self.memory, &mut members)?)))
            }
            Shape::Option(_) | Shape::Result(..) => return Err(unknown()),
            _ => return Err(A::Error::invalid_type(serde::de::Unexpected::Map, &self)),
        };
        match members.next_key::<IgnoredAny>()? {
            None => Ok(value),
            Some(_) => Err(A::Error::custom("the object has more than one member")),
        }
    }
}

impl ValueReader<'_> {
    /// A whole number as the type has it; nothing where it is out of its range.
    fn number(&self, value: i128) -> Option<Val> {
        let integer = match self.shape {
            Shape::Integer(integer) => *integer,
            #[expect(clippy::cast_precision_loss, reason = "the type has no more digits")]
            Shape::Float32 => return Some(Val::Float32(value as f32)),
            #[expect(clippy::cast_precision_loss, reason = "the type has no more digits")]
            Shape::Float64 => return Some(Val::Float64(value as f64)),
            _ => return None,
        };
        match integer {
            Integer::S8 => value.try_into().ok().map(Val::S8),
            Integer::U8 => value.try_into().ok().map(Val::U8),
            Integer::S16 => value.try_into().ok().map(Val::S16),
            Integer::U16 => value.try_into().ok().map(Val::U16),
            Integer::S32 => value.try_into().ok().map(Val::S32),
            Integer::U32 => value.try_into().ok().map(Val::U32),
            Integer::S64 => value.try_into().ok().map(Val::S64),
            Integer::U64 => value.try_into().ok().map(Val::U64),
        }
    }
}

fn is_named(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

/// Reads an object with these members, in whatever order it has them.
struct RecordReader<'r> {
    fields: &'r [(String, Shape)],
    memory: &'r mut ValueMemory,
}

impl<'de> DeserializeSeed<'de> for RecordReader<'_> {
    type Value = Vec<(String, Val)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RecordReader<'_> {
    type Value = Vec<(String, Val)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let Self { fields, memory } = self;
        let names: usize = fields.iter().map(|(name, _)| name.len()).sum();
        memory.take(fields.len().saturating_mul(size_of::<(String, Val)>()).saturating_add(names))?;
        let mut values: Vec<Option<Val>> = fields.iter().map(|_| None).collect();
        while let Some(name) = members.next_key::<String>()? {
            let place = fields.iter().position(|(field, _)| *field == name);
            let place = place.ok_or_else(|| A::Error::custom("there is no such member"))?;
            let value = members.next_value_seed(ValueReader { shape: &fields[place].1, memory })?;
            values[place] = Some(value);
        }
        let field = |((name, shape), value): (&(String, Shape), Option<Val>)| match (value, shape) {
            (Some(value), _) => Ok((name.clone(), value)),
            (None, Shape::Option(_)) => Ok((name.clone(), Val::Option(None))),
            (None, _) => Err(A::Error::custom(format_args!("`{name}` is absent"))),
        };
        fields.iter().zip(values).map(field).collect()
    }
}
