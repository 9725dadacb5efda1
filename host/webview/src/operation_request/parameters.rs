//! The parameters of operations in JSON. Only their form is checked here.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParameters {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NavigateParameters {
    pub(super) url: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScreenshotParameters {
    #[serde(default)]
    pub(super) format: ImageFormatName,
    pub(super) quality: Option<u8>,
    #[serde(default)]
    pub(super) full_page: bool,
    pub(super) clip: Option<ClipParameters>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ImageFormatName {
    #[default]
    Png,
    Jpeg,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClipParameters {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PdfParameters {
    #[serde(default)]
    pub(super) landscape: bool,
    #[serde(default)]
    pub(super) background: bool,
    #[serde(default)]
    pub(super) paper: PaperName,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PaperName {
    #[default]
    A4,
    Letter,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MouseParameters {
    pub(super) kind: MouseKindName,
    pub(super) x: f64,
    pub(super) y: f64,
    #[serde(default)]
    pub(super) button: MouseButtonName,
    #[serde(default = "once")]
    pub(super) count: u32,
    #[serde(default)]
    pub(super) delta_x: f64,
    #[serde(default)]
    pub(super) delta_y: f64,
    #[serde(default)]
    pub(super) modifiers: Vec<ModifierName>,
}

fn once() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MouseKindName {
    Move,
    Down,
    Up,
    Click,
    Wheel,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MouseButtonName {
    #[default]
    Left,
    Middle,
    Right,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) enum ModifierName {
    Alt,
    Control,
    Meta,
    Shift,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyParameters {
    pub(super) key: String,
    #[serde(default)]
    pub(super) kind: KeyKindName,
    #[serde(default)]
    pub(super) modifiers: Vec<ModifierName>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum KeyKindName {
    #[default]
    Press,
    Down,
    Up,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextParameters {
    pub(super) text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetFilesParameters {
    pub(super) element: String,
    pub(super) paths: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResizeParameters {
    pub(super) width: u32,
    pub(super) height: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkIdleParameters {
    #[serde(default = "half_a_second")]
    pub(super) idle_milliseconds: u64,
}

fn half_a_second() -> u64 {
    500
}
