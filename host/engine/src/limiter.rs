//! Memory, tables and instances of one call, all of them together.

use std::sync::Arc;

use wasmtime::ResourceLimiter;
use wharf_core::{CallLimits, audit::CallAudit};

use crate::isolation::HostLink;

/// Counts what all memories and tables of a store hold in sum: a limit per
/// memory would be multiplied by a component that has several.
#[derive(Debug)]
pub(crate) struct StoreLimiter {
    memory_bytes: usize,
    max_memory_bytes: usize,
    table_elements: usize,
    max_table_elements: usize,
    instances: usize,
    tables: usize,
    memories: usize,
    /// Hears how much memory the call has, while it runs.
    audit: Option<Arc<CallAudit>>,
    /// The same in a worker.
    host: Option<Arc<HostLink>>,
}

impl StoreLimiter {
    pub(crate) fn new(limits: &CallLimits, audit: Option<&Arc<CallAudit>>, host: Option<&Arc<HostLink>>) -> Self {
        let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Self {
            memory_bytes: 0,
            max_memory_bytes: size(limits.memory_bytes),
            table_elements: 0,
            max_table_elements: size(limits.table_elements),
            instances: size(limits.instances),
            tables: size(limits.tables),
            memories: size(limits.memories),
            audit: audit.cloned(),
            host: host.cloned(),
        }
    }

    /// What all memories of the store hold.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes as u64
    }
}

/// The sum after a growth, where it stays within the limit.
fn grown(sum: usize, current: usize, desired: usize, limit: usize) -> Option<usize> {
    sum.checked_add(desired.checked_sub(current)?).filter(|sum| *sum <= limit)
}

impl ResourceLimiter for StoreLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        // Growth past the memory's own maximum fails afterwards and must not be counted.
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let sum = grown(self.memory_bytes, current, desired, self.max_memory_bytes);
        if let Some(sum) = sum {
            self.memory_bytes = sum;
            if let Some(audit) = &self.audit {
                audit.held_memory(sum as u64);
            }
            if let Some(host) = &self.host {
                host.held_memory(sum as u64);
            }
        }
        Ok(sum.is_some())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let sum = grown(self.table_elements, current, desired, self.max_table_elements);
        self.table_elements = sum.unwrap_or(self.table_elements);
        Ok(sum.is_some())
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.tables
    }

    fn memories(&self) -> usize {
        self.memories
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_memories_share_one_limit() {
        let mut limiter = StoreLimiter::new(&CallLimits { memory_bytes: 100, ..CallLimits::default() }, None, None);
        assert!(limiter.memory_growing(0, 60, None).expect("decides"));
        assert!(limiter.memory_growing(0, 40, None).expect("decides"));
        assert!(!limiter.memory_growing(40, 41, None).expect("decides"));
        assert!(!limiter.memory_growing(0, usize::MAX, None).expect("decides"));
    }

    #[test]
    fn growth_past_a_memorys_own_maximum_is_not_counted() {
        let mut limiter = StoreLimiter::new(&CallLimits { memory_bytes: 100, ..CallLimits::default() }, None, None);
        assert!(!limiter.memory_growing(0, 90, Some(10)).expect("decides"));
        assert!(limiter.memory_growing(0, 100, None).expect("decides"));
    }
}
