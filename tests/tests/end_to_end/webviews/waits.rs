//! Waits of the browser plugin, as a client sees them.

use serde_json::json;
use wharf_tests::{Client, Data, Setup, Site, wharf};

#[test]
fn a_client_that_asked_for_progress_hears_of_a_wait_of_the_browser_before_it_ends() {
    let (site, data) = (Site::start(), Data::new());
    let grant = format!(
        "[plugin.browser.grants.webview]\nreason = \"a test\"\norigins = [\"{}\"]\nprivate_addresses = true",
        site.origin()
    );
    let config = data.write("wharf.toml", Setup::bare().bundled("browser", &grant).text());
    let mut client = Client::connect(wharf(["serve", "--stdio"]).config(&config).data(data.path()));
    let opened = client.call("browser__navigate", json!({"url": site.at("/")}), json!({}));
    assert_eq!(opened["isError"], false, "{opened}");
    // Nothing on the page has this text, so that the wait says nothing of its own.
    let arguments = json!({"text": "a text that never comes", "timeout_seconds": 25});
    let params = json!({"name": "browser__wait_for", "arguments": arguments, "_meta": {"progressToken": "w"}});
    let call = client.ask("tools/call", params);
    let said = client.notification("notifications/progress");
    assert_eq!(said["params"]["progressToken"], "w", "{said}");
    assert!(said["params"]["message"].as_str().is_some_and(|text| text.starts_with("still running")), "{said}");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
}
