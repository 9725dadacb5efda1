//! Web pages: their state, what can be done with them, and the results.

mod log;
mod parameters;
mod results;

use serde::{Deserialize, Serialize};

use crate::words::words;
pub use log::{
    AnyConsoleKind, AnyDialogOutcome, AnyDownloadState, ConsoleKind, ConsoleLogEntry, DialogOutcome, DownloadLogEntry,
    DownloadState, NetworkLogEntry, NumberedEntry,
};
pub use parameters::{
    Key, Mouse, Navigate, NetworkIdle, NoParameters, Pdf, Rectangle, Resize, Screenshot, SetFiles, Text,
};
pub use results::{FrameInfo, FramesResult, NavigationResult};

words! {
    /// How a page is. Take another word for [`PageStatus::Ready`].
    PageStatus, open AnyPageStatus, "status" {
        /// It is being opened.
        Opening = "opening";
        /// It can be used.
        Ready = "ready";
        /// It navigates.
        Loading = "loading";
        /// It crashed, and can be used again once it is navigated or reloaded.
        Crashed = "crashed";
        /// It is closed for good.
        Closed = "closed";
    }
}

words! {
    /// How a request is. More may come.
    RequestState, open AnyRequestState, "state" {
        /// It has not ended.
        Pending = "pending";
        /// It has, with a result.
        Done = "done";
        /// It has, without one.
        Failed = "failed";
        /// It had ended, and the result is not kept any more.
        Expired = "expired";
        /// This owner never made it, or that is forgotten.
        Unknown = "unknown";
    }
}

words! {
    /// Why a request failed. Take another word for [`FailureKind::Exception`].
    FailureKind, open AnyFailureKind, "kind" {
        /// The script threw.
        Exception = "exception";
        /// The script cannot be parsed; nothing of it ran.
        Syntax = "syntax";
        /// The page went elsewhere meanwhile.
        Navigated = "navigated";
        /// The page crashed.
        Crashed = "crashed";
        /// A dialog has to be answered first.
        DialogOpen = "dialog-open";
        /// The deadline passed.
        TimeOut = "time-out";
        /// Somebody cancelled it, or closed the page.
        Cancelled = "cancelled";
        /// The origin is not granted, or the page may not do that.
        Denied = "denied";
        /// The result cannot be JSON.
        Unserialisable = "unserialisable";
        /// The browser ended, or cannot be had.
        BackendGone = "backend-gone";
        /// This backend cannot do it.
        Unsupported = "unsupported";
        /// The server was not reached, or broke off.
        Network = "network";
        /// It makes no sense on this page, such as files for what is no file
        /// input.
        Invalid = "invalid";
        /// The result is larger than it may be.
        Limit = "limit";
    }
}

words! {
    /// What a dialog is. More may come.
    DialogKind, open AnyDialogKind, "dialog" {
        /// Says something.
        Alert = "alert";
        /// Asks for yes or no.
        Confirm = "confirm";
        /// Asks for a text.
        Prompt = "prompt";
        /// Asks whether to leave the page.
        BeforeUnload = "beforeunload";
    }
}

words! {
    /// What happens to dialogs that a page opens; [`DialogPolicy::Report`]
    /// where nothing is said.
    #[derive(Default)]
    DialogPolicy, open AnyDialogPolicy, "policy" {
        /// They stay open until they are answered, for a time.
        #[default]
        Report = "report";
        /// Yes to all.
        Accept = "accept";
        /// No to all.
        Dismiss = "dismiss";
    }
}

words! {
    /// Why a page is closed. More may come.
    CloseReason, "reason" {
        /// Its owner asked.
        Owner = "owner";
        /// Nobody used it.
        Idle = "idle";
        /// It made room for another one.
        Evicted = "evicted";
        /// It crashed too often.
        Crashes = "crashes";
        /// The operator asked.
        Operator = "operator";
        /// The host ends.
        ShuttingDown = "shutting-down";
        /// The browser ended, or could not be had.
        BackendGone = "backend-gone";
    }
}

words! {
    /// Where a script runs.
    World, "world" {
        /// Among the page's own scripts, whose variables it sees.
        Page = "page";
        /// Apart from them, with the same document.
        Isolated = "isolated";
    }
}

words! {
    /// A log of a page. Its entries are [`NumberedEntry`]s of the type that each names.
    LogName, "log" {
        /// What the page said, and what happened to it: [`ConsoleLogEntry`].
        Console = "console";
        /// What the page asked of servers: [`NetworkLogEntry`].
        Network = "network";
        /// What came as files: [`DownloadLogEntry`].
        Downloads = "downloads";
    }
}

words! {
    /// What `perform` does. The type of the same name holds the parameters,
    /// [`NoParameters`] where there is none. More may come: `status` says what
    /// there is.
    OperationName, "operation" {
        /// Goes to an address, and is done once it has loaded: [`NavigationResult`], as
        /// of the three that follow.
        Navigate = "navigate";
        /// Goes back in the history.
        Back = "back";
        /// Goes forward in the history.
        Forward = "forward";
        /// Loads the page again.
        Reload = "reload";
        /// Draws the page.
        Screenshot = "screenshot";
        /// Prints the page.
        Pdf = "pdf";
        /// Moves or presses the mouse.
        Mouse = "mouse";
        /// Presses a key.
        Key = "key";
        /// Inserts a text, as an input method does.
        Text = "text";
        /// Gives a file input files of the workspace.
        SetFiles = "set-files";
        /// Changes the size of what is seen.
        Resize = "resize";
        /// Waits until nothing is loaded.
        NetworkIdle = "network-idle";
        /// Tells the frames of the page: [`FramesResult`].
        Frames = "frames";
        /// Stops loading, and whatever script runs.
        Stop = "stop";
    }
}

words! {
    /// What a screenshot is made as.
    ImageType, "format" {
        /// `image/png`
        Png = "png";
        /// `image/jpeg`
        Jpeg = "jpeg";
    }
}

words! {
    /// What a page is printed on.
    Paper, "paper" {
        /// 210 by 297 mm.
        A4 = "a4";
        /// 8.5 by 11 inches.
        Letter = "letter";
    }
}

words! {
    /// What a mouse does.
    MouseKind, "kind" {
        /// Goes there.
        Move = "move";
        /// Goes there and presses.
        Down = "down";
        /// Goes there and lets go.
        Up = "up";
        /// Goes there, presses and lets go.
        Click = "click";
        /// Goes there and turns its wheel.
        Wheel = "wheel";
    }
}

words! {
    /// A button of a mouse; [`MouseButton::Left`] where none is named.
    #[derive(Default)]
    MouseButton, "button" {
        /// The first.
        #[default]
        Left = "left";
        /// The wheel.
        Middle = "middle";
        /// The second.
        Right = "right";
    }
}

words! {
    /// What is done with a key; [`KeyKind::Press`] where nothing is said.
    KeyKind, "kind" {
        /// Down, and up again.
        Press = "press";
        /// Down.
        Down = "down";
        /// Up.
        Up = "up";
    }
}

words! {
    /// A key that is held while something else is pressed.
    Modifier, "modifier" {
        /// Alt
        Alt = "Alt";
        /// Control
        Control = "Control";
        /// Meta
        Meta = "Meta";
        /// Shift
        Shift = "Shift";
    }
}

/// In the `meta` of a page: counts the windows that it wanted to open.
pub const POPUPS: &str = "popups";

/// In the `meta` of the result of a script: what `typeof` said of its result.
pub const TYPE: &str = "type";

/// What holds for the pages of a plugin here: what `status` answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebViewRules {
    /// The granted patterns of origins.
    pub origins: Vec<String>,
    /// How many pages an owner may have.
    pub maximum_pages: u64,
    /// Whether downloads go to the workspace.
    pub downloads: bool,
    /// Whether files of the workspace may be given to pages.
    pub uploads: bool,
    /// Whether private addresses are reached.
    pub private_addresses: bool,
    /// What drives the pages, such as `chromium`.
    pub backend: String,
    /// What `perform` can do here, each an [`OperationName`].
    pub operations: Vec<String>,
    /// Whether scripts can be run apart from those of the page.
    pub isolated_world: bool,
    /// Whether pages cannot leave the granted origins, whatever they try.
    pub enforces_origins: bool,
    /// Whether pages run in the browser's own sandbox.
    pub sandbox: bool,
    /// After how many seconds without use a page is closed.
    pub idle_seconds: u64,
    /// The deadline of a request that names none, in milliseconds.
    pub request_milliseconds: u64,
    /// The longest deadline, in milliseconds.
    pub maximum_request_milliseconds: u64,
}

impl WebViewRules {
    /// Whether an operation of this name can be performed here.
    #[must_use]
    pub fn performs(&self, operation: &str) -> bool {
        self.operations.iter().any(|name| name == operation)
    }
}

/// The `options` of a page: what pages are told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageOptions {
    /// What `navigator.language` says, such as `ko-KR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// The time zone, such as `Asia/Seoul`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// The name that the browser gives itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

/// The `options` of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptOptions {
    /// The id of a frame of the page, as the operation `frames` tells it; absent
    /// for the page itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
}
