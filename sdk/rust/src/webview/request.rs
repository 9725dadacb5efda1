//! What a tool asks of a web page: how it is opened, which script runs.

use std::time::Duration;

use wharf_contract::webview as contract;
pub use wharf_contract::webview::AnyDialogPolicy as DialogPolicy;
#[cfg(target_family = "wasm")]
use wharf_contract::webview::World;

/// How a page is opened: 1280 by 800, dialogs reported, unless it is told
/// otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageOptions {
    pub(crate) size: (u32, u32),
    pub(crate) dialogs: Option<DialogPolicy>,
    pub(crate) told: contract::PageOptions,
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

    /// What happens to dialogs.
    #[must_use]
    pub fn dialogs(mut self, policy: DialogPolicy) -> Self {
        self.dialogs = Some(policy);
        self
    }

    /// The language that pages are told, such as `ko-KR`.
    #[must_use]
    pub fn locale(mut self, locale: impl Into<String>) -> Self {
        self.told.locale = Some(locale.into());
        self
    }

    /// The time zone that pages are told, such as `Asia/Seoul`.
    #[must_use]
    pub fn time_zone(mut self, time_zone: impl Into<String>) -> Self {
        self.told.time_zone = Some(time_zone.into());
        self
    }

    /// The name that the browser gives itself.
    #[must_use]
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.told.user_agent = Some(user_agent.into());
        self
    }

    /// The options of the contract that have no field of their own.
    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn options(&self) -> Option<String> {
        let told = Some(&self.told).filter(|told| **told != contract::PageOptions::default())?;
        serde_json::to_string(told).ok()
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

    /// Where it runs.
    #[cfg(target_family = "wasm")]
    pub(crate) fn world(&self) -> World {
        if self.isolated { World::Isolated } else { World::Page }
    }

    /// The options of the contract that have no field of their own.
    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn options(&self) -> Option<String> {
        let frame = Some(self.frame.clone()?);
        serde_json::to_string(&contract::ScriptOptions { frame }).ok()
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
