//! JSON Schemas that a plugin sent: compiled without trust, then used to check
//! arguments and answers.
//!
//! A schema is evaluated by the host, outside the limits of a call, so it must
//! not be able to ask for much: it names nothing outside itself, its patterns
//! match in linear time, and what it multiplies out to is bounded.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use serde_json::{Map, Value};

/// Subschemas that one schema may multiply out to, references followed.
const MAX_WEIGHT: u64 = 20_000;
/// Subschemas times parts of a value that one check may touch.
const MAX_WORK: u64 = 50_000_000;
/// Nesting of a value whose schema refers to itself at two places: the work may
/// double with each level.
const MAX_BRANCHING_DEPTH: usize = 16;
/// Nesting of a schema.
const MAX_DEPTH: usize = 64;
/// Violations that one error names.
const MAX_VIOLATIONS: usize = 5;
/// Length of one violation in an error.
const MAX_VIOLATION_BYTES: usize = 400;

/// Why a schema is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It does not conform to the dialect.
    #[error("it is no valid JSON Schema 2020-12: {0}")]
    Invalid(String),
    /// Arguments are always objects.
    #[error("its `type` must be \"object\"")]
    NotAnObject,
    /// The names that start so are the host's.
    #[error("it has the property `{0}`; names that start with two underscores belong to the host")]
    ReservedProperty(String),
    /// A reference leaves the schema.
    #[error("its reference `{0}` does not point into the schema itself (`#`, `#/…` or `#anchor`)")]
    ForeignReference(String),
    /// It declares a resource of its own, which would change what references mean.
    #[error("it has `{0}` below its root; plugins' schemas are one resource")]
    Unsupported(&'static str),
    /// It nests too deeply.
    #[error("it nests more than {MAX_DEPTH} levels")]
    TooDeep,
    /// Checking against it could take too long.
    #[error(
        "it multiplies out to more than {MAX_WEIGHT} subschemas, or refers to itself at more than {MAX_RECURSIONS} places"
    )]
    TooHeavy,
}

/// A schema that is safe to evaluate.
#[derive(Debug, Clone)]
pub struct Schema {
    source: Arc<Map<String, Value>>,
    compiled: OnceLock<Compiled>,
}

#[derive(Debug, Clone)]
struct Compiled {
    validator: jsonschema::Validator,
    weight: u64,
    max_depth: usize,
}

impl Schema {
    /// Compiles a schema of an object.
    ///
    /// # Errors
    /// Where it is no valid schema, or asks for more than is safe.
    pub fn compile(schema: &Arc<Map<String, Value>>) -> Result<Self, SchemaError> {
        let compiled = OnceLock::from(Compiled::new(schema)?);
        Ok(Self { source: Arc::clone(schema), compiled })
    }

    /// A schema that has been compiled before, by this or another host, and is
    /// compiled again when it is first used: compiling takes longer than a
    /// start may.
    #[must_use]
    pub fn checked_before(schema: &Arc<Map<String, Value>>) -> Self {
        Self { source: Arc::clone(schema), compiled: OnceLock::new() }
    }

    /// Compiles it now, unless that has happened.
    ///
    /// # Errors
    /// As [`Schema::compile`].
    pub fn prepare(&self) -> Result<(), SchemaError> {
        self.compiled().map(|_| ())
    }

    fn compiled(&self) -> Result<&Compiled, SchemaError> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let compiled = Compiled::new(&self.source)?;
        Ok(self.compiled.get_or_init(|| compiled))
    }

    /// Checks a value.
    ///
    /// # Errors
    /// What is wrong with it, one line for each violation: the path in the
    /// value, what it breaks, and the rule in the schema.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.compiled().map_err(|error| format!("the schema is refused: {error}"))?.check(value)
    }
}

impl Compiled {
    fn new(schema: &Map<String, Value>) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::NotAnObject);
        }
        let root = Value::Object(schema.clone());
        inspect(&root, 0)?;
        let mut weigher = Weigher::new(&root);
        let weight = weigher.weigh_all()?;
        let max_depth = if weigher.recursions > 1 { MAX_BRANCHING_DEPTH } else { usize::MAX };
        let validator = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(&root)
            .map_err(|error| SchemaError::Invalid(shorten(&error.to_string())))?;
        Ok(Self { validator, weight, max_depth })
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        let (parts, depth) = measure(value);
        if parts.saturating_mul(self.weight) > MAX_WORK {
            return Err(format!("the arguments have {parts} parts, too many to check against this schema; send fewer"));
        }
        if depth > self.max_depth {
            return Err(format!("the arguments nest {depth} levels, more than {}", self.max_depth));
        }
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let mut lines: Vec<String> = Vec::new();
        for error in self.validator.iter_errors(value) {
            if lines.len() == MAX_VIOLATIONS {
                lines.push("and more".to_owned());
                break;
            }
            let path = error.instance_path().to_string();
            let place = if path.is_empty() { "the arguments" } else { &path };
            lines.push(format!(
                "{}: {} (rule {})",
                shorten(place),
                shorten(&error.masked_with("the value").to_string()),
                shorten(&error.schema_path().to_string())
            ));
        }
        Err(lines.join("\n"))
    }
}

/// How many parts a value has, and how deep it nests.
fn measure(value: &Value) -> (u64, usize) {
    fn children<'v>(values: impl Iterator<Item = &'v Value>) -> (u64, usize) {
        let (parts, depth) =
            values.map(measure).fold((0, 0), |(parts, depth), (more, deeper)| (parts + more, depth.max(deeper)));
        (parts + 1, depth + 1)
    }
    match value {
        Value::Array(items) => children(items.iter()),
        Value::Object(members) => children(members.values()),
        _ => (1, 1),
    }
}

/// Names of members are quoted in it, and they are as hostile as all else.
fn shorten(text: &str) -> String {
    let short = crate::text::line(text, MAX_VIOLATION_BYTES);
    if text.len() <= MAX_VIOLATION_BYTES { short } else { format!("{short}…") }
}

/// Names that hold subschemas by name.
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "dependentSchemas"];

/// Whether a member of a schema object is data, never a schema.
fn data(keyword: &str) -> bool {
    matches!(keyword, "const" | "enum" | "default" | "examples" | "required" | "dependentRequired")
}

/// What can be refused by looking at each part once.
fn inspect(schema: &Value, depth: usize) -> Result<(), SchemaError> {
    if depth > MAX_DEPTH {
        return Err(SchemaError::TooDeep);
    }
    let members = match schema {
        Value::Array(items) => return items.iter().try_for_each(|item| inspect(item, depth + 1)),
        Value::Object(members) => members,
        _ => return Ok(()),
    };
    for (keyword, value) in members {
        match keyword.as_str() {
            "$ref" | "$dynamicRef" => match value.as_str() {
                Some(reference) if reference.starts_with('#') => {}
                _ => return Err(SchemaError::ForeignReference(shorten(&value.to_string()))),
            },
            "$schema" if value.as_str() != Some("https://json-schema.org/draft/2020-12/schema") => {
                return Err(SchemaError::Invalid("`$schema` names another dialect than 2020-12".to_owned()));
            }
            "$id" if depth > 0 => return Err(SchemaError::Unsupported("$id")),
            "$dynamicAnchor" if depth > 0 => return Err(SchemaError::Unsupported("$dynamicAnchor")),
            _ if data(keyword) => {}
            _ if NAMED.contains(&keyword.as_str()) => {
                let Value::Object(named) = value else {
                    return Err(SchemaError::Invalid(format!("`{keyword}` must be an object")));
                };
                for (name, subschema) in named {
                    if keyword == "properties" && name.starts_with("__") {
                        return Err(SchemaError::ReservedProperty(shorten(name)));
                    }
                    inspect(subschema, depth + 1)?;
                }
            }
            _ => inspect(value, depth + 1)?,
        }
    }
    // A required reserved name would be asked of the model as much as a listed one.
    let required = members.get("required").and_then(Value::as_array);
    if let Some(name) = required.into_iter().flatten().filter_map(Value::as_str).find(|name| name.starts_with("__")) {
        return Err(SchemaError::ReservedProperty(shorten(name)));
    }
    Ok(())
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
    fn new(root: &'s Value) -> Self {
        let mut anchors = HashMap::new();
        collect_anchors(root, &mut anchors);
        Self { root, anchors, known: HashMap::new(), open: Vec::new(), recursions: 0 }
    }

    fn weigh_all(&mut self) -> Result<u64, SchemaError> {
        let weight = self.weigh(self.root)?;
        if weight > MAX_WEIGHT || self.recursions > MAX_RECURSIONS {
            return Err(SchemaError::TooHeavy);
        }
        Ok(weight)
    }

    fn weigh(&mut self, schema: &'s Value) -> Result<u64, SchemaError> {
        let address: *const Value = schema;
        if let Some(weight) = self.known.get(&address) {
            return Ok(*weight);
        }
        if self.open.contains(&address) {
            self.recursions += 1;
            return Ok(1);
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
                    if data(keyword) || keyword == "$defs" {
                        continue;
                    }
                    let part = match (keyword.as_str(), value) {
                        ("$ref" | "$dynamicRef", Value::String(reference)) => {
                            let target = self.target(reference)?;
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

    fn target(&self, reference: &str) -> Result<&'s Value, SchemaError> {
        let fragment = reference.trim_start_matches('#');
        let found = if fragment.is_empty() || fragment.starts_with('/') {
            self.root.pointer(fragment)
        } else {
            self.anchors.get(fragment).copied()
        };
        found.ok_or_else(|| SchemaError::ForeignReference(shorten(reference)))
    }
}

/// Places at which a schema may refer back to a part that contains it. A tree
/// needs one or two; each more multiplies the work for nested values.
const MAX_RECURSIONS: u64 = 2;

fn collect_anchors<'s>(schema: &'s Value, anchors: &mut HashMap<&'s str, &'s Value>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| collect_anchors(item, anchors)),
        Value::Object(members) => {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(name) = members.get(keyword).and_then(Value::as_str) {
                    anchors.insert(name, schema);
                }
            }
            members.values().for_each(|value| collect_anchors(value, anchors));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
