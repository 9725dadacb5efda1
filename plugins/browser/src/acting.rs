//! What a person does with a page, and the wait for its effects: a page that loads,
//! a dialog, a download, a window that wanted to open.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use wharf_sdk::ToolError;
use wharf_sdk::contract::webview::{AnyDownloadState, DownloadLogEntry, FrameInfo, FramesResult, LogName, POPUPS};
use wharf_sdk::webview::{Modifier, MouseButton, Operation, PageInfo, PageStatus};

use crate::answer::{OpenDialog, PageNow, quoted};
use crate::page::{ElementBrief, PageReply, SessionPage};
use crate::trouble;

/// How long an element may take until it can be used.
pub(crate) const ELEMENT_MILLISECONDS: u64 = 5_000;
/// How long an action may take; most take none.
pub(crate) const ACTION: Duration = Duration::from_secs(15);
/// Within which time an action takes the page elsewhere, where it does.
const REACTION_MILLISECONDS: u64 = 150;
/// How long, and how often, a page that loads is waited for.
const LOADING_MILLISECONDS: u64 = 500;
const LOADING_ROUNDS: u32 = 20;
const LOADED_MILLISECONDS: u64 = 5_000;

/// How things were before something was done.
pub(crate) struct PageBefore {
    url: String,
    popups: u64,
    downloads: u64,
}

/// The outcome of something that was done.
pub(crate) struct ActionEffects {
    pub(crate) page: PageNow,
    /// A sentence each.
    pub(crate) happened: Vec<String>,
}

/// Where an element is that can be used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct UsableElement {
    #[serde(flatten)]
    pub(crate) element: ElementBrief,
    x: f64,
    y: f64,
}

/// How a click is made.
pub(crate) struct Click {
    pub(crate) button: MouseButton,
    pub(crate) count: u32,
    pub(crate) modifiers: Vec<Modifier>,
}

impl Click {
    pub(crate) fn plain() -> Self {
        Self { button: MouseButton::Left, count: 1, modifiers: Vec::new() }
    }
}

impl SessionPage<'_> {
    /// Looks at the page before something is done with it.
    ///
    /// # Errors
    /// `conflict` where a dialog has to be answered first.
    pub(crate) fn before(&self) -> Result<PageBefore, ToolError> {
        let info = self.info()?;
        if let Some(dialog) = &info.dialog {
            let message = OpenDialog::from(dialog).text();
            return Err(ToolError { retryable: false, ..ToolError::conflict(message) });
        }
        self.before_dialog(&info)
    }

    /// The same where a dialog may be open.
    pub(crate) fn before_dialog(&self, info: &PageInfo) -> Result<PageBefore, ToolError> {
        Ok(PageBefore { popups: popups(info), url: info.url.clone(), downloads: self.downloads(0)?.1 })
    }

    /// What was downloaded after a number, and the number to go on after.
    fn downloads(&self, after: u64) -> Result<(Vec<Value>, u64), ToolError> {
        let page = self.call.web_pages().entries(&self.id, LogName::Downloads.as_str(), after, 1_000)?;
        Ok((page.entries, page.next))
    }

    /// Waits for the effects of an action, at most until a page that loads has loaded.
    pub(crate) fn settle(&self, before: &PageBefore, told: &PageReply) -> Result<ActionEffects, ToolError> {
        let mut left = matches!(told, PageReply::Left);
        if !matches!(told, PageReply::Dialog) {
            left |= self.stays(REACTION_MILLISECONDS)? == Stay::Left;
            for _ in 0..LOADING_ROUNDS {
                let info = self.info()?;
                if info.dialog.is_some() || info.status != PageStatus::Loading {
                    break;
                }
                left |= self.stays(LOADING_MILLISECONDS)? == Stay::Left;
            }
            if left && self.info()?.dialog.is_none() {
                // Of a page that has not loaded by then the answer tells that.
                let _ = self.top().try_ask("loaded", &json!({ "milliseconds": LOADED_MILLISECONDS }));
            }
        }
        let info = self.info()?;
        let mut happened = Vec::new();
        if info.url != before.url {
            happened.push(format!("The page is elsewhere now: {}", info.url));
        } else if left {
            happened.push("The page was loaded anew.".to_owned());
        }
        if popups(&info) > before.popups {
            happened
                .push("It wanted to open a window, which was opened in this page instead; back returns.".to_owned());
        }
        for download in self.downloads(before.downloads)?.0.iter().take(10) {
            happened.push(downloaded(&DownloadLogEntry::deserialize(download)?));
        }
        Ok(ActionEffects { page: PageNow::from(&info), happened })
    }

    fn stays(&self, milliseconds: u64) -> Result<Stay, ToolError> {
        let page = self.top();
        match page.act("settle", &json!({ "milliseconds": milliseconds })) {
            Ok(PageReply::Left) => Ok(Stay::Left),
            Ok(PageReply::Answer(_) | PageReply::Dialog) => Ok(Stay::Here),
            // A page that crashed, or is busy, is told as it is.
            Err(_) if self.info().is_ok() => Ok(Stay::Here),
            Err(error) => Err(error),
        }
    }

    /// Waits until an element can be used as `needs` says.
    pub(crate) fn ready(&self, target: &str, needs: &[&str]) -> Result<UsableElement, ToolError> {
        let given = json!({ "target": target, "needs": needs, "milliseconds": ELEMENT_MILLISECONDS });
        self.ask_of("ready", target, &given)
    }

    /// Clicks an element once it can be clicked.
    pub(crate) fn click(&self, target: &str, click: &Click) -> Result<(ElementBrief, PageReply), ToolError> {
        let UsableElement { element, x, y } = self.ready(target, &["enabled", "point"])?;
        let told = match self.offset()?.filter(|_| self.rules.performs("mouse")) {
            Some((left, top)) => {
                let Click { button, count, modifiers } = click;
                let (x, y, modifiers) = (x + left, y + top, modifiers.clone());
                self.perform(&Operation::MouseClick { x, y, button: *button, count: *count, modifiers }, ACTION)?
            }
            None => {
                let button = match click.button {
                    MouseButton::Left => 0,
                    MouseButton::Middle => 1,
                    MouseButton::Right => 2,
                };
                self.act_on("click", target, &json!({ "target": target, "button": button, "count": click.count }))?
            }
        };
        Ok((element, told))
    }

    /// Moves the mouse over an element.
    pub(crate) fn hover(&self, target: &str) -> Result<(ElementBrief, PageReply), ToolError> {
        let UsableElement { element, x, y } = self.ready(target, &["point"])?;
        let Some((left, top)) = self.offset()?.filter(|_| self.rules.performs("mouse")) else {
            return Err(ToolError::unavailable("this browser has no mouse that could hover here"));
        };
        let told = self.perform(&Operation::MouseMove { x: x + left, y: y + top }, ACTION)?;
        Ok((element, told))
    }

    /// As [`SessionPage::act`], for an element.
    pub(crate) fn act_on(&self, name: &str, target: &str, given: &Value) -> Result<PageReply, ToolError> {
        let told = self.act(name, given)?;
        if let PageReply::Answer(answer) = &told {
            trouble::check(target, answer)?;
        }
        Ok(told)
    }

    /// Where the frame of this page begins in what is seen; none where that cannot
    /// be told.
    fn offset(&self) -> Result<Option<(f64, f64)>, ToolError> {
        let Some(frame) = &self.frame else { return Ok(Some((0.0, 0.0))) };
        let found = self.frames()?.into_iter().find(|known| known.id == *frame);
        let Some(found) = found else {
            let message =
                format!("there is no frame `{frame}` on this page; get_snapshot names those of other origins");
            return Err(ToolError::not_found(message));
        };
        if found.parent.is_none() {
            return Ok(Some((0.0, 0.0)));
        }
        let given = json!({ "url": found.url, "name": found.name });
        let place: Value = self.top().ask("frame", &given)?;
        Ok(place["x"].as_f64().zip(place["y"].as_f64()))
    }

    /// The frames of the page, as the browser tells them.
    pub(crate) fn frames(&self) -> Result<Vec<FrameInfo>, ToolError> {
        match self.perform(&Operation::Frames, ACTION)? {
            PageReply::Answer(answer) => Ok(serde_json::from_value::<FramesResult>(answer)?.frames),
            PageReply::Left | PageReply::Dialog => Ok(Vec::new()),
        }
    }
}

#[derive(PartialEq, Eq)]
enum Stay {
    Here,
    Left,
}

fn popups(info: &PageInfo) -> u64 {
    let meta: Value = info.meta.as_deref().and_then(|meta| serde_json::from_str(meta).ok()).unwrap_or_default();
    meta[POPUPS].as_u64().unwrap_or_default()
}

/// An entry of the log of downloads in a sentence.
pub(crate) fn downloaded(entry: &DownloadLogEntry) -> String {
    let DownloadLogEntry { name, path, bytes, state, failure, .. } = entry;
    let name = quoted(name);
    match (state, path.as_deref().unwrap_or_default()) {
        (AnyDownloadState::Done, "") => format!("Downloaded {name}."),
        (AnyDownloadState::Done, path) => {
            format!("Downloaded {name}: {bytes} bytes, in the workspace as {}.", quoted(path))
        }
        _ => format!("The download of {name} failed: {}", quoted(failure.as_deref().unwrap_or_default())),
    }
}
