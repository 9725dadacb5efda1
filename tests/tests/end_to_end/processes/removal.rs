//! Removing a workspace in which something works.

use std::{fs, path::Path};

use serde_json::json;
use wharf::{
    Context,
    terminal::StartTerminal,
    web_page::OpenWebPage,
    workspaces::{WorkspaceError, WorkspaceKey},
};
use wharf_tests::{AMPLE, Fixture, Setup, context, found, until};

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
    wharf_tests::of_the_library_alone("this test looks which files its own process has open");
    let setup = Setup::new().workspace("").processes("shell = true").limit("wall_time_milliseconds", 600_000);
    let fixture = setup.open().await;
    let [holds, runs, idle] = ["holds", "runs", "idle"].map(|name| context("local", name));
    create(&fixture, &holds).await;
    create(&fixture, &idle).await;
    let name = "held-by-a-call-that-waits";
    let path = format!("/workspace/{name}");
    found(fixture.call_in(&holds, "hostile__write_file", json!({"path": path})).await);
    let holding = json!({"path": path, "handles": 1, "milliseconds": 600_000});
    let call = fixture.start(&holds, "hostile__hold_files", holding);
    until("the call has the file open", || is_open(name)).await;
    shell(&fixture, &runs, "exec sleep 1000").await;
    others(&fixture).await;
    for session in [&holds, &runs] {
        let refused = remove(&setup, &fixture, session).expect_err("something works in it");
        assert!(matches!(refused, WorkspaceError::InUse), "{refused}");
    }
    assert!(remove(&setup, &fixture, &idle).expect("nothing works in it"));
    call.drop_it().await;
}

/// Plugins open some, and so do clients over HTTP.
#[tokio::test]
async fn a_workspace_is_not_removed_while_a_terminal_or_a_page_is_open_in_it() {
    let lines = "origins = [\"https://example.com\"]\ndownloads = true";
    let setup = Setup::new().workspace("").terminals("shell = true").webviews(lines);
    let setup = setup.own_terminals("shell = true").own_pages(lines);
    let fixture = setup.open().await;
    let sessions = ["terminal", "page", "own-terminal", "own-page"].map(|name| context("local", name));
    let [terminal, page, own_terminal, own_page] = &sessions;
    let opened = found(fixture.call_in(terminal, "hostile__start_terminal", json!({})).await);
    let terminal_id = opened["ok"]["terminal"]["id"].clone();
    let opened = found(fixture.call_in(page, "hostile__ask_page", json!({"function": "open", "id": ""})).await);
    let page_id = opened["ok"]["id"].clone();
    let (terminals, pages) = (fixture.host.terminal_service(), fixture.host.web_pages());
    let own_terminal_id =
        terminals.start(own_terminal, StartTerminal::default()).await.expect("a terminal").terminal.terminal;
    let own_page_id = pages.open(own_page, OpenWebPage::default()).await.expect("a page").page;
    others(&fixture).await;
    for session in &sessions {
        let refused = remove(&setup, &fixture, session).expect_err("something is open in it");
        assert!(matches!(refused, WorkspaceError::InUse), "{}: {refused}", session.session);
    }
    let close = json!({"function": "close", "id": terminal_id, "milliseconds": 10_000});
    found(fixture.call_in(terminal, "hostile__ask_terminal", close).await);
    found(fixture.call_in(page, "hostile__ask_page", json!({"function": "close", "id": page_id})).await);
    terminals.close(own_terminal, &own_terminal_id, AMPLE).await.expect("closed");
    pages.close(own_page, &own_page_id, AMPLE).await.expect("closed");
    others(&fixture).await;
    for session in &sessions {
        until("it can be removed", || remove(&setup, &fixture, session).is_ok()).await;
    }
}

/// Uses the workspaces of so many other sessions that the host keeps no lock of earlier uses.
async fn others(fixture: &Fixture) {
    for other in 0..260 {
        create(fixture, &context("local", &format!("other-{other}"))).await;
    }
}

async fn create(fixture: &Fixture, session: &Context) {
    let made = fixture.call_in(session, "hostile__ask_workspace", json!({"function": "create"})).await;
    assert!(found(made)["ok"].is_object());
}

/// As `wharf sessions remove` does it, which is another host.
fn remove(setup: &Setup, fixture: &Fixture, session: &Context) -> Result<bool, WorkspaceError> {
    let operator = wharf::workspaces::of(&setup.configuration(), fixture.data.path());
    operator.remove(&WorkspaceKey::restored(session.tenant.clone(), session.session.clone()))
}
