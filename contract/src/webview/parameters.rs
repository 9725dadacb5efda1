//! The parameters of operations, as `perform` takes them: each a JSON object
//! without members that it does not know. Positions and sizes are CSS pixels
//! from the top left of what is seen.

use serde::{Deserialize, Serialize};

use super::{ImageType, KeyKind, Modifier, MouseButton, MouseKind, Paper};

/// Those of an operation that takes none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParameters {}

/// Those of `navigate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Navigate {
    /// `http:`, `https:` or `about:blank`.
    pub url: String,
}

/// Those of `screenshot`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screenshot {
    /// [`ImageType::Png`] where absent.
    #[serde(default = "png")]
    pub format: ImageType,
    /// 1 to 100, of JPEG alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<u8>,
    /// Whether what has to be scrolled to is taken in; `false` where absent.
    #[serde(default, skip_serializing_if = "crate::is_false")]
    pub full_page: bool,
    /// What of it; all of what is seen where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<Rectangle>,
}

/// A part of a page.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// How wide.
    pub width: f64,
    /// How high.
    pub height: f64,
}

/// Those of `pdf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pdf {
    /// Whether it is wider than high; `false` where absent.
    #[serde(default)]
    pub landscape: bool,
    /// Whether backgrounds are printed; `false` where absent.
    #[serde(default)]
    pub background: bool,
    /// [`Paper::A4`] where absent.
    #[serde(default = "a4")]
    pub paper: Paper,
}

/// Those of `mouse`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mouse {
    /// What it does.
    pub kind: MouseKind,
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// Which button; [`MouseButton::Left`] where absent.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub button: Option<MouseButton>,
    /// 2 for a double click; 1 where absent.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// How far a wheel goes to the right; 0 where absent.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub delta_x: Option<f64>,
    /// How far a wheel goes down; 0 where absent.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub delta_y: Option<f64>,
    /// Keys that are held; none where absent.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<Vec<Modifier>>,
}

impl Mouse {
    /// Without all that may be absent.
    #[must_use]
    pub fn new(kind: MouseKind, x: f64, y: f64) -> Self {
        Self { kind, x, y, button: None, count: None, delta_x: None, delta_y: None, modifiers: None }
    }
}

/// Those of `key`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// A single character, or a name of `KeyboardEvent.key`.
    pub key: String,
    /// [`KeyKind::Press`] where absent.
    #[serde(default = "press")]
    pub kind: KeyKind,
    /// Keys that are held; none where absent.
    #[serde(default)]
    pub modifiers: Vec<Modifier>,
}

/// Those of `text`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// At most 100,000 characters.
    pub text: String,
}

/// Those of `set-files`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetFiles {
    /// JavaScript that comes to the input, in the isolated world.
    pub element: String,
    /// Paths in the workspace, at most 100.
    pub paths: Vec<String>,
}

/// Those of `resize`: 1 to 4096 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// How wide.
    pub width: u32,
    /// How high.
    pub height: u32,
}

/// Those of `network-idle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkIdle {
    /// For how long; 500 where absent.
    #[serde(default = "half_a_second")]
    pub idle_milliseconds: u64,
}

fn png() -> ImageType {
    ImageType::Png
}

fn a4() -> Paper {
    Paper::A4
}

fn press() -> KeyKind {
    KeyKind::Press
}

fn half_a_second() -> u64 {
    500
}
