//! What a check and its explanation both look at, with the steps that it takes: each once,
//! for both, so that what they cost cannot drift apart.

use serde_json::{Map, Value};

use super::{
    evaluate::Evaluator,
    member_schemas::MemberSchemas,
    meter::Stopped,
    rule_graph::{NodeId, Properties},
};

impl Evaluator<'_, '_, '_> {
    /// Whether an object has a member of this name.
    pub(super) fn has(&mut self, members: &Map<String, Value>, name: &str) -> Result<bool, Stopped> {
        self.meter.spend_lookup(name.len(), members.len())?;
        Ok(members.contains_key(name))
    }

    /// The schema that the item at this place has to fit.
    pub(super) fn schema_for_item(
        &mut self,
        first: &[NodeId],
        rest: Option<NodeId>,
        at: usize,
    ) -> Result<Option<NodeId>, Stopped> {
        self.meter.spend(1)?;
        Ok(first.get(at).copied().or(rest))
    }

    /// The first of the names that is not there.
    pub(super) fn missing<'n>(
        &mut self,
        names: &'n [Box<str>],
        members: &Map<String, Value>,
    ) -> Result<Option<&'n str>, Stopped> {
        for name in names {
            if !self.has(members, name)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The first name that does not fit.
    pub(super) fn illegal_name<'v>(
        &mut self,
        node: NodeId,
        members: &'v Map<String, Value>,
    ) -> Result<Option<&'v str>, Stopped> {
        for name in members.keys() {
            self.meter.spend_bytes(name.len())?;
            if !self.valid(node, &Value::String(name.clone()), None)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The schemas that a member of this name has to fit.
    pub(super) fn schemas_for_member(&mut self, properties: &Properties, name: &str) -> Result<MemberSchemas, Stopped> {
        let Properties { named, patterns, additional } = properties;
        self.meter.spend_lookup(name.len(), named.len())?;
        let mut schemas = MemberSchemas::from(named.get(name).copied());
        for (pattern, node) in patterns {
            if self.matches(*pattern, name)? {
                schemas.push(*node);
            }
        }
        Ok(if schemas.is_empty() { MemberSchemas::from(*additional) } else { schemas })
    }
}
