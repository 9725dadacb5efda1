//! The workspace plugin: commands that run in the workspace of a session, and
//! its files.
//!
//! - `limits` says how much of everything there may be, and refuses the rest.
//! - `output` makes text for a model of what a process printed: cleaned, cut,
//!   with the way to the rest.
//! - `files` is what the tools for files share: finding, reading by lines,
//!   replacing whole, editing lines.
//! - `tools` are the functions that a model calls.
//!
//! The host decides what runs and what may be reached; nothing here is a security boundary.

mod files;
mod limits;
mod output;
mod tools;

use tools::directory::list_directory;
use tools::editing::replace_lines_in_file;
use tools::exchanging::{export_file, import_file};
use tools::following::{poll_process, read_process_output, wait_for_process};
use tools::input::write_process_input;
use tools::processes::{list_processes, stop_process};
use tools::reading::read_file;
use tools::searching::search_files;
use tools::shell::execute_shell;
use tools::writing::write_file;

wharf_sdk::plugin!(
    execute_shell,
    poll_process,
    wait_for_process,
    read_process_output,
    write_process_input,
    list_processes,
    stop_process,
    read_file,
    write_file,
    list_directory,
    replace_lines_in_file,
    search_files,
    import_file,
    export_file,
);

wharf_sdk::reasons!(
    process = "runs the commands that it is told to run, follows them and stops them",
    workspace = "lists, reads, searches and writes the files of the session, and copies files in and out",
);
