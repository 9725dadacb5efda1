//! Reads operations from their names and parameters in JSON, bounds them, and checks
//! them against the grant.
//!
//! Knows nothing of any page or backend.

mod parameters;

use std::{path::PathBuf, time::Duration};

use wharf_core::{Code, Error, grant::GrantedWebView};

use self::parameters::{
    ClipParameters, ImageFormatName, KeyKindName, KeyParameters, ModifierName, MouseButtonName, MouseKindName,
    MouseParameters, NavigateParameters, NetworkIdleParameters, NoParameters, PaperName, PdfParameters,
    ResizeParameters, ScreenshotParameters, SetFilesParameters, TextParameters,
};
use crate::{
    ImageFormat, KeyKind, Modifier, MouseButton, MouseKind, Operation, Paper, Rectangle, WebViewError,
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
    match name {
        "navigate" => asked(navigate(granted, object("parameters", parameters)?)?, OrderEffect::Navigation),
        "back" => nothing(Operation::Back, OrderEffect::Navigation),
        "forward" => nothing(Operation::Forward, OrderEffect::Navigation),
        "reload" => nothing(Operation::Reload, OrderEffect::Navigation),
        "screenshot" => asked(screenshot(object("parameters", parameters)?)?, OrderEffect::Document),
        "pdf" => {
            let PdfParameters { landscape, background, paper } = object("parameters", parameters)?;
            let paper = match paper {
                PaperName::A4 => Paper::A4,
                PaperName::Letter => Paper::Letter,
            };
            asked(Operation::Pdf { landscape, background, paper }, OrderEffect::Document)
        }
        "mouse" => asked(mouse(&object("parameters", parameters)?)?, OrderEffect::Other),
        "key" => asked(key(object("parameters", parameters)?)?, OrderEffect::Other),
        "text" => {
            let TextParameters { text } = object("parameters", parameters)?;
            if text.chars().count() > MAXIMUM_TEXT_CHARACTERS {
                return Err(WebViewError::invalid(format!("`text` has at most {MAXIMUM_TEXT_CHARACTERS} characters")));
            }
            asked(Operation::Text { text }, OrderEffect::Other)
        }
        "set-files" => set_files(granted, object("parameters", parameters)?),
        "resize" => {
            let ResizeParameters { width, height } = object("parameters", parameters)?;
            if ![width, height].iter().all(|side| (1..=MAXIMUM_SIZE).contains(side)) {
                return Err(WebViewError::invalid(format!("`width` and `height` are 1 to {MAXIMUM_SIZE}")));
            }
            asked(Operation::Resize { width, height }, OrderEffect::Resize { width, height })
        }
        "network-idle" => {
            let NetworkIdleParameters { idle_milliseconds } = object("parameters", parameters)?;
            let idle = Duration::from_millis(idle_milliseconds.max(1));
            if idle > MAXIMUM_IDLE {
                return Err(WebViewError::invalid("`idle_milliseconds` is 1 to 60000"));
            }
            asked(Operation::NetworkIdle { idle }, OrderEffect::Other)
        }
        "frames" => nothing(Operation::Frames, OrderEffect::Other),
        "stop" => nothing(Operation::Stop, OrderEffect::Other),
        _ => Err(WebViewError::invalid(format!(
            "there is no operation `{}`; `status` tells which there are",
            wharf_core::text::line(name, 64)
        ))),
    }
}

fn navigate(
    granted: &GrantedWebView<'_>,
    NavigateParameters { url }: NavigateParameters,
) -> Result<Operation, WebViewError> {
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

fn screenshot(asked: ScreenshotParameters) -> Result<Operation, WebViewError> {
    let ScreenshotParameters { format, quality, full_page, clip } = asked;
    let format = match (format, quality) {
        (ImageFormatName::Png, None) => ImageFormat::Png,
        (ImageFormatName::Png, Some(_)) => return Err(WebViewError::invalid("`quality` is for `jpeg` alone")),
        (ImageFormatName::Jpeg, None) => ImageFormat::Jpeg { quality: 80 },
        (ImageFormatName::Jpeg, Some(quality @ 1..=100)) => ImageFormat::Jpeg { quality },
        (ImageFormatName::Jpeg, Some(_)) => return Err(WebViewError::invalid("`quality` is 1 to 100")),
    };
    let clip = clip.map(|ClipParameters { x, y, width, height }| {
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

fn mouse(asked: &MouseParameters) -> Result<Operation, WebViewError> {
    let MouseParameters { kind, x, y, button, count, delta_x, delta_y, modifiers } = asked;
    let near = |at: &f64| (-MAXIMUM_POSITION..=MAXIMUM_POSITION).contains(at);
    if ![x, y, delta_x, delta_y].into_iter().all(near) {
        let problem = format!("positions and deltas are at most {MAXIMUM_POSITION} pixels away");
        return Err(WebViewError::invalid(problem));
    }
    if !(1..=3).contains(count) {
        return Err(WebViewError::invalid("`count` is 1 to 3"));
    }
    let kind = match kind {
        MouseKindName::Move => MouseKind::Move,
        MouseKindName::Down => MouseKind::Down,
        MouseKindName::Up => MouseKind::Up,
        MouseKindName::Click => MouseKind::Click,
        MouseKindName::Wheel => MouseKind::Wheel,
    };
    let button = match button {
        MouseButtonName::Left => MouseButton::Left,
        MouseButtonName::Middle => MouseButton::Middle,
        MouseButtonName::Right => MouseButton::Right,
    };
    let (x, y, count, delta_x, delta_y) = (*x, *y, *count, *delta_x, *delta_y);
    Ok(Operation::Mouse { kind, x, y, button, count, delta_x, delta_y, modifiers: held(modifiers)? })
}

fn key(asked: KeyParameters) -> Result<Operation, WebViewError> {
    let KeyParameters { key, kind, modifiers } = asked;
    let mut characters = key.chars();
    let single = matches!((characters.next(), characters.next()), (Some(character), None) if !character.is_control());
    let named = (2..=32).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !(single || named) {
        return Err(WebViewError::invalid("`key` is a single character, or a name such as Enter, Tab or ArrowDown"));
    }
    let kind = match kind {
        KeyKindName::Press => KeyKind::Press,
        KeyKindName::Down => KeyKind::Down,
        KeyKindName::Up => KeyKind::Up,
    };
    Ok(Operation::Key { key, kind, modifiers: held(&modifiers)? })
}

fn held(words: &[ModifierName]) -> Result<Vec<Modifier>, WebViewError> {
    if words.len() > 4 {
        return Err(WebViewError::invalid("`modifiers` are Alt, Control, Meta and Shift, each once"));
    }
    let modifier = |word: &ModifierName| match word {
        ModifierName::Alt => Modifier::Alt,
        ModifierName::Control => Modifier::Control,
        ModifierName::Meta => Modifier::Meta,
        ModifierName::Shift => Modifier::Shift,
    };
    Ok(words.iter().map(modifier).collect())
}

fn set_files(granted: &GrantedWebView<'_>, asked: SetFilesParameters) -> Result<OperationRequest, WebViewError> {
    let SetFilesParameters { element, paths } = asked;
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
