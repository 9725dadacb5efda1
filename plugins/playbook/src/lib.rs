//! The playbook plugin: workflows that an assistant writes down once and
//! carries out again, in any of its sessions, and that nobody else may see or
//! change.
//!
//! - `limits` says how much of everything there may be, and refuses the rest.
//! - `playbook`, `workflow` and `reference` are what a playbook is, which ones
//!   are legal, and what `{{name}}` in them means: rules on plain values.
//! - `progress` is how far a thread has come with a playbook, and `view` shows
//!   a playbook with what its steps have yielded so far.
//! - `owner` and `id` say whose a playbook is and what it is called.
//! - `stored` is the format of all that is kept; `shelf` keeps playbooks with
//!   their owner, `index` knows the owner of each, `thread` keeps the progress
//!   of a thread.
//! - `tools` are the functions that a model calls.

mod id;
mod index;
mod limits;
mod owner;
mod playbook;
mod progress;
mod reference;
mod shelf;
mod stored;
mod thread;
mod tools;
mod view;
mod workflow;

use tools::catalog::{get_playbook, get_playbook_page, list_playbooks};
use tools::execution::{complete_step, get_active_playbook, select_playbook};
use tools::writing::{create_playbook, delete_playbook, update_playbook};

wharf_sdk::plugin!(
    create_playbook,
    get_playbook,
    select_playbook,
    update_playbook,
    delete_playbook,
    list_playbooks,
    get_playbook_page,
    get_active_playbook,
    complete_step,
);

wharf_sdk::reasons!(state = "keeps the playbooks of each assistant, and how far a thread has come with one");
