//! Reads operations from their names and parameters in JSON, bounds them, and checks
//! them against the grant.
//!
//! Knows nothing of any page or backend.

use std::{path::PathBuf, time::Duration};

use wharf_contract::webview::{
    ImageType, Key, Modifier, Mouse, Navigate, NetworkIdle, NoParameters, OperationName, Pdf, Rectangle, Resize,
    Screenshot, SetFiles, Text,
};
use wharf_core::{Code, Error, grant::GrantedWebView};

use crate::{
    ImageFormat, Operation, WebViewError,
    pages::{MAXIMUM_SIZE, object},
    requests::OrderEffect,
};

/// The longest text of parameters, in bytes.
const MAXIMUM_PARAMETERS: usize = 1 << 20;
const MAXIMUM_URL: usize = 32 << 10;
const MAXIMUM_TEXT_CHARACTERS: usize = 100_000;
const MAXIMUM_ELEMENT: usize = 64 << 10;
const MAXIMUM_FILES: usize = 100;
const MAXIMUM_PATH: usize = 4 << 10;
/// How far from the corner of the viewport a position may be, and how far a wheel may
/// turn.
const MAXIMUM_POSITION: f64 = 100_000.0;
/// The largest part of a page that can be drawn, in pixels.
const MAXIMUM_DRAWN: f64 = 16_384.0;
/// How far down the page a picture may begin.
const MAXIMUM_DEPTH: f64 = 10_000_000.0;
const MAXIMUM_IDLE: Duration = Duration::from_secs(60);

/// An operation that was checked and may be carried out.
#[derive(Debug)]
pub(crate) struct OperationRequest {
    pub(crate) operation: Operation,
    pub(crate) effect: OrderEffect,
    /// Files of the workspace that it names.
    pub(crate) files: Vec<PathBuf>,
}

/// Reads and checks an operation.
pub(crate) fn read(
    granted: &GrantedWebView<'_>,
    name: &str,
    parameters: &str,
) -> Result<OperationRequest, WebViewError> {
    if parameters.len() > MAXIMUM_PARAMETERS {
        return Err(WebViewError::invalid(format!("`parameters` have at most {MAXIMUM_PARAMETERS} bytes")));
    }
    let asked = |operation, effect| Ok(OperationRequest { operation, effect, files: Vec::new() });
    let nothing = |operation, effect| {
        let NoParameters {} = object("parameters", parameters)?;
        asked(operation, effect)
    };
    let Some(name) = OperationName::find(name) else {
        return Err(WebViewError::invalid(format!(
            "there is no operation `{}`; `status` tells which there are",
            wharf_core::text::line(name, 64)
        )));
    };
    match name {
        OperationName::Navigate => {
            asked(navigate(granted, object("parameters", parameters)?)?, OrderEffect::Navigation)
        }
        OperationName::Back => nothing(Operation::Back, OrderEffect::Navigation),
        OperationName::Forward => nothing(Operation::Forward, OrderEffect::Navigation),
        OperationName::Reload => nothing(Operation::Reload, OrderEffect::Navigation),
        OperationName::Screenshot => asked(screenshot(object("parameters", parameters)?)?, OrderEffect::Document),
        OperationName::Pdf => {
            let Pdf { landscape, background, paper } = object("parameters", parameters)?;
            asked(Operation::Pdf { landscape, background, paper }, OrderEffect::Document)
        }
        OperationName::Mouse => asked(mouse(object("parameters", parameters)?)?, OrderEffect::Other),
        OperationName::Key => asked(key(object("parameters", parameters)?)?, OrderEffect::Other),
        OperationName::Text => {
            let Text { text } = object("parameters", parameters)?;
            if text.chars().count() > MAXIMUM_TEXT_CHARACTERS {
                return Err(WebViewError::invalid(format!("`text` has at most {MAXIMUM_TEXT_CHARACTERS} characters")));
            }
            asked(Operation::Text { text }, OrderEffect::Other)
        }
        OperationName::SetFiles => set_files(granted, object("parameters", parameters)?),
        OperationName::Resize => {
            let Resize { width, height } = object("parameters", parameters)?;
            if ![width, height].iter().all(|side| (1..=MAXIMUM_SIZE).contains(side)) {
                return Err(WebViewError::invalid(format!("`width` and `height` are 1 to {MAXIMUM_SIZE}")));
            }
            asked(Operation::Resize { width, height }, OrderEffect::Resize { width, height })
        }
        OperationName::NetworkIdle => {
            let NetworkIdle { idle_milliseconds } = object("parameters", parameters)?;
            let idle = Duration::from_millis(idle_milliseconds.max(1));
            if idle > MAXIMUM_IDLE {
                return Err(WebViewError::invalid("`idle_milliseconds` is 1 to 60000"));
            }
            asked(Operation::NetworkIdle { idle }, OrderEffect::Other)
        }
        OperationName::Frames => nothing(Operation::Frames, OrderEffect::Other),
        OperationName::Stop => nothing(Operation::Stop, OrderEffect::Other),
    }
}

fn navigate(granted: &GrantedWebView<'_>, Navigate { url }: Navigate) -> Result<Operation, WebViewError> {
    if url.len() > MAXIMUM_URL {
        return Err(WebViewError::invalid(format!("`url` has at most {MAXIMUM_URL} bytes")));
    }
    let url = url.trim();
    if url == "about:blank" {
        return Ok(Operation::Navigate { url: url.to_owned() });
    }
    let url = granted.policy().url(url).map_err(refused)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(WebViewError::invalid("a page goes to addresses of `http:` and `https:`, and to about:blank"));
    }
    Ok(Operation::Navigate { url: url.into() })
}

/// The policy's refusal of an address, as an error of this crate.
fn refused(error: Error) -> WebViewError {
    match error.code {
        Code::Invalid => WebViewError::Invalid { problem: error.message },
        _ => WebViewError::Refused { source: error },
    }
}

fn screenshot(asked: Screenshot) -> Result<Operation, WebViewError> {
    let Screenshot { format, quality, full_page, clip } = asked;
    let format = match (format, quality) {
        (ImageType::Png, None) => ImageFormat::Png,
        (ImageType::Png, Some(_)) => return Err(WebViewError::invalid("`quality` is for `jpeg` alone")),
        (ImageType::Jpeg, None) => ImageFormat::Jpeg { quality: 80 },
        (ImageType::Jpeg, Some(quality @ 1..=100)) => ImageFormat::Jpeg { quality },
        (ImageType::Jpeg, Some(_)) => return Err(WebViewError::invalid("`quality` is 1 to 100")),
    };
    let clip = clip.map(|Rectangle { x, y, width, height }| {
        let within = |side: f64| side > 0.0 && side <= MAXIMUM_DRAWN;
        let begins = |at: f64| (0.0..=MAXIMUM_DEPTH).contains(&at);
        // A value that is not finite is in no range.
        if !(within(width) && within(height) && begins(x) && begins(y)) {
            let problem = format!("`clip` begins in the page, and is at most {MAXIMUM_DRAWN} pixels wide and high");
            return Err(WebViewError::invalid(problem));
        }
        Ok(Rectangle { x, y, width, height })
    });
    Ok(Operation::Screenshot { format, full_page, clip: clip.transpose()? })
}

fn mouse(asked: Mouse) -> Result<Operation, WebViewError> {
    let Mouse { kind, x, y, button, count, delta_x, delta_y, modifiers } = asked;
    let (button, count) = (button.unwrap_or_default(), count.unwrap_or(1));
    let (delta_x, delta_y) = (delta_x.unwrap_or_default(), delta_y.unwrap_or_default());
    let near = |at: f64| (-MAXIMUM_POSITION..=MAXIMUM_POSITION).contains(&at);
    if ![x, y, delta_x, delta_y].into_iter().all(near) {
        let problem = format!("positions and deltas are at most {MAXIMUM_POSITION} pixels away");
        return Err(WebViewError::invalid(problem));
    }
    if !(1..=3).contains(&count) {
        return Err(WebViewError::invalid("`count` is 1 to 3"));
    }
    let modifiers = held(modifiers.unwrap_or_default())?;
    Ok(Operation::Mouse { kind, x, y, button, count, delta_x, delta_y, modifiers })
}

fn key(asked: Key) -> Result<Operation, WebViewError> {
    let Key { key, kind, modifiers } = asked;
    let mut characters = key.chars();
    let single = matches!((characters.next(), characters.next()), (Some(character), None) if !character.is_control());
    let named = (2..=32).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !(single || named) {
        return Err(WebViewError::invalid("`key` is a single character, or a name such as Enter, Tab or ArrowDown"));
    }
    Ok(Operation::Key { key, kind, modifiers: held(modifiers)? })
}

fn held(modifiers: Vec<Modifier>) -> Result<Vec<Modifier>, WebViewError> {
    if modifiers.len() > 4 {
        return Err(WebViewError::invalid("`modifiers` are Alt, Control, Meta and Shift, each once"));
    }
    Ok(modifiers)
}

fn set_files(granted: &GrantedWebView<'_>, asked: SetFiles) -> Result<OperationRequest, WebViewError> {
    let SetFiles { element, paths } = asked;
    granted.uploads().map_err(|source| WebViewError::Refused { source })?;
    if element.trim().is_empty() || element.len() > MAXIMUM_ELEMENT {
        let problem = format!("`element` is JavaScript that comes to a file input, of at most {MAXIMUM_ELEMENT} bytes");
        return Err(WebViewError::invalid(problem));
    }
    if paths.len() > MAXIMUM_FILES || paths.iter().any(|path| path.is_empty() || path.len() > MAXIMUM_PATH) {
        let problem = format!("`paths` are at most {MAXIMUM_FILES} paths of files of the workspace");
        return Err(WebViewError::invalid(problem));
    }
    let operation = Operation::SetFiles { element, files: Vec::new() };
    Ok(OperationRequest {
        operation,
        effect: OrderEffect::Document,
        files: paths.into_iter().map(PathBuf::from).collect(),
    })
}

#[cfg(test)]
mod tests;
