//! The tools that open, list and close sessions: a session is one page, with
//! cookies of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::{range as check_range, text as check_text};
use wharf_sdk::contract::webview::DialogPolicy;
use wharf_sdk::webview::PageOptions;
use wharf_sdk::{Call, NoInput, Reply, ToolError, tool};

use super::check_optional;
use crate::answer::PageNow;
use crate::limits;
use crate::session::{self, of_session};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateSession {
    /// Width of what is seen, in pixels.
    #[serde(default = "default_width")]
    #[schemars(range(min = 1, max = limits::SIDE))]
    width: u32,
    /// Height of what is seen, in pixels.
    #[serde(default = "default_height")]
    #[schemars(range(min = 1, max = limits::SIDE))]
    height: u32,
    /// What becomes of dialogs (alert, confirm, prompt): "report" keeps them open until handle_dialog answers, for 30 seconds;
    /// "accept" and "dismiss" answer all at once.
    #[serde(default)]
    dialogs: DialogPolicy,
    /// The language that sites are told, such as `ko-KR`.
    #[schemars(length(min = 1, max = 40))]
    locale: Option<String>,
    /// The time zone that sites are told, such as `Asia/Seoul`.
    #[schemars(length(min = 1, max = 60))]
    time_zone: Option<String>,
}

fn default_width() -> u32 {
    1_280
}

fn default_height() -> u32 {
    800
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct CreatedSession {
    #[serde(flatten)]
    page: PageNow,
    width: u32,
    height: u32,
}

/// Opens a browser session: one page with cookies, storage and logins of its own. Only needed for several pages at
/// once, another size or language: navigate opens one by itself. Answers the `session` that the other tools take.
#[tool(title = "Open a browser session")]
pub(crate) fn create_session(call: &Call, input: CreateSession) -> Result<Reply<CreatedSession>, ToolError> {
    check_range("width", input.width.into(), 1, limits::SIDE.into())?;
    check_range("height", input.height.into(), 1, limits::SIDE.into())?;
    check_optional("locale", input.locale.as_deref(), 40)?;
    check_optional("time_zone", input.time_zone.as_deref(), 60)?;
    let mut options = PageOptions::new().size(input.width, input.height).dialogs(input.dialogs.into());
    if let Some(locale) = input.locale {
        options = options.locale(locale);
    }
    if let Some(time_zone) = input.time_zone {
        options = options.time_zone(time_zone);
    }
    let info = session::open(call, &options)?;
    let (page, width, height) = (PageNow::from(&info), info.width, info.height);
    let text = format!("Session {} is open, {width}x{height}, with an empty page; navigate goes somewhere.", info.id);
    Ok(Reply::new(text, CreatedSession { page, width, height }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloseSession {
    /// The session to close, as create_session, navigate and list_sessions answer it.
    #[schemars(length(min = 1, max = limits::ID))]
    session: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ClosedSession {
    /// The session that is closed.
    session: String,
    /// How many are left.
    left: usize,
}

/// Closes a browser session with its page, its cookies and its logins. Files that were downloaded stay in the workspace.
#[tool(title = "Close a browser session", destructive, idempotent)]
pub(crate) fn close_session(call: &Call, input: CloseSession) -> Result<Reply<ClosedSession>, ToolError> {
    check_text("session", &input.session, limits::ID)?;
    call.web_pages().close(&input.session).map_err(of_session)?;
    let left = call.web_pages().list()?.iter().filter(|page| !page.is_closed()).count();
    let text = format!("Session {} is closed; {left} are open.", input.session);
    Ok(Reply::new(text, ClosedSession { session: input.session, left }))
}

/// What pages here may do.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BrowserRules {
    /// Origins that pages may reach; `*` alone is every site.
    origins: Vec<String>,
    /// Whether they reach private addresses, such as servers on this machine.
    private_addresses: bool,
    /// Whether downloads are kept, in the workspace.
    downloads: bool,
    /// Whether files of the workspace may be uploaded.
    uploads: bool,
    /// How many sessions there may be at once.
    maximum: u64,
    /// After how many seconds without use one is closed.
    idle_seconds: u64,
    /// What drives the pages.
    browser: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionList {
    /// Those that are open, the one that was used last first.
    sessions: Vec<PageNow>,
    /// What holds here.
    rules: BrowserRules,
}

/// Lists the open browser sessions with their pages, the one that was used last first, and says which sites may be reached here,
/// whether downloads and uploads are possible and how many sessions there may be.
#[tool(title = "List browser sessions", read_only, idempotent)]
pub(crate) fn list_sessions(call: &Call, _: NoInput) -> Result<Reply<SessionList>, ToolError> {
    let mut open: Vec<_> = call.web_pages().list()?.into_iter().filter(|page| !page.is_closed()).collect();
    open.reverse();
    open.sort_by(|one, other| other.last_used.cmp(&one.last_used));
    let sessions: Vec<PageNow> = open.iter().map(PageNow::from).collect();
    let status = call.web_pages().status()?;
    let rules = BrowserRules {
        origins: status.origins,
        private_addresses: status.private_addresses,
        downloads: status.downloads,
        uploads: status.uploads,
        maximum: status.maximum_pages,
        idle_seconds: status.idle_seconds,
        browser: status.backend,
    };
    let mut text = match sessions.len() {
        0 => "No session is open; navigate opens one.".to_owned(),
        count => format!("{count} open, the one that was used last first:"),
    };
    for page in &sessions {
        text.push_str(&format!("\n{}", page.text()));
    }
    let reached = if rules.origins.is_empty() { "nothing".to_owned() } else { rules.origins.join(", ") };
    let may = |granted: bool| if granted { "possible" } else { "not possible" };
    text.push_str(&format!(
        "\nPages may reach {reached}{}; downloads are {}, uploads {}; {} sessions at most.",
        if rules.private_addresses { ", private addresses too" } else { ", no private addresses" },
        may(rules.downloads),
        may(rules.uploads),
        rules.maximum,
    ));
    Ok(Reply::new(text, SessionList { sessions, rules }))
}
