//! What a schema may ask for, whatever it says.

/// Nesting of a value whose schema refers to itself at two places: the work may
/// double with each level.
pub(super) const MAX_BRANCHING_DEPTH: usize = 16;
/// Nesting of a schema.
pub(super) const MAX_DEPTH: usize = 64;
/// Subschemas that one schema may multiply out to, references followed.
pub(super) const MAX_WEIGHT: u64 = 20_000;
/// Places at which a schema may refer back to a part that contains it. A tree
/// needs one or two; each more multiplies the work for nested values.
pub(super) const MAX_RECURSIONS: u64 = 2;
/// Text of one pattern.
pub(super) const MAX_TEXT_BYTES: usize = 2_048;
