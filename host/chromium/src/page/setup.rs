//! What each target is told before it runs: to say what happens there, to ask before
//! it loads anything, and what it is to say of itself.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Page, Window};
use crate::{browser::Browser, browser::PATIENCE, connection::Call, connection::CallError};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
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
    call.read_within::<Created>(PATIENCE).await.map(|created| created.browser_context_id)
}

/// Opens the window of a page, and returns once it takes scripts.
pub(crate) async fn open(page: &Arc<Page>) -> Result<(), CallError> {
    let connection = &page.browser.connection;
    let downloads = super::downloads::behaviour(page).await;
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
            // A locale or a time zone that the browser does not know is no reason
            // to have no page.
            Err(CallError::Refused(reason)) if method.starts_with("Emulation.") => {
                tracing::warn!(method, reason, "the browser refuses a setting of a page");
            }
            done => done?,
        }
    }
    run.done_within(PATIENCE).await
}

/// Tells a target that is no window what holds, and lets it run.
pub(super) fn beside(page: &Page, session: &str, kind: &str) {
    for (method, parameters) in commands(page, kind) {
        page.post(session, method, &parameters);
    }
    listen(page, session);
    page.post(session, "Runtime.runIfWaitingForDebugger", &json!({}));
}

/// Has a session say where scripts run, and what they write.
pub(super) fn listen(page: &Page, session: &str) {
    page.post(session, "Runtime.enable", &json!({}));
    page.post(session, "Log.enable", &json!({}));
}

/// What is seen.
pub(super) fn size(width: u32, height: u32) -> Value {
    json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false })
}

fn commands(page: &Page, kind: &str) -> Vec<(&'static str, Value)> {
    let has_frames = matches!(kind, "page" | "iframe");
    let mut commands = vec![
        // Bodies are not kept: nobody asks for them.
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
        let user_agent = page.settings.user_agent.as_deref().unwrap_or(&page.browser.about().user_agent);
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
