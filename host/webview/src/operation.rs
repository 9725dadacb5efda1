//! Operations: all that is done with a page beside running a script, after they were
//! checked.

use std::{path::PathBuf, time::Duration};

use wharf_contract::webview::OperationName;
pub use wharf_contract::webview::{KeyKind, Modifier, MouseButton, MouseKind, Paper, Rectangle};

/// Something to do with a page. Positions and sizes are CSS pixels.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Goes to an address that the policy has allowed, or to `about:blank`.
    Navigate {
        /// The address.
        url: String,
    },
    /// Goes back in its history.
    Back,
    /// Goes forward in its history.
    Forward,
    /// Loads the page again.
    Reload,
    /// Draws the page.
    Screenshot {
        /// The format of the picture.
        format: ImageFormat,
        /// Whether the whole page is drawn, and not just the viewport.
        full_page: bool,
        /// The part to draw, from the top left of the viewport.
        clip: Option<Rectangle>,
    },
    /// Prints the page.
    Pdf {
        /// Whether it is wider than high.
        landscape: bool,
        /// Whether backgrounds are printed.
        background: bool,
        /// On what.
        paper: Paper,
    },
    /// Moves or presses the mouse.
    Mouse {
        /// The kind of event.
        kind: MouseKind,
        /// From the left of the viewport.
        x: f64,
        /// From the top of the viewport.
        y: f64,
        /// Which button.
        button: MouseButton,
        /// 2 for a double click.
        count: u32,
        /// How far a wheel goes to the right.
        delta_x: f64,
        /// How far a wheel goes down.
        delta_y: f64,
        /// Keys that are held.
        modifiers: Vec<Modifier>,
    },
    /// Presses a key.
    Key {
        /// A single character, or a name of `KeyboardEvent.key`.
        key: String,
        /// What is done with it.
        kind: KeyKind,
        /// Keys that are held.
        modifiers: Vec<Modifier>,
    },
    /// Inserts a text, as an input method does.
    Text {
        /// The text.
        text: String,
    },
    /// Gives a file input files.
    SetFiles {
        /// JavaScript that evaluates to the input, in the isolated world.
        element: String,
        /// Files of the host that the core has checked and copied to where the
        /// backend can read them.
        files: Vec<PathBuf>,
    },
    /// Changes the size of the viewport.
    Resize {
        /// How wide.
        width: u32,
        /// How high.
        height: u32,
    },
    /// Waits until nothing is loaded.
    NetworkIdle {
        /// For how long.
        idle: Duration,
    },
    /// Lists the frames of the page.
    Frames,
    /// Stops loading, and any script that runs.
    Stop,
}

/// The format of a screenshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFormat {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg {
        /// 1 to 100.
        quality: u8,
    },
}

impl Operation {
    /// Its name in the contract.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let name = match self {
            Self::Navigate { .. } => OperationName::Navigate,
            Self::Back => OperationName::Back,
            Self::Forward => OperationName::Forward,
            Self::Reload => OperationName::Reload,
            Self::Screenshot { .. } => OperationName::Screenshot,
            Self::Pdf { .. } => OperationName::Pdf,
            Self::Mouse { .. } => OperationName::Mouse,
            Self::Key { .. } => OperationName::Key,
            Self::Text { .. } => OperationName::Text,
            Self::SetFiles { .. } => OperationName::SetFiles,
            Self::Resize { .. } => OperationName::Resize,
            Self::NetworkIdle { .. } => OperationName::NetworkIdle,
            Self::Frames => OperationName::Frames,
            Self::Stop => OperationName::Stop,
        };
        name.as_str()
    }
}
