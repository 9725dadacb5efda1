//! The content store plugin: texts and documents that a session keeps, reads by
//! line and searches, without ever seeing those of another.
//!
//! - `limits` says how much of everything there may be, and refuses the rest.
//! - `document` makes passages of what a tool was handed; parsing and cutting
//!   is the work of `wharf-documents`.
//! - `content` is what is kept of a document, `passage` what is kept of each of
//!   its parts, `lines` where its lines are: formats, without a store.
//! - `shelf` keeps all of it beside the index of `wharf-search`, in one step;
//!   whose it is, the operator chooses (`default_scope`).
//! - `tools` are the functions that a model calls.

mod content;
mod document;
mod limits;
mod lines;
mod passage;
mod shelf;
mod tools;

use tools::adding::{add_content, add_content_from_workspace, add_contents};
use tools::reading::{get_content_info, list_contents, read_content};
use tools::removing::delete_content;
use tools::searching::search_content;

wharf_sdk::plugin!(
    add_content,
    list_contents,
    read_content,
    search_content,
    delete_content,
    get_content_info,
    add_content_from_workspace,
    add_contents,
);

wharf_sdk::reasons!(
    state = "keeps the documents that it is given, and the index that they are searched by",
    workspace = "reads the files of the session that it is told to keep",
);
