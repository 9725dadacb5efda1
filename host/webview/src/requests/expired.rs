//! The ids of requests whose results are not kept any more.

use std::collections::{HashSet, VecDeque};

use crate::RequestId;

/// At most so many; the oldest is forgotten first.
#[derive(Debug)]
pub(super) struct ExpiredRequests {
    most: usize,
    order: VecDeque<RequestId>,
    ids: HashSet<RequestId>,
}

impl ExpiredRequests {
    pub(super) fn new(most: usize) -> Self {
        Self { most, order: VecDeque::new(), ids: HashSet::new() }
    }

    pub(super) fn remember(&mut self, id: RequestId) {
        if self.ids.insert(id) {
            self.order.push_back(id);
        }
        while self.order.len() > self.most {
            if let Some(oldest) = self.order.pop_front() {
                self.ids.remove(&oldest);
            }
        }
    }

    pub(super) fn contains(&self, id: RequestId) -> bool {
        self.ids.contains(&id)
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}
