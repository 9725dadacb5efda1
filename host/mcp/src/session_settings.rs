//! What a client of the older era has set in its session, so that another host goes on with it.

#![expect(deprecated, reason = "logging/setLevel is deprecated since 2026-07-28 and used by all of today's clients")]

use async_trait::async_trait;
use http::request::Parts;
use rmcp::{
    model::{Extensions, LoggingLevel},
    transport::streamable_http_server::session::SessionRestoreMarker,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use wharf_core::SessionId;

use crate::context_claims;

/// Bytes of what is written down. A session whose client watches more keeps what was written last.
const MOST_BYTES: usize = 64 << 10;

/// Where it is written down.
#[async_trait]
pub(crate) trait SettingsShelf: Send + Sync {
    /// Writes down what the client of this session has set. What cannot be written now is lost
    /// with this host.
    async fn set(&self, id: &str, settings: &str);

    /// What was written down of a session that goes on here.
    async fn settings(&self, id: &str) -> Option<String>;
}

/// What is written down.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionSettings {
    pub(crate) level: Option<LoggingLevel>,
    /// In which conversation, and the address.
    pub(crate) watched: Vec<(SessionId, String)>,
}

impl SessionSettings {
    /// Nothing where it is too long.
    pub(crate) fn text(&self) -> Option<String> {
        serde_json::to_string(self).ok().filter(|text| text.len() <= MOST_BYTES)
    }

    /// What another version may have written: what it does not know is not set.
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }
}

/// Writes down what the client of one session sets.
pub(crate) struct SettingsKeeper {
    shelf: Box<dyn SettingsShelf>,
    // Held while one is written, so that the last one is what was set last.
    turn: Mutex<()>,
}

impl SettingsKeeper {
    pub(crate) fn new(shelf: impl SettingsShelf + 'static) -> Self {
        Self { shelf: Box::new(shelf), turn: Mutex::new(()) }
    }

    /// Writes down what is set after a request with these extensions.
    pub(crate) async fn keep(&self, extensions: &Extensions, settings: impl FnOnce() -> SessionSettings) {
        let id = extensions.get::<Parts>().and_then(context_claims::session_header);
        let Some(id) = id else { return };
        let _turn = self.turn.lock().await;
        if let Some(text) = settings().text() {
            self.shelf.set(id, &text).await;
        }
    }

    /// What was set before, where the request begins a session that goes on here.
    pub(crate) async fn kept(&self, extensions: &Extensions) -> Option<SessionSettings> {
        let SessionRestoreMarker { id, .. } = extensions.get()?;
        self.shelf.settings(id).await.map(|text| SessionSettings::read(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_comes_back_and_what_is_unknown_or_too_long_is_not_set() {
        let watched = vec![("s".parse().expect("legal"), "plan://\u{1F980}".to_owned())];
        let settings = SessionSettings { level: Some(LoggingLevel::Debug), watched };
        assert_eq!(SessionSettings::read(&settings.text().expect("short")), settings);
        for unknown in ["", "{}", "[]", r#"{"level": "loud"}"#] {
            assert_eq!(SessionSettings::read(unknown), SessionSettings::default(), "{unknown}");
        }
        let long = ("s".parse().expect("legal"), "x".repeat(2_000));
        assert!(SessionSettings { level: None, watched: vec![long; 40] }.text().is_none());
    }
}
