//! The host offers what all of its plugins do.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::broadcast;
use wharf_core::{
    Error,
    service::offer::{
        Asking, Change, CompletionOf, Completions, MayUse, OfferService, PromptAnswer, PromptDefinition,
        ResourceContent, ResourceDefinition, ResourceTemplate,
    },
};

use super::{super::Host, Offering};

impl Host {
    fn offering(&self) -> Offering {
        Offering::new(self.clone(), None)
    }
}

#[async_trait::async_trait]
impl OfferService for Host {
    fn prompts(&self) -> Arc<[PromptDefinition]> {
        self.offering().prompts()
    }

    fn templates(&self) -> Arc<[ResourceTemplate]> {
        self.offering().templates()
    }

    fn has_resources(&self) -> bool {
        self.offering().has_resources()
    }

    fn changes(&self) -> broadcast::Receiver<Change> {
        self.offering().changes()
    }

    fn of_plugins(self: Arc<Self>, may_use: MayUse) -> Arc<dyn OfferService> {
        Arc::new(self.offering()).of_plugins(may_use)
    }

    async fn prompt(&self, name: &str, arguments: Map<String, Value>, asking: Asking) -> Result<PromptAnswer, Error> {
        self.offering().prompt(name, arguments, asking).await
    }

    async fn resources(&self, asking: Asking) -> Result<Vec<ResourceDefinition>, Error> {
        self.offering().resources(asking).await
    }

    async fn read_resource(&self, uri: &str, asking: Asking) -> Result<Vec<ResourceContent>, Error> {
        self.offering().read_resource(uri, asking).await
    }

    async fn complete(
        &self,
        of: CompletionOf,
        argument: &str,
        typed: &str,
        others: Map<String, Value>,
        asking: Asking,
    ) -> Result<Completions, Error> {
        self.offering().complete(of, argument, typed, others, asking).await
    }
}
