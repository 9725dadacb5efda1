//! The contexts of each frame, in which scripts run.
//!
//! Knows nothing of scripts.

use std::collections::HashMap;

/// The name of the isolated world.
pub(crate) const WORLD: &str = "wharf";
/// How many frames are remembered; scripts reach no others.
const MOST_FRAMES: usize = 1_000;

/// The contexts of all frames of a page.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    frames: HashMap<String, FrameContexts>,
}

/// The contexts of one frame.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrameContexts {
    pub(crate) session: String,
    /// The context of the page's own scripts.
    pub(crate) page: Option<i64>,
    /// The context of the isolated world.
    pub(crate) isolated: Option<i64>,
}

impl Contexts {
    pub(crate) fn frame(&self, frame: &str) -> Option<&FrameContexts> {
        self.frames.get(frame)
    }

    pub(crate) fn knows(&self, frame: &str) -> bool {
        self.frames.contains_key(frame)
    }

    pub(crate) fn clear(&mut self) {
        self.frames.clear();
    }

    pub(crate) fn forget_session(&mut self, session: &str) {
        self.frames.retain(|_, frame| frame.session != session);
    }

    pub(crate) fn forget_frame(&mut self, frame: &str, session: &str) {
        if self.frames.get(frame).is_some_and(|known| known.session == session) {
            self.frames.remove(frame);
        }
    }

    /// A context of a frame has been made: the page's own, or another one by this name.
    pub(crate) fn add(&mut self, session: &str, frame: String, id: i64, name: &str, is_own: bool) {
        if self.frames.len() >= MOST_FRAMES && !self.frames.contains_key(&frame) {
            return;
        }
        let known = self.frames.entry(frame).or_default();
        if known.session != session {
            // The frame went to another process.
            *known = FrameContexts { session: session.to_owned(), ..FrameContexts::default() };
        }
        if is_own {
            known.page = Some(id);
        } else if name == WORLD {
            known.isolated = Some(id);
        }
    }

    pub(crate) fn remove(&mut self, session: &str, id: i64) {
        for frame in self.frames.values_mut().filter(|frame| frame.session == session) {
            frame.page = frame.page.filter(|other| *other != id);
            frame.isolated = frame.isolated.filter(|other| *other != id);
        }
    }
}
