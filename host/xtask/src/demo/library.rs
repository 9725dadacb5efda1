//! The part of the demo that keeps documents and finds things in them.

use std::fs;

use anyhow::{Context as _, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;

use super::{Stage, chapter, must, prose};
use crate::client::Conversation;
use crate::workspace::Workspace;

pub(super) const READER: Conversation =
    Conversation { session: "getting-to-know-wharf", assistant: "librarian", thread: "reading" };

/// This project's own documents, and three that office programs wrote.
const DOCUMENTS: [&str; 9] = [
    "README.md",
    "README.ko.md",
    "ARCHITECTURE.md",
    "docs/src/security/model.md",
    "docs/src/configuration/limits.md",
    "wit/README.md",
    "sdk/documents/tests/files/python-docx.docx",
    "sdk/documents/tests/files/openpyxl.xlsx",
    "sdk/documents/tests/files/reportlab.pdf",
];

impl Stage {
    pub(super) fn fill_library(&mut self, workspace: &Workspace) -> Result<()> {
        chapter("5. The agent keeps documents: this project's own, and a docx, an xlsx and a pdf");
        prose("They come as base64 and are read inside the sandbox: a document that attacks its parser attacks a");
        prose("Wasm instance that owns nothing and is gone a moment later.");
        for path in DOCUMENTS {
            let bytes = fs::read(workspace.root.join(path)).with_context(|| format!("cannot read {path}"))?;
            let name = path.rsplit('/').next().unwrap_or(path);
            let shown = format!("{{\"name\": \"{name}\", \"document\": base64 of {path}, {} bytes}}", bytes.len());
            let document = json!({ "name": name, "document": STANDARD.encode(bytes) });
            let added = self.call_shown(READER, "content-store__add_content", &document, &shown)?;
            must(!added.is_error, "its documents can be read")?;
        }
        Ok(())
    }

    pub(super) fn search_library(&mut self) -> Result<()> {
        chapter("6. And finds what they say, in English and in Korean");
        prose("Ranked by BM25 over this session's documents alone. English words are found by other endings:");
        let found = self.find("how are spinning guests stopped", "**stopped**")?;
        prose("The lines of a hit are exact, so the agent reads on around it:");
        let hit = &found["hits"][0];
        let lines = json!({
            "content_id": hit["content_id"], "from_line": hit["first_line"], "to_line": hit["last_line"],
        });
        let read = self.call(READER, "content-store__read_content", &lines)?;
        must(!read.is_error, "the lines of a hit can be read")?;
        prose("Korean grows endings onto its words and is found within them:");
        self.find("권한 없는 플러그인", "**플러그인")?;
        prose("The office documents were read as people read them: a table's row is a line.");
        self.find("돛단배 요금", "**돛단배**")?;
        prose("A phrase in quotes stands together, and -word is left out:");
        self.find("\"fresh instance\" -bench", "**fresh")?;
        Ok(())
    }

    fn find(&mut self, query: &str, marked: &str) -> Result<serde_json::Value> {
        let query = json!({ "query": query, "top_n": 2, "snippet_characters": 100 });
        let found = self.call(READER, "content-store__search_content", &query)?;
        must(found.text.contains(marked), &format!("a search finds {marked}"))?;
        Ok(found.structured)
    }
}
