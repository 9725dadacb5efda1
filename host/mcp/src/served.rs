//! What a connection serves, and what all connections to it share.
//!
//! Owns what has to outlive a connection, since a client of the newer era may make
//! each request on another one: the key of what callers carry between rounds of
//! input, and what was announced. Knows no message.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rmcp::model::{Prompt, ResourceTemplate, Tool};
use wharf_core::{
    OfferService, ToolDefinition, ToolService,
    service::offer::{MayUse, PromptDefinition, ResourceTemplate as TemplateDefinition},
};

use crate::{
    catalogue::{self, Catalogue},
    rounds::Seals,
};

/// What clients are served: tools, and whatever plugins offer besides.
///
/// Make it once and clone it for each connection: what a client was given by one
/// of them is known to the others, and to no other `Served`.
#[derive(Clone)]
pub struct Served {
    /// What can be called.
    pub tools: Arc<dyn ToolService>,
    /// Prompts, resources and completions; nothing of them is served where this is absent.
    pub offers: Option<Arc<dyn OfferService>>,
    /// The plugins whose changes are told; those of all where absent.
    pub(crate) may_use: Option<MayUse>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    seals: Seals,
    tools: Catalogue<ToolDefinition, Tool>,
    prompts: Catalogue<PromptDefinition, Prompt>,
    templates: Catalogue<TemplateDefinition, ResourceTemplate>,
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
    /// Serves these.
    #[must_use]
    pub fn new(tools: Arc<dyn ToolService>, offers: Option<Arc<dyn OfferService>>) -> Self {
        Self { tools, offers, may_use: None, shared: Arc::default() }
    }

    /// Serves these of the plugins alone that somebody may use; `tools` has no others.
    pub(crate) fn limited(tools: Arc<dyn ToolService>, offers: Option<Arc<dyn OfferService>>, may_use: MayUse) -> Self {
        let offers = offers.map(|offers| offers.of_plugins(may_use.clone()));
        Self { may_use: Some(may_use), ..Self::new(tools, offers) }
    }

    /// What is announced to clients. What was there once stays: who was told that there
    /// are prompts finds none, and not that the method is gone, when their plugin is unloaded.
    pub(crate) fn offered(&self) -> Offered {
        let Some(offers) = &self.offers else { return Offered::default() };
        let ever = |had: &AtomicBool, now: bool| {
            if now {
                had.store(true, Ordering::Relaxed);
            }
            had.load(Ordering::Relaxed)
        };
        Offered {
            prompts: ever(&self.shared.had_prompts, !offers.prompts().is_empty()),
            resources: ever(&self.shared.had_resources, offers.has_resources() || !offers.templates().is_empty()),
        }
    }

    pub(crate) fn seals(&self) -> &Seals {
        &self.shared.seals
    }

    /// The tools in the protocol's shape, in the order of their definitions.
    pub(crate) fn protocol_tools(&self, definitions: &Arc<[ToolDefinition]>) -> Arc<[Tool]> {
        self.shared.tools.of(definitions, catalogue::tool)
    }

    /// The prompts in the protocol's shape, in the order of their definitions.
    pub(crate) fn protocol_prompts(&self, definitions: &Arc<[PromptDefinition]>) -> Arc<[Prompt]> {
        self.shared.prompts.of(definitions, catalogue::prompt)
    }

    /// The templates in the protocol's shape, in the order of their definitions.
    pub(crate) fn protocol_templates(&self, definitions: &Arc<[TemplateDefinition]>) -> Arc<[ResourceTemplate]> {
        self.shared.templates.of(definitions, catalogue::template)
    }
}
