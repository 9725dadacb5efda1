//! Many hosts that serve as one: real processes, a real database, and every row of the table of
//! failures.

mod balancers;
mod clocks;
mod configuration;
mod cut_off;
mod deaths;
mod doctor;
mod drains;
pub(crate) mod front_ends;
mod links;
mod nats_logins;
mod notices;
mod offers;
mod operated;
mod outages;
mod plugins;
mod routes;
mod sessions;
mod strangers;
mod versions;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wharf_tests::{
    blocking,
    cluster::{Cluster, ClusterHost, DEAD},
};

/// What the hosts of these tests serve: planning, which needs no home, and the workspace, which
/// does.
const TABLES: &str = "profile = \"developer\"\n[plugin.browser]\nenabled = false\n[plugin.content-store]\n\
    enabled = false\n[plugin.playbook]\nenabled = false\n[plugin.terminal]\nenabled = false\n";

const SHELL: &str = "workspace__execute_shell";
const POLL: &str = "workspace__poll_process";
const READ: &str = "workspace__read_file";

/// Longer than a host may be silent whose beat stands still.
const LONG: Duration = DEAD.saturating_add(Duration::from_secs(2));

fn cluster() -> Option<Cluster> {
    Cluster::new(TABLES)
}

/// Checks again and again, for so long.
#[track_caller]
fn all_the_while(time: Duration, mut check: impl FnMut()) {
    let began = Instant::now();
    blocking::until("it has been so for long enough", || {
        check();
        if began.elapsed() >= time { Ok(()) } else { Err(began.elapsed()) }
    });
}

/// As one of them says.
#[track_caller]
fn nobody_is_dead(host: &ClusterHost) {
    for (name, state, _) in host.hosts() {
        assert_ne!(state, "dead", "{name}: {}", host.server.log());
    }
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
