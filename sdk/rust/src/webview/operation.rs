//! What can be done with a web page beside running a script.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// A part of what is seen, in CSS pixels from its top left.
#[derive(Debug, Clone, Copy, PartialEq)]
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

/// A key that is held while something else is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modifier {
    /// Alt
    Alt,
    /// Control
    Control,
    /// Meta
    Meta,
    /// Shift
    Shift,
}

impl Modifier {
    /// The word of the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Alt => "Alt",
            Self::Control => "Control",
            Self::Meta => "Meta",
            Self::Shift => "Shift",
        }
    }
}

/// A button of a mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MouseButton {
    /// The first.
    #[default]
    Left,
    /// The wheel.
    Middle,
    /// The second.
    Right,
}

impl MouseButton {
    /// The word of the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Middle => "middle",
            Self::Right => "right",
        }
    }
}

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
        match self {
            Self::Navigate { .. } => "navigate",
            Self::Back => "back",
            Self::Forward => "forward",
            Self::Reload => "reload",
            Self::Screenshot { .. } => "screenshot",
            Self::Pdf { .. } => "pdf",
            Self::MouseMove { .. } | Self::MouseClick { .. } | Self::MouseWheel { .. } => "mouse",
            Self::Key { .. } => "key",
            Self::Text { .. } => "text",
            Self::SetFiles { .. } => "set-files",
            Self::Resize { .. } => "resize",
            Self::NetworkIdle { .. } => "network-idle",
            Self::Frames => "frames",
            Self::Stop => "stop",
            Self::Other { name, .. } => name,
        }
    }

    /// Its parameters in the contract.
    #[must_use]
    pub fn parameters(&self) -> Value {
        match self {
            Self::Navigate { url } => json!({ "url": url }),
            Self::Back | Self::Forward | Self::Reload | Self::Frames | Self::Stop => json!({}),
            Self::Screenshot { jpeg_quality, full_page, clip } => {
                let mut parameters = json!({ "format": if jpeg_quality.is_some() { "jpeg" } else { "png" } });
                if let Some(quality) = jpeg_quality {
                    parameters["quality"] = (*quality).into();
                }
                if *full_page {
                    parameters["full_page"] = true.into();
                }
                if let Some(Rectangle { x, y, width, height }) = clip {
                    parameters["clip"] = json!({ "x": x, "y": y, "width": width, "height": height });
                }
                parameters
            }
            Self::Pdf { landscape, background, letter } => {
                json!({ "landscape": landscape, "background": background, "paper": if *letter { "letter" } else { "a4" } })
            }
            Self::MouseMove { x, y } => json!({ "kind": "move", "x": x, "y": y }),
            Self::MouseClick { x, y, button, count, modifiers } => json!({
                "kind": "click", "x": x, "y": y, "button": button.as_str(), "count": count, "modifiers": words_of(modifiers),
            }),
            Self::MouseWheel { x, y, delta_x, delta_y } => {
                json!({ "kind": "wheel", "x": x, "y": y, "delta_x": delta_x, "delta_y": delta_y })
            }
            Self::Key { key, modifiers } => json!({ "key": key, "kind": "press", "modifiers": words_of(modifiers) }),
            Self::Text { text } => json!({ "text": text }),
            Self::SetFiles { element, paths } => json!({ "element": element, "paths": paths }),
            Self::Resize { width, height } => json!({ "width": width, "height": height }),
            Self::NetworkIdle { idle } => json!({ "idle_milliseconds": crate::process::milliseconds(*idle) }),
            Self::Other { parameters, .. } => Value::Object(parameters.clone()),
        }
    }
}

fn words_of(modifiers: &[Modifier]) -> Vec<&'static str> {
    modifiers.iter().map(|modifier| modifier.as_str()).collect()
}

#[cfg(test)]
mod tests {
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
