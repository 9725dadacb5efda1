//! Opens and closes pages, and sets up each of their targets before it runs: which
//! events it sends, that it asks before it loads anything, and what it tells servers
//! about itself.

use std::sync::{Arc, Weak};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, PATIENCE},
    connection::{Call, CallError},
    page::{Page, RunningRequest, Window},
    routes::EventTarget,
};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreatedContext {
    browser_context_id: String,
}

/// Makes a browser context whose only way out is this proxy.
pub(crate) async fn make_context(browser: &Browser, proxy: std::net::SocketAddr) -> Result<String, CallError> {
    let settings = json!({
        "disposeOnDetach": true,
        "proxyServer": format!("http://{proxy}"),
        "proxyBypassList": "<-loopback>",
    });
    let call = browser.connection.call(None, "Target.createBrowserContext", &settings);
    call.read_within::<CreatedContext>(PATIENCE).await.map(|created| created.browser_context_id)
}

/// Opens the window of a page, and returns once it takes scripts.
pub(crate) async fn open(page: &Arc<Page>) -> Result<(), CallError> {
    page.browser.routes.add_context(&page.context, events_of(page));
    let connection = &page.browser.connection;
    let downloads = downloads(page).await;
    let downloads = connection.call(None, "Browser.setDownloadBehavior", &downloads);
    let target = json!({
        "url": "about:blank",
        "browserContextId": page.context,
        "width": page.settings.width,
        "height": page.settings.height,
    });
    let created = connection.call(None, "Target.createTarget", &target);
    downloads.done_within(PATIENCE).await?;
    created.done_within(PATIENCE).await?;
    tokio::time::timeout(PATIENCE, page.appeared.notified()).await.map_err(|_| CallError::Late)?;
    let Some(Window { session, .. }) = page.window() else { return Err(CallError::Gone) };
    let mut wanted = commands(page, "page");
    wanted.extend([
        ("Inspector.enable", json!({})),
        ("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
        ("Emulation.setDeviceMetricsOverride", size(page.settings.width, page.settings.height)),
        ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
    ]);
    let calls: Vec<(_, Call)> =
        wanted.iter().map(|(method, parameters)| (*method, page.call(session, method, parameters))).collect();
    listen(page, session);
    let run = page.call(session, "Runtime.runIfWaitingForDebugger", &json!({}));
    for (method, call) in calls {
        match call.done_within(PATIENCE).await {
            // A page opens even with a locale or time zone that the browser does not
            // know.
            Err(CallError::Refused(reason)) if method.starts_with("Emulation.") => {
                tracing::warn!(method, reason, "the browser refuses a setting of a page");
            }
            done => done?,
        }
    }
    run.done_within(PATIENCE).await
}

/// The parameters of `Browser.setDownloadBehavior` for this page.
async fn downloads(page: &Arc<Page>) -> Value {
    let refuse = json!({ "behavior": "deny", "browserContextId": page.context, "eventsEnabled": true });
    if !page.settings.downloads {
        return refuse;
    }
    let (profile, id) = (Arc::clone(&page.browser.profile), page.id);
    match tokio::task::spawn_blocking(move || profile.make_downloads(id)).await.map_err(std::io::Error::other).flatten()
    {
        Ok(place) => json!({
            "behavior": "allowAndName",
            "browserContextId": page.context,
            "downloadPath": place,
            "eventsEnabled": true,
        }),
        Err(error) => {
            tracing::warn!(%error, "downloads of a page have no place and are refused");
            refuse
        }
    }
}

/// Closes a page, with all that it keeps.
pub(crate) async fn dispose(page: &Arc<Page>) {
    let running = std::mem::take(&mut page.state().running);
    for request in running.into_values() {
        if let RunningRequest::Order(task) = request {
            task.abort();
        }
    }
    let context = json!({ "browserContextId": page.context });
    let disposed = page.browser.connection.call(None, "Target.disposeBrowserContext", &context);
    if let Err(error) = disposed.done_within(PATIENCE).await {
        tracing::debug!(%error, "the context of a page did not go by itself");
    }
    page.browser.routes.forget(&events_of(page));
    let (profile, id) = (Arc::clone(&page.browser.profile), page.id);
    let _ = tokio::task::spawn_blocking(move || profile.forget(id)).await;
}

fn events_of(page: &Arc<Page>) -> Weak<dyn EventTarget> {
    let target: Weak<Page> = Arc::downgrade(page);
    target
}

/// Sets up a target that is no window, and lets it run.
pub(crate) fn beside(page: &Page, session: &str, kind: &str) {
    for (method, parameters) in commands(page, kind) {
        page.post(session, method, &parameters);
    }
    listen(page, session);
    page.post(session, "Runtime.runIfWaitingForDebugger", &json!({}));
}

/// Has a session report its contexts and its console.
pub(crate) fn listen(page: &Page, session: &str) {
    page.post(session, "Runtime.enable", &json!({}));
    page.post(session, "Log.enable", &json!({}));
}

/// The size of the viewport.
pub(crate) fn size(width: u32, height: u32) -> Value {
    json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false })
}

fn commands(page: &Page, kind: &str) -> Vec<(&'static str, Value)> {
    let has_frames = matches!(kind, "page" | "iframe");
    let mut commands = vec![
        // Bodies are never asked for, so none are kept.
        ("Network.enable", json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0 })),
        ("Target.setAutoAttach", json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true })),
    ];
    if kind != "worker" {
        commands.push(("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*", "requestStage": "Request" }] })));
    }
    if has_frames {
        commands.push(("Page.enable", json!({})));
    }
    if page.settings.user_agent.is_some() || page.settings.locale.is_some() {
        let user_agent = page.settings.user_agent.as_deref().unwrap_or(&page.browser.version().user_agent);
        let mut identity = json!({ "userAgent": user_agent });
        if let Some(locale) = &page.settings.locale {
            identity["acceptLanguage"] = json!(locale);
        }
        commands.push(("Emulation.setUserAgentOverride", identity));
    }
    if has_frames {
        if let Some(locale) = &page.settings.locale {
            commands.push(("Emulation.setLocaleOverride", json!({ "locale": locale })));
        }
        if let Some(time_zone) = &page.settings.time_zone {
            commands.push(("Emulation.setTimezoneOverride", json!({ "timezoneId": time_zone })));
        }
    }
    commands
}
