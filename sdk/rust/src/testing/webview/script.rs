//! What the web pages of the test host make of what is asked of them.

use serde_json::Value;
use wharf_contract::webview::OperationName;

use crate::webview::{Dialog, DialogKind, FailureKind, WebViewRules};

/// Pages that play a part: what they make of scripts and operations.
///
/// A script is known by a text that occurs in it, an operation by its name and,
/// where that is not enough, by a text that occurs in its parameters. Of several
/// reactions that fit, the first that is not used up is taken. Without a reaction
/// there is an empty result: `null` for a script, `{}` for an operation.
#[derive(Debug, Clone)]
pub struct WebPageScript {
    pub(super) parts: Vec<(ReactionCue, Reaction)>,
    pub(super) rules: WebViewRules,
}

/// What a reaction is for.
#[derive(Debug, Clone)]
pub(super) enum ReactionCue {
    Script(String),
    Operation(String, String),
}

impl Default for WebPageScript {
    fn default() -> Self {
        let rules = WebViewRules {
            origins: vec!["*".to_owned()],
            maximum_pages: 4,
            downloads: true,
            uploads: true,
            private_addresses: false,
            backend: "script".to_owned(),
            operations: OperationName::WORDS.iter().map(ToString::to_string).collect(),
            isolated_world: true,
            enforces_origins: true,
            sandbox: true,
            idle_seconds: 900,
            request_milliseconds: 30_000,
            maximum_request_milliseconds: 300_000,
        };
        Self { parts: Vec::new(), rules }
    }
}

impl WebPageScript {
    /// Pages that do nothing, with everything granted.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The reaction to a script in which this text occurs.
    #[must_use]
    pub fn script(mut self, part: impl Into<String>, reaction: Reaction) -> Self {
        self.parts.push((ReactionCue::Script(part.into()), reaction));
        self
    }

    /// The reaction to an operation of this name.
    #[must_use]
    pub fn operation(self, name: impl Into<String>, reaction: Reaction) -> Self {
        self.operation_with(name, "", reaction)
    }

    /// The reaction to an operation of this name with this text in its parameters.
    #[must_use]
    pub fn operation_with(mut self, name: impl Into<String>, part: impl Into<String>, reaction: Reaction) -> Self {
        self.parts.push((ReactionCue::Operation(name.into(), part.into()), reaction));
        self
    }

    /// Changes what holds for the pages.
    #[must_use]
    pub fn rules(mut self, change: impl FnOnce(&mut WebViewRules)) -> Self {
        change(&mut self.rules);
        self
    }
}

/// What was asked of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageRequest {
    /// A script: whether it ran apart from those of the page, in which frame, and
    /// its source.
    Script {
        /// Whether it ran in the isolated world.
        isolated: bool,
        /// The frame that was named.
        frame: Option<String>,
        /// The source.
        source: String,
    },
    /// An operation.
    Operation {
        /// Its name.
        name: String,
        /// Its parameters: the text of a JSON object.
        parameters: String,
    },
}

/// How a page reacts to a script or an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Reaction {
    pub(super) outcome: ScriptedOutcome,
    pub(super) goes_to: Option<(String, String)>,
    pub(super) dialog: Option<Dialog>,
    pub(super) logs: Vec<(String, Value)>,
    pub(super) waits: u32,
    pub(super) once: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScriptedOutcome {
    Done { mime_type: String, data: Vec<u8> },
    Failed { kind: FailureKind, message: String },
    Never,
}

impl Reaction {
    fn new(outcome: ScriptedOutcome) -> Self {
        Self { outcome, goes_to: None, dialog: None, logs: Vec::new(), waits: 0, once: false }
    }

    /// Its result is this.
    #[must_use]
    pub fn value(value: Value) -> Self {
        Self::data("application/json", value.to_string().into_bytes())
    }

    /// Its result is these bytes.
    #[must_use]
    pub fn data(mime_type: impl Into<String>, data: Vec<u8>) -> Self {
        Self::new(ScriptedOutcome::Done { mime_type: mime_type.into(), data })
    }

    /// It fails.
    #[must_use]
    pub fn fails(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::new(ScriptedOutcome::Failed { kind, message: message.into() })
    }

    /// It never ends by itself.
    #[must_use]
    pub fn never() -> Self {
        Self::new(ScriptedOutcome::Never)
    }

    /// The page is there afterwards, and called so.
    #[must_use]
    pub fn goes_to(mut self, url: impl Into<String>, title: impl Into<String>) -> Self {
        self.goes_to = Some((url.into(), title.into()));
        self
    }

    /// A dialog opens first, and it ends once that is answered.
    #[must_use]
    pub fn opens_dialog(mut self, kind: DialogKind, message: impl Into<String>) -> Self {
        let (message, open) = (message.into(), std::time::Duration::ZERO);
        self.dialog = Some(Dialog { kind, message, default_text: String::new(), open });
        self
    }

    /// Leaves an entry in a log; it gets its number and time there.
    #[must_use]
    pub fn logs(mut self, log: impl Into<String>, entry: Value) -> Self {
        self.logs.push((log.into(), entry));
        self
    }

    /// So many waits for it are in vain.
    #[must_use]
    pub fn after_waits(mut self, waits: u32) -> Self {
        self.waits = waits;
        self
    }

    /// The first time only; afterwards the next reaction that fits is taken.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }
}
