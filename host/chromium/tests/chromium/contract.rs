//! The suite that every backend passes, with a real Chromium.

use std::{fs, os::unix::fs::PermissionsExt as _, sync::Arc};

use rustix::process::{Pid, Signal, kill_process};
use wharf_chromium::{Chromium, ChromiumError, ChromiumSettings};
use wharf_core::WebViewLimits;
use wharf_spawn::Spawner;
use wharf_webview::contract::{self, Subject};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
async fn chromium_keeps_the_contract() {
    let temporary = tempfile::tempdir().expect("a directory");
    fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o711)).expect("open to the browser's user");
    let settings = ChromiumSettings {
        program: None,
        user: None,
        no_sandbox: false,
        shared: true,
        readable: Vec::new(),
        staging: None,
        temporary: temporary.path().to_owned(),
        limits: Arc::new(WebViewLimits::default()),
    };
    let chromium = match Chromium::new(Spawner::new(), settings) {
        Ok(chromium) => Arc::new(chromium),
        Err(ChromiumError::NotFound) => return eprintln!("NOT TESTED: there is no Chromium here"),
        Err(error) => panic!("{error}"),
    };
    let (crashes, killed) = (Arc::clone(&chromium), Arc::clone(&chromium));
    let kill = move || {
        let process = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(killed.processes()));
        let pid = Pid::from_raw(process[0].cast_signed()).expect("a process");
        kill_process(pid, Signal::KILL).expect("a kill");
    };
    let report = contract::check(Subject {
        backend: chromium,
        crash: Some(Box::new(move |page| crashes.crash(page))),
        kill: Some(Box::new(kill)),
    })
    .await;
    assert!(report.skipped.is_empty(), "{report}");
    assert_eq!(fs::read_dir(temporary.path()).expect("a directory").count(), 0);
}
