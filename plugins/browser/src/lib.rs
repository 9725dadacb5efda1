//! The browser plugin: web pages, read and used as a person would.
//!
//! - `limits` says how much of everything one call takes and answers.
//! - `session` finds the page that is meant, or opens one.
//! - `page` asks the page itself: its scripts are in `page/*.js`.
//! - `acting` clicks, types and waits for the effects.
//! - `answer` makes text for a model, with the words of pages kept apart from those
//!   of the host; `trouble` does so for what went wrong.
//! - `tools` are the functions that a model calls.
//!
//! The host decides where pages may go and what runs them.

mod acting;
mod answer;
mod limits;
mod page;
mod session;
mod tools;
mod trouble;

use tools::clicking::{click, hover};
use tools::dialogs::handle_dialog;
use tools::elements::{get_element, list_interactable};
use tools::evaluating::evaluate;
use tools::filling::{fill, select_option};
use tools::logs::{get_console, get_network, list_downloads};
use tools::moving::{back, forward, navigate, reload};
use tools::picturing::{pdf, screenshot};
use tools::reading::{get_page_content, get_snapshot};
use tools::scrolling::scroll;
use tools::sessions::{close_session, create_session, list_sessions};
use tools::typing::{press_key, type_text};
use tools::uploading::upload_file;
use tools::waiting::wait_for;

wharf_sdk::plugin!(
    create_session,
    close_session,
    list_sessions,
    navigate,
    back,
    forward,
    reload,
    get_page_content,
    get_snapshot,
    click,
    type_text,
    fill,
    select_option,
    press_key,
    hover,
    scroll,
    wait_for,
    evaluate,
    get_element,
    list_interactable,
    screenshot,
    pdf,
    get_console,
    get_network,
    handle_dialog,
    upload_file,
    list_downloads,
);

wharf_sdk::reasons!(
    state = "counts the pages of the session, so that a reference names an element of one page alone",
    webview = "opens pages, reads them, and clicks and types as it is told to",
    workspace = "writes pictures and PDFs of pages to the files of the session",
);
