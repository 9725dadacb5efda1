//! A schema as rules that point to each other: what a check goes through.
//!
//! Owns what the keywords of JSON Schema 2020-12 are made into. That the schema is
//! one, and names nothing outside itself, was seen before.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Number, Value};

use super::{
    budget::SchemaBudget,
    error::{SchemaError, shorten},
    inspect::{Places, anchors},
    pattern::Pattern,
};

/// Schemas that may be applied to one and the same value, each within the one before.
const MAX_IN_PLACE: usize = 128;

/// A place in [`Program::nodes`].
pub(super) type NodeId = usize;
/// A place in [`Program::patterns`].
pub(super) type PatternId = usize;

/// A schema, compiled.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) nodes: Vec<Node>,
    pub(super) patterns: Vec<Pattern>,
}

/// One schema within it.
#[derive(Debug)]
pub(super) struct Node {
    /// In which other one it lies, and where: for telling the rule.
    pub(super) place: Option<(NodeId, Step)>,
    pub(super) rules: Rules,
}

/// From a schema to one within it.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Keyword(&'static str),
    Named(&'static str, Arc<str>),
    Numbered(&'static str, usize),
}

#[derive(Debug)]
pub(super) enum Rules {
    Anything,
    Nothing,
    /// Rules, the cheap ones first.
    All {
        rules: Vec<Rule>,
        unevaluated_items: Option<NodeId>,
        unevaluated_properties: Option<NodeId>,
    },
}

/// What a keyword asks for, or several that belong together.
#[derive(Debug)]
pub(super) enum Rule {
    Type(Types),
    Const(Value),
    Enum(Choice),
    MultipleOf(Number),
    Maximum(Number),
    ExclusiveMaximum(Number),
    Minimum(Number),
    ExclusiveMinimum(Number),
    MaxLength(u64),
    MinLength(u64),
    Pattern(PatternId),
    MaxItems(u64),
    MinItems(u64),
    UniqueItems,
    MaxProperties(u64),
    MinProperties(u64),
    Required(Vec<Box<str>>),
    DependentRequired(Vec<(Box<str>, Vec<Box<str>>)>),
    Properties(Properties),
    PropertyNames(NodeId),
    Items { first: Vec<NodeId>, rest: Option<NodeId> },
    Contains { node: NodeId, least: u64, most: Option<u64> },
    Reference(&'static str, NodeId),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId),
    If { condition: NodeId, then: Option<NodeId>, otherwise: Option<NodeId> },
    DependentSchemas(Vec<(Box<str>, NodeId)>),
}

/// Types of values, as a set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const ARRAY: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(1 << 1);
    pub(super) const INTEGER: Self = Self(1 << 2);
    pub(super) const NULL: Self = Self(1 << 3);
    pub(super) const NUMBER: Self = Self(1 << 4);
    pub(super) const OBJECT: Self = Self(1 << 5);
    pub(super) const STRING: Self = Self(1 << 6);
    /// In the order of the bits.
    const NAMES: [&'static str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().enumerate().filter(move |(at, _)| self.0 & (1 << at) != 0).map(|(_, name)| name)
    }

    fn read(value: &Value) -> Self {
        let bit = |name: &Value| Self::NAMES.iter().position(|known| name.as_str() == Some(known)).map(|at| 1 << at);
        Self(match value {
            Value::Array(names) => names.iter().filter_map(bit).fold(0, |all, bit: u8| all | bit),
            name => bit(name).unwrap_or_default(),
        })
    }
}

/// The values of an `enum`. Texts are looked up, and all others compared.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) texts: HashSet<Box<str>>,
    pub(super) others: Vec<Value>,
    /// The first few, to be told.
    pub(super) shown: Vec<Value>,
    pub(super) count: usize,
}

/// What is told of an `enum`.
pub(super) const SHOWN_CHOICES: usize = 8;

/// `properties`, `patternProperties` and `additionalProperties`.
#[derive(Debug)]
pub(super) struct Properties {
    pub(super) named: BTreeMap<Box<str>, NodeId>,
    pub(super) patterns: Vec<(PatternId, NodeId)>,
    pub(super) additional: Option<NodeId>,
}

impl Program {
    pub(super) fn compile(root: &Value, places: &Places, budget: &mut SchemaBudget) -> Result<Self, SchemaError> {
        let mut compiler = Compiler {
            root,
            places,
            anchors: anchors(root),
            budget,
            known: HashMap::new(),
            waiting: Vec::new(),
            known_patterns: HashMap::new(),
            program: Self { nodes: Vec::new(), patterns: Vec::new() },
        };
        compiler.node(root, None)?;
        // A list and no recursion: what refers to each other may be a long chain.
        while let Some((node, schema)) = compiler.waiting.pop() {
            compiler.program.nodes[node].rules = compiler.rules(node, schema)?;
        }
        let program = compiler.program;
        program.check_nesting()?;
        Ok(program)
    }

    /// Whether schemas that apply to the same value end somewhere, and soon.
    fn check_nesting(&self) -> Result<(), SchemaError> {
        // For each node how deep it goes; 0 while that is not known.
        let mut depths = vec![0_usize; self.nodes.len()];
        let mut open = vec![false; self.nodes.len()];
        for start in 0..self.nodes.len() {
            let mut path = vec![(start, self.in_place(start), 0_usize)];
            while let Some((node, children, deepest)) = path.last_mut() {
                let node = *node;
                if depths[node] > 0 {
                    path.pop();
                    continue;
                }
                open[node] = true;
                match children.pop() {
                    Some(child) if depths[child] > 0 => *deepest = (*deepest).max(depths[child]),
                    Some(child) if open[child] => return Err(SchemaError::Endless),
                    Some(child) => {
                        // It is looked at again, once it is known.
                        children.push(child);
                        if path.len() > MAX_IN_PLACE {
                            return Err(SchemaError::TooDeep);
                        }
                        path.push((child, self.in_place(child), 0));
                    }
                    None => {
                        depths[node] = *deepest + 1;
                        open[node] = false;
                        if depths[node] > MAX_IN_PLACE {
                            return Err(SchemaError::TooDeep);
                        }
                        path.pop();
                    }
                }
            }
        }
        Ok(())
    }

    /// The schemas that one applies to the value that it is itself applied to.
    fn in_place(&self, node: NodeId) -> Vec<NodeId> {
        let mut found = Vec::new();
        let Rules::All { rules, .. } = &self.nodes[node].rules else { return found };
        for rule in rules {
            match rule {
                Rule::Reference(_, node) | Rule::Not(node) => found.push(*node),
                Rule::AllOf(nodes) | Rule::AnyOf(nodes) | Rule::OneOf(nodes) => found.extend(nodes),
                Rule::If { condition, then, otherwise } => {
                    found.push(*condition);
                    found.extend([then, otherwise].into_iter().flatten());
                }
                Rule::DependentSchemas(schemas) => found.extend(schemas.iter().map(|(_, node)| *node)),
                _ => {}
            }
        }
        found
    }
}

struct Compiler<'s, 'b> {
    root: &'s Value,
    places: &'b Places,
    anchors: HashMap<&'s str, &'s Value>,
    budget: &'b mut SchemaBudget,
    known: HashMap<*const Value, NodeId>,
    waiting: Vec<(NodeId, &'s Map<String, Value>)>,
    known_patterns: HashMap<&'s str, PatternId>,
    program: Program,
}

impl<'s> Compiler<'s, '_> {
    /// The node of a schema; its rules follow.
    fn node(&mut self, schema: &'s Value, place: Option<(NodeId, Step)>) -> Result<NodeId, SchemaError> {
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return Ok(*known);
        }
        let node = self.program.nodes.len();
        let rules = match schema {
            Value::Bool(true) => Rules::Anything,
            Value::Bool(false) => Rules::Nothing,
            Value::Object(members) => {
                self.waiting.push((node, members));
                Rules::Anything
            }
            _ => return Err(SchemaError::Invalid("a schema is an object, true or false".to_owned())),
        };
        self.program.nodes.push(Node { place, rules });
        self.known.insert(schema, node);
        Ok(node)
    }

    fn rules(&mut self, at: NodeId, schema: &'s Map<String, Value>) -> Result<Rules, SchemaError> {
        let mut rules = self.asserting(schema)?;
        let one = |compiler: &mut Self, keyword: &'static str| -> Result<Option<NodeId>, SchemaError> {
            let within = schema.get(keyword);
            within.map(|within| compiler.node(within, Some((at, Step::Keyword(keyword))))).transpose()
        };
        let many = |compiler: &mut Self, keyword: &'static str| -> Result<Vec<NodeId>, SchemaError> {
            let within = schema.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate();
            within.map(|(number, within)| compiler.node(within, Some((at, Step::Numbered(keyword, number))))).collect()
        };
        let named = |compiler: &mut Self, keyword: &'static str| -> Result<Vec<(&'s str, NodeId)>, SchemaError> {
            let within = schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
            let node = |(name, within): (&'s String, &'s Value)| {
                let step = Step::Named(keyword, name.as_str().into());
                Ok((name.as_str(), compiler.node(within, Some((at, step)))?))
            };
            within.map(node).collect()
        };

        let mut properties = Properties { named: BTreeMap::new(), patterns: Vec::new(), additional: None };
        properties.named = named(self, "properties")?.into_iter().map(|(name, node)| (name.into(), node)).collect();
        for (pattern, node) in named(self, "patternProperties")? {
            properties.patterns.push((self.pattern(pattern)?, node));
        }
        properties.additional = one(self, "additionalProperties")?;
        if !properties.named.is_empty() || !properties.patterns.is_empty() || properties.additional.is_some() {
            rules.push(Rule::Properties(properties));
        }
        rules.extend(one(self, "propertyNames")?.map(Rule::PropertyNames));
        let (first, rest) = (many(self, "prefixItems")?, one(self, "items")?);
        if !first.is_empty() || rest.is_some() {
            rules.push(Rule::Items { first, rest });
        }
        if let Some(node) = one(self, "contains")? {
            let (least, most) = (count(schema.get("minContains")).unwrap_or(1), count(schema.get("maxContains")));
            rules.push(Rule::Contains { node, least, most });
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            rules.push(Rule::UniqueItems);
        }
        // A schema is one resource: whatever is referred to dynamically is found in it, and only once.
        for keyword in ["$ref", "$dynamicRef"] {
            if let Some(reference) = schema.get(keyword).and_then(Value::as_str) {
                let target = self.target(reference)?;
                rules.push(Rule::Reference(keyword, self.node(target, Some((at, Step::Keyword(keyword))))?));
            }
        }
        for (keyword, rule) in
            [("allOf", Rule::AllOf as fn(Vec<NodeId>) -> Rule), ("anyOf", Rule::AnyOf), ("oneOf", Rule::OneOf)]
        {
            rules.extend(Some(many(self, keyword)?).filter(|nodes| !nodes.is_empty()).map(rule));
        }
        rules.extend(one(self, "not")?.map(Rule::Not));
        if let Some(condition) = one(self, "if")? {
            rules.push(Rule::If { condition, then: one(self, "then")?, otherwise: one(self, "else")? });
        }
        let dependent = named(self, "dependentSchemas")?;
        if !dependent.is_empty() {
            let dependent = dependent.into_iter().map(|(name, node)| (name.into(), node)).collect();
            rules.push(Rule::DependentSchemas(dependent));
        }
        let unevaluated_items = one(self, "unevaluatedItems")?;
        let unevaluated_properties = one(self, "unevaluatedProperties")?;
        Ok(Rules::All { rules, unevaluated_items, unevaluated_properties })
    }

    /// The keywords that hold no schema.
    fn asserting(&mut self, schema: &'s Map<String, Value>) -> Result<Vec<Rule>, SchemaError> {
        let number = |keyword: &str| schema.get(keyword).and_then(Value::as_number).cloned();
        let counted = |keyword: &str| count(schema.get(keyword));
        let names = |value: &Value| -> Vec<Box<str>> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
        };
        let mut rules = Vec::new();
        rules.extend(schema.get("type").map(|types| Rule::Type(Types::read(types))));
        rules.extend(schema.get("const").cloned().map(Rule::Const));
        rules.extend(schema.get("enum").and_then(Value::as_array).map(|values| Rule::Enum(Choice::of(values))));
        rules.extend(number("multipleOf").map(Rule::MultipleOf));
        rules.extend(number("maximum").map(Rule::Maximum));
        rules.extend(number("exclusiveMaximum").map(Rule::ExclusiveMaximum));
        rules.extend(number("minimum").map(Rule::Minimum));
        rules.extend(number("exclusiveMinimum").map(Rule::ExclusiveMinimum));
        rules.extend(counted("maxLength").map(Rule::MaxLength));
        rules.extend(counted("minLength").map(Rule::MinLength));
        rules.extend(counted("maxItems").map(Rule::MaxItems));
        rules.extend(counted("minItems").map(Rule::MinItems));
        rules.extend(counted("maxProperties").map(Rule::MaxProperties));
        rules.extend(counted("minProperties").map(Rule::MinProperties));
        rules.extend(schema.get("required").map(names).filter(|names| !names.is_empty()).map(Rule::Required));
        if let Some(dependent) = schema.get("dependentRequired").and_then(Value::as_object) {
            let dependent = dependent.iter().map(|(name, required)| (name.as_str().into(), names(required)));
            rules.push(Rule::DependentRequired(dependent.collect()));
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            rules.push(Rule::Pattern(self.pattern(pattern)?));
        }
        Ok(rules)
    }

    fn pattern(&mut self, text: &'s str) -> Result<PatternId, SchemaError> {
        if let Some(known) = self.known_patterns.get(text) {
            return Ok(*known);
        }
        self.program.patterns.push(Pattern::compile(text, self.budget)?);
        let pattern = self.program.patterns.len() - 1;
        self.known_patterns.insert(text, pattern);
        Ok(pattern)
    }

    fn target(&self, reference: &str) -> Result<&'s Value, SchemaError> {
        let found = super::inspect::target(self.root, &self.anchors, reference)?;
        // What is data in one place is no schema in another.
        if self.places.has(found) { Ok(found) } else { Err(SchemaError::ForeignReference(shorten(reference))) }
    }
}

/// A count; 2.0 is one, too.
fn count(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count that is too large is no limit"
    )]
    value.as_u64().or_else(|| value.as_f64().map(|float| float as u64))
}

impl Choice {
    fn of(values: &[Value]) -> Self {
        let texts = values.iter().filter_map(Value::as_str).map(Into::into).collect();
        let others = values.iter().filter(|value| !value.is_string()).cloned().collect();
        let shown = values.iter().take(SHOWN_CHOICES).cloned().collect();
        Self { texts, others, shown, count: values.len() }
    }
}
