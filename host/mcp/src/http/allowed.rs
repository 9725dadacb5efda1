//! The plugins that a client may use: all others are as if they were not there.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use wharf_core::{Answer, CallRequest, Code, Error, ToolDefinition, ToolService};
use wildmatch::WildMatch;

/// Between the name of a plugin and that of its tool.
const SEPARATOR: &str = "__";

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

    /// Whether it allows what has this full name. A tool that is listed under its own
    /// name alone does not say whose it is: only who may use every plugin sees it.
    fn allows_full(&self, name: &str) -> bool {
        match name.split_once(SEPARATOR) {
            Some((plugin, _)) => self.allows(plugin),
            None => self.patterns.iter().any(|pattern| pattern.pattern() == "*"),
        }
    }

    /// Those of the tools that it allows.
    pub(super) fn tools(&self, tools: Arc<dyn ToolService>) -> Arc<dyn ToolService> {
        Arc::new(AllowedTools { tools, allowed: self.clone(), made: Mutex::default() })
    }
}

struct AllowedTools {
    tools: Arc<dyn ToolService>,
    allowed: Allowed,
    /// The whole list, and what is allowed of it.
    // A lock of the standard library: held to compare two pointers, or to make a list.
    made: Mutex<Option<(Arc<[ToolDefinition]>, Arc<[ToolDefinition]>)>>,
}

#[async_trait::async_trait]
impl ToolService for AllowedTools {
    fn tools(&self) -> Arc<[ToolDefinition]> {
        let whole = self.tools.tools();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some((of, allowed)) if Arc::ptr_eq(of, &whole) => Arc::clone(allowed),
            _ => {
                let allowed: Arc<[_]> =
                    whole.iter().filter(|tool| self.allowed.allows_full(&tool.name)).cloned().collect();
                *made = Some((whole, Arc::clone(&allowed)));
                allowed
            }
        }
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        self.tools.changes()
    }

    async fn call(&self, request: CallRequest) -> Result<Answer, Error> {
        if !self.allowed.allows_full(&request.tool) {
            return Err(Error::new(Code::NotFound, format!("there is no tool {:?}", request.tool)));
        }
        self.tools.call(request).await
    }
}
