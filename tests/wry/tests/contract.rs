//! The suite that every backend passes, on real WebViews; and that none of them gets
//! past its proxy in the ways that are tried here. Needs a display: `cargo xtask test
//! --wry` brings one.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use wharf_core::{Context, Grants, PluginName, SessionId, TenantId, WebViewGrant, WebViewOwner};
use wharf_test_support::{AMPLE, until};
use wharf_webview::{
    FailureKind, OpenPageRequest, Outcome, OutcomeState, PageId, PageStatus, Script, Settings, WebViews,
    contract::{self, Subject},
};
use wharf_wry::WryBackend;

fn main() {
    gtk::init().expect("a display");
    // The loop of the app is here, and the host is elsewhere.
    let host = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let ran =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.expect("a runtime").block_on(check())));
        gtk::glib::MainContext::default().invoke(gtk::main_quit);
        ran
    });
    gtk::main();
    if host.join().expect("a thread").is_err() {
        std::process::exit(1);
    }
}

async fn check() {
    let started = std::time::Instant::now();
    nothing_goes_past_the_proxy().await;
    println!("kept     nothing goes past the proxy of a page");
    a_page_that_loops_for_ever_is_given_up().await;
    println!("kept     a page that loops for ever is given up, and comes back when it is navigated");
    let backend = Arc::new(WryBackend::new());
    let crashing = Arc::clone(&backend);
    let subject = Subject { backend, crash: Some(Box::new(move |page| crashing.crash(page))), kill: None };
    let report = contract::check(subject).await;
    print!("{report}");
    println!("{} kept, {} skipped, in {:.0?}", report.kept.len(), report.skipped.len(), started.elapsed());
    let skipped: Vec<_> = report.skipped.iter().map(|(what, _)| *what).collect();
    assert_eq!(
        skipped,
        [
            "an endless loop ends by deadline and by cancelling, and its page goes on",
            "100 scripts in 10 pages: one stuck, one behind a dialog, the others unharmed",
            "what runs pages may die"
        ]
    );
}

/// A server that keeps what it was asked for.
async fn canary() -> (u16, Arc<Mutex<BTreeSet<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let calls = Arc::new(Mutex::new(BTreeSet::new()));
    let keeping = Arc::clone(&calls);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let keeping = Arc::clone(&keeping);
            tokio::spawn(async move {
                let mut head = [0; 1024];
                let length = stream.read(&mut head).await.unwrap_or(0);
                let path = String::from_utf8_lossy(&head[..length]).split(' ').nth(1).unwrap_or_default().to_owned();
                keeping.lock().expect("a lock").insert(path);
                let answer =
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    (port, calls)
}

/// A page that may reach one server of the loopback.
struct Host {
    pages: WebViews,
    grants: Grants,
    plugin: PluginName,
    owner: WebViewOwner,
    page: PageId,
}

impl Host {
    fn start(port: u16) -> Self {
        let mut grant = WebViewGrant::with_reason("a test");
        grant.origins = vec![format!("http://127.0.0.1:{port}").parse().expect("an origin")];
        grant.private_addresses = true;
        let grants = Grants { webview: Some(grant), ..Grants::default() };
        let plugin: PluginName = "test".parse().expect("a name");
        let session: SessionId = "test".parse().expect("an id");
        let context = Context::new(TenantId::local(), session);
        let pages = WebViews::new(Arc::new(WryBackend::new()), Settings::default());
        let granted = grants.webview(&plugin).expect("a grant");
        let owner = granted.owner(&context);
        let page = pages.open(&granted, &context, None, OpenPageRequest::default()).expect("a page").id;
        Self { pages, grants, plugin, owner, page }
    }

    async fn run(&self, script: Script) -> Outcome {
        let request = self.pages.execute(&self.owner, self.page, script).expect("a request");
        self.pages.wait(&self.owner, request, AMPLE).await
    }

    async fn navigate(&self, port: u16) -> Outcome {
        let granted = self.grants.webview(&self.plugin).expect("a grant");
        let to = format!(r#"{{"url": "http://127.0.0.1:{port}/"}}"#);
        let request = self.pages.perform(&granted, &self.owner, self.page, "navigate", &to, None).expect("a request");
        self.pages.wait(&self.owner, request, AMPLE).await
    }
}

async fn a_page_that_loops_for_ever_is_given_up() {
    let (port, _) = canary().await;
    let host = Host::start(port);
    let looping = Script { deadline: Some(Duration::from_secs(1)), ..Script::new("while (true) {}") };
    assert_eq!(host.run(looping).await.failure.expect("a failure").kind, FailureKind::TimeOut);
    let given_up = || host.pages.info(&host.owner, host.page).expect("a page").status == PageStatus::Crashed;
    until("it is given up", given_up).await;
    assert_eq!(host.navigate(port).await.state, OutcomeState::Done);
    assert_eq!(host.run(Script::new("'again'")).await.data[..], *b"\"again\"");
    host.pages.shut_down(AMPLE).await;
}

async fn nothing_goes_past_the_proxy() {
    let (denied, granted) = (canary().await, canary().await);
    let host = Host::start(granted.0);
    // Where it is granted, too: the other count means nothing else.
    let servers = [("127.0.0.1", &granted, true), ("127.0.0.1", &denied, false), ("localhost", &denied, false)];
    for (name, (port, calls), reaches) in servers {
        let script = format!(
            "const to = 'http://{name}:{port}/'; const ends = (element, ...names) => new Promise(done => \
             [...names.map(name => element['on' + name] = done), setTimeout(done, 5000)]);\n\
             await fetch(to + 'fetch', {{ mode: 'no-cors' }}).catch(() => 0);\n\
             const image = new Image(); image.src = to + 'image'; await ends(image, 'load', 'error');\n\
             await ends(new WebSocket(to.replace('http', 'ws') + 'socket'), 'open', 'error');\n\
             const frame = document.createElement('iframe'); frame.src = to + 'frame'; document.body.append(frame);\n\
             await ends(frame, 'load', 'error'); return 1"
        );
        let outcome = host.run(Script::new(script)).await;
        assert_eq!(outcome.state, OutcomeState::Done, "{:?}", outcome.failure);
        let seen: Vec<_> = calls.lock().expect("a lock").iter().cloned().collect();
        // WebKit asks a proxy for a WebSocket without encryption in a way that ours does
        // not take; Chromium asks for a tunnel.
        let expected: &[&str] = if reaches { &["/fetch", "/frame", "/image"] } else { &[] };
        assert_eq!(seen, expected, "at {name}:{port}");
    }
    host.pages.shut_down(AMPLE).await;
}
