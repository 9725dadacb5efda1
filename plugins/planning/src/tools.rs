//! The tools: what a model may ask for, in the words that it reads.

pub(crate) mod goals;
pub(crate) mod memos;
pub(crate) mod overview;
pub(crate) mod thoughts;
pub(crate) mod todos;

use wharf_sdk::Reply;

/// An answer whose text begins with what the model should know first.
fn reply<T>(notice: Option<&str>, text: &str, structured: T) -> Reply<T> {
    let text = match notice {
        Some(notice) => format!("{notice}\n{text}"),
        None => text.to_owned(),
    };
    Reply::new(text, structured)
}
