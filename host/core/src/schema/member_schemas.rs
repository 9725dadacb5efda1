//! The schemas that one member of an object has to fit.

use super::rule_graph::NodeId;

/// Usually a single one, for which nothing is allocated.
pub(super) struct MemberSchemas {
    first: Option<NodeId>,
    others: Vec<NodeId>,
}

impl MemberSchemas {
    pub(super) fn push(&mut self, node: NodeId) {
        self.others.push(node);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.others.is_empty()
    }
}

impl From<Option<NodeId>> for MemberSchemas {
    fn from(first: Option<NodeId>) -> Self {
        Self { first, others: Vec::new() }
    }
}

impl IntoIterator for MemberSchemas {
    type Item = NodeId;
    type IntoIter = std::iter::Chain<std::option::IntoIter<NodeId>, std::vec::IntoIter<NodeId>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.others)
    }
}
