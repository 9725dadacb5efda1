//! Removing a workspace in which something works.

use std::{fs, path::Path};

use serde_json::json;
use wharf::{
    Context,
    workspaces::{WorkspaceError, WorkspaceKey},
};
use wharf_tests::{Setup, context, found, until};

use super::shell;

/// Whether this process, in which the host runs, has a file of this name open.
fn is_open(name: &str) -> bool {
    let descriptors = fs::read_dir("/proc/self/fd").expect("descriptors");
    let files = descriptors.filter_map(|descriptor| fs::read_link(descriptor.ok()?.path()).ok());
    files.into_iter().any(|file| file.file_name() == Some(Path::new(name).as_os_str()))
}

/// A host keeps the locks of its 256 last uses, so the others stand for half a minute in which a
/// call neither looks its workspace up nor writes.
#[tokio::test]
async fn a_workspace_is_not_removed_while_a_call_or_a_process_works_in_it() {
    let setup = Setup::new().workspace("").processes("shell = true").limit("wall_time_milliseconds", 600_000);
    let fixture = setup.open().await;
    let [holds, runs, idle] = ["holds", "runs", "idle"].map(|name| context("local", name));
    let create = async |session: &Context| {
        let made = fixture.call_in(session, "hostile__ask_workspace", json!({"function": "create"})).await;
        assert!(found(made)["ok"].is_object());
    };
    create(&holds).await;
    create(&idle).await;
    let name = "held-by-a-call-that-waits";
    let path = format!("/workspace/{name}");
    found(fixture.call_in(&holds, "hostile__write_file", json!({"path": path})).await);
    let holding = json!({"path": path, "handles": 1, "milliseconds": 600_000});
    let call = fixture.start(&holds, "hostile__hold_files", holding);
    until("the call has the file open", || is_open(name)).await;
    shell(&fixture, &runs, "exec sleep 1000").await;
    for other in 0..260 {
        create(&context("local", &format!("other-{other}"))).await;
    }
    // As `wharf sessions remove` does it, which is another host.
    let operator = wharf::workspaces::of(&setup.configuration(), fixture.data.path());
    let remove =
        |session: &Context| operator.remove(&WorkspaceKey::restored(session.tenant.clone(), session.session.clone()));
    for session in [&holds, &runs] {
        let refused = remove(session).expect_err("something works in it");
        assert!(matches!(refused, WorkspaceError::InUse), "{refused}");
    }
    assert!(remove(&idle).expect("nothing works in it"));
    call.drop_it().await;
}
