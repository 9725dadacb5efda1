//! Mouse and keyboard, sent in the order of the requests.

use serde_json::json;
use wharf_webview::{Failure, FailureKind, KeyKind, Modifier, MouseButton, MouseKind};

use crate::{connection::Call, keys::Key, page::Page};

/// The most clicks that pages tell apart.
const MOST_CLICKS: u32 = 3;

/// One use of the mouse.
#[derive(Debug)]
pub(super) struct MouseInput {
    pub(super) kind: MouseKind,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) button: MouseButton,
    pub(super) count: u32,
    pub(super) delta_x: f64,
    pub(super) delta_y: f64,
}

/// Sends all events of one use of the mouse.
pub(super) fn mouse(page: &Page, mouse: &MouseInput, modifiers: &[Modifier]) -> Vec<Call> {
    let (button, bit) = match mouse.button {
        MouseButton::Left => ("left", 1),
        MouseButton::Right => ("right", 2),
        MouseButton::Middle => ("middle", 4),
    };
    let held = bits(modifiers);
    let send = |kind: &str, button: &str, buttons: u32, count: u32| {
        let event = json!({
            "type": kind, "x": mouse.x, "y": mouse.y, "button": button, "buttons": buttons, "clickCount": count,
            "modifiers": held, "deltaX": mouse.delta_x, "deltaY": mouse.delta_y, "pointerType": "mouse",
        });
        page.ask("Input.dispatchMouseEvent", &event)
    };
    let count = mouse.count.clamp(1, MOST_CLICKS);
    match mouse.kind {
        MouseKind::Move => vec![send("mouseMoved", "none", 0, 0)],
        MouseKind::Down => vec![send("mouseMoved", "none", 0, 0), send("mousePressed", button, bit, count)],
        // The button is held on the way there.
        MouseKind::Up => vec![send("mouseMoved", button, bit, 0), send("mouseReleased", button, 0, count)],
        MouseKind::Click => {
            let mut calls = vec![send("mouseMoved", "none", 0, 0)];
            for number in 1..=count {
                calls.extend([send("mousePressed", button, bit, number), send("mouseReleased", button, 0, number)]);
            }
            calls
        }
        MouseKind::Wheel => vec![send("mouseMoved", "none", 0, 0), send("mouseWheel", "none", 0, 0)],
    }
}

/// Sends all events of one use of a key, with its modifiers.
pub(super) fn key(page: &Page, name: &str, kind: KeyKind, modifiers: &[Modifier]) -> Result<Vec<Call>, Failure> {
    let Some(key) = Key::named(name) else {
        let name = wharf_core::text::line(name, 64);
        let message =
            format!("no key is called `{name}`; use a single character, or a name such as Enter, Tab or ArrowDown");
        return Err(Failure::new(FailureKind::Invalid, message));
    };
    let with_shift = modifiers.contains(&Modifier::Shift);
    let key = if with_shift { key.with_shift() } else { key };
    let mut held = bits(modifiers);
    if key.shifted {
        held |= SHIFT;
    }
    // With these modifiers a key is a command, and types nothing.
    let is_command = held & (ALT | CONTROL | META) != 0;
    let text = key.text.as_deref().filter(|_| !is_command);
    let send = |kind: &str, text: Option<&str>| {
        let mut event = json!({
            "type": kind, "key": key.key, "code": key.code, "modifiers": held, "location": key.location,
            "windowsVirtualKeyCode": key.number, "nativeVirtualKeyCode": key.number,
        });
        if let Some(text) = text {
            event["text"] = json!(text);
            event["unmodifiedText"] = json!(text);
        }
        page.ask("Input.dispatchKeyEvent", &event)
    };
    let down = || send(if text.is_some() { "keyDown" } else { "rawKeyDown" }, text);
    let up = || send("keyUp", None);
    let mut calls = Vec::new();
    // A press presses and releases its modifiers; `down` and `up` leave that to the
    // caller.
    if kind == KeyKind::Press {
        calls.extend(
            modifiers.iter().enumerate().map(|(at, modifier)| hold(page, *modifier, bits(&modifiers[..=at]), true)),
        );
    }
    match kind {
        KeyKind::Press => calls.extend([down(), up()]),
        KeyKind::Down => calls.push(down()),
        KeyKind::Up => calls.push(up()),
    }
    if kind == KeyKind::Press {
        let released = modifiers.iter().enumerate().rev();
        calls.extend(released.map(|(at, modifier)| hold(page, *modifier, bits(&modifiers[..at]), false)));
    }
    Ok(calls)
}

const ALT: u32 = 1;
const CONTROL: u32 = 2;
const META: u32 = 4;
const SHIFT: u32 = 8;

fn bits(modifiers: &[Modifier]) -> u32 {
    let bit = |modifier: &Modifier| match modifier {
        Modifier::Alt => ALT,
        Modifier::Control => CONTROL,
        Modifier::Meta => META,
        Modifier::Shift => SHIFT,
    };
    modifiers.iter().map(bit).fold(0, |all, bit| all | bit)
}

/// Presses or releases a key that changes others.
fn hold(page: &Page, modifier: Modifier, held: u32, down: bool) -> Call {
    let (key, code, number) = match modifier {
        Modifier::Alt => ("Alt", "AltLeft", 18),
        Modifier::Control => ("Control", "ControlLeft", 17),
        Modifier::Meta => ("Meta", "MetaLeft", 91),
        Modifier::Shift => ("Shift", "ShiftLeft", 16),
    };
    let event = json!({
        "type": if down { "rawKeyDown" } else { "keyUp" }, "key": key, "code": code, "modifiers": held, "location": 1,
        "windowsVirtualKeyCode": number, "nativeVirtualKeyCode": number,
    });
    page.ask("Input.dispatchKeyEvent", &event)
}
