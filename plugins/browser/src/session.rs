//! Which page is meant: the one that a call names, else the one that was used
//! last.

use wharf_sdk::check::text as check_text;
use wharf_sdk::webview::{PageInfo, PageOptions};
use wharf_sdk::{Call, ErrorCode, ToolError};

use crate::limits;

/// The page of a call, open or crashed.
pub(crate) fn find(call: &Call, session: Option<&str>) -> Result<PageInfo, ToolError> {
    match session {
        Some(id) => named(call, id),
        None => latest(call)?.ok_or_else(|| {
            ToolError::not_found("there is no session yet: navigate opens one, and so does create_session")
        }),
    }
}

/// The same, or a new page where none is named and there is none.
pub(crate) fn find_or_open(call: &Call, session: Option<&str>) -> Result<(PageInfo, bool), ToolError> {
    match session {
        Some(id) => Ok((named(call, id)?, false)),
        None => match latest(call)? {
            Some(page) => Ok((page, false)),
            None => Ok((open(call, &PageOptions::new())?, true)),
        },
    }
}

pub(crate) fn open(call: &Call, options: &PageOptions) -> Result<PageInfo, ToolError> {
    call.web_pages().open(options).map_err(|error| match error.code {
        ErrorCode::Limit => ToolError { message: format!("{}: close_session closes one", error.message), ..error },
        _ => error,
    })
}

fn named(call: &Call, id: &str) -> Result<PageInfo, ToolError> {
    check_text("session", id, limits::ID)?;
    let page = call.web_pages().get(id).map_err(of_session)?;
    if page.is_closed() {
        let because = page.closed_because.as_deref().unwrap_or("for an unknown reason");
        let message = format!("this session is closed ({because}); create_session opens another one");
        return Err(ToolError::gone(message));
    }
    Ok(page)
}

fn latest(call: &Call) -> Result<Option<PageInfo>, ToolError> {
    let open = call.web_pages().list()?.into_iter().filter(|page| !page.is_closed());
    // Times of the same length compare as texts; of equals, the newer page.
    Ok(open.max_by(|one, other| one.last_used.cmp(&other.last_used)))
}

/// An error about a session, with what to do next.
pub(crate) fn of_session(error: ToolError) -> ToolError {
    let advice = match error.code {
        ErrorCode::NotFound => "list_sessions shows those that there are",
        ErrorCode::Gone => "create_session opens another one",
        _ => return error,
    };
    error.with_advice(advice)
}
