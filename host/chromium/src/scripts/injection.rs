//! Scripts on their way into the page, and what comes back.
//!
//! Knows nothing of what the sources do: the core has written them.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::json;
use wharf_webview::{Failure, FailureKind, Injection, Settled, Token};

use super::{
    evaluation::{Evaluation, RemoteValue, ThrownException},
    wrapper,
};
use crate::{
    connection::{Call, CallError},
    page::{FrameContexts, Page, RunningRequest, WORLD, call_wrapper},
};

/// The group of the objects that the browser keeps of a script that failed, by which
/// they are released.
const GROUP: &str = "wharf";
/// How long it may take to notice that the browser has ended.
const DYING: Duration = Duration::from_millis(250);

/// Where a script is to run.
#[derive(Debug)]
struct ScriptRealm {
    session: String,
    context: Option<i64>,
    /// The page's own context, which the browser takes where none is named.
    own: Option<i64>,
}

/// The result of one source.
enum SourceOutcome {
    Settled(Settled),
    /// It cannot be parsed, so nothing of it ran.
    Syntax(String),
    /// Its context, or the wrapper kept for it, is not there any more, so nothing of
    /// it ran.
    Absent,
}

/// Whether the wrapper that the browser keeps may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WrapperUse {
    Kept,
    Brought,
}

pub(super) fn begin(page: &Arc<Page>, injection: Injection) {
    let Injection { token, sources, isolated, frame } = injection;
    let realm = match realm_of(page, frame.as_deref(), isolated) {
        Ok(realm) => realm,
        Err((kind, message)) => return page.fail(token, kind, message),
    };
    let mut sources = sources.into_iter();
    let Some(mut source) = sources.next() else {
        return page.fail(token, FailureKind::Invalid, "there is no script");
    };
    // An isolated world has to be made before its first script.
    let waits = realm.context.is_none() && isolated;
    let sent = (!waits).then(|| send(page, token, &realm, &source, WrapperUse::Kept));
    let running = Arc::clone(page);
    let task = tokio::spawn(async move {
        let page = running;
        let (realm, mut sent) = match sent {
            Some(sent) => (realm, sent),
            None => match make_world(&page, realm, frame.as_deref()).await {
                Ok(realm) => {
                    let sent = send(&page, token, &realm, &source, WrapperUse::Kept);
                    (realm, sent)
                }
                Err(error) => return page.settle(token, failed(&error)),
            },
        };
        let settled = loop {
            match finish(&page, &realm, sent).await {
                SourceOutcome::Settled(settled) => break settled,
                SourceOutcome::Syntax(_) | SourceOutcome::Absent if !page.state().running.contains_key(&token) => {
                    return;
                }
                SourceOutcome::Absent => sent = send(&page, token, &realm, &source, WrapperUse::Brought),
                SourceOutcome::Syntax(message) => match sources.next() {
                    Some(next) => {
                        source = next;
                        sent = send(&page, token, &realm, &source, WrapperUse::Kept);
                    }
                    // The message about the last source counts: that is the script as
                    // it was written.
                    None => {
                        page.post(&realm.session, "Runtime.releaseObjectGroup", &json!({ "objectGroup": GROUP }));
                        break Settled::Syntax { message };
                    }
                },
            }
        };
        page.settle(token, settled);
        if let Some(context) = realm.context.or(realm.own) {
            wrapper::keep(&page, &realm.session, context);
        }
    });
    if waits {
        page.state().running.entry(token).or_insert(RunningRequest::Order(task.abort_handle()));
    }
}

/// The realm of a frame's scripts.
fn realm_of(page: &Page, frame: Option<&str>, isolated: bool) -> Result<ScriptRealm, (FailureKind, &'static str)> {
    let state = page.state();
    if state.crashed {
        return Err((FailureKind::Crashed, "the page crashed; navigate or reload it"));
    }
    let main = page.window().map(|window| window.target.as_str()).unwrap_or_default();
    let known = state.contexts.frame(frame.unwrap_or(main));
    match (frame, known) {
        // Without a context, the browser takes the page's own.
        (None, known) if !isolated => {
            let own = known.filter(|known| known.session == page.main_session()).and_then(|known| known.page);
            Ok(ScriptRealm { session: page.main_session().to_owned(), context: None, own })
        }
        (Some(_), Some(FrameContexts { page: None, .. })) if !isolated => {
            Err((FailureKind::Navigated, "the frame is just being loaded; run the script again"))
        }
        (_, Some(known)) => {
            let context = if isolated { known.isolated } else { known.page };
            Ok(ScriptRealm { session: known.session.clone(), context, own: None })
        }
        (None, None) => Ok(ScriptRealm { session: page.main_session().to_owned(), context: None, own: None }),
        (Some(_), None) => {
            Err((FailureKind::Invalid, "there is no such frame in the page now; `frames` tells those that are there"))
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct IsolatedWorld {
    execution_context_id: i64,
}

async fn make_world(page: &Page, realm: ScriptRealm, frame: Option<&str>) -> Result<ScriptRealm, CallError> {
    let main = page.window().map(|window| window.target.as_str()).unwrap_or_default();
    let world = json!({ "frameId": frame.unwrap_or(main), "worldName": WORLD, "grantUniveralAccess": false });
    let made = page.call(&realm.session, "Page.createIsolatedWorld", &world).read::<IsolatedWorld>().await?;
    Ok(ScriptRealm { context: Some(made.execution_context_id), ..realm })
}

/// The context of the isolated world in the main frame.
pub(crate) async fn isolated_context(page: &Page) -> Result<i64, CallError> {
    let main = page.window().map(|window| window.target.as_str()).unwrap_or_default();
    let known = page.state().contexts.frame(main).and_then(|frame| frame.isolated);
    match known {
        Some(known) => Ok(known),
        None => {
            let realm = ScriptRealm { session: page.main_session().to_owned(), context: None, own: None };
            let made = make_world(page, realm, None).await?;
            made.context.ok_or(CallError::Unexpected)
        }
    }
}

/// A source that was sent: its number on the thread, how it is wrapped, and the call
/// that answers it.
struct SentSource {
    number: u64,
    wrapper: WrapperUse,
    call: Call,
}

/// Sends a source, by the wrapper that the browser keeps where there is one.
fn send(page: &Arc<Page>, token: Token, realm: &ScriptRealm, source: &str, wrapper: WrapperUse) -> SentSource {
    let context = realm.context.or(realm.own).filter(|_| wrapper == WrapperUse::Kept);
    let kept = context.and_then(|context| call_wrapper(&page.state().wrappers, &realm.session, context, source));
    let (method, wrapper, mut parameters) = match kept {
        Some(parameters) => ("Runtime.callFunctionOn", WrapperUse::Kept, parameters),
        None => {
            let mut parameters = json!({ "expression": source });
            if let Some(context) = realm.context {
                parameters["contextId"] = json!(context);
            }
            ("Runtime.evaluate", WrapperUse::Brought, parameters)
        }
    };
    for asked in ["awaitPromise", "returnByValue", "userGesture"] {
        parameters[asked] = true.into();
    }
    parameters["objectGroup"] = GROUP.into();
    // The lock keeps numbers in the order in which scripts are sent.
    let mut state = page.state();
    let thread = state.threads.entry(realm.session.clone()).or_default();
    if thread.over < thread.last {
        // Tells when the earlier scripts have released the thread: to stop this one,
        // the host has to know whether it is its turn.
        thread.last += 1;
        mark(page, &realm.session, thread.last);
    }
    thread.last += 1;
    let number = thread.last;
    state.running.insert(token, RunningRequest::Script { session: realm.session.clone(), number });
    SentSource { number, wrapper, call: page.call(&realm.session, method, &parameters) }
}

/// Sends a script that does nothing: its answer says that all earlier ones have
/// released the thread.
fn mark(page: &Arc<Page>, session: &str, number: u64) {
    let call = page.call(session, "Runtime.evaluate", &json!({ "expression": "0", "returnByValue": true }));
    let (page, session) = (Arc::clone(page), session.to_owned());
    tokio::spawn(async move {
        let _ = call.await;
        is_over(&page, &session, number);
    });
}

/// Notes that a script has released the thread, and with it all earlier ones.
fn is_over(page: &Page, session: &str, number: u64) {
    if let Some(thread) = page.state().threads.get_mut(session) {
        thread.over = thread.over.max(number);
    }
    page.changed();
}

async fn finish(page: &Page, realm: &ScriptRealm, SentSource { number, wrapper, call }: SentSource) -> SourceOutcome {
    let answer = call.read::<Evaluation>().await;
    is_over(page, &realm.session, number);
    match answer {
        Err(CallError::Refused(said)) if wrapper == WrapperUse::Kept && wrapper::was_absent(&said) => {
            SourceOutcome::Absent
        }
        Err(error) => SourceOutcome::Settled(lost(page, &error).await),
        Ok(Evaluation { exception_details: Some(thrown), .. }) => {
            let ThrownException { text, stack_trace, exception } = thrown;
            let ran = stack_trace.is_some_and(|stack| !stack.call_frames.is_empty());
            let name = exception.as_ref().and_then(|exception| exception.class_name.as_deref());
            let syntax = !ran && name == Some("SyntaxError");
            let said = exception.and_then(|exception| exception.description.or(exception.value)).unwrap_or(text);
            if syntax {
                return SourceOutcome::Syntax(said);
            }
            SourceOutcome::Settled(Settled::Failed(Failure::new(FailureKind::Exception, cut(said))))
        }
        Ok(Evaluation { result: RemoteValue { value: Some(envelope), .. }, .. }) => {
            SourceOutcome::Settled(Settled::Envelope(envelope))
        }
        Ok(Evaluation { result: RemoteValue { kind, .. }, .. }) => {
            let message = format!("the page made something else of the script than a result ({kind})");
            SourceOutcome::Settled(Settled::Failed(Failure::new(FailureKind::Exception, message)))
        }
    }
}

/// As [`failed`]. A browser that is killed may say that its pages navigated, just
/// before the host notices its end. When a page really navigated, the core was told so
/// and does not wait for this.
async fn lost(page: &Page, error: &CallError) -> Settled {
    let settled = failed(error);
    let navigated = matches!(&settled, Settled::Failed(failure) if failure.kind == FailureKind::Navigated);
    if navigated && tokio::time::timeout(DYING, page.browser.ended()).await.is_ok() {
        return failed(&CallError::Gone);
    }
    settled
}

/// The failure of a script that the browser refused or gave up.
fn failed(error: &CallError) -> Settled {
    let failure = |kind, message: &str| Settled::Failed(Failure::new(kind, message));
    let left = || failure(FailureKind::Navigated, "the page went elsewhere before the script had ended");
    match error {
        CallError::Gone => failure(FailureKind::BackendGone, "the browser ended"),
        CallError::Left => left(),
        CallError::TooLarge => failure(FailureKind::Limit, "the result is larger than may be; return less"),
        CallError::Refused(message) => match message.as_str() {
            said if said.contains("navigated or closed")
                || said.contains("Cannot find context")
                || said.contains("context was destroyed")
                || said.contains("Cannot find default execution context")
                || said.contains("No frame")
                || said.contains("Frame with the given")
                || said.contains("uniqueContextId not found")
                || said.contains("Session with given id") =>
            {
                left()
            }
            said if said.contains("crashed") => {
                failure(FailureKind::Crashed, "the page crashed; navigate or reload it")
            }
            said if said.contains("terminated") => {
                failure(FailureKind::Exception, "the script was stopped, since it kept the page from going on")
            }
            said if said.contains("Promise was collected") => {
                failure(FailureKind::Exception, "the promise of the script can never settle: nothing knows it any more")
            }
            said if said.contains("reference chain") => failure(FailureKind::Unserialisable, said),
            said => failure(FailureKind::Exception, said),
        },
        CallError::Unexpected | CallError::Late => failure(FailureKind::Exception, &error.to_string()),
    }
}

fn cut(said: String) -> String {
    wharf_core::text::cut(&said, 4_096).to_owned()
}
