//! Copies of what hosts have, for all who follow it: however many do, each list is made once a second
//! at most.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::sync::Mutex;
use wharf_core::{
    audit::Requester,
    service::operator::{OperatorList, OperatorRequest, OperatorService},
};

/// A copy of a list, and when it was made.
type Snapshot = (Instant, Arc<str>);

/// What is followed of one host, for all who follow it.
pub(crate) struct OperatorFeed {
    service: Arc<dyn OperatorService>,
    // Held while a copy is made: the others wait for it rather than make their own.
    copies: HashMap<OperatorList, Mutex<Option<Snapshot>>>,
}

impl OperatorFeed {
    pub(crate) fn new(service: Arc<dyn OperatorService>) -> Self {
        let copies = OperatorList::FOLLOWED.into_iter().map(|topic| (topic, Mutex::default())).collect();
        Self { service, copies }
    }

    pub(crate) fn service(&self) -> &Arc<dyn OperatorService> {
        &self.service
    }

    /// A copy that is no older than `age`.
    pub(crate) async fn copy(&self, topic: OperatorList, age: Duration) -> Arc<str> {
        let Some(copy) = self.copies.get(&topic) else { return "{}".into() };
        let mut copy = copy.lock().await;
        if let Some((made, text)) = &*copy
            && made.elapsed() < age
        {
            return Arc::clone(text);
        }
        let made = Instant::now();
        let text: Arc<str> = self.made(topic).await.into();
        *copy = Some((made, Arc::clone(&text)));
        text
    }

    async fn made(&self, of: OperatorList) -> String {
        // A list that cannot be had is an empty one, and the next look comes soon.
        let entries =
            self.service.operate(OperatorRequest::List { of }, &Requester::default()).await.unwrap_or_default();
        json!({ of.as_str(): entries }).to_string()
    }
}
