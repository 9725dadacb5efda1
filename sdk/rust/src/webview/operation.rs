//! What can be done with a web page beside running a script.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};
use wharf_contract::webview::{self as contract, ImageType, KeyKind, Mouse, MouseKind, OperationName, Paper};
pub use wharf_contract::webview::{Modifier, MouseButton, Rectangle};

/// Something to do with a page beside running a script. Positions are CSS
/// pixels from the top left of what is seen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// Goes to an address, and is done once it has loaded.
    Navigate {
        /// `http:`, `https:` or `about:blank`.
        url: String,
    },
    /// Goes back.
    Back,
    /// Goes forward.
    Forward,
    /// Loads the page again.
    Reload,
    /// Draws the page as PNG, or as JPEG of a quality of 1 to 100.
    Screenshot {
        /// The quality, for JPEG.
        jpeg_quality: Option<u8>,
        /// Whether what has to be scrolled to is taken in.
        full_page: bool,
        /// What of it.
        clip: Option<Rectangle>,
    },
    /// Prints the page.
    Pdf {
        /// Whether it is wider than high.
        landscape: bool,
        /// Whether backgrounds are printed.
        background: bool,
        /// Whether it is of the size Letter, and not A4.
        letter: bool,
    },
    /// Moves the mouse.
    MouseMove {
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
    },
    /// Moves the mouse and clicks.
    MouseClick {
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
        /// Which button.
        button: MouseButton,
        /// 2 for a double click.
        count: u32,
        /// Keys that are held.
        modifiers: Vec<Modifier>,
    },
    /// Moves the mouse and turns its wheel.
    MouseWheel {
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
        /// How far to the right.
        delta_x: f64,
        /// How far down.
        delta_y: f64,
    },
    /// Presses a key and lets it go.
    Key {
        /// A single character, or a name of `KeyboardEvent.key`.
        key: String,
        /// Keys that are held.
        modifiers: Vec<Modifier>,
    },
    /// Inserts a text as an input method does, at most 100,000 characters.
    Text {
        /// The text.
        text: String,
    },
    /// Gives a file input files of the workspace.
    SetFiles {
        /// JavaScript that comes to the input, in the isolated world.
        element: String,
        /// Paths in the workspace, at most 100.
        paths: Vec<String>,
    },
    /// Changes the size of what is seen: 1 to 4096 each.
    Resize {
        /// How wide.
        width: u32,
        /// How high.
        height: u32,
    },
    /// Done once nothing was loaded for so long.
    NetworkIdle {
        /// For how long.
        idle: Duration,
    },
    /// Tells the frames of the page.
    Frames,
    /// Stops loading, and whatever script runs.
    Stop,
    /// One of a later contract, or in another shape than those above.
    Other {
        /// Its name.
        name: String,
        /// Its parameters.
        parameters: Map<String, Value>,
    },
}

impl Operation {
    /// Its name in the contract.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = match self {
            Self::Navigate { .. } => OperationName::Navigate,
            Self::Back => OperationName::Back,
            Self::Forward => OperationName::Forward,
            Self::Reload => OperationName::Reload,
            Self::Screenshot { .. } => OperationName::Screenshot,
            Self::Pdf { .. } => OperationName::Pdf,
            Self::MouseMove { .. } | Self::MouseClick { .. } | Self::MouseWheel { .. } => OperationName::Mouse,
            Self::Key { .. } => OperationName::Key,
            Self::Text { .. } => OperationName::Text,
            Self::SetFiles { .. } => OperationName::SetFiles,
            Self::Resize { .. } => OperationName::Resize,
            Self::NetworkIdle { .. } => OperationName::NetworkIdle,
            Self::Frames => OperationName::Frames,
            Self::Stop => OperationName::Stop,
            Self::Other { name, .. } => return name,
        };
        name.as_str()
    }

    /// Its parameters in the contract.
    #[must_use]
    pub fn parameters(&self) -> Value {
        match self {
            Self::Navigate { url } => written(&contract::Navigate { url: url.clone() }),
            Self::Back | Self::Forward | Self::Reload | Self::Frames | Self::Stop => {
                written(&contract::NoParameters {})
            }
            Self::Screenshot { jpeg_quality, full_page, clip } => written(&contract::Screenshot {
                format: if jpeg_quality.is_some() { ImageType::Jpeg } else { ImageType::Png },
                quality: *jpeg_quality,
                full_page: *full_page,
                clip: *clip,
            }),
            Self::Pdf { landscape, background, letter } => written(&contract::Pdf {
                landscape: *landscape,
                background: *background,
                paper: if *letter { Paper::Letter } else { Paper::A4 },
            }),
            Self::MouseMove { x, y } => written(&Mouse::new(MouseKind::Move, *x, *y)),
            Self::MouseClick { x, y, button, count, modifiers } => written(&Mouse {
                button: Some(*button),
                count: Some(*count),
                modifiers: Some(modifiers.clone()),
                ..Mouse::new(MouseKind::Click, *x, *y)
            }),
            Self::MouseWheel { x, y, delta_x, delta_y } => written(&Mouse {
                delta_x: Some(*delta_x),
                delta_y: Some(*delta_y),
                ..Mouse::new(MouseKind::Wheel, *x, *y)
            }),
            Self::Key { key, modifiers } => {
                written(&contract::Key { key: key.clone(), kind: KeyKind::Press, modifiers: modifiers.clone() })
            }
            Self::Text { text } => written(&contract::Text { text: text.clone() }),
            Self::SetFiles { element, paths } => {
                written(&contract::SetFiles { element: element.clone(), paths: paths.clone() })
            }
            Self::Resize { width, height } => written(&contract::Resize { width: *width, height: *height }),
            Self::NetworkIdle { idle } => {
                written(&contract::NetworkIdle { idle_milliseconds: crate::process::milliseconds(*idle) })
            }
            Self::Other { parameters, .. } => Value::Object(parameters.clone()),
        }
    }
}

/// As JSON, which each shape of the contract has.
fn written(parameters: &impl Serialize) -> Value {
    serde_json::to_value(parameters).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn operations_are_written_as_the_contract_has_them() {
        let click = Operation::MouseClick {
            x: 1.5,
            y: 2.0,
            button: MouseButton::Right,
            count: 2,
            modifiers: vec![Modifier::Control],
        };
        for (operation, name, parameters) in [
            (Operation::Navigate { url: "http://a".into() }, "navigate", json!({ "url": "http://a" })),
            (Operation::Back, "back", json!({})),
            (
                click,
                "mouse",
                json!({ "kind": "click", "x": 1.5, "y": 2.0, "button": "right", "count": 2, "modifiers": ["Control"] }),
            ),
            (
                Operation::Screenshot { jpeg_quality: Some(60), full_page: true, clip: None },
                "screenshot",
                json!({ "format": "jpeg", "quality": 60, "full_page": true }),
            ),
            (
                Operation::Screenshot { jpeg_quality: None, full_page: false, clip: None },
                "screenshot",
                json!({ "format": "png" }),
            ),
            (
                Operation::NetworkIdle { idle: Duration::from_millis(500) },
                "network-idle",
                json!({ "idle_milliseconds": 500 }),
            ),
            (
                Operation::Pdf { landscape: false, background: true, letter: false },
                "pdf",
                json!({ "landscape": false, "background": true, "paper": "a4" }),
            ),
        ] {
            assert_eq!((operation.name(), operation.parameters()), (name, parameters));
        }
    }
}
