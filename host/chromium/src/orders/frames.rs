//! The frames of a page, wherever they run.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::outcome::{Work, failed, members};
use crate::{browser::PATIENCE, page::Page};

/// Frames that are told at most.
const MOST: usize = 500;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    frame_tree: Tree,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tree {
    frame: Frame,
    #[serde(default)]
    child_frames: Vec<Tree>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    id: String,
    parent_id: Option<String>,
    url: String,
    name: Option<String>,
    unreachable_url: Option<String>,
}

pub(super) fn tell(page: &Arc<Page>) -> Work {
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
        let Told { frame_tree } = main.read().await.map_err(|error| failed(&error))?;
        add(frame_tree, &mut frames);
        for call in elsewhere {
            // One that went meanwhile, or does not answer, is left out.
            if let Ok(Told { frame_tree }) = call.read_within(PATIENCE).await {
                add(frame_tree, &mut frames);
            }
        }
        Ok(members(json!({ "frames": frames })))
    })
}

fn add(tree: Tree, frames: &mut Vec<Value>) {
    if frames.len() >= MOST {
        return;
    }
    let Frame { id, parent_id, url, name, unreachable_url } = tree.frame;
    if !frames.iter().any(|known| known["id"] == id.as_str()) {
        frames.push(json!({
            "id": id,
            "parent": parent_id,
            "url": wharf_core::text::cut(&unreachable_url.unwrap_or(url), 4_096),
            "name": wharf_core::text::cut(&name.unwrap_or_default(), 256),
        }));
    }
    for child in tree.child_frames {
        add(child, frames);
    }
}
