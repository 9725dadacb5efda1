//! Only what is granted is reached, taken and given.

use serde_json::{Value, json};
use wharf_tests::{Data, Fixture, Setup, Site};

use super::{
    OF_PAGE, OF_REQUEST, closed, done, entries, here, ok, page, page_at, perform, refused, run, value, visits,
};

#[tokio::test]
async fn without_a_grant_every_function_is_denied_and_names_the_line() {
    // Nothing else opens a page.
    let fixture = Setup::new().processes("shell = true").workspace("").open().await;
    let others = ["status", "open", "list", "poll", "wait"];
    for function in OF_PAGE.iter().chain(&OF_REQUEST).chain(&others) {
        let more = json!({"script": "1", "operation": "stop", "log": "console"});
        let (code, message) = refused(&fixture, &here(), function, &"0".repeat(32), more).await;
        assert_eq!(code, "denied", "{function}: {message}");
        assert!(message.contains("[plugin.hostile.grants.webview]"), "{message}");
    }
    assert_eq!(fixture.host.running(), 0);
}

#[tokio::test]
async fn another_origin_is_denied_to_the_caller_and_to_the_page() {
    let (site, other) = (Site::start(), Site::start());
    let fixture = visits(&site, "").open().await;
    let id = page_at(&fixture, &here(), &site.at("/")).await;
    let navigate = json!({"operation": "navigate", "parameters": json!({"url": other.at("/second")}).to_string()});
    let (code, message) = refused(&fixture, &here(), "perform", &id, navigate).await;
    assert!(code == "denied" && message.contains("origins"), "{code}: {message}");
    // A redirect leads there as little as the page itself does.
    let away = site.at(&format!("/elsewhere?{}", other.at("/second")));
    let outcome = perform(&fixture, &here(), &id, "navigate", json!({"url": away})).await;
    assert_eq!((&outcome["state"], &outcome["kind"]), (&json!("failed"), &json!("denied")), "{outcome}");
    done(&fixture, &here(), &id, "navigate", json!({"url": site.at("/")})).await;
    let fetch = format!("fetch('{}', {{mode: 'no-cors'}})", other.at("/second"));
    assert_eq!(run(&fixture, &here(), &id, &fetch).await["kind"], "exception");
    let asked = entries(&fixture, &here(), &id, "network", 4).await;
    assert!(asked.iter().any(|entry| entry["denied"] == true && entry["url"] == other.at("/second")), "{asked:?}");
    assert!(!other.was_asked("/second") && site.was_asked("/second"));
}

#[tokio::test]
async fn an_origin_with_a_private_address_needs_both_grants() {
    let site = Site::start();
    let fixture = Setup::new().webviews(&format!("origins = [\"{}\"]", site.origin())).open().await;
    let id = page(&fixture, &here()).await;
    let more = json!({"operation": "navigate", "parameters": json!({"url": site.at("/")}).to_string()});
    let asked = super::ask(&fixture, &here(), "perform", &id, more).await;
    let (code, message) = match asked["ok"].as_str() {
        Some(_) => {
            let outcome = super::waited(&fixture, &here(), &asked["ok"]).await;
            (outcome["kind"].clone(), outcome["message"].to_string())
        }
        None => (asked["refused"]["code"].clone(), asked["refused"]["message"].to_string()),
    };
    assert!(code == "denied" && message.contains("private_addresses"), "{code}: {message}");
    assert!(!site.was_asked("/"));
}

#[tokio::test]
async fn downloads_and_uploads_are_granted_one_by_one() {
    let site = Site::start();
    let fixture = visits(&site, "").workspace("").open().await;
    let id = page_at(&fixture, &here(), &site.at("/")).await;
    let link = format!("const a = document.createElement('a'); a.href = '{}'; a.click()", site.at("/download?10"));
    value(&fixture, &here(), &id, &link).await;
    let taken = entries(&fixture, &here(), &id, "downloads", 1).await;
    assert_eq!(taken[0]["state"], "failed", "{taken:?}");
    assert!(taken[0]["failure"].as_str().is_some_and(|reason| reason.contains("not granted")), "{taken:?}");
    let parameters = json!({"element": "document.getElementById('file')", "paths": ["x"]}).to_string();
    let more = json!({"operation": "set-files", "parameters": parameters});
    let (code, message) = refused(&fixture, &here(), "perform", &id, more).await;
    assert!(code == "denied" && message.contains("uploads = true"), "{code}: {message}");
    assert_eq!(fixture.data.workspaces(), 0, "nothing was made");
}

#[tokio::test]
async fn one_page_more_than_granted_is_refused_until_one_is_closed() {
    let site = Site::start();
    let fixture = visits(&site, "maximum_pages = 2").open().await;
    let first = page(&fixture, &here()).await;
    page(&fixture, &here()).await;
    let (code, message) = refused(&fixture, &here(), "open", "", json!({})).await;
    assert!(code == "limit" && message.contains("maximum_pages"), "{code}: {message}");
    ok(&fixture, &here(), "close", &first, json!({})).await;
    page(&fixture, &here()).await;
}

#[tokio::test]
async fn a_host_without_a_data_directory_has_pages_without_files() {
    let site = Site::start();
    let setup = visits(&site, "downloads = true\nuploads = true");
    let host = wharf::Host::builder(setup.configuration()).open().await.expect("the host opens");
    let fixture = Fixture { host: host.into(), data: Data::new() };
    let id = page_at(&fixture, &here(), &site.at("/")).await;
    assert_eq!(value(&fixture, &here(), &id, "document.title").await, "Harbour");
    let parameters = json!({"element": "document.getElementById('file')", "paths": ["x"]}).to_string();
    let more = json!({"operation": "set-files", "parameters": parameters});
    let (code, message) = refused(&fixture, &here(), "perform", &id, more).await;
    assert!(code == "unavailable" && message.contains("workspace"), "{code}: {message}");
}

#[tokio::test]
async fn without_a_browser_pages_are_unavailable_and_the_error_says_what_to_do() {
    let setup = Setup::new().webviews("origins = [\"*\"]").with_tables("[webview]\nprogram = \"/nowhere/chromium\"");
    let fixture = setup.open().await;
    for function in ["status", "open", "list"] {
        let (code, message) = refused(&fixture, &here(), function, "", json!({})).await;
        assert!(code == "unavailable" && message.contains("[webview]"), "{function}: {code}: {message}");
    }
    // All else goes on.
    fixture.works().await;
    // A program that is no browser: found out with the first page.
    let setup = Setup::new().webviews("origins = [\"*\"]").with_tables("[webview]\nprogram = \"true\"");
    let fixture = setup.open().await;
    let id = page(&fixture, &here()).await;
    let told = closed(&fixture, &here(), &id).await;
    assert_eq!(told["because"], "backend-gone", "{told}");
    assert_eq!(told["dialog"], Value::Null);
}
