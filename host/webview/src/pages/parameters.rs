//! Requests to open pages and to run scripts, read from the words of the contract and
//! checked.

use std::time::Duration;

use serde::de::DeserializeOwned;
use wharf_contract::webview::{PageOptions, ScriptOptions, World};
use wharf_core::WebViewLimits;

use crate::{DialogPolicy, WebViewError, dialog_policy_named};

/// The largest width and height of a viewport, in CSS pixels.
pub(crate) const MAXIMUM_SIZE: u32 = 4096;
const DEFAULT_SIZE: (u32, u32) = (1280, 800);
const MAXIMUM_SCRIPT_BYTES: usize = 1 << 20;

/// A request to open a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenPageRequest {
    /// Width of the viewport, in CSS pixels, 4096 at most; 0 for 1280.
    pub width: u32,
    /// Height of the viewport, in CSS pixels, 4096 at most; 0 for 800.
    pub height: u32,
    /// How dialogs are answered.
    pub dialogs: DialogPolicy,
    /// What `navigator.language` says, such as `ko-KR`.
    pub locale: Option<String>,
    /// The time zone, such as `Asia/Seoul`.
    pub time_zone: Option<String>,
    /// Its `navigator.userAgent`; the browser's own where absent.
    pub user_agent: Option<String>,
}

impl OpenPageRequest {
    /// Reads the words of the contract.
    ///
    /// # Errors
    /// [`WebViewError::Invalid`].
    pub fn read(width: u32, height: u32, dialogs: &str, options: Option<&str>) -> Result<Self, WebViewError> {
        let PageOptions { locale, time_zone, user_agent } = object("options", options.unwrap_or_default())?;
        let dialogs = dialog_policy_named(dialogs)?;
        Ok(Self { width, height, dialogs, locale, time_zone, user_agent })
    }

    /// The size of its viewport.
    pub(super) fn size(&self) -> Result<(u32, u32), WebViewError> {
        let or = |size, default| if size == 0 { default } else { size };
        let (width, height) = (or(self.width, DEFAULT_SIZE.0), or(self.height, DEFAULT_SIZE.1));
        if width.max(height) > MAXIMUM_SIZE {
            return Err(WebViewError::invalid(format!(
                "`width` and `height` are 1 to {MAXIMUM_SIZE}, not {width} and {height}"
            )));
        }
        Ok((width, height))
    }

    pub(super) fn check(&self) -> Result<(), WebViewError> {
        word("locale", "ko-KR", self.locale.as_deref(), 35, |byte| byte.is_ascii_alphanumeric() || byte == b'-')?;
        let of_zone = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-/".contains(&byte);
        word("time_zone", "Asia/Seoul", self.time_zone.as_deref(), 64, of_zone)?;
        word("user_agent", "Mozilla/5.0", self.user_agent.as_deref(), 512, |byte| (b' '..=b'~').contains(&byte))
    }
}

fn word(
    name: &str,
    example: &str,
    text: Option<&str>,
    most: usize,
    legal: impl Fn(u8) -> bool,
) -> Result<(), WebViewError> {
    match text {
        Some(text) if text.is_empty() || text.len() > most || !text.bytes().all(legal) => Err(WebViewError::invalid(
            format!("`{name}` is a text such as {example}, of at most {most} characters of ASCII"),
        )),
        _ => Ok(()),
    }
}

/// A script, and how it is to be run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// An expression, or statements; 1 MiB at most.
    pub source: String,
    /// Whether it runs apart from the scripts of the page.
    pub isolated: bool,
    /// The id of a frame; absent is the page itself.
    pub frame: Option<String>,
    /// How long it may take; absent for what the host's limits say.
    pub deadline: Option<Duration>,
    /// How much of the result is sent at most; absent for what the host's limits say.
    pub max_bytes: Option<u32>,
}

impl Script {
    /// A script with every default.
    #[must_use]
    pub fn new(source: impl Into<String>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }

    /// Reads the words of the contract; 0 stands for a default.
    ///
    /// # Errors
    /// [`WebViewError::Invalid`].
    pub fn read(
        source: String,
        world: &str,
        milliseconds: u64,
        max_bytes: u32,
        options: Option<&str>,
    ) -> Result<Self, WebViewError> {
        let isolated = match world {
            "" => false,
            word => match World::find(word) {
                Some(World::Page) => false,
                Some(World::Isolated) => true,
                None => return Err(WebViewError::invalid("`world` is `page` or `isolated`")),
            },
        };
        let ScriptOptions { frame } = object("options", options.unwrap_or_default())?;
        let deadline = (milliseconds > 0).then(|| Duration::from_millis(milliseconds));
        Ok(Self { source, isolated, frame, deadline, max_bytes: (max_bytes > 0).then_some(max_bytes) })
    }

    pub(super) fn check(&self) -> Result<(), WebViewError> {
        if self.source.len() > MAXIMUM_SCRIPT_BYTES {
            return Err(WebViewError::invalid(format!(
                "a script has at most {MAXIMUM_SCRIPT_BYTES} bytes, not {}",
                self.source.len()
            )));
        }
        let of_frame = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        word("frame", "what `frames` in `perform` tells", self.frame.as_deref(), 256, of_frame)
    }
}

/// How long a request may take; `wanted` is what it asks for.
pub(super) fn patience(limits: &WebViewLimits, wanted: Option<Duration>) -> Result<Duration, WebViewError> {
    let most = Duration::from_millis(limits.request_ceiling_milliseconds);
    match wanted.filter(|wanted| !wanted.is_zero()) {
        None => Ok(Duration::from_millis(limits.request_milliseconds).min(most)),
        Some(wanted) if wanted > most => Err(WebViewError::invalid(format!(
            "a request may take {} ms at most (limit `request_ceiling_milliseconds`), not {}",
            most.as_millis(),
            wanted.as_millis()
        ))),
        Some(wanted) => Ok(wanted),
    }
}

/// Reads the text of a JSON object with known members; an empty text is one without
/// members.
pub(crate) fn object<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, WebViewError> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    // serde would read an array as a struct, too.
    if !text.trim_start().starts_with('{') {
        return Err(WebViewError::invalid(format!("`{name}` is the text of a JSON object")));
    }
    serde_json::from_str(text)
        .map_err(|error| WebViewError::invalid(format!("`{name}` is not as it should be: {error}")))
}
