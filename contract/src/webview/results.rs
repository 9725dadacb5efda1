//! The results of operations that answer with JSON. That of the others is an empty
//! object, a picture or a print.

use serde::{Deserialize, Serialize};

/// That of `navigate`, `back`, `forward` and `reload`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NavigationResult {
    /// Where the page is, after redirects; of a download, where that is.
    pub url: String,
    /// The title of the page: words of the page.
    pub title: String,
    /// What the page is, such as `text/html`; absent for a download, and where that is
    /// not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// How often the address led elsewhere.
    pub redirects: u64,
    /// The status of HTTP; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether the address turned out to be a download, and the page stayed where it
    /// was; `false` where absent.
    #[serde(skip_serializing_if = "crate::is_false")]
    pub download: bool,
}

/// That of `frames`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FramesResult {
    /// The page itself, and the frames in it.
    pub frames: Vec<FrameInfo>,
}

/// A frame of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FrameInfo {
    /// What the option `frame` of a script takes.
    pub id: String,
    /// The id of the frame that it is in; `null` for the page itself.
    pub parent: Option<String>,
    /// Where it is.
    pub url: String,
    /// What the page calls it; empty where it has no name.
    pub name: String,
}
