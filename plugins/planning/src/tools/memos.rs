//! Tools on memos.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Call, Reply, ToolError, tool};

use super::reply;
use crate::limits;
use crate::plan::{Memo, Plan};
use crate::store::Thread;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddMemo {
    /// What to remember.
    #[schemars(length(min = 1, max = limits::MEMO))]
    memo: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AddedMemo {
    memo: Memo,
    /// The oldest memo, which had to go because there are at most 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    evicted_memo: Option<Memo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Keeps a short note for later steps of this thread: a fact that was found, a decision and its reason. At most 10 memos
/// are kept; another one takes the place of the oldest, and the answer says which. Answers the memo with its id.
#[tool(title = "Add a memo")]
pub(crate) fn add_memo(call: &Call, input: AddMemo) -> Result<Reply<AddedMemo>, ToolError> {
    let outcome = Thread::open(call)?.change(|plan: &mut Plan| plan.add_memo(&input.memo))?;
    let (memo, evicted_memo) = outcome.value;
    let mut text = format!("Memo {} is kept.", memo.id);
    if let Some(evicted) = &evicted_memo {
        text.push_str(&format!(" Memo {} had to go for it: {}", evicted.id, evicted.content));
    }
    let notice = outcome.notice.clone();
    Ok(reply(outcome.notice.as_deref(), &text, AddedMemo { memo, evicted_memo, notice }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClearMemo {
    /// Which memo.
    #[schemars(range(min = 1))]
    id: u32,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ClearedMemo {
    /// The memo that is gone.
    memo: Memo,
    /// How many are left.
    remaining: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

/// Removes one memo for good, when it is wrong or not needed any more. Answers the memo that is gone. An unknown id is an
/// error that lists the valid ones; ids are never given twice.
#[tool(title = "Clear a memo", destructive)]
pub(crate) fn clear_memo(call: &Call, input: ClearMemo) -> Result<Reply<ClearedMemo>, ToolError> {
    let outcome = Thread::open(call)?.change(|plan: &mut Plan| Ok((plan.clear_memo(input.id)?, plan.memos.len())))?;
    let (memo, remaining) = outcome.value;
    let text = format!("Memo {} is gone; {remaining} are left.", memo.id);
    let notice = outcome.notice.clone();
    Ok(reply(outcome.notice.as_deref(), &text, ClearedMemo { memo, remaining, notice }))
}
