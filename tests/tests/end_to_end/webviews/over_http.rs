//! Web pages over HTTP, and in the hands of an app: handed over, polled, cancelled,
//! closed, by the real binary in the real browser.

use std::time::Duration;

use serde_json::{Value, json};
use wharf::{
    Code,
    web_page::{ExecuteScript, OpenWebPage},
};
use wharf_tests::{Data, Reply, Server, Setup, Site, blocking, context, until_async};

fn visits(site: &Site) -> Setup {
    Setup::bare().own_pages(&format!("origins = [\"{}\"]\nprivate_addresses = true", site.origin()))
}

/// A page of one session.
struct Page<'s> {
    server: &'s Server,
    session: &'static str,
    path: String,
}

impl<'s> Page<'s> {
    fn open(server: &'s Server, session: &'static str) -> Self {
        let reply = server.ask("POST", "/v1/pages", session, Some(json!({"width": 640, "height": 480})));
        assert_eq!(reply.status, 201, "{reply:?}");
        let path = reply.header("location").expect("a place").to_owned();
        assert_eq!(path, format!("/v1/pages/{}", reply.json()["page"].as_str().expect("a handle")));
        Self { server, session, path }
    }

    fn ask(&self, method: &str, below: &str, body: Option<Value>) -> Reply {
        self.server.ask(method, &format!("{}{below}", self.path), self.session, body)
    }

    fn get(&self, below: &str) -> Value {
        let reply = self.ask("GET", below, None);
        assert_eq!(reply.status, 200, "{below}: {reply:?}");
        reply.json()
    }

    /// Hands something over: the path of its request below the page.
    fn begin(&self, kind: &str, body: Value) -> String {
        let reply = self.ask("POST", kind, Some(body));
        assert_eq!(reply.status, 202, "{reply:?}");
        let request = format!("/requests/{}", reply.json()["request"].as_str().expect("a handle"));
        assert_eq!(reply.header("location"), Some(format!("{}{request}", self.path).as_str()));
        request
    }

    fn script(&self, script: &str) -> String {
        self.begin("/scripts", json!({"script": script, "timeout_ms": 200_000}))
    }

    fn perform(&self, operation: &str, parameters: Value) -> Value {
        self.ended(&self.begin("/operations", json!({"operation": operation, "parameters": parameters})))
    }

    fn ended(&self, request: &str) -> Value {
        blocking::until("it ends", || {
            let outcome = self.get(&format!("{request}?wait_ms=10000"));
            if outcome["state"] != "pending" { Ok(outcome) } else { Err(outcome) }
        })
    }

    /// The result of a script.
    fn value(&self, script: &str) -> Value {
        let outcome = self.ended(&self.script(script));
        assert_eq!(
            (&outcome["state"], &outcome["mime_type"]),
            (&json!("done"), &json!("application/json")),
            "{outcome}"
        );
        serde_json::from_str(outcome["text"].as_str().expect("a text")).expect("JSON")
    }
}

fn failure(reply: &Reply) -> (u16, String) {
    (reply.status, reply.json()["error"]["code"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_page_over_http_is_opened_asked_polled_and_closed() {
    let site = Site::start();
    let server = Server::start(&visits(&site));
    let page = Page::open(&server, "s");
    assert_eq!(page.perform("navigate", json!({"url": site.at("/")}))["state"], "done");
    let info = page.get("");
    assert_eq!((&info["title"], &info["width"], &info["url"]), (&json!("Harbour"), &json!(640), &json!(site.at("/"))));
    assert_eq!(page.value("document.title"), "Harbour");
    let listed = server.ask("GET", "/v1/pages", "s", None).json();
    assert_eq!(listed["pages"].as_array().map(Vec::len), Some(1), "{listed}");

    // Asking again gives the same; what was acknowledged is not kept.
    let request = page.script("'kept'");
    for _ in 0..2 {
        assert_eq!(page.ended(&request)["text"], "\"kept\"");
    }
    assert_eq!(page.ask("DELETE", &request, None).status, 204);
    assert_eq!(page.get(&request)["state"], "expired");
    assert_eq!(failure(&page.ask("GET", &format!("{request}/result"), None)), (410, "gone".to_owned()));

    // One that never ends is cancelled, and its page goes on.
    let endless = page.script("for (;;) {}");
    assert_eq!(page.get(&endless)["state"], "pending");
    let listed = page.get("/requests");
    let newest = &listed["requests"][0];
    assert_eq!((&newest["kind"], &newest["state"]), (&json!("script"), &json!("pending")), "{listed}");
    assert!(endless.ends_with(newest["request"].as_str().expect("a handle")), "{listed}");
    assert!(listed["requests"].as_array().is_some_and(|all| all.iter().any(|one| one["kind"] == "navigate")));
    assert_eq!(page.ask("POST", &format!("{endless}/cancel"), None).status, 204);
    assert_eq!(page.get(&endless)["failure"]["kind"], "cancelled");
    assert_eq!(page.value("1 + 1"), 2);

    // What a script throws is told, with its kind.
    let thrown = page.ended(&page.script("throw new Error('stranded')"));
    assert_eq!((&thrown["state"], &thrown["failure"]["kind"]), (&json!("failed"), &json!("exception")), "{thrown}");

    // A long result is cut, and paged through.
    let long = page.ended(&page.begin("/scripts", json!({"script": "'x'.repeat(998)", "max_bytes": 100})));
    assert_eq!((&long["bytes"], &long["sent_bytes"], &long["truncated"]), (&json!(1_000), &json!(100), &json!(true)));
    let whole = page.script("'가'.repeat(100)");
    assert_eq!(page.ended(&whole)["bytes"], 302);
    let piece = page.get(&format!("{whole}/result?from=1&max_bytes=7"));
    assert_eq!((&piece["text"], &piece["from"], &piece["next"]), (&json!("가가"), &json!(1), &json!(7)), "{piece}");
    let cut = page.get(&format!("{whole}?max_bytes=5"));
    assert_eq!((&cut["text"], &cut["truncated"]), (&json!("\"가"), &json!(true)), "{cut}");
    let drawn = page.perform("screenshot", json!({}));
    assert_eq!((&drawn["mime_type"], &drawn["text"]), (&json!("image/png"), &Value::Null));
    assert!(drawn["base64"].as_str().is_some_and(|data| data.starts_with("iVBORw0KGgo")), "{drawn}");

    page.value("console.log('said'); 1");
    let log = page.get("/logs/console");
    let last = log["entries"].as_array().and_then(|entries| entries.last()).expect("an entry");
    assert_eq!((&last["text"], &log["lost"]), (&json!("said"), &json!(0)), "{log}");

    // How requests are polled is counted as it is of processes.
    let endless = page.script("for (;;) {}");
    let polled: Vec<Value> = (0..5).map(|_| page.get(&endless)).collect();
    assert!(polled[3]["advice"].is_null() && polled[4]["advice"].is_string(), "{polled:?}");
    assert_eq!(page.ask("POST", &format!("{endless}/cancel"), None).status, 204);

    let closed = page.ask("DELETE", "", None);
    let told = closed.json();
    assert_eq!((closed.status, &told["status"], &told["closed_because"]), (200, &json!("closed"), &json!("owner")));
    let late = page.ask("POST", "/scripts", Some(json!({"script": "1"})));
    assert_eq!(failure(&late), (410, "gone".to_owned()), "{late:?}");
    let metrics = server.ask("GET", "/metrics", "s", None).body;
    for line in [
        "wharf_page_request_poll_advice_total{language=\"en\"} 1",
        "wharf_page_request_poll_advice_total{language=\"ko\"} 0",
        "wharf_pages_closed_total{by=\"other\"} 1",
        "wharf_pages_closed_total{by=\"evicted\"} 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    }
    for name in ["wharf_page_request_polls_total ", "wharf_page_requests_total ", "wharf_page_requests_failed_total "] {
        assert!(metrics.contains(name), "{name}: {metrics}");
    }
}

#[test]
fn a_dialog_of_a_page_over_http_is_told_and_answered() {
    let site = Site::start();
    let server = Server::start(&visits(&site));
    let page = Page::open(&server, "s");
    assert_eq!(failure(&page.ask("POST", "/dialog", Some(json!({"accept": true})))), (409, "conflict".to_owned()));
    let asking = page.script("prompt('Where to?', 'home')");
    blocking::until("a dialog is open", || !page.get("")["dialog"].is_null());
    // The dialog ends the wait before the patience is over.
    let outcome = page.get(&format!("{asking}?wait_ms=60000"));
    assert_eq!(
        (&outcome["state"], &outcome["dialog"]["message"]),
        (&json!("pending"), &json!("Where to?")),
        "{outcome}"
    );
    assert_eq!(page.ask("POST", "/dialog", Some(json!({"accept": true, "text": "away"}))).status, 204);
    assert_eq!(page.ended(&asking)["text"], "\"away\"");
}

#[test]
fn a_page_over_http_is_its_sessions_and_a_request_is_its_pages() {
    let site = Site::start();
    let server = Server::start(&visits(&site));
    let (page, other) = (Page::open(&server, "s"), Page::open(&server, "t"));
    let second = Page::open(&server, "s");
    let request = page.script("'mine'");
    assert_eq!(page.ended(&request)["text"], "\"mine\"");
    let not_found = (404, "not-found".to_owned());
    for (method, below, body) in [
        ("GET", String::new(), None),
        ("POST", "/scripts".to_owned(), Some(json!({"script": "document.title = 'theirs'"}))),
        ("GET", "/requests".to_owned(), None),
        ("GET", request.clone(), None),
        ("GET", format!("{request}/result"), None),
        ("POST", format!("{request}/cancel"), None),
        ("DELETE", request.clone(), None),
        ("DELETE", String::new(), None),
    ] {
        let reply = server.ask(method, &format!("{}{below}", page.path), "t", body);
        assert_eq!(failure(&reply), not_found, "{method} {below}");
    }
    // By another page, whosever it is, there is no such request.
    for stranger in [&other, &second] {
        for (method, below) in
            [("GET", request.clone()), ("GET", format!("{request}/result")), ("DELETE", request.clone())]
        {
            assert_eq!(failure(&stranger.ask(method, &below, None)), not_found, "{method} {below}");
        }
    }
    assert_eq!(page.ended(&request)["text"], "\"mine\"", "all is as it was");
    for forged in ["/requests/x", "/requests/%00", "/logs/nothing"] {
        let (status, _) = failure(&page.ask("GET", forged, None));
        assert!(status == 404 || status == 400, "{forged}: {status}");
    }
}

#[test]
fn pages_over_http_go_no_further_than_the_grant_of_the_host_itself() {
    let site = Site::start();
    let server = Server::start(&Setup::bare());
    let refused = server.ask("POST", "/v1/pages", "s", Some(json!({})));
    assert_eq!(failure(&refused), (403, "denied".to_owned()));
    assert!(refused.body.contains("[plugin.host.grants.webview]"), "{refused:?}");
    let server = Server::start(&visits(&site));
    let page = Page::open(&server, "s");
    let travel = json!({"operation": "navigate", "parameters": {"url": "https://example.com/"}});
    let refused = page.ask("POST", "/operations", Some(travel));
    assert_eq!(failure(&refused), (403, "denied".to_owned()), "{refused:?}");
    let files = json!({"operation": "set-files", "parameters": {"element": "x", "paths": ["a"]}});
    assert_eq!(failure(&page.ask("POST", "/operations", Some(files))), (403, "denied".to_owned()));
    let nonsense = json!({"operation": "fly"});
    assert_eq!(failure(&page.ask("POST", "/operations", Some(nonsense))), (400, "invalid".to_owned()));
}

#[tokio::test]
async fn an_app_opens_pages_and_runs_scripts_in_them_without_waiting_in_their_way() {
    let site = Site::start();
    let fixture = visits(&site).open_in(Data::new()).await;
    let (pages, here) = (fixture.host.web_pages(), context("local", "app"));
    let page = pages.open(&here, OpenWebPage::default()).await.expect("granted").page;
    let script = |script: &str| ExecuteScript { script: script.to_owned(), ..ExecuteScript::default() };
    let never = pages.execute(&here, &page, script("new Promise(() => {})")).await.expect("it is handed over").request;
    let soon = pages.execute(&here, &page, script("await 42")).await.expect("it is handed over").request;
    let outcome = until_async("it ends", async || {
        let outcome = pages.poll(&here, &page, &soon, 1_000, Duration::from_secs(10)).await.expect("it is there");
        (outcome.state != "pending").then_some(outcome)
    });
    let outcome = outcome.await;
    assert_eq!((outcome.state.as_str(), outcome.text.as_deref()), ("done", Some("42")));
    let pending = pages.poll(&here, &page, &never, 1_000, Duration::ZERO).await.expect("it is there");
    assert_eq!(pending.state, "pending");
    let error = pages.info(&context("other", "app"), &page).await.expect_err("another tenant's");
    assert_eq!(error.code, Code::NotFound);
    let closed = pages.close(&here, &page, Duration::from_secs(60)).await.expect("its own");
    assert_eq!(closed.closed_because.as_deref(), Some("owner"));
}
