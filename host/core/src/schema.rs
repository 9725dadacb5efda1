//! JSON Schemas that a plugin or a front end sent: compiled without trust, then used
//! to check arguments and answers.
//!
//! A schema is evaluated by the host, outside of a guest's own limits, so neither it nor
//! the value that it is held against may ask for much. It names nothing outside itself;
//! what it is compiled to is bounded ([`SchemaBudget`]); and a check has steps that are
//! counted while it takes them ([`Meter`]), so that it ends soon whatever both are.
//!
//! | file | what it owns |
//! |---|---|
//! | `document` | its JSON, as text or parsed |
//! | `inspect`, `weigh`, `bounds`, `error` | what is refused of a schema before it is compiled |
//! | `budget`, `rule_graph`, `pattern` | what it is compiled to, how large that may be, and how long it may take |
//! | `meter`, `evaluate`, `shared`, `evaluated`, `member_schemas`, `equality` | whether a value fits, in counted steps |
//! | `explain`, `shared` | what is wrong with one that does not, in counted steps, too |

mod bounds;
mod budget;
mod document;
mod equality;
mod error;
mod evaluate;
mod evaluated;
mod explain;
mod inspect;
mod member_schemas;
mod meter;
mod pattern;
mod rule_graph;
mod shared;
mod weigh;

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use bounds::MAX_BRANCHING_DEPTH;
pub use budget::{SchemaBudget, SchemaLimits};
pub use document::SchemaDocument;
pub use error::SchemaError;
use error::shorten;
use evaluate::Evaluator;
pub use meter::{Meter, Stopped};
use rule_graph::RuleGraph;

/// Why a value was not found to fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckFailure {
    /// What is wrong with it, one line for each violation: the path in the value, what it
    /// breaks, and the rule in the schema.
    #[error("{0}")]
    Violations(String),
    /// The check ended before it was done.
    #[error("the check has ended before it was done: {0:?}")]
    Stopped(Stopped),
    /// The schema, compiled only now, is refused.
    #[error("the schema is refused: {0}")]
    Refused(SchemaError),
}

impl From<Stopped> for CheckFailure {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

/// A schema that is safe to evaluate. Clones share what is compiled.
#[derive(Debug, Clone)]
pub struct Schema {
    source: SchemaDocument,
    limits: SchemaLimits,
    compiled: Arc<OnceLock<Compiled>>,
}

#[derive(Debug)]
struct Compiled {
    graph: RuleGraph,
    max_depth: usize,
}

impl Schema {
    /// Compiles a schema of an object. What it takes of the budget is not there for the
    /// next one of the same plugin or front end.
    ///
    /// # Errors
    /// Where it is no valid schema, or asks for more than is safe.
    pub fn compile(schema: &SchemaDocument, budget: &mut SchemaBudget) -> Result<Self, SchemaError> {
        let compiled = OnceLock::from(Compiled::new(schema, budget, IsSchema::Unknown)?);
        Ok(Self { source: schema.clone(), limits: budget.limits(), compiled: Arc::new(compiled) })
    }

    /// A schema that has been compiled before, by this or another host, and is
    /// compiled again when it is first used: compiling takes longer than a
    /// start may. That it is a schema is not asked again.
    #[must_use]
    pub fn checked_before(schema: &SchemaDocument, limits: SchemaLimits) -> Self {
        Self { source: schema.clone(), limits, compiled: Arc::default() }
    }

    /// Whether it is compiled, so that a check does not begin with that.
    #[must_use]
    pub fn is_prepared(&self) -> bool {
        self.compiled.get().is_some()
    }

    /// Compiles it now, unless that has happened. Takes up to a second ([`SchemaBudget`]).
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
        let compiled = Compiled::new(&self.source, &mut SchemaBudget::new(self.limits), IsSchema::CheckedBefore)?;
        Ok(self.compiled.get_or_init(|| compiled))
    }

    /// Checks a value, with the steps that calls have by default.
    ///
    /// # Errors
    /// What is wrong with it, or why that cannot be said.
    pub fn check(&self, value: &Value) -> Result<(), CheckFailure> {
        let steps = crate::CallLimits::default().check_steps;
        self.check_within(value, &mut Meter::new(steps))
    }

    /// Checks a value within what the meter has.
    ///
    /// # Errors
    /// What is wrong with it; or that the check ended before it was done.
    pub fn check_within(&self, value: &Value, meter: &mut Meter) -> Result<(), CheckFailure> {
        let Compiled { graph, max_depth } = self.compiled().map_err(CheckFailure::Refused)?;
        if *max_depth != usize::MAX {
            let levels = nesting(value, meter)?;
            if levels > *max_depth {
                let told = format!("the value nests {levels} levels, more than {max_depth}");
                return Err(CheckFailure::Violations(told));
            }
        }
        let mut evaluator = Evaluator::new(graph, meter);
        if evaluator.fits(value)? {
            return Ok(());
        }
        drop(evaluator);
        let mut explaining = meter.for_explaining();
        let explained = explain::explain(&mut Evaluator::new(graph, &mut explaining), value);
        match explained.cut {
            // Another check is made, which has enough for that.
            Some(stopped) if explaining.explains_whole() => Err(CheckFailure::Stopped(stopped)),
            _ => Err(CheckFailure::Violations(explained.told)),
        }
    }
}

/// Whether a schema follows the rules of schemas. For its first answer the library compiles
/// its own meta schema: 29 % of the instructions of a warm start with its first call. So it is
/// asked once in the life of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IsSchema {
    Unknown,
    CheckedBefore,
}

impl Compiled {
    fn new(schema: &Map<String, Value>, budget: &mut SchemaBudget, is_schema: IsSchema) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::NotAnObject);
        }
        let root = Value::Object(schema.clone());
        let places = inspect::inspect(&root, budget)?;
        let max_depth = if weigh::recursions(&root)? > 1 { MAX_BRANCHING_DEPTH } else { usize::MAX };
        // The graph is made of the schema by rules of our own; the library checks that it is a schema.
        if is_schema == IsSchema::Unknown {
            jsonschema::draft202012::meta::validate(&root)
                .map_err(|error| SchemaError::Invalid(shorten(&error.to_string())))?;
        }
        Ok(Self { graph: RuleGraph::compile(&root, &places, budget)?, max_depth })
    }
}

/// How deep a value nests.
fn nesting(value: &Value, meter: &mut Meter) -> Result<usize, Stopped> {
    meter.spend(1)?;
    let mut deepest = 0;
    match value {
        Value::Array(items) => {
            for item in items {
                deepest = deepest.max(nesting(item, meter)?);
            }
        }
        Value::Object(members) => {
            for member in members.values() {
                deepest = deepest.max(nesting(member, meter)?);
            }
        }
        _ => {}
    }
    Ok(1 + deepest)
}

#[cfg(test)]
mod tests;
