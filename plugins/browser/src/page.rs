//! Asks a page: runs the plugin's scripts in it, apart from its own, and installs
//! them where they are not there yet. Knows nothing of tools.

mod documents;

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wharf_sdk::check::text as check_text;
use wharf_sdk::webview::{FailureKind, Operation, PageInfo, Script, ScriptFailure, WebViewRules};
use wharf_sdk::{Call, ToolError};

use crate::limits::{self, within};
use crate::{session, trouble};

/// The scripts, in the order in which they build on each other.
const LIBRARY: [&str; 9] = [
    include_str!("page/visibility.js"),
    include_str!("page/names.js"),
    include_str!("page/references.js"),
    include_str!("page/paging.js"),
    include_str!("page/snapshot.js"),
    include_str!("page/finding.js"),
    include_str!("page/forms.js"),
    include_str!("page/content.js"),
    include_str!("page/answers.js"),
];
/// How much they look at: elements, levels of them, characters of a name, of a
/// snapshot and of a content, references that are kept.
const BOUNDS: &str =
    "const [WALKED, DEEP, NAME, SNAPSHOT, CONTENT, REFERENCES] = [20000, 400, 200, 400000, 1000000, 20000];";
/// What a script may take beside what it waits for itself.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a question is asked again of the page that took the place of the one
/// that was asked.
const ATTEMPTS: u32 = 4;

/// A page that a call works with.
pub(crate) struct SessionPage<'call> {
    pub(crate) call: &'call Call,
    pub(crate) id: String,
    pub(crate) rules: WebViewRules,
    /// The frame whose elements are meant; none for the page itself and frames of
    /// its origin.
    pub(crate) frame: Option<String>,
}

/// One element, as it is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct ElementBrief {
    #[serde(rename = "ref")]
    pub(crate) reference: String,
    pub(crate) role: String,
    pub(crate) name: String,
}

/// A piece of a long text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct TextPiece {
    pub(crate) text: String,
    pub(crate) start: u64,
    pub(crate) total: u64,
    pub(crate) next: Option<String>,
    /// Whether nothing was left out for its length.
    pub(crate) whole: Option<bool>,
    /// Parts of the page that are not in it.
    pub(crate) left: Vec<String>,
    pub(crate) count: u64,
}

/// The answer to a question.
pub(crate) enum PageReply {
    /// The page answered.
    Answer(Value),
    /// The page went elsewhere meanwhile, or its browser ended.
    Left,
    /// A dialog opened, and the page goes on once it is answered.
    Dialog,
}

impl<'call> SessionPage<'call> {
    /// The page that a call names, else the one that was used last.
    pub(crate) fn find(call: &'call Call, session: Option<&str>, frame: Option<String>) -> Result<Self, ToolError> {
        if let Some(frame) = &frame {
            check_text("frame", frame, limits::ID)?;
        }
        let id = session::find(call, session)?.id;
        Self::of(call, id, frame)
    }

    pub(crate) fn of(call: &'call Call, id: String, frame: Option<String>) -> Result<Self, ToolError> {
        Ok(Self { call, id, rules: call.web_pages().status()?, frame })
    }

    /// How the page is now.
    pub(crate) fn info(&self) -> Result<PageInfo, ToolError> {
        self.call.web_pages().get(&self.id).map_err(session::of_session)
    }

    /// Asks the page something that changes nothing; again where it went elsewhere
    /// meanwhile.
    pub(crate) fn ask<T: DeserializeOwned>(&self, name: &str, given: &Value) -> Result<T, ToolError> {
        let answer = self.try_ask(name, given).map_err(|failure| trouble::of_failure(self, failure))?;
        Ok(serde_json::from_value(answer)?)
    }

    pub(crate) fn try_ask(&self, name: &str, given: &Value) -> Result<Value, ScriptFailure> {
        let mut attempt = 1;
        loop {
            match self.put(name, given) {
                Err(failure) if failure.kind() == Some(&FailureKind::Navigated) && attempt < ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    /// Asks the page something that may take it elsewhere or open a dialog.
    pub(crate) fn act(&self, name: &str, given: &Value) -> Result<PageReply, ToolError> {
        match self.put(name, given) {
            Ok(answer) => Ok(PageReply::Answer(answer)),
            Err(ScriptFailure::Dialog { .. }) => Ok(PageReply::Dialog),
            Err(failure) if failure.kind() == Some(&FailureKind::Navigated) => Ok(PageReply::Left),
            Err(failure) => Err(trouble::of_failure(self, failure)),
        }
    }

    /// Puts a question once, with the scripts where they are not there yet.
    fn put(&self, name: &str, given: &Value) -> Result<Value, ScriptFailure> {
        let waits = given["milliseconds"].as_u64().map_or(Duration::ZERO, Duration::from_millis);
        let deadline = within(self.call, PATIENCE.saturating_add(waits));
        let asked = format!("globalThis.wharfPage.ask({}, {given})", json!(name));
        let brief = format!("(async () => globalThis.wharfPage ? await {asked} : {{ absent: true }})()");
        let answer = self.run(brief, deadline)?;
        if answer["absent"] != true {
            return Ok(answer);
        }
        let library = library(documents::name(self.call).ok().as_deref());
        self.run(format!("(async () => {{ {library}\nreturn await {asked}; }})()"), deadline)
    }

    fn run(&self, source: String, deadline: Duration) -> Result<Value, ScriptFailure> {
        let mut script = Script::new(source).deadline(deadline);
        if self.rules.isolated_world {
            script = script.isolated();
        }
        if let Some(frame) = &self.frame {
            script = script.frame(frame);
        }
        self.call.web_pages().run(&self.id, &script)
    }

    /// Does something with the page that may take it elsewhere or open a dialog.
    pub(crate) fn perform(&self, operation: &Operation, deadline: Duration) -> Result<PageReply, ToolError> {
        let deadline = within(self.call, deadline);
        match self.call.web_pages().carry_out(&self.id, operation, Some(deadline)) {
            Ok(finished) => Ok(PageReply::Answer(finished.json()?)),
            Err(ScriptFailure::Dialog { .. }) => Ok(PageReply::Dialog),
            Err(failure) if failure.kind() == Some(&FailureKind::Navigated) => Ok(PageReply::Left),
            Err(failure) => Err(trouble::of_failure(self, failure)),
        }
    }

    /// The page itself, where this is one of its frames.
    pub(crate) fn top(&self) -> SessionPage<'call> {
        SessionPage { call: self.call, id: self.id.clone(), rules: self.rules.clone(), frame: None }
    }

    /// How the answer to a question about an element reads.
    pub(crate) fn ask_of<T: DeserializeOwned>(&self, name: &str, target: &str, given: &Value) -> Result<T, ToolError> {
        let answer: Value = self.ask(name, given)?;
        trouble::check(target, &answer)?;
        Ok(serde_json::from_value(answer)?)
    }
}

/// The scripts as a statement that installs them in the document of this name. Where it has none, the
/// scripts make up a long one.
fn library(document: Option<&str>) -> String {
    format!("(() => {{ 'use strict'; {BOUNDS}\nconst NAMED = {};\n{}}})();", json!(document), LIBRARY.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_are_small_enough_to_be_sent_to_every_new_document() {
        let library = library(Some("a0"));
        assert!(library.len() < 100_000, "{}", library.len());
        assert!(library.contains("'wharfPage'") && library.contains("WALKED"));
    }
}
