//! Where scripts run: the contexts of each frame, as the browser tells of them.
//!
//! Knows nothing of scripts.

use std::collections::HashMap;

use serde::Deserialize;

use super::Page;
use crate::connection::Event;

/// The name of the world that is apart from the page's own.
pub(super) const WORLD: &str = "wharf";
/// Frames that are known at most; scripts reach no further one.
const MOST_FRAMES: usize = 1_000;

/// The contexts of all frames of a page.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    frames: HashMap<String, Frame>,
}

/// The contexts of one frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    pub(super) session: String,
    /// That of the page's own scripts.
    pub(super) page: Option<i64>,
    /// That of the world apart.
    pub(super) isolated: Option<i64>,
}

impl Contexts {
    pub(super) fn frame(&self, frame: &str) -> Option<&Frame> {
        self.frames.get(frame)
    }

    pub(super) fn knows(&self, frame: &str) -> bool {
        self.frames.contains_key(frame)
    }

    pub(super) fn clear(&mut self) {
        self.frames.clear();
    }

    pub(super) fn forget_session(&mut self, session: &str) {
        self.frames.retain(|_, frame| frame.session != session);
    }

    pub(super) fn forget_frame(&mut self, frame: &str, session: &str) {
        if self.frames.get(frame).is_some_and(|known| known.session == session) {
            self.frames.remove(frame);
        }
    }

    fn add(&mut self, session: &str, context: Context) {
        let Some(About { is_default, frame_id: Some(frame) }) = context.aux_data else { return };
        if self.frames.len() >= MOST_FRAMES && !self.frames.contains_key(&frame) {
            return;
        }
        let known = self.frames.entry(frame).or_default();
        if known.session != session {
            // The frame went to another process.
            *known = Frame { session: session.to_owned(), ..Frame::default() };
        }
        if is_default {
            known.page = Some(context.id);
        } else if context.name == WORLD {
            known.isolated = Some(context.id);
        }
    }

    fn remove(&mut self, session: &str, id: i64) {
        for frame in self.frames.values_mut().filter(|frame| frame.session == session) {
            frame.page = frame.page.filter(|other| *other != id);
            frame.isolated = frame.isolated.filter(|other| *other != id);
        }
    }
}

#[derive(Debug, Deserialize)]
struct Made {
    context: Context,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    id: i64,
    name: String,
    aux_data: Option<About>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct About {
    #[serde(default)]
    is_default: bool,
    frame_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gone {
    execution_context_id: i64,
}

pub(super) fn hear(page: &Page, session: &str, event: Event<'_>) {
    match event.method {
        "Runtime.executionContextCreated" => {
            if let Some(Made { context }) = event.read() {
                page.state().contexts.add(session, context);
            }
        }
        "Runtime.executionContextDestroyed" => {
            if let Some(Gone { execution_context_id }) = event.read() {
                let mut state = page.state();
                state.contexts.remove(session, execution_context_id);
                state.wrappers.forget(session, execution_context_id);
            }
        }
        "Runtime.executionContextsCleared" => {
            {
                let mut state = page.state();
                state.contexts.forget_session(session);
                state.wrappers.forget_session(session);
            }
            if page.is_main_session(session) {
                super::document::leaves(page);
            }
        }
        _ => {}
    }
}
