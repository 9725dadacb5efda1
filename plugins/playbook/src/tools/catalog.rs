//! Tools that show playbooks without carrying them out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::{OnePlaybook, PlaybookReference};
use crate::id::PlaybookId;
use crate::limits::{self, check_range, shorten};
use crate::playbook::Playbook;
use crate::shelf::{Selection, Shelf};

/// Shows a playbook of yours as it was written, `{{name}}` and all. Use it before you change one; to carry it out, call
/// select_playbook.
#[tool(title = "Show a playbook", read_only, idempotent)]
pub(crate) fn get_playbook(call: &Call, input: PlaybookReference) -> Result<Reply<OnePlaybook>, ToolError> {
    let playbook = Shelf::open(call)?.get(&PlaybookId::parse(&input.id)?)?;
    Ok(Reply::new(shorten(playbook.text()), OnePlaybook { playbook }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ListPlaybooks {
    /// Which page, counted from 1.
    #[serde(default = "first_page")]
    #[schemars(range(min = 1, max = limits::PAGE))]
    page: usize,
    /// How many playbooks a page has.
    #[serde(default = "default_page_size")]
    #[schemars(range(min = 1, max = limits::PAGE_SIZE))]
    page_size: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct GetPlaybookPage {
    /// Which page, counted from 1.
    #[schemars(range(min = 1, max = limits::PAGE))]
    page: usize,
    /// How many playbooks a page has.
    #[serde(default = "whole_page_size")]
    #[schemars(range(min = 1, max = limits::WHOLE_PAGE_SIZE))]
    page_size: usize,
}

fn first_page() -> usize {
    1
}

fn default_page_size() -> usize {
    limits::DEFAULT_PAGE_SIZE
}

fn whole_page_size() -> usize {
    limits::WHOLE_PAGE_SIZE
}

/// A playbook without its steps.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    id: String,
    goal: String,
    /// How many steps it has.
    steps: usize,
    created_at: String,
    updated_at: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlaybookPage<T> {
    /// The newest first.
    playbooks: Vec<T>,
    page: usize,
    page_size: usize,
    /// Those of this page that cannot be read. delete_playbook removes one for good.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<Unreadable>,
    /// How many playbooks there are on all pages.
    total: usize,
    total_pages: usize,
    /// Whether there is a further page.
    has_more: bool,
    /// Said where there are none because they expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// A playbook that is damaged, or that a newer plugin wrote.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Unreadable {
    id: String,
    reason: String,
}

/// Lists your playbooks, the newest first: id, goal and how many steps. Use it to find out whether there is a playbook for
/// the work at hand. get_playbook shows one with its steps, get_playbook_page several.
#[tool(title = "List playbooks", read_only, idempotent)]
pub(crate) fn list_playbooks(call: &Call, input: ListPlaybooks) -> Result<Reply<PlaybookPage<Summary>>, ToolError> {
    check_range("pageSize", input.page_size, limits::PAGE_SIZE)?;
    page(call, input.page, input.page_size, summary, |playbook| {
        format!("{}: {} ({} steps)\n", playbook.id, playbook.goal, playbook.workflow.len())
    })
}

/// Shows several of your playbooks with all their steps, the newest first. Use it to compare playbooks or to take them
/// elsewhere; list_playbooks is shorter.
#[tool(title = "Show a page of playbooks", read_only, idempotent)]
pub(crate) fn get_playbook_page(
    call: &Call,
    input: GetPlaybookPage,
) -> Result<Reply<PlaybookPage<Playbook>>, ToolError> {
    check_range("pageSize", input.page_size, limits::WHOLE_PAGE_SIZE)?;
    page(call, input.page, input.page_size, |playbook| playbook, Playbook::text)
}

fn page<T>(
    call: &Call,
    page: usize,
    page_size: usize,
    shown: impl FnMut(Playbook) -> T,
    line: impl FnMut(&Playbook) -> String,
) -> Result<Reply<PlaybookPage<T>>, ToolError> {
    check_range("page", page, limits::PAGE)?;
    let shelf = Shelf::open(call)?;
    let Selection { playbooks, unreadable, total } = shelf.page(page, page_size)?;
    let expired_at = if total == 0 { shelf.expired_at()? } else { None };
    let notice = expired_at.map(|at| format!("Earlier playbooks expired at {at} because nobody used them for long."));
    let total_pages = total.div_ceil(page_size);
    let mut text = match (total, playbooks.len() + unreadable.len()) {
        (0, _) => format!("There is no playbook yet. {}", notice.as_deref().unwrap_or_default()),
        (_, 0) => format!("Page {page} is empty: {total} playbooks fill {total_pages} pages."),
        _ => format!("Page {page} of {total_pages}, {total} playbooks in all:\n"),
    };
    text.extend(playbooks.iter().map(line));
    let unreadable: Vec<Unreadable> =
        unreadable.into_iter().map(|(id, error)| Unreadable { id, reason: error.message }).collect();
    text.extend(unreadable.iter().map(|broken| format!("{} cannot be read: {}\n", broken.id, broken.reason)));
    let playbooks = playbooks.into_iter().map(shown).collect();
    let has_more = page < total_pages;
    Ok(Reply::new(
        shorten(text),
        PlaybookPage { playbooks, unreadable, page, page_size, total, total_pages, has_more, notice },
    ))
}

fn summary(playbook: Playbook) -> Summary {
    Summary {
        id: playbook.id,
        goal: playbook.goal,
        steps: playbook.workflow.len(),
        created_at: playbook.created_at,
        updated_at: playbook.updated_at,
    }
}
