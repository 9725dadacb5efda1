//! What the schemas of one plugin, or of one front end, may take to compile and to keep.

use super::error::SchemaError;
use crate::{HostLimits, expression::CompileBudget, quota::Bound};

/// Steps of compiling that all patterns have, whatever they may come to: about half a second.
const COMPILE_STEPS: u64 = 8_000_000;
/// For as many bytes that patterns may come to, a further step: what usual ones take.
const BYTES_PER_STEP: u64 = 2;

/// The most that the schemas of one plugin, or of one front end, may come to: each limit
/// with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SchemaLimits {
    parts: Bound,
    patterns: Bound,
    pattern_bytes: Bound,
    pattern_total_bytes: Bound,
}

impl SchemaLimits {
    /// Those of a plugin.
    #[must_use]
    pub fn new(limits: &HostLimits) -> Self {
        Self {
            parts: ("schema_parts", limits.schema_parts),
            patterns: ("schema_patterns", limits.schema_patterns),
            pattern_bytes: ("schema_pattern_bytes", limits.schema_pattern_bytes),
            pattern_total_bytes: ("schema_pattern_total_bytes", limits.schema_pattern_total_bytes),
        }
    }

    /// Those of a front end, which nobody has installed.
    #[must_use]
    pub fn of_front_end(limits: &HostLimits) -> Self {
        let all = Self::new(limits);
        let least = |one: Bound, other: Bound| if one.1 < other.1 { one } else { other };
        Self {
            parts: least(all.parts, ("front_end_schema_parts", limits.front_end_schema_parts)),
            pattern_total_bytes: least(
                all.pattern_total_bytes,
                ("front_end_pattern_bytes", limits.front_end_pattern_bytes),
            ),
            ..all
        }
    }
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self::new(&HostLimits::default())
    }
}

/// What is left of the limits while schemas are compiled, one after the other.
#[derive(Debug, Clone)]
pub struct SchemaBudget {
    limits: SchemaLimits,
    parts: u64,
    patterns: u64,
    pattern_total_bytes: u64,
    compiling: CompileBudget,
}

impl SchemaBudget {
    /// Nothing is spent yet.
    #[must_use]
    pub fn new(limits: SchemaLimits) -> Self {
        let SchemaLimits { parts, patterns, pattern_total_bytes, .. } = limits;
        Self {
            limits,
            parts: parts.1,
            patterns: patterns.1,
            pattern_total_bytes: pattern_total_bytes.1,
            compiling: CompileBudget::new(COMPILE_STEPS + pattern_total_bytes.1 / BYTES_PER_STEP),
        }
    }

    pub(super) fn limits(&self) -> SchemaLimits {
        self.limits
    }

    /// For one value of a schema.
    pub(super) fn part(&mut self) -> Result<(), SchemaError> {
        let none_left = SchemaError::TooManyParts { limit: self.limits.parts };
        self.parts = self.parts.checked_sub(1).ok_or(none_left)?;
        Ok(())
    }

    /// For one pattern, whose translation takes so many steps.
    pub(super) fn begin_pattern(&mut self, translating: u64) -> Result<(), SchemaError> {
        self.compiling.spend_steps(translating).map_err(|_| SchemaError::LongPatterns)?;
        let none_left = SchemaError::TooManyPatterns { limit: self.limits.patterns };
        self.patterns = self.patterns.checked_sub(1).ok_or(none_left)?;
        Ok(())
    }

    /// For compiling what it was translated to: how many bytes that may come to.
    pub(super) fn compile_pattern(&mut self, expression: &str) -> Result<usize, SchemaError> {
        self.compiling.spend_on(expression).map_err(|_| SchemaError::LongPatterns)?;
        Ok(usize::try_from(self.limits.pattern_bytes.1.min(self.pattern_total_bytes)).unwrap_or(usize::MAX))
    }

    pub(super) fn end_pattern(&mut self, bytes: usize) {
        self.pattern_total_bytes = self.pattern_total_bytes.saturating_sub(bytes as u64);
    }

    /// Why a pattern that came to more than it might is refused.
    pub(super) fn pattern_too_large(&self) -> SchemaError {
        let SchemaLimits { pattern_bytes, pattern_total_bytes, .. } = self.limits;
        if self.pattern_total_bytes < pattern_bytes.1 {
            SchemaError::LargePatterns { limit: pattern_total_bytes }
        } else {
            SchemaError::LargePattern { limit: pattern_bytes }
        }
    }
}

impl Default for SchemaBudget {
    fn default() -> Self {
        Self::new(SchemaLimits::default())
    }
}
