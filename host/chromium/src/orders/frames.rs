//! The frames of a page, wherever they run.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use wharf_webview::{FrameInfo, FramesResult, OrderOutput};

use super::outcome::{OrderWork, failed};
use crate::{browser::PATIENCE, page::Page};

/// How many frames are listed.
const MOST: usize = 500;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTreeAnswer {
    frame_tree: FrameTree,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTree {
    frame: FrameDescription,
    #[serde(default)]
    child_frames: Vec<FrameTree>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameDescription {
    id: String,
    parent_id: Option<String>,
    url: String,
    name: Option<String>,
    unreachable_url: Option<String>,
}

pub(super) fn tell(page: &Arc<Page>) -> OrderWork {
    let ask = |session: &str| page.call(session, "Page.getFrameTree", &json!({}));
    let main = ask(page.main_session());
    let elsewhere = {
        let state = page.state();
        let frames = state.sessions.iter().filter(|(_, kind)| *kind == "iframe");
        frames.map(|(session, _)| session.clone()).collect::<Vec<_>>()
    };
    let elsewhere = elsewhere.iter().map(|session| ask(session)).collect::<Vec<_>>();
    Box::pin(async move {
        let mut frames = Vec::new();
        let FrameTreeAnswer { frame_tree } = main.read().await.map_err(|error| failed(&error))?;
        add(frame_tree, &mut frames);
        for call in elsewhere {
            // One that went meanwhile, or does not answer, is left out.
            if let Ok(FrameTreeAnswer { frame_tree }) = call.read_within(PATIENCE).await {
                add(frame_tree, &mut frames);
            }
        }
        Ok(OrderOutput::json(&FramesResult { frames }))
    })
}

fn add(tree: FrameTree, frames: &mut Vec<FrameInfo>) {
    if frames.len() >= MOST {
        return;
    }
    let FrameDescription { id, parent_id, url, name, unreachable_url } = tree.frame;
    if !frames.iter().any(|known| known.id == id) {
        frames.push(FrameInfo {
            id,
            parent: parent_id,
            url: wharf_core::text::cut(&unreachable_url.unwrap_or(url), 4_096).to_owned(),
            name: wharf_core::text::cut(&name.unwrap_or_default(), 256).to_owned(),
        });
    }
    for child in tree.child_frames {
        add(child, frames);
    }
}
