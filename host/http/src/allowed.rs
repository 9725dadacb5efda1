//! The plugins that a client may use: all others are as if they were not there.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::watch;
use wharf_core::{
    Answer, CallRequest, Code, Error, RequestMemory, ToolDefinition, ToolService, Tracer, service::offer::MayUse,
};
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

    /// The same for what is offered beside tools.
    pub(super) fn may_use(&self) -> MayUse {
        let allowed = self.clone();
        MayUse::new(move |plugin| allowed.allows(plugin.as_str()))
    }

    /// Those of the tools that it allows. Needs a tokio runtime.
    pub(super) fn tools(&self, tools: Arc<dyn ToolService>) -> Arc<dyn ToolService> {
        let changes = tools.changes();
        let changed = changes.is_some().then(|| watch::Sender::new(0));
        let allowed = AllowedTools { tools, allowed: self.clone(), made: Mutex::default(), changed };
        let allowed = Arc::new(allowed);
        if let Some(changes) = changes {
            let seen = allowed.tools();
            tokio::spawn(follow(Arc::downgrade(&allowed), changes, seen));
        }
        allowed
    }
}

struct AllowedTools {
    tools: Arc<dyn ToolService>,
    allowed: Allowed,
    // A lock of the standard library: held to compare two pointers, or to make a list.
    made: Mutex<Option<Lists>>,
    /// Counts how often what is allowed has changed; nothing where that never does.
    changed: Option<watch::Sender<u64>>,
}

/// Tells changes of the whole list where they are changes of what is allowed, too: those
/// of other plugins are nobody's business here.
async fn follow(tools: Weak<AllowedTools>, mut changes: watch::Receiver<u64>, mut seen: Arc<[ToolDefinition]>) {
    while changes.changed().await.is_ok() {
        let Some(tools) = tools.upgrade() else { return };
        let now = tools.tools();
        if now != seen
            && let Some(changed) = &tools.changed
        {
            changed.send_modify(|changes| *changes = changes.wrapping_add(1));
        }
        seen = now;
    }
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
        self.changed.as_ref().map(watch::Sender::subscribe)
    }

    fn plugin_of(&self, tool: &str) -> Option<String> {
        self.tools.plugin_of(tool)
    }

    fn tracer(&self) -> Option<Tracer> {
        self.tools.tracer()
    }

    fn request_memory(&self) -> Option<RequestMemory> {
        self.tools.request_memory()
    }

    async fn call(&self, request: CallRequest) -> Result<Answer, Error> {
        if !self.allows(&request.tool) {
            return Err(Error::new(Code::NotFound, format!("there is no tool {:?}", request.tool)));
        }
        self.tools.call(request).await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::Map;

    use super::*;

    struct Plugins {
        definitions: Mutex<Arc<[ToolDefinition]>>,
        changes: watch::Sender<u64>,
    }

    impl Plugins {
        fn list(&self, names: &[&str]) {
            let definition = |name: &&str| ToolDefinition {
                name: (*name).to_owned(),
                description: "for tests".to_owned(),
                input_schema: Arc::default(),
                output_schema: None,
                meta: Map::new(),
            };
            *self.definitions.lock().expect("not poisoned") = names.iter().map(definition).collect();
            self.changes.send_modify(|changes| *changes += 1);
        }
    }

    #[async_trait::async_trait]
    impl ToolService for Plugins {
        fn tools(&self) -> Arc<[ToolDefinition]> {
            Arc::clone(&self.definitions.lock().expect("not poisoned"))
        }

        fn changes(&self) -> Option<watch::Receiver<u64>> {
            Some(self.changes.subscribe())
        }

        async fn call(&self, _: CallRequest) -> Result<Answer, Error> {
            Ok(Answer::default())
        }
    }

    #[tokio::test]
    async fn a_change_of_what_may_not_be_used_is_not_told() {
        let plugins = Arc::new(Plugins { definitions: Mutex::new(Arc::new([])), changes: watch::Sender::new(0) });
        plugins.list(&["mine__one"]);
        let allowed = Allowed::new(&["mine".to_owned()]).tools(Arc::clone(&plugins) as Arc<dyn ToolService>);
        let mut changes = allowed.changes().expect("the list may change");
        let heard = async |changes: &mut watch::Receiver<u64>| {
            tokio::time::timeout(Duration::from_secs(60), changes.changed()).await.expect("in time").expect("it lives");
            *changes.borrow_and_update()
        };
        plugins.list(&["mine__one", "other__one"]);
        tokio::task::yield_now().await;
        plugins.list(&["mine__one", "mine__two", "other__one"]);
        assert_eq!(heard(&mut changes).await, 1, "the first of the two was nobody's business here");
        assert_eq!(allowed.tools().len(), 2);
        plugins.list(&["other__one"]);
        assert_eq!(heard(&mut changes).await, 2);
    }
}
