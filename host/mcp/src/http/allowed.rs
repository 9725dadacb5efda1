//! The plugins that a client may use: all others are as if they were not there.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use wharf_core::{Answer, CallRequest, Code, Error, ToolDefinition, ToolService};
use wildmatch::WildMatch;

/// Which plugins.
#[derive(Clone)]
pub(super) struct Allowed {
    patterns: Arc<[WildMatch]>,
}

impl Allowed {
    pub(super) fn new(patterns: &[String]) -> Self {
        Self { patterns: patterns.iter().map(|pattern| WildMatch::new(pattern)).collect() }
    }

    pub(super) fn allows(&self, plugin: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(plugin))
    }

    /// Those of the tools that it allows.
    pub(super) fn tools(&self, tools: Arc<dyn ToolService>) -> Arc<dyn ToolService> {
        Arc::new(AllowedTools { tools, allowed: self.clone(), made: Mutex::default() })
    }
}

struct AllowedTools {
    tools: Arc<dyn ToolService>,
    allowed: Allowed,
    // A lock of the standard library: held to compare two pointers, or to make a list.
    made: Mutex<Option<Lists>>,
}

/// The whole list, and what is allowed of it.
type Lists = (Arc<[ToolDefinition]>, Arc<[ToolDefinition]>);

impl AllowedTools {
    fn allows(&self, tool: &str) -> bool {
        self.tools.plugin_of(tool).is_some_and(|plugin| self.allowed.allows(&plugin))
    }
}

#[async_trait::async_trait]
impl ToolService for AllowedTools {
    fn tools(&self) -> Arc<[ToolDefinition]> {
        let whole = self.tools.tools();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some((of, allowed)) if Arc::ptr_eq(of, &whole) => Arc::clone(allowed),
            _ => {
                let allowed: Arc<[_]> = whole.iter().filter(|tool| self.allows(&tool.name)).cloned().collect();
                *made = Some((whole, Arc::clone(&allowed)));
                allowed
            }
        }
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        self.tools.changes()
    }

    fn plugin_of(&self, tool: &str) -> Option<String> {
        self.tools.plugin_of(tool)
    }

    async fn call(&self, request: CallRequest) -> Result<Answer, Error> {
        if !self.allows(&request.tool) {
            return Err(Error::new(Code::NotFound, format!("there is no tool {:?}", request.tool)));
        }
        self.tools.call(request).await
    }
}
