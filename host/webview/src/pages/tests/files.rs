//! Files between pages and a workspace.

use std::{fs, path::PathBuf, sync::Arc};

use tempfile::TempDir;
use wharf_core::{Error, WebViewLimits, WorkspaceStay};
use wharf_test_support::{AMPLE, until};

use super::support::{Bench, Call};
use crate::{Download, FailedDownload, LogName, Operation, PageEvent, PageId, Settings};

fn bench(directory: &TempDir, limits: WebViewLimits) -> Bench {
    let at = |name| directory.path().join(name);
    for name in ["files", "staging", "browser"] {
        fs::create_dir(at(name)).expect("a directory");
    }
    let settings = Settings { limits, staging: Some(at("staging")), ..Settings::default() };
    Bench::with(settings).placed(&at("files"))
}

async fn download(bench: &Bench, page: PageId, name: &str, staged: Result<PathBuf, FailedDownload>) -> String {
    let log = || bench.pages.entries(&bench.owner(), page, LogName::Downloads, 0, 100).expect("a log");
    let before = log().next;
    let url = "https://example.com/file".to_owned();
    bench.tell(page, PageEvent::Download(Download { url, name: name.into(), bytes: 4, staged }));
    until("the download was told", || log().next > before).await;
    bench.pages.entries(&bench.owner(), page, LogName::Downloads, before, 1).expect("a log").entries
}

#[tokio::test]
async fn a_download_is_in_the_workspace_when_it_is_told() {
    let directory = TempDir::new().expect("a directory");
    let bench = bench(&directory, WebViewLimits { downloads: 3, download_bytes: 10, ..WebViewLimits::default() });
    let page = bench.open();
    let stage = |text: &str| {
        let staged = directory.path().join("browser/guid");
        fs::write(&staged, text).expect("a file");
        staged
    };
    let told = download(&bench, page, "../a.txt", Ok(stage("text"))).await;
    assert!(told.contains(r#""path":"downloads/a.txt","state":"done""#), "{told}");
    assert_eq!(fs::read_to_string(directory.path().join("files/downloads/a.txt")).expect("a file"), "text");
    assert!(!directory.path().join("browser/guid").exists(), "nothing is left with the browser");
    let told = download(&bench, page, "b", Ok(stage("more than 10 bytes"))).await;
    assert!(told.contains("\"failed\"") && told.contains("limit `download_bytes`"), "{told}");
    let told = download(&bench, page, "c", Err(FailedDownload("broken off".into()))).await;
    assert!(told.contains("\"failure\":\"broken off\""), "{told}");
    let told = download(&bench, page, "d", Ok(stage("text"))).await;
    assert!(told.contains("limit `downloads`"), "{told}");
    assert!(!directory.path().join("browser/guid").exists());
    assert_eq!(fs::read_dir(directory.path().join("files/downloads")).expect("a directory").count(), 1);
    assert_eq!(bench.pages.metrics().downloads, 1);
}

#[tokio::test]
async fn a_download_that_is_not_granted_or_comes_too_late_is_removed() {
    let directory = TempDir::new().expect("a directory");
    let mut bench = bench(&directory, WebViewLimits::default());
    let staged = directory.path().join("browser/guid");
    let closed = bench.open();
    bench.pages.close(&bench.owner(), closed, AMPLE).await.expect("a page");
    fs::write(&staged, "text").expect("a file");
    let told = download(&bench, closed, "a", Ok(staged.clone())).await;
    assert!(told.contains("its page is closed") && !staged.exists(), "{told}");
    bench.grants.webview.as_mut().expect("a grant").downloads = false;
    let page = bench.open();
    fs::write(&staged, "text").expect("a file");
    let told = download(&bench, page, "a", Ok(staged.clone())).await;
    assert!(told.contains("`downloads = true`") && !staged.exists(), "{told}");
    assert!(!directory.path().join("files/downloads").exists());
}

#[tokio::test]
async fn files_that_a_page_is_given_wait_where_its_browser_reads_them_until_it_is_closed() {
    let directory = TempDir::new().expect("a directory");
    let bench = bench(&directory, WebViewLimits { download_bytes: 10, ..WebViewLimits::default() });
    fs::write(directory.path().join("files/a.txt"), "12345").expect("a file");
    let page = bench.open();
    let of_tenant = crate::staging_of(&directory.path().join("staging"), &bench.owner().tenant);
    bench.quiet.calls(page);
    let parameters = r#"{"element":"x","paths":["a.txt"]}"#;
    for _ in 0..2 {
        let request = bench.perform(page, "set-files", parameters);
        let asked = parking_lot::Mutex::new(Vec::new());
        until("the backend was asked", || {
            asked.lock().extend(bench.quiet.calls(page));
            !asked.lock().is_empty()
        })
        .await;
        let asked = asked.into_inner();
        let [Call::Perform(order)] = &asked[..] else { panic!("{asked:?}") };
        let Operation::SetFiles { files, .. } = &order.operation else { panic!("{order:?}") };
        assert!(files[0].ends_with("a.txt") && files[0].starts_with(&of_tenant));
        assert_eq!(fs::read_to_string(&files[0]).expect("a file"), "12345");
        assert_eq!(bench.word(request), "pending");
        bench.pages.cancel(&bench.owner(), request).expect("a request");
        bench.quiet.calls(page);
    }
    let refused = bench.try_perform(page, "set-files", parameters).expect_err("10 bytes are given");
    assert!(Error::from(refused).message.contains("limit `download_bytes`"));
    let refused = bench.try_perform(page, "set-files", r#"{"element":"x","paths":["../a"]}"#).expect_err("outside");
    assert!(Error::from(refused).message.contains("leads out of the workspace"));
    bench.pages.close(&bench.owner(), page, AMPLE).await.expect("a page");
    until("the copies were removed", || {
        // The directory stays: a browser that runs knows it.
        fs::read_dir(&of_tenant).expect("a directory").next().is_none()
    })
    .await;
}

#[tokio::test]
async fn files_given_to_pages_count_for_session_and_tenant_until_the_pages_are_closed() {
    let directory = TempDir::new().expect("a directory");
    let limits = WebViewLimits { transfer_bytes_per_tenant: 10, transfer_bytes: 15, ..WebViewLimits::default() };
    let bench = bench(&directory, limits);
    fs::write(directory.path().join("files/a.txt"), "123456").expect("a file");
    let files = directory.path().join("files");
    let seen_by = |tenant: &str| {
        let context = wharf_core::Context::new(tenant.parse().expect("an id"), "two".parse().expect("an id"));
        bench.seen_by(context, "browser").placed(&files)
    };
    let (own, other, third) = (seen_by("local"), seen_by("b"), seen_by("c"));
    let parameters = r#"{"element":"x","paths":["a.txt"]}"#;
    let page = bench.open();
    bench.perform(page, "set-files", parameters);
    let refused =
        |bench: &Bench, page| Error::from(bench.try_perform(page, "set-files", parameters).expect_err("full"));
    let further = own.open();
    let told = refused(&own, further);
    assert!(told.retryable && told.message.contains("`transfer_bytes_per_tenant`"), "{told}");
    other.perform(other.open(), "set-files", parameters);
    let told = refused(&third, third.open());
    assert!(told.message.contains("`transfer_bytes`"), "{told}");
    bench.pages.close(&bench.owner(), page, AMPLE).await.expect("a page");
    until("there is room again", || own.try_perform(further, "set-files", parameters).is_ok()).await;
}

#[tokio::test]
async fn a_page_stays_in_its_workspace_while_it_is_open() {
    let directory = TempDir::new().expect("a directory");
    let presence = Arc::new(());
    let mut bench = Bench::new(WebViewLimits::default()).placed(directory.path());
    bench.place.as_mut().expect("a workspace").stay = Some(WorkspaceStay::new(Arc::clone(&presence)));
    let pages = [bench.open(), bench.open()];
    bench.place = None;
    assert_eq!(Arc::strong_count(&presence), 3);
    for (page, left) in pages.into_iter().zip([2, 1]) {
        bench.pages.close(&bench.owner(), page, AMPLE).await.expect("a page");
        assert_eq!(Arc::strong_count(&presence), left, "a page that is remembered holds nothing");
    }
}

#[tokio::test]
async fn without_a_workspace_or_a_place_to_stage_no_files_are_given() {
    let bench = Bench::new(WebViewLimits::default());
    let page = bench.open();
    let parameters = r#"{"element":"x","paths":[]}"#;
    let refused = bench.try_perform(page, "set-files", parameters).expect_err("no workspace");
    assert!(Error::from(refused).message.contains("no workspace"));
    let directory = TempDir::new().expect("a directory");
    let bench = Bench::new(WebViewLimits::default()).placed(directory.path());
    let page = bench.open();
    let refused = bench.try_perform(page, "set-files", parameters).expect_err("no staging");
    assert!(Error::from(refused).message.contains("nowhere to put files"));
}
