//! Navigation: to an address, through the history, and again. Done once the page has
//! loaded, or once it is clear why it does not.

use std::sync::Arc;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;
use wharf_webview::{Failure, FailureKind, NavigationResult, OrderOutput};

use super::outcome::{OrderOutcome, OrderWork, failed};
use crate::{
    history,
    page::{DocumentLoad, Page, PageState},
    scripts::held,
};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigateAnswer {
    loader_id: Option<String>,
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

/// The browser's word for a load that was stopped, or that has nothing to show.
const GIVEN_UP: &str = "net::ERR_ABORTED";

/// The state of the document when a navigation was asked for.
#[derive(Debug, Clone, Copy)]
struct DocumentBefore {
    number: u64,
    moves: u64,
    broken: u64,
}

/// How a navigation ended.
enum Arrival {
    /// With a document, by this load.
    Loaded(DocumentLoad),
    /// Within the document that was there.
    Moved,
    /// Nowhere, by this load.
    Nowhere(DocumentLoad),
    Crashed,
}

impl DocumentBefore {
    fn of(page: &Page) -> Self {
        let state = page.state();
        let document = &state.document;
        Self { number: document.number, moves: document.moves, broken: document.broken }
    }

    /// How the navigation has ended since; none while it is under way.
    fn since(self, state: &PageState) -> Option<Arrival> {
        let document = &state.document;
        let load = || {
            let known = document.known(&document.loader).cloned();
            known.unwrap_or_else(|| DocumentLoad { loader: document.loader.clone(), ..DocumentLoad::default() })
        };
        if document.number > self.number && document.loaded {
            return Some(if document.unreachable { Arrival::Nowhere(load()) } else { Arrival::Loaded(load()) });
        }
        if state.crashed {
            return Some(Arrival::Crashed);
        }
        // For any other error, the browser shows a page of its own.
        if document.number == self.number
            && document.broken > self.broken
            && let Some(load) = document.last().filter(|load| load.failure.as_deref() == Some(GIVEN_UP))
        {
            return Some(Arrival::Nowhere(load.clone()));
        }
        (document.number == self.number && document.moves > self.moves).then_some(Arrival::Moved)
    }
}

/// Goes to an address.
pub(super) fn to(page: &Arc<Page>, url: String) -> OrderWork {
    let before = DocumentBefore::of(page);
    let call = {
        let mut state = page.state();
        state.crashed = false;
        state.held.begin();
        page.ask("Page.navigate", &json!({ "url": url }))
    };
    let page = Arc::clone(page);
    Box::pin(async move {
        let gone = page.insist::<_, NavigateAnswer>(call, "Page.navigate", &json!({ "url": url })).await;
        if gone.is_err() {
            held::stayed(&page);
        }
        let gone = gone.map_err(|error| failed(&error))?;
        match gone {
            NavigateAnswer { is_download: true, loader_id, .. } => {
                let load = known_load(&page, loader_id.as_deref().unwrap_or_default());
                Ok(download(&page, &load, url).await)
            }
            NavigateAnswer { error_text: Some(error), loader_id, .. } => {
                let mut load = known_load(&page, loader_id.as_deref().unwrap_or_default());
                if error != GIVEN_UP {
                    // The browser's own page is shown before the order is done.
                    let _ = tokio::time::timeout(SHOWN, page.until(|state| before.since(state))).await;
                }
                load.failure = Some(error);
                Err(why(&load))
            }
            // Within the document that was there.
            NavigateAnswer { loader_id: None, .. } => {
                held::stayed(&page);
                let _ = tokio::time::timeout(SHOWN, page.until(|state| before.since(state))).await;
                Ok(told(&page, None).await)
            }
            NavigateAnswer { .. } => {
                let arrived =
                    page.until(|state| before.since(state).filter(|how| !matches!(how, Arrival::Moved))).await;
                tell(&page, arrived).await
            }
        }
    })
}

/// How long the browser may take to show its own page for an error.
const SHOWN: std::time::Duration = std::time::Duration::from_secs(2);

/// Goes back or forward in the history.
pub(super) fn by(page: &Arc<Page>, steps: isize) -> OrderWork {
    let page = Arc::clone(page);
    Box::pin(async move {
        let before = DocumentBefore::of(&page);
        let history = history::history(&page).await.map_err(|error| failed(&error))?;
        let entry = history.current_index.checked_add_signed(steps).and_then(|at| history.entries.get(at));
        // The page as it was opened is no place to go back to.
        let Some(entry) = entry else {
            let way = if steps < 0 { "back" } else { "forward" };
            return Err(Failure::new(FailureKind::Invalid, format!("there is nothing to go {way} to")));
        };
        let wanted = json!({ "entryId": entry.id });
        let gone = page.ask("Page.navigateToHistoryEntry", &wanted);
        let gone = page.insist::<_, IgnoredAny>(gone, "Page.navigateToHistoryEntry", &wanted).await;
        gone.map_err(|error| failed(&error))?;
        let arrived = page.until(|state| before.since(state)).await;
        tell(&page, arrived).await
    })
}

/// Loads the page again.
pub(super) fn again(page: &Arc<Page>) -> OrderWork {
    let before = DocumentBefore::of(page);
    let call = {
        let mut state = page.state();
        state.crashed = false;
        state.held.begin();
        page.ask("Page.reload", &json!({}))
    };
    let page = Arc::clone(page);
    Box::pin(async move {
        if let Err(error) = page.insist::<_, IgnoredAny>(call, "Page.reload", &json!({})).await {
            held::stayed(&page);
            return Err(failed(&error));
        }
        let arrived = page.until(|state| before.since(state).filter(|how| !matches!(how, Arrival::Moved))).await;
        tell(&page, arrived).await
    })
}

async fn tell(page: &Arc<Page>, arrived: Arrival) -> OrderOutcome {
    match arrived {
        // The proxy's own words, in the place of what was asked for.
        Arrival::Loaded(load) if load.denied.is_some() => Err(why(&load)),
        Arrival::Loaded(load) => Ok(told(page, Some(&load)).await),
        Arrival::Moved => Ok(told(page, None).await),
        Arrival::Nowhere(load) if load.download => {
            let url = load.url.clone();
            Ok(download(page, &load, url).await)
        }
        Arrival::Nowhere(load) => Err(why(&load)),
        Arrival::Crashed => Err(Failure::new(FailureKind::Crashed, "the page crashed while it loaded; try it again")),
    }
}

async fn told(page: &Arc<Page>, load: Option<&DocumentLoad>) -> OrderOutput {
    let title = title(page).await;
    let (url, mime_type) = {
        let state = page.state();
        (state.document.url.clone(), state.document.mime_type.clone())
    };
    OrderOutput::json(&NavigationResult {
        url,
        title,
        mime_type: Some(mime_type),
        redirects: load.map_or(0, |load| load.redirects),
        status: load.and_then(|load| load.status),
        download: false,
    })
}

async fn download(page: &Arc<Page>, load: &DocumentLoad, asked_for: String) -> OrderOutput {
    let url = if load.url.is_empty() { asked_for } else { load.url.clone() };
    OrderOutput::json(&NavigationResult {
        url,
        title: title(page).await,
        mime_type: None,
        redirects: load.redirects,
        status: load.status,
        download: true,
    })
}

async fn title(page: &Arc<Page>) -> String {
    wharf_core::text::cut(&history::title(page).await, 1_024).to_owned()
}

fn why(load: &DocumentLoad) -> Failure {
    if let Some(denied) = &load.denied {
        let (kind, message) = denied;
        return Failure::new(*kind, message.clone());
    }
    let error = load.failure.as_deref().unwrap_or("net::ERR_FAILED");
    if error == GIVEN_UP {
        let message = match load.status {
            Some(204 | 205) => {
                "the server answered that there is nothing to show (status 204); the page stays where it is"
            }
            _ => "the load was broken off: something else was loaded, or it was stopped",
        };
        return Failure::new(FailureKind::Network, message);
    }
    Failure::new(FailureKind::Network, format!("{} ({error})", in_plain_words(error)))
}

/// The meaning of the most frequent errors.
fn in_plain_words(error: &str) -> &'static str {
    match error.strip_prefix("net::ERR_").unwrap_or(error) {
        "CONNECTION_REFUSED" => "nothing listens at this address",
        "CONNECTION_RESET" | "CONNECTION_CLOSED" | "EMPTY_RESPONSE" | "SOCKET_NOT_CONNECTED" => {
            "the server broke the connection off"
        }
        "NAME_NOT_RESOLVED" => "there is no server of this name",
        "ADDRESS_UNREACHABLE" | "INTERNET_DISCONNECTED" | "NETWORK_CHANGED" => "the server cannot be reached from here",
        "CONNECTION_TIMED_OUT" | "TIMED_OUT" => "the server did not answer in time",
        "TUNNEL_CONNECTION_FAILED" | "PROXY_CONNECTION_FAILED" => "the host could not reach the server",
        "TOO_MANY_REDIRECTS" => "the server leads in a circle",
        "UNSAFE_PORT" => "browsers refuse this port",
        "INVALID_RESPONSE" | "INVALID_HTTP_RESPONSE" => "the server does not speak HTTP",
        "BLOCKED_BY_CLIENT" => "the host does not let the page go there",
        "BLOCKED_BY_RESPONSE" => "the server does not allow to be shown here",
        error if error.starts_with("CERT_") => "the certificate of the server is not valid",
        error if error.starts_with("SSL_") => "the server does not speak TLS as it should",
        _ => "the page could not be loaded",
    }
}

fn known_load(page: &Page, loader: &str) -> DocumentLoad {
    page.state().document.known(loader).cloned().unwrap_or_default()
}
