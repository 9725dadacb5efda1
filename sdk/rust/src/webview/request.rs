//! What a tool asks of a web page: how it is opened, which script runs.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::words::words;

words! {
    /// What becomes of dialogs that a page opens.
    DialogPolicy {
        /// They stay open until they are answered, for a time.
        Report = "report";
        /// Yes to all.
        Accept = "accept";
        /// No to all.
        Dismiss = "dismiss";
    }
}

/// How a page is opened: 1280 by 800, dialogs reported, unless it is told
/// otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageOptions {
    pub(crate) size: (u32, u32),
    pub(crate) dialogs: Option<DialogPolicy>,
    pub(crate) further: Map<String, Value>,
}

impl PageOptions {
    /// With nothing else.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is seen, in CSS pixels, 1 to 4096 each; 0 for what is usual.
    #[must_use]
    pub fn size(mut self, width: u32, height: u32) -> Self {
        self.size = (width, height);
        self
    }

    /// What becomes of dialogs.
    #[must_use]
    pub fn dialogs(mut self, policy: DialogPolicy) -> Self {
        self.dialogs = Some(policy);
        self
    }

    /// The language that pages are told, such as `ko-KR`.
    #[must_use]
    pub fn locale(self, locale: impl Into<String>) -> Self {
        self.further("locale", locale.into())
    }

    /// The time zone that pages are told, such as `Asia/Seoul`.
    #[must_use]
    pub fn time_zone(self, time_zone: impl Into<String>) -> Self {
        self.further("time_zone", time_zone.into())
    }

    /// The name that the browser gives itself.
    #[must_use]
    pub fn user_agent(self, user_agent: impl Into<String>) -> Self {
        self.further("user_agent", user_agent.into())
    }

    fn further(mut self, name: &str, value: String) -> Self {
        self.further.insert(name.to_owned(), value.into());
        self
    }

    /// The options of the contract that have no field of their own.
    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn options(&self) -> Option<String> {
        (!self.further.is_empty()).then(|| Value::Object(self.further.clone()).to_string())
    }
}

/// JavaScript for a page: an expression, or statements; promises are awaited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    pub(crate) source: String,
    pub(crate) isolated: bool,
    pub(crate) frame: Option<String>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) max_bytes: u32,
}

impl Script {
    /// Among the page's own scripts.
    #[must_use]
    pub fn new(source: impl Into<String>) -> Self {
        Self { source: source.into(), isolated: false, frame: None, deadline: None, max_bytes: 0 }
    }

    /// Apart from the page's own scripts, with the same document: nothing that
    /// they do changes what it sees of the language.
    #[must_use]
    pub fn isolated(mut self) -> Self {
        self.isolated = true;
        self
    }

    /// In a frame of the page, by the id that [`super::Operation::Frames`] tells.
    #[must_use]
    pub fn frame(mut self, frame: impl Into<String>) -> Self {
        self.frame = Some(frame.into());
        self
    }

    /// When it counts as failed: 300 s at most.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// How many bytes of the result are sent at most, 1 MiB at most.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u32) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The options of the contract that have no field of their own.
    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn options(&self) -> Option<String> {
        self.frame.as_ref().map(|frame| serde_json::json!({ "frame": frame }).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_becomes_an_option_of_the_contract() {
        assert_eq!(PageOptions::new().options(), None);
        let options = PageOptions::new().locale("ko-KR").time_zone("Asia/Seoul").options();
        assert_eq!(options.as_deref(), Some(r#"{"locale":"ko-KR","time_zone":"Asia/Seoul"}"#));
        assert_eq!(Script::new("1").options(), None);
        assert_eq!(Script::new("1").frame("f1").options().as_deref(), Some(r#"{"frame":"f1"}"#));
    }
}
