//! What clients are served, and what is remembered across their connections.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use wharf_core::{
    OfferService, ToolService,
    service::{AllowedPlugins, Viewer},
};

use crate::rounds::{StateKeys, StateSealer};

/// What clients are served: tools, and whatever plugins offer besides.
///
/// Make it once and clone it for each connection: what a client was given by one
/// of them is known to the others, and to no other `Served` without the same [`StateKeys`].
#[derive(Clone)]
pub struct Served {
    /// What can be called.
    pub tools: Arc<dyn ToolService>,
    /// Prompts, resources and completions; nothing of them is served where this is absent.
    pub offers: Option<Arc<dyn OfferService>>,
    /// The plugins that clients may use; all where absent.
    pub plugins: Option<AllowedPlugins>,
    shared: Arc<ServiceState>,
}

#[derive(Default)]
struct ServiceState {
    sealer: StateSealer,
    had_prompts: AtomicBool,
    had_resources: AtomicBool,
}

/// What there is beside tools.
#[derive(Clone, Copy, Default)]
pub(crate) struct Offered {
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl Served {
    /// Serves these, of all plugins.
    #[must_use]
    pub fn new(tools: Arc<dyn ToolService>, offers: Option<Arc<dyn OfferService>>) -> Self {
        Self { tools, offers, plugins: None, shared: Arc::default() }
    }

    /// Serves the same to other clients, which may use these of the plugins alone.
    #[must_use]
    pub fn of_plugins(&self, plugins: Option<AllowedPlugins>) -> Self {
        let own = Self { plugins, ..Self::new(Arc::clone(&self.tools), self.offers.clone()) };
        match self.sealer().shared_keys() {
            Some(keys) => own.with_state_keys(keys),
            None => own,
        }
    }

    /// Seals what clients carry from one round of input to the next with keys that others have,
    /// too: a client may answer at any of them.
    #[must_use]
    pub fn with_state_keys(self, keys: StateKeys) -> Self {
        let shared = ServiceState { sealer: StateSealer::of_keys(keys), ..ServiceState::default() };
        Self { shared: Arc::new(shared), ..self }
    }

    /// What is announced to clients. What was there once stays: a client that was told of
    /// prompts finds none, and not that the method is gone, when their plugin is unloaded.
    pub(crate) fn offered(&self, viewer: Viewer<'_>) -> Offered {
        let Some(offers) = &self.offers else { return Offered::default() };
        let ever = |had: &AtomicBool, now: bool| {
            if now {
                had.store(true, Ordering::Relaxed);
            }
            had.load(Ordering::Relaxed)
        };
        let resources = offers.has_resources(viewer) || !offers.templates(viewer).is_empty();
        // A client that was told of none would not look for what comes a moment later.
        let more = offers.is_incomplete(viewer);
        Offered {
            prompts: ever(&self.shared.had_prompts, more || !offers.prompts(viewer).is_empty()),
            resources: ever(&self.shared.had_resources, more || resources),
        }
    }

    pub(crate) fn sealer(&self) -> &StateSealer {
        &self.shared.sealer
    }
}
