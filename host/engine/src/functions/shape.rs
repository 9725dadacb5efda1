//! The types of a function's values, as far as JSON has a form for them.

use wasmtime::component::types::{ComponentFunc, Type};

/// Types within each other: each is a level of recursion here, in a schema and in each value.
const MOST_DEPTH: u32 = 48;
/// Types of one function, each counted wherever it occurs: a type of few bytes may name another
/// twice, and that one the next.
const MOST_TYPES: u32 = 2_048;

/// The parameters of a function, by name.
pub(super) type Parameters = Vec<(String, Shape)>;
/// What a function returns: nothing, or one value.
pub(super) type Returned = Option<Shape>;

/// A type whose values have a form in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Bool,
    Integer(Integer),
    Float32,
    Float64,
    Char,
    String,
    /// `list<u8>`: a text in base64, since JSON has nothing shorter.
    Bytes,
    List(Box<Self>),
    Record(Vec<(String, Self)>),
    Tuple(Vec<Self>),
    /// A case without a value is its name, one with a value an object of that one member.
    Variant(Vec<(String, Option<Self>)>),
    Enum(Vec<String>),
    Flags(Vec<String>),
    /// `null`, or the value; `{"some": value}` where the value itself may be `null`.
    Option(Box<Self>),
    Result(Option<Box<Self>>, Option<Box<Self>>),
}

/// The kinds of whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Integer {
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
}

impl Integer {
    /// The least and the greatest.
    pub(super) const fn range(self) -> (i64, u64) {
        match self {
            Self::S8 => (i8::MIN as i64, i8::MAX as u64),
            Self::U8 => (0, u8::MAX as u64),
            Self::S16 => (i16::MIN as i64, i16::MAX as u64),
            Self::U16 => (0, u16::MAX as u64),
            Self::S32 => (i32::MIN as i64, i32::MAX as u64),
            Self::U32 => (0, u32::MAX as u64),
            Self::S64 => (i64::MIN, i64::MAX as u64),
            Self::U64 => (0, u64::MAX),
        }
    }
}

/// Why a function is no tool, after its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unsupported {
    #[error("it takes or returns {0}, which has no form in JSON")]
    Type(&'static str),
    #[error("its types lie more than {MOST_DEPTH} deep in each other")]
    Depth,
    #[error("it has more than {MOST_TYPES} types")]
    Count,
    #[error("it returns several values")]
    Results,
    #[error("it is asynchronous")]
    Asynchronous,
}

/// The shapes of what a function takes and returns.
pub(super) fn of_function(function: &ComponentFunc) -> Result<(Parameters, Returned), Unsupported> {
    if function.async_() {
        return Err(Unsupported::Asynchronous);
    }
    let mut reader = ShapeReader { types: 0 };
    let parameters = function.params().map(|(name, kind)| Ok((name.to_owned(), reader.shape(&kind, 0)?)));
    let parameters = parameters.collect::<Result<_, Unsupported>>()?;
    let mut results = function.results();
    let returned = results.next().map(|kind| reader.shape(&kind, 0)).transpose()?;
    if results.next().is_some() {
        return Err(Unsupported::Results);
    }
    Ok((parameters, returned))
}

/// Reads types within what one function may have of them.
struct ShapeReader {
    types: u32,
}

impl ShapeReader {
    fn shape(&mut self, kind: &Type, depth: u32) -> Result<Shape, Unsupported> {
        self.types += 1;
        if self.types > MOST_TYPES {
            return Err(Unsupported::Count);
        }
        let within = depth + 1;
        if within > MOST_DEPTH {
            return Err(Unsupported::Depth);
        }
        Ok(match kind {
            Type::Bool => Shape::Bool,
            Type::S8 => Shape::Integer(Integer::S8),
            Type::U8 => Shape::Integer(Integer::U8),
            Type::S16 => Shape::Integer(Integer::S16),
            Type::U16 => Shape::Integer(Integer::U16),
            Type::S32 => Shape::Integer(Integer::S32),
            Type::U32 => Shape::Integer(Integer::U32),
            Type::S64 => Shape::Integer(Integer::S64),
            Type::U64 => Shape::Integer(Integer::U64),
            Type::Float32 => Shape::Float32,
            Type::Float64 => Shape::Float64,
            Type::Char => Shape::Char,
            Type::String => Shape::String,
            Type::List(list) => match self.shape(&list.ty(), within)? {
                Shape::Integer(Integer::U8) => Shape::Bytes,
                item => Shape::List(Box::new(item)),
            },
            Type::Record(record) => {
                let fields = record.fields().map(|field| Ok((field.name.to_owned(), self.shape(&field.ty, within)?)));
                Shape::Record(fields.collect::<Result<_, Unsupported>>()?)
            }
            Type::Tuple(tuple) => {
                Shape::Tuple(tuple.types().map(|kind| self.shape(&kind, within)).collect::<Result<_, _>>()?)
            }
            Type::Variant(variant) => {
                let cases = variant.cases().map(|case| {
                    let value = case.ty.map(|kind| self.shape(&kind, within)).transpose()?;
                    Ok((case.name.to_owned(), value))
                });
                Shape::Variant(cases.collect::<Result<_, Unsupported>>()?)
            }
            Type::Enum(cases) => Shape::Enum(self.names(cases.names())?),
            Type::Flags(flags) => Shape::Flags(self.names(flags.names())?),
            Type::Option(option) => Shape::Option(Box::new(self.shape(&option.ty(), within)?)),
            Type::Result(result) => {
                let mut value =
                    |kind: Option<Type>| kind.map(|kind| self.shape(&kind, within).map(Box::new)).transpose();
                Shape::Result(value(result.ok())?, value(result.err())?)
            }
            Type::Own(_) | Type::Borrow(_) => return Err(Unsupported::Type("a resource")),
            Type::Future(_) => return Err(Unsupported::Type("a future")),
            Type::Stream(_) => return Err(Unsupported::Type("a stream")),
            Type::ErrorContext => return Err(Unsupported::Type("an error context")),
            Type::Map(_) => return Err(Unsupported::Type("a map")),
            Type::FixedLengthList(_) => return Err(Unsupported::Type("a list of fixed length")),
        })
    }

    /// Names of cases count as types do: each of them is in the schema.
    fn names<'n>(&mut self, names: impl ExactSizeIterator<Item = &'n str>) -> Result<Vec<String>, Unsupported> {
        self.types = self.types.saturating_add(u32::try_from(names.len()).unwrap_or(u32::MAX));
        if self.types > MOST_TYPES {
            return Err(Unsupported::Count);
        }
        Ok(names.map(str::to_owned).collect())
    }
}
