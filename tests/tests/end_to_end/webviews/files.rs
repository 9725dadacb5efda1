//! Files between pages and the workspace of their session.

use serde_json::json;
use wharf_tests::{Site, until_async};

use super::{done, entries, here, ok, page_at, value, visits, waited};

#[tokio::test]
async fn a_download_goes_to_the_workspace_and_from_there_into_a_page() {
    let site = Site::start();
    let fixture = visits(&site, "downloads = true\nuploads = true").processes("shell = true").open().await;
    let id = page_at(&fixture, &here(), &site.at("/")).await;
    let more = json!({"operation": "navigate", "parameters": json!({"url": site.at("/download?1000")}).to_string()});
    let request = ok(&fixture, &here(), "perform", &id, more).await;
    let there = waited(&fixture, &here(), &request).await;
    assert!(there["data"].as_str().is_some_and(|result| result.contains("\"download\":true")), "{there}");
    let link = format!("const a = document.createElement('a'); a.href = '{}'; a.click()", site.at("/download?2000"));
    value(&fixture, &here(), &id, &link).await;
    let taken = entries(&fixture, &here(), &id, "downloads", 2).await;
    for (entry, bytes, path) in
        [(&taken[0], 1_000, "downloads/cargo.bin"), (&taken[1], 2_000, "downloads/cargo (2).bin")]
    {
        assert_eq!(
            (&entry["state"], &entry["bytes"], &entry["name"]),
            (&json!("done"), &json!(bytes), &json!("cargo.bin")),
            "{entry}"
        );
        assert_eq!(entry["path"], path, "{entry}");
    }
    // The page takes it as one that somebody chose.
    let parameters = json!({"element": "document.getElementById('file')", "paths": [taken[0]["path"]]});
    done(&fixture, &here(), &id, "set-files", parameters).await;
    let chosen = "const [file] = document.getElementById('file').files; [file.name, (await file.text()).length]";
    assert_eq!(value(&fixture, &here(), &id, chosen).await, json!(["cargo.bin", 1_000]));
    // A program of the session reads what came.
    let script = "wc -c < downloads/cargo.bin; [ -w downloads/cargo.bin ] && echo ours";
    let started = wharf_tests::found(fixture.call("hostile__start_process", json!({"shell": script})).await);
    let process = started["ok"]["id"].as_str().unwrap_or_else(|| panic!("not started: {started}"));
    until_async("it ends", async || {
        let waited = json!({"function": "wait", "id": process, "number": 20_000});
        let waited = wharf_tests::found(fixture.call("hostile__ask_process", waited).await);
        if waited["ok"]["reason"] == "exit" { Ok(()) } else { Err(waited) }
    })
    .await;
    let polled = json!({"function": "poll", "id": process, "number": 65_536});
    let polled = wharf_tests::found(fixture.call("hostile__ask_process", polled).await);
    assert_eq!(polled["ok"]["stdout"], "1000\nours\n", "{polled}");
}
