//! What the browser says of a page, led to the part that understands it.
//!
//! All of it happens on the task that reads for the whole browser, so nothing here
//! waits. Each wait for an answer is a task of its own, so that no script, dialog or
//! order delays another one.

mod attachment;
mod console;
mod contexts;
mod crash;
mod dialogs;
mod documents;
mod downloads;
mod flood;
mod interception;
mod network;

use std::sync::Arc;

use crate::{
    connection::Event,
    page::Page,
    routes::{EventTarget, Target},
};

impl EventTarget for Page {
    fn hear(self: Arc<Self>, session: &str, event: Event<'_>) {
        let (domain, _) = event.method.split_once('.').unwrap_or_default();
        match domain {
            "Fetch" => interception::hear(&self, session, event),
            "Network" => network::hear(&self, session, event),
            "Runtime" => {
                contexts::hear(&self, session, event);
                console::hear(&self, session, event);
            }
            "Log" => console::hear(&self, session, event),
            "Page" if event.method.starts_with("Page.javascriptDialog") => dialogs::hear(&self, session, event),
            "Page" => documents::hear(&self, session, event),
            "Inspector" => crash::hear(&self, session, event),
            "Browser" => downloads::hear(&self, event),
            _ => {}
        }
    }

    fn attached(self: Arc<Self>, session: String, target: &Target) {
        attachment::attached(&self, session, target);
    }

    fn detached(&self, session: &str) {
        attachment::detached(self, session);
    }

    fn is_deaf(&self, session: &str) -> bool {
        self.state().floods.is_deaf(session)
    }

    fn has_frame(&self, frame: &str) -> bool {
        self.is_main(frame) || self.state().contexts.knows(frame)
    }
}
