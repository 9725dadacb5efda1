//! What is wrong with a value, in words: the first few violations, and no more work
//! than it takes to find them.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    error::{shorten, shorten_value},
    evaluate::Evaluator,
    evaluated::Evaluated,
    meter::Stopped,
    rule_graph::{Choice, NodeId, NodeRules, Rule, RuleGraph, SHOWN_CHOICES, SchemaStep},
};

/// Violations that one error names.
const MAX_VIOLATIONS: usize = 5;
/// Length of a path in an error. What is behind is cut.
const MAX_PATH_BYTES: usize = 600;

/// Finds violations.
pub(super) struct Explanation<'e, 'v, 'p, 'm, 'i> {
    evaluator: &'e mut Evaluator<'p, 'm, 'i>,
    path: Vec<PathSegment<'v>>,
    lines: Vec<String>,
    more: bool,
}

/// A step from a value to one within it.
#[derive(Clone, Copy)]
enum PathSegment<'v> {
    Member(&'v str),
    Item(usize),
}

/// What is told.
pub(super) struct Explained {
    /// The first violations, one line each: the path in the value, what it breaks, and the
    /// rule in the schema.
    pub(super) told: String,
    /// Why the search for them ended early.
    pub(super) cut: Option<Stopped>,
}

/// Finds the first violations; where the steps do not suffice for that, what was found
/// until then.
pub(super) fn explain(evaluator: &mut Evaluator, value: &Value) -> Explained {
    let mut explanation = Explanation { evaluator, path: Vec::new(), lines: Vec::new(), more: false };
    let cut = explanation.look(0, value).err();
    let Explanation { mut lines, more, .. } = explanation;
    if cut.is_some() && lines.is_empty() {
        lines.push("it does not fit, and finding out where takes more steps than the check has".to_owned());
    } else if more || cut.is_some() {
        lines.push("and more".to_owned());
    }
    Explained { told: lines.join("\n"), cut }
}

impl<'v> Explanation<'_, 'v, '_, '_, '_> {
    fn look(&mut self, node: NodeId, value: &'v Value) -> Result<(), Stopped> {
        let graph = self.evaluator.graph;
        let (rules, items, properties) = match &graph.nodes[node].rules {
            NodeRules::Anything => return self.evaluator.meter.spend(1),
            NodeRules::Nothing => {
                self.evaluator.meter.spend(1)?;
                self.tell(node, None, || "False schema does not allow the value".to_owned());
                return Ok(());
            }
            NodeRules::All { rules, unevaluated_items, unevaluated_properties } => {
                (rules, *unevaluated_items, *unevaluated_properties)
            }
        };
        self.evaluator.enter()?;
        let before = self.lines.len();
        for rule in rules {
            if self.more {
                break;
            }
            self.rule(node, rule, value)?;
        }
        if self.lines.len() == before && (items.is_some() || properties.is_some()) {
            self.unevaluated(node, value, items, properties)?;
        }
        self.evaluator.leave();
        Ok(())
    }

    fn rule(&mut self, node: NodeId, rule: &Rule, value: &'v Value) -> Result<(), Stopped> {
        self.evaluator.meter.spend(1)?;
        match (rule, value) {
            (Rule::Reference(_, within), value) => self.look(*within, value),
            (Rule::AllOf(nodes), value) => nodes.iter().try_for_each(|within| self.look(*within, value)),
            (Rule::If { condition, then, otherwise }, value) => {
                let met = self.evaluator.valid(*condition, value, None)?;
                let within = if met { then } else { otherwise };
                within.map_or(Ok(()), |within| self.look(within, value))
            }
            (Rule::DependentSchemas(dependent), Value::Object(members)) => {
                for (name, within) in dependent {
                    if self.evaluator.has(members, name)? {
                        self.look(*within, value)?;
                    }
                }
                Ok(())
            }
            (Rule::Items { first, rest }, Value::Array(items)) => {
                for (at, item) in items.iter().enumerate() {
                    let within = self.evaluator.schema_for_item(first, *rest, at)?;
                    let Some(within) = within.filter(|_| !self.more) else { break };
                    self.within(PathSegment::Item(at), within, item)?;
                }
                Ok(())
            }
            (Rule::Properties(properties), Value::Object(members)) => {
                for (name, member) in members {
                    for within in self.evaluator.schemas_for_member(properties, name)? {
                        let refused = matches!(self.evaluator.graph.nodes[within].rules, NodeRules::Nothing);
                        // No other keyword has this schema: one that is named there is another one.
                        if refused && properties.additional == Some(within) {
                            let told = || {
                                format!("Additional properties are not allowed ('{}' was unexpected)", shorten(name))
                            };
                            self.tell(node, Some("additionalProperties"), told);
                        } else {
                            self.within(PathSegment::Member(name), within, member)?;
                        }
                        if self.more {
                            return Ok(());
                        }
                    }
                }
                Ok(())
            }
            (Rule::Required(names), Value::Object(members)) => {
                for name in names {
                    if !self.evaluator.has(members, name)? {
                        self.tell(node, Some("required"), || format!("\"{}\" is a required property", shorten(name)));
                    }
                    if self.more {
                        break;
                    }
                }
                Ok(())
            }
            (Rule::DependentRequired(dependent), Value::Object(members)) => {
                for (name, names) in dependent {
                    if self.evaluator.has(members, name)?
                        && let Some(missing) = self.evaluator.missing(names, members)?
                    {
                        let told = || {
                            format!("\"{}\" is a required property where \"{}\" is", shorten(missing), shorten(name))
                        };
                        self.tell(node, Some("dependentRequired"), told);
                    }
                    if self.more {
                        break;
                    }
                }
                Ok(())
            }
            (Rule::PropertyNames(within), Value::Object(members)) => {
                if let Some(name) = self.evaluator.illegal_name(*within, members)? {
                    self.tell(node, Some("propertyNames"), || format!("the name '{}' is not allowed", shorten(name)));
                }
                Ok(())
            }
            (Rule::OneOf(nodes), value) => {
                let keyword = Some("oneOf");
                match self.evaluator.number_of(nodes, value, None)? {
                    0 => self.tell(node, keyword, || none_of("oneOf")),
                    1 => {}
                    _ => self.tell(node, keyword, || {
                        "the value is valid under more than one of the schemas listed in the 'oneOf' keyword".to_owned()
                    }),
                }
                Ok(())
            }
            (rule, value) => {
                if !self.evaluator.holds(rule, value, None)? {
                    let graph = self.evaluator.graph;
                    let (keyword, told) = told(graph, rule);
                    self.tell(node, Some(keyword), || told);
                }
                Ok(())
            }
        }
    }

    fn within(&mut self, part: PathSegment<'v>, node: NodeId, value: &'v Value) -> Result<(), Stopped> {
        self.path.push(part);
        let looked = self.look(node, value);
        self.path.pop();
        looked
    }

    fn unevaluated(
        &mut self,
        node: NodeId,
        value: &'v Value,
        items: Option<NodeId>,
        properties: Option<NodeId>,
    ) -> Result<(), Stopped> {
        let graph = self.evaluator.graph;
        let NodeRules::All { rules, .. } = &graph.nodes[node].rules else { return Ok(()) };
        let mut evaluated = Evaluated::default();
        for rule in rules {
            self.evaluator.holds(rule, value, Some(&mut evaluated))?;
        }
        let Some(at) = self.evaluator.unevaluated(value, items, properties, &mut evaluated)? else { return Ok(()) };
        match value {
            Value::Object(members) => {
                let name = members.keys().nth(at).map(|name| shorten(name)).unwrap_or_default();
                let told = || format!("Unevaluated properties are not allowed ('{name}' was unexpected)");
                self.tell(node, Some("unevaluatedProperties"), told);
            }
            _ => self.tell(node, Some("unevaluatedItems"), || {
                format!("Unevaluated items are not allowed (item {at} was unexpected)")
            }),
        }
        Ok(())
    }

    /// Notes a violation here, unless there are enough.
    fn tell(&mut self, node: NodeId, keyword: Option<&str>, told: impl FnOnce() -> String) {
        if self.lines.len() == MAX_VIOLATIONS {
            self.more = true;
            return;
        }
        let place = self.place();
        let rule = rule_path(self.evaluator.graph, node, keyword);
        self.lines.push(format!("{}: {} (rule {})", shorten(&place), shorten(&told()), shorten(&rule)));
    }

    fn place(&self) -> String {
        let mut place = String::new();
        for part in &self.path {
            if place.len() > MAX_PATH_BYTES {
                break;
            }
            match part {
                PathSegment::Member(name) => add_name(&mut place, name),
                PathSegment::Item(at) => {
                    let _ = write!(place, "/{at}");
                }
            }
        }
        if place.is_empty() { "the whole value".to_owned() } else { place }
    }
}

/// Adds a name to a JSON pointer, where it is long only its beginning.
fn add_name(pointer: &mut String, name: &str) {
    pointer.push('/');
    for character in crate::text::cut(name, MAX_PATH_BYTES).chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// Where in the schema a rule stands.
fn rule_path(graph: &RuleGraph, node: NodeId, keyword: Option<&str>) -> String {
    let mut steps = Vec::new();
    let mut at = node;
    while let Some((outer, step)) = &graph.nodes[at].place {
        steps.push(step);
        at = *outer;
    }
    let mut path = String::new();
    for step in steps.into_iter().rev() {
        if path.len() > MAX_PATH_BYTES {
            break;
        }
        match step {
            SchemaStep::Keyword(keyword) => add_name(&mut path, keyword),
            SchemaStep::Named(keyword, name) => {
                add_name(&mut path, keyword);
                add_name(&mut path, name);
            }
            SchemaStep::Numbered(keyword, number) => {
                add_name(&mut path, keyword);
                let _ = write!(path, "/{number}");
            }
        }
    }
    if let Some(keyword) = keyword {
        add_name(&mut path, keyword);
    }
    path
}

fn none_of(keyword: &str) -> String {
    format!("the value is not valid under any of the schemas listed in the '{keyword}' keyword")
}

/// The keyword of a rule that a value breaks, and what it is told.
fn told(graph: &RuleGraph, rule: &Rule) -> (&'static str, String) {
    let count = |number: &u64, what: &str| format!("{number} {what}{}", if *number == 1 { "" } else { "s" });
    match rule {
        Rule::Type(types) => {
            let names: Vec<String> = types.names().map(|name| format!("\"{name}\"")).collect();
            let told = match names.as_slice() {
                [name] => format!("the value is not of type {name}"),
                _ => format!("the value is not of types {}", names.join(", ")),
            };
            ("type", told)
        }
        Rule::Const(wanted) => ("const", format!("{} was expected", shorten_value(wanted))),
        Rule::Enum(choice) => ("enum", choices(choice)),
        Rule::MultipleOf(of) => ("multipleOf", format!("the value is not a multiple of {of}")),
        Rule::Maximum(limit) => ("maximum", format!("the value is greater than the maximum of {limit}")),
        Rule::ExclusiveMaximum(limit) => {
            ("exclusiveMaximum", format!("the value is greater than or equal to the maximum of {limit}"))
        }
        Rule::Minimum(limit) => ("minimum", format!("the value is less than the minimum of {limit}")),
        Rule::ExclusiveMinimum(limit) => {
            ("exclusiveMinimum", format!("the value is less than or equal to the minimum of {limit}"))
        }
        Rule::MaxLength(most) => ("maxLength", format!("the value is longer than {}", count(most, "character"))),
        Rule::MinLength(least) => ("minLength", format!("the value is shorter than {}", count(least, "character"))),
        Rule::Pattern(pattern) => {
            ("pattern", format!("the value does not match \"{}\"", shorten(&graph.patterns[*pattern].text)))
        }
        Rule::MaxItems(most) => ("maxItems", format!("the value has more than {}", count(most, "item"))),
        Rule::MinItems(least) => ("minItems", format!("the value has less than {}", count(least, "item"))),
        Rule::UniqueItems => ("uniqueItems", "the value has non-unique elements".to_owned()),
        Rule::MaxProperties(1) => ("maxProperties", "the value has more than 1 property".to_owned()),
        Rule::MaxProperties(most) => ("maxProperties", format!("the value has more than {most} properties")),
        Rule::MinProperties(1) => ("minProperties", "the value has less than 1 property".to_owned()),
        Rule::MinProperties(least) => ("minProperties", format!("the value has less than {least} properties")),
        Rule::Contains { least, most, .. } => {
            let wanted = match most {
                Some(most) => format!("{least} to {most} items"),
                None => format!("at least {}", count(least, "item")),
            };
            ("contains", format!("the value does not contain {wanted} that fit the schema of the 'contains' keyword"))
        }
        Rule::AnyOf(_) => ("anyOf", none_of("anyOf")),
        Rule::Not(_) => ("not", "the value fits a schema that is not allowed for it".to_owned()),
        // These are told by what is within them, or do not speak of this value.
        Rule::Reference(keyword, _) => (keyword, String::new()),
        Rule::Required(_) => ("required", String::new()),
        Rule::DependentRequired(_) => ("dependentRequired", String::new()),
        Rule::Properties(_) => ("properties", String::new()),
        Rule::PropertyNames(_) => ("propertyNames", String::new()),
        Rule::Items { .. } => ("items", String::new()),
        Rule::AllOf(_) => ("allOf", String::new()),
        Rule::OneOf(_) => ("oneOf", String::new()),
        Rule::If { .. } => ("if", String::new()),
        Rule::DependentSchemas(_) => ("dependentSchemas", String::new()),
    }
}

fn choices(choice: &Choice) -> String {
    let mut told = "the value is not one of ".to_owned();
    for (at, wanted) in choice.shown.iter().enumerate() {
        let between = match at {
            0 => "",
            _ if at + 1 == choice.count => " or ",
            _ => ", ",
        };
        told.push_str(between);
        told.push_str(&shorten_value(wanted));
    }
    if choice.count > SHOWN_CHOICES {
        let _ = write!(told, " or {} other candidates", choice.count - SHOWN_CHOICES);
    }
    told
}
