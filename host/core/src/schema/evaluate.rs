//! Whether a value fits, in counted steps.

use std::cmp::Ordering;

use regex_automata::hybrid::dfa::Cache;
use serde_json::{Map, Value};

use super::{
    equality::{all_differ, compare, equal, is_integer, is_multiple, multiple_steps},
    evaluated::Evaluated,
    meter::{Meter, Stopped},
    rule_graph::{Choice, NodeId, NodeRules, PatternId, Properties, Rule, RuleGraph, Types},
};

/// One check.
pub(super) struct Evaluator<'p, 'm, 'i> {
    pub(super) graph: &'p RuleGraph,
    pub(super) meter: &'m mut Meter<'i>,
    /// What searches with each pattern keep, for this check alone: what a value makes
    /// them keep goes with it.
    caches: Vec<Option<Cache>>,
    frames: usize,
}

impl<'p, 'm, 'i> Evaluator<'p, 'm, 'i> {
    pub(super) fn new(graph: &'p RuleGraph, meter: &'m mut Meter<'i>) -> Self {
        Self { graph, meter, caches: Vec::new(), frames: 0 }
    }

    /// Whether the value fits the root of the schema.
    pub(super) fn fits(&mut self, value: &Value) -> Result<bool, Stopped> {
        self.valid(0, value, None)
    }

    /// One level deeper, where there is one.
    pub(super) fn enter(&mut self) -> Result<(), Stopped> {
        self.frames += 1;
        if self.frames > self.meter.max_frames { Err(Stopped::Depth) } else { self.meter.spend(1) }
    }

    pub(super) fn leave(&mut self) {
        self.frames -= 1;
    }

    /// Whether a value fits this schema. `evaluated` hears what was looked at; of a
    /// value that does not fit, what it hears means nothing.
    pub(super) fn valid(
        &mut self,
        node: NodeId,
        value: &Value,
        evaluated: Option<&mut Evaluated>,
    ) -> Result<bool, Stopped> {
        let graph = self.graph;
        match &graph.nodes[node].rules {
            // Also these take a step, since thousands of them may be applied to each item.
            NodeRules::Anything => self.meter.spend(1).map(|()| true),
            NodeRules::Nothing => self.meter.spend(1).map(|()| false),
            NodeRules::All { rules, unevaluated_items, unevaluated_properties } => {
                self.enter()?;
                let fits = match (unevaluated_items, unevaluated_properties) {
                    (None, None) => self.all(rules, value, evaluated)?,
                    (items, properties) => {
                        let mut own = Evaluated::default();
                        let fits = self.all(rules, value, Some(&mut own))?
                            && self.unevaluated(value, *items, *properties, &mut own)?.is_none();
                        if let (true, Some(evaluated)) = (fits, evaluated) {
                            evaluated.add(&own, self.meter)?;
                        }
                        fits
                    }
                };
                self.leave();
                Ok(fits)
            }
        }
    }

    fn all(&mut self, rules: &[Rule], value: &Value, mut evaluated: Option<&mut Evaluated>) -> Result<bool, Stopped> {
        for rule in rules {
            if !self.holds(rule, value, evaluated.as_deref_mut())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The place of the first member or item that nothing else has looked at and that
    /// does not fit what is asked of those.
    pub(super) fn unevaluated(
        &mut self,
        value: &Value,
        items: Option<NodeId>,
        properties: Option<NodeId>,
        evaluated: &mut Evaluated,
    ) -> Result<Option<usize>, Stopped> {
        match (value, items, properties) {
            (Value::Array(values), Some(node), _) => {
                for (at, item) in values.iter().enumerate() {
                    self.meter.spend(1)?;
                    if !evaluated.items.has(at) && !self.valid(node, item, None)? {
                        return Ok(Some(at));
                    }
                }
                evaluated.items.add_all();
            }
            (Value::Object(members), _, Some(node)) => {
                for (at, member) in members.values().enumerate() {
                    self.meter.spend(1)?;
                    if !evaluated.members.has(at) && !self.valid(node, member, None)? {
                        return Ok(Some(at));
                    }
                }
                evaluated.members.add_all();
            }
            _ => {}
        }
        Ok(None)
    }

    /// Whether a value keeps one rule.
    pub(super) fn holds(
        &mut self,
        rule: &Rule,
        value: &Value,
        mut evaluated: Option<&mut Evaluated>,
    ) -> Result<bool, Stopped> {
        self.meter.spend(1)?;
        Ok(match (rule, value) {
            (Rule::Type(types), value) => is_of(value, *types),
            (Rule::Const(wanted), value) => equal(wanted, value, self.meter)?,
            (Rule::Enum(choice), value) => self.is_one_of(choice, value)?,
            (Rule::Reference(_, node), value) => self.valid(*node, value, evaluated)?,
            (Rule::AllOf(nodes), value) => {
                for node in nodes {
                    if !self.valid(*node, value, evaluated.as_deref_mut())? {
                        return Ok(false);
                    }
                }
                true
            }
            (Rule::AnyOf(nodes), value) => {
                let mut any = false;
                for node in nodes {
                    any |= self.branch(*node, value, evaluated.as_deref_mut())?;
                    // What the others look at matters only where somebody asks.
                    if any && evaluated.is_none() {
                        break;
                    }
                }
                any
            }
            (Rule::OneOf(nodes), value) => self.number_of(nodes, value, evaluated)? == 1,
            (Rule::Not(node), value) => !self.valid(*node, value, None)?,
            (Rule::If { condition, then, otherwise }, value) => {
                let met = self.branch(*condition, value, evaluated.as_deref_mut())?;
                match if met { then } else { otherwise } {
                    Some(node) => self.valid(*node, value, evaluated)?,
                    None => true,
                }
            }
            (Rule::MultipleOf(of), Value::Number(number)) => {
                self.meter.spend(multiple_steps(number, of))?;
                is_multiple(number, of)
            }
            (Rule::Maximum(limit), Value::Number(number)) => {
                matches!(compare(number, limit), Some(Ordering::Less | Ordering::Equal))
            }
            (Rule::ExclusiveMaximum(limit), Value::Number(number)) => compare(number, limit) == Some(Ordering::Less),
            (Rule::Minimum(limit), Value::Number(number)) => {
                matches!(compare(number, limit), Some(Ordering::Greater | Ordering::Equal))
            }
            (Rule::ExclusiveMinimum(limit), Value::Number(number)) => compare(number, limit) == Some(Ordering::Greater),
            (Rule::MaxLength(most), Value::String(text)) => {
                text.len() as u64 <= *most || self.characters(text)? <= *most
            }
            (Rule::MinLength(least), Value::String(text)) => {
                text.len() as u64 >= *least && self.characters(text)? >= *least
            }
            (Rule::Pattern(pattern), Value::String(text)) => self.matches(*pattern, text)?,
            (Rule::MaxItems(most), Value::Array(items)) => items.len() as u64 <= *most,
            (Rule::MinItems(least), Value::Array(items)) => items.len() as u64 >= *least,
            (Rule::UniqueItems, Value::Array(items)) => all_differ(items, self.meter)?,
            (Rule::Items { first, rest }, Value::Array(items)) => {
                for (at, item) in items.iter().enumerate() {
                    let Some(node) = self.schema_for_item(first, *rest, at)? else { break };
                    if !self.valid(node, item, None)? {
                        return Ok(false);
                    }
                    if let Some(evaluated) = evaluated.as_deref_mut() {
                        evaluated.items.insert(at);
                    }
                }
                true
            }
            (Rule::Contains { node, least, most }, Value::Array(items)) => {
                let mut found = 0;
                for (at, item) in items.iter().enumerate() {
                    self.meter.spend(1)?;
                    if self.valid(*node, item, None)? {
                        found += 1;
                        if let Some(evaluated) = evaluated.as_deref_mut() {
                            evaluated.items.insert(at);
                        } else if most.is_none() && found >= *least {
                            break;
                        }
                    }
                }
                found >= *least && most.is_none_or(|most| found <= most)
            }
            (Rule::MaxProperties(most), Value::Object(members)) => members.len() as u64 <= *most,
            (Rule::MinProperties(least), Value::Object(members)) => members.len() as u64 >= *least,
            (Rule::Required(names), Value::Object(members)) => self.missing(names, members)?.is_none(),
            (Rule::DependentRequired(dependent), Value::Object(members)) => {
                for (name, names) in dependent {
                    if self.has(members, name)? && self.missing(names, members)?.is_some() {
                        return Ok(false);
                    }
                }
                true
            }
            (Rule::DependentSchemas(dependent), Value::Object(members)) => {
                for (name, node) in dependent {
                    if self.has(members, name)? && !self.valid(*node, value, evaluated.as_deref_mut())? {
                        return Ok(false);
                    }
                }
                true
            }
            (Rule::PropertyNames(node), Value::Object(members)) => self.illegal_name(*node, members)?.is_none(),
            (Rule::Properties(properties), Value::Object(members)) => {
                self.properties(properties, members, evaluated)?
            }
            // The others speak of values of one type, and this is of another one.
            _ => true,
        })
    }

    /// Whether a value fits one of several schemas, of which it hears only then.
    fn branch(&mut self, node: NodeId, value: &Value, evaluated: Option<&mut Evaluated>) -> Result<bool, Stopped> {
        let Some(evaluated) = evaluated else { return self.valid(node, value, None) };
        let mut own = Evaluated::default();
        let fits = self.valid(node, value, Some(&mut own))?;
        if fits {
            evaluated.add(&own, self.meter)?;
        }
        Ok(fits)
    }

    /// How many of these schemas a value fits; two stand for more.
    pub(super) fn number_of(
        &mut self,
        nodes: &[NodeId],
        value: &Value,
        mut evaluated: Option<&mut Evaluated>,
    ) -> Result<usize, Stopped> {
        let mut found = 0;
        for node in nodes {
            found += usize::from(self.branch(*node, value, evaluated.as_deref_mut())?);
            if found == 2 {
                break;
            }
        }
        Ok(found)
    }

    fn properties(
        &mut self,
        properties: &Properties,
        members: &Map<String, Value>,
        mut evaluated: Option<&mut Evaluated>,
    ) -> Result<bool, Stopped> {
        let Properties { named, patterns, additional } = properties;
        if patterns.is_empty() && additional.is_none() && evaluated.is_none() && named.len() < members.len() {
            for (name, node) in named {
                self.meter.spend_lookup(name.len(), members.len())?;
                if let Some(member) = members.get(&**name)
                    && !self.valid(*node, member, None)?
                {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        for (at, (name, member)) in members.iter().enumerate() {
            let mut has_schema = false;
            for node in self.schemas_for_member(properties, name)? {
                has_schema = true;
                if !self.valid(node, member, None)? {
                    return Ok(false);
                }
            }
            if let (true, Some(evaluated)) = (has_schema, evaluated.as_deref_mut()) {
                evaluated.members.insert(at);
            }
        }
        Ok(true)
    }

    fn is_one_of(&mut self, choice: &Choice, value: &Value) -> Result<bool, Stopped> {
        if let Value::String(text) = value {
            self.meter.spend_bytes(text.len())?;
            return Ok(choice.texts.contains(text.as_str()));
        }
        for other in &choice.others {
            if equal(other, value, self.meter)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn characters(&mut self, text: &str) -> Result<u64, Stopped> {
        self.meter.spend_bytes(text.len())?;
        Ok(text.chars().count() as u64)
    }

    pub(super) fn matches(&mut self, pattern: PatternId, text: &str) -> Result<bool, Stopped> {
        let compiled = &self.graph.patterns[pattern];
        if self.caches.len() <= pattern {
            self.meter.spend(self.graph.patterns.len() as u64 / 4)?;
            self.caches.resize_with(self.graph.patterns.len(), || None);
        }
        let cache = match &mut self.caches[pattern] {
            Some(cache) => cache,
            none => {
                self.meter.spend(compiled.cache_steps())?;
                none.insert(compiled.cache())
            }
        };
        compiled.is_match(text, cache, self.meter)
    }
}

fn is_of(value: &Value, types: Types) -> bool {
    match value {
        Value::Null => types.has(Types::NULL),
        Value::Bool(_) => types.has(Types::BOOLEAN),
        Value::Number(number) => types.has(Types::NUMBER) || (types.has(Types::INTEGER) && is_integer(number)),
        Value::String(_) => types.has(Types::STRING),
        Value::Array(_) => types.has(Types::ARRAY),
        Value::Object(_) => types.has(Types::OBJECT),
    }
}
