//! Patterns of schemas: compiled up to a size, and matched in counted steps.
//!
//! A pattern of twenty bytes may compile to megabytes, and any text may make a
//! lazy automaton build a state for each byte of it. So the size is bounded
//! before it is built, and the matching goes byte by byte, in memory that is
//! bounded, too, with states that are built costing what building them takes.

use regex_automata::{
    hybrid::dfa::{Cache, DFA},
    nfa::thompson::{self, WhichCaptures},
    util::start,
};
use regex_syntax::hir::{Capture, Hir, HirKind, Look, Repetition};

use super::{
    bounds::MAX_TEXT_BYTES,
    budget::SchemaBudget,
    error::{SchemaError, shorten},
    meter::{Meter, Stopped},
};

/// Nesting of groups.
const MAX_NESTING: u32 = 64;
/// Bytes between two looks at what they cost.
const CHUNK_BYTES: usize = 16;
/// States of the automaton that a search keeps at least: more than it can build between
/// two looks, so that building is always seen.
const KEPT_STATES: usize = 2 * CHUNK_BYTES;
/// States of the pattern that are looked at in one step when a state of the automaton is
/// built.
const STATES_PER_STEP: usize = 4;

/// One pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: Box<str>,
    automaton: DFA,
    /// Steps of building one state, at most.
    building: u64,
}

impl Pattern {
    pub(super) fn compile(text: &str, budget: &mut SchemaBudget) -> Result<Self, SchemaError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(SchemaError::LongPattern);
        }
        budget.begin_pattern(translating(text))?;
        let illegal = |why: String| SchemaError::Invalid(format!("its pattern {:?}: {}", shorten(text), shorten(&why)));
        let translated = jsonschema_regex::to_rust_regex(text).map_err(|()| illegal("it cannot be read".to_owned()))?;
        let limit = budget.compile_pattern(&translated)?;
        let mut parser = regex_syntax::ParserBuilder::new().nest_limit(MAX_NESTING).build();
        let expression = parser.parse(&translated).map_err(|error| illegal(error.to_string()))?;
        let config = thompson::Config::new().nfa_size_limit(Some(limit)).which_captures(WhichCaptures::None);
        let states = thompson::Compiler::new().configure(config).build_from_hir(&of_ascii_words(expression));
        let states = states.map_err(|error| match error.size_limit() {
            Some(_) => budget.pattern_too_large(),
            None => illegal(error.to_string()),
        })?;
        budget.end_pattern(states.memory_usage());
        let count = states.states().len();
        // What the library names as the least is enough for a few states.
        let capacity = (16 << 10) + KEPT_STATES * (5 * count + 2_048) + 64 * count;
        let config = DFA::config().cache_capacity(capacity).skip_cache_capacity_check(true);
        let automaton = DFA::builder().configure(config).build_from_nfa(states);
        let automaton = automaton.map_err(|error| illegal(error.to_string()))?;
        let building = 2 + (count / STATES_PER_STEP) as u64;
        Ok(Self { text: text.into(), automaton, building })
    }

    /// Room for searches of one check.
    pub(super) fn cache(&self) -> Cache {
        self.automaton.create_cache()
    }

    /// Steps of making that room.
    pub(super) fn cache_steps(&self) -> u64 {
        64 + self.building
    }

    /// Whether it matches anywhere in the text.
    pub(super) fn is_match(&self, text: &str, cache: &mut Cache, meter: &mut Meter) -> Result<bool, Stopped> {
        let mut before = cache.memory_usage();
        meter.spend(2)?;
        // Nothing of what can fail is configured, so a failure cannot happen; it matches nothing then.
        let Ok(mut state) = self.automaton.start_state(cache, &start::Config::new()) else { return Ok(false) };
        let mut bytes = text.as_bytes();
        while !bytes.is_empty() {
            // Each of these bytes may have a state built before that is seen.
            let affordable = usize::try_from(meter.left() / self.building).unwrap_or(usize::MAX);
            let (chunk, rest) = bytes.split_at(bytes.len().min(affordable.clamp(1, CHUNK_BYTES)));
            bytes = rest;
            let mut read = 0;
            for byte in chunk {
                read += 1;
                let Ok(next) = self.automaton.next_state(cache, state, *byte) else { return Ok(false) };
                state = next;
                if state.is_tagged() && (state.is_match() || state.is_dead() || state.is_quit()) {
                    break;
                }
            }
            let after = cache.memory_usage();
            meter.spend(if after == before { 1 } else { read * self.building })?;
            before = after;
            if state.is_match() {
                return Ok(true);
            }
            if state.is_dead() || state.is_quit() {
                return Ok(false);
            }
        }
        let Ok(end) = self.automaton.next_eoi_state(cache, state) else { return Ok(false) };
        meter.spend(if cache.memory_usage() == before { 1 } else { self.building })?;
        Ok(end.is_match())
    }
}

/// Steps of translating a pattern: the library parses all of it anew for each escape that
/// it replaces, which makes it longer.
fn translating(text: &str) -> u64 {
    let mut bytes = text.bytes();
    // It escapes what has a meaning in classes of the one dialect and not of the other.
    let mut length = text.len() + text.bytes().filter(|byte| b"[&~-".contains(byte)).count();
    let mut read = length;
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            continue;
        }
        length += match bytes.next() {
            Some(b'd' | b'D') => 4,
            Some(b'w' | b'W') => 11,
            Some(b's' | b'S') => 160,
            Some(b'c') => 0,
            _ => continue,
        };
        read += length;
    }
    2 * read as u64
}

/// The same with the words of ECMAScript, whose `\b` and `\B` know ASCII only.
fn of_ascii_words(expression: Hir) -> Hir {
    let all = |parts: Vec<Hir>| parts.into_iter().map(of_ascii_words).collect();
    match expression.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(match look {
            Look::WordUnicode => Look::WordAscii,
            Look::WordUnicodeNegate => Look::WordAsciiNegate,
            Look::WordStartUnicode => Look::WordStartAscii,
            Look::WordEndUnicode => Look::WordEndAscii,
            Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
            Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
            other => other,
        }),
        HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
            Hir::repetition(Repetition { min, max, greedy, sub: Box::new(of_ascii_words(*sub)) })
        }
        HirKind::Capture(Capture { index, name, sub }) => {
            Hir::capture(Capture { index, name, sub: Box::new(of_ascii_words(*sub)) })
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
    }
}
