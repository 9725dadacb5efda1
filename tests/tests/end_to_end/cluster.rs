//! Many hosts that serve as one: real processes, a real database, and every row of the table of
//! failures.

mod balancers;
mod deaths;
mod doctor;
mod drains;
mod notices;
mod offers;
mod plugins;
mod routes;
mod sessions;
mod strangers;

use serde_json::{Value, json};
use wharf_tests::cluster::{Cluster, ClusterHost};

/// What the hosts of these tests serve: planning, which needs no home, and the workspace, which
/// does.
const TABLES: &str = "profile = \"developer\"\n[plugin.browser]\nenabled = false\n[plugin.content-store]\n\
    enabled = false\n[plugin.playbook]\nenabled = false\n[plugin.terminal]\nenabled = false\n";

const SHELL: &str = "workspace__execute_shell";
const POLL: &str = "workspace__poll_process";
const READ: &str = "workspace__read_file";

fn cluster() -> Option<Cluster> {
    Cluster::new(TABLES)
}

/// Starts a command that goes on; its id.
#[track_caller]
fn started(host: &ClusterHost, session: &str, command: &str) -> Value {
    let result = host.called(session, SHELL, &json!({"command": command, "run_mode": "async"}));
    result["structuredContent"]["process_id"].clone()
}

#[track_caller]
fn wrote(host: &ClusterHost, session: &str, content: &str) {
    let _ = host.called(session, "workspace__write_file", &json!({"path": "file.txt", "content": content}));
}

fn read() -> Value {
    json!({"path": "file.txt"})
}

fn poll(process: &Value) -> Value {
    json!({"process_id": process})
}
