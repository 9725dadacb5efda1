//! Scripts on their way into the page, and what comes back.
//!
//! Knows nothing of what the sources do: the core has written them.

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::json;
use wharf_webview::{FailureKind, Injection, Settled, Token};

use super::wrapper;
use crate::{
    connection::{Call, CallError},
    page::{Frame, Page, Running, WORLD, call_wrapper},
};

/// What the browser keeps of a script that failed, to be let go of.
const GROUP: &str = "wharf";
/// Within which time it is seen that a browser has ended.
const DYING: std::time::Duration = std::time::Duration::from_millis(250);

/// Where a script is to run.
#[derive(Debug)]
struct Place {
    session: String,
    context: Option<i64>,
    /// That of the page itself, for which the browser needs no name.
    own: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    result: Remote,
    exception_details: Option<Thrown>,
}

/// A value of the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remote {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, deserialize_with = "text_alone")]
    value: Option<String>,
    class_name: Option<String>,
    description: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thrown {
    text: String,
    stack_trace: Option<Stack>,
    exception: Option<Remote>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stack {
    call_frames: Vec<IgnoredAny>,
}

/// A text, and nothing of anything else: a hostile page may make the result large
/// and deep, so the rest is only passed over.
fn text_alone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    struct TextAlone;
    impl<'de> Visitor<'de> for TextAlone {
        type Value = Option<String>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("anything")
        }
        fn visit_str<E>(self, text: &str) -> Result<Option<String>, E> {
            Ok(Some(text.to_owned()))
        }
        fn visit_string<E>(self, text: String) -> Result<Option<String>, E> {
            Ok(Some(text))
        }
        fn visit_unit<E>(self) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_bool<E>(self, _: bool) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Option<String>, E> {
            Ok(None)
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Option<String>, A::Error> {
            while sequence.next_element::<IgnoredAny>()?.is_some() {}
            Ok(None)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<String>, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(None)
        }
    }
    deserializer.deserialize_any(TextAlone)
}

/// What came of one source.
enum Outcome {
    Settled(Settled),
    /// It cannot be parsed, so nothing of it ran.
    Syntax(String),
    /// Its context, or the wrapper kept for it, is not there any more, so nothing of
    /// it ran.
    Absent,
}

/// Whether the wrapper that the browser keeps may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    Kept,
    Brought,
}

pub(super) fn begin(page: &Arc<Page>, injection: Injection) {
    let Injection { token, sources, isolated, frame } = injection;
    let place = match place(page, frame.as_deref(), isolated) {
        Ok(place) => place,
        Err((kind, message)) => return page.fail(token, kind, message),
    };
    let mut sources = sources.into_iter();
    let Some(mut source) = sources.next() else {
        return page.fail(token, FailureKind::Invalid, "there is no script");
    };
    // A world that is not there yet has to be made first.
    let waits = place.context.is_none() && isolated;
    let begun = (!waits).then(|| send(page, token, &place, &source, Wrapper::Kept));
    let running = Arc::clone(page);
    let task = tokio::spawn(async move {
        let page = running;
        let (place, mut begun) = match begun {
            Some(begun) => (place, begun),
            None => match make_world(&page, place, frame.as_deref()).await {
                Ok(place) => {
                    let begun = send(&page, token, &place, &source, Wrapper::Kept);
                    (place, begun)
                }
                Err(error) => return page.settle(token, failed(&error)),
            },
        };
        let settled = loop {
            match finish(&page, &place, begun).await {
                Outcome::Settled(settled) => break settled,
                Outcome::Syntax(_) | Outcome::Absent if !page.state().running.contains_key(&token) => return,
                Outcome::Absent => begun = send(&page, token, &place, &source, Wrapper::Brought),
                Outcome::Syntax(message) => match sources.next() {
                    Some(next) => {
                        source = next;
                        begun = send(&page, token, &place, &source, Wrapper::Kept);
                    }
                    // What is said of the last one counts, which is the script as it is.
                    None => {
                        page.post(&place.session, "Runtime.releaseObjectGroup", &json!({ "objectGroup": GROUP }));
                        break Settled::Syntax { message };
                    }
                },
            }
        };
        page.settle(token, settled);
        if let Some(context) = place.context.or(place.own) {
            wrapper::keep(&page, &place.session, context);
        }
    });
    if waits {
        page.state().running.entry(token).or_insert(Running::Order(task.abort_handle()));
    }
}

/// Where a frame's scripts run.
fn place(page: &Page, frame: Option<&str>, isolated: bool) -> Result<Place, (FailureKind, &'static str)> {
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
            Ok(Place { session: page.main_session().to_owned(), context: None, own })
        }
        (Some(_), Some(Frame { page: None, .. })) if !isolated => {
            Err((FailureKind::Navigated, "the frame is just being loaded; run the script again"))
        }
        (_, Some(known)) => {
            let context = if isolated { known.isolated } else { known.page };
            Ok(Place { session: known.session.clone(), context, own: None })
        }
        (None, None) => Ok(Place { session: page.main_session().to_owned(), context: None, own: None }),
        (Some(_), None) => {
            Err((FailureKind::Invalid, "there is no such frame in the page now; `frames` tells those that are there"))
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    execution_context_id: i64,
}

async fn make_world(page: &Page, place: Place, frame: Option<&str>) -> Result<Place, CallError> {
    let main = page.window().map(|window| window.target.as_str()).unwrap_or_default();
    let world = json!({ "frameId": frame.unwrap_or(main), "worldName": WORLD, "grantUniveralAccess": false });
    let made = page.call(&place.session, "Page.createIsolatedWorld", &world).read::<World>().await?;
    Ok(Place { context: Some(made.execution_context_id), ..place })
}

/// The context of the world apart in the window's own frame.
pub(crate) async fn isolated_context(page: &Page) -> Result<i64, CallError> {
    let main = page.window().map(|window| window.target.as_str()).unwrap_or_default();
    let known = page.state().contexts.frame(main).and_then(|frame| frame.isolated);
    match known {
        Some(known) => Ok(known),
        None => {
            let place = Place { session: page.main_session().to_owned(), context: None, own: None };
            let made = make_world(page, place, None).await?;
            made.context.ok_or(CallError::Unexpected)
        }
    }
}

/// A script that is on its way: its number on the thread, how it is wrapped, and what
/// the browser will say.
struct Begun {
    number: u64,
    wrapper: Wrapper,
    call: Call,
}

/// Sends a script, by the wrapper that the browser keeps where there is one.
fn send(page: &Arc<Page>, token: Token, place: &Place, source: &str, wrapper: Wrapper) -> Begun {
    let context = place.context.or(place.own).filter(|_| wrapper == Wrapper::Kept);
    let kept = context.and_then(|context| call_wrapper(&page.state().wrappers, &place.session, context, source));
    let (method, wrapper, mut wanted) = match kept {
        Some(wanted) => ("Runtime.callFunctionOn", Wrapper::Kept, wanted),
        None => {
            let mut wanted = json!({ "expression": source });
            if let Some(context) = place.context {
                wanted["contextId"] = json!(context);
            }
            ("Runtime.evaluate", Wrapper::Brought, wanted)
        }
    };
    for asked in ["awaitPromise", "returnByValue", "userGesture"] {
        wanted[asked] = true.into();
    }
    wanted["objectGroup"] = GROUP.into();
    // Numbers are in the order in which scripts are sent, so under the lock.
    let mut state = page.state();
    let thread = state.threads.entry(place.session.clone()).or_default();
    if thread.over < thread.last {
        // Says when those before have let go of the thread: whoever is to stop this
        // one has to know whether it is its turn.
        thread.last += 1;
        mark(page, &place.session, thread.last);
    }
    thread.last += 1;
    let number = thread.last;
    state.running.insert(token, Running::Script { session: place.session.clone(), number });
    Begun { number, wrapper, call: page.call(&place.session, method, &wanted) }
}

/// Sends a script that does nothing, of which the answer says that all before it
/// have let go of the thread.
fn mark(page: &Arc<Page>, session: &str, number: u64) {
    let call = page.call(session, "Runtime.evaluate", &json!({ "expression": "0", "returnByValue": true }));
    let (page, session) = (Arc::clone(page), session.to_owned());
    tokio::spawn(async move {
        let _ = call.await;
        is_over(&page, &session, number);
    });
}

/// Says that a script has let go of the thread, and with it all before it.
fn is_over(page: &Page, session: &str, number: u64) {
    if let Some(thread) = page.state().threads.get_mut(session) {
        thread.over = thread.over.max(number);
    }
    page.changed();
}

async fn finish(page: &Page, place: &Place, Begun { number, wrapper, call }: Begun) -> Outcome {
    let answer = call.read::<Evaluated>().await;
    is_over(page, &place.session, number);
    match answer {
        Err(CallError::Refused(said)) if wrapper == Wrapper::Kept && wrapper::was_absent(&said) => Outcome::Absent,
        Err(error) => Outcome::Settled(lost(page, &error).await),
        Ok(Evaluated { exception_details: Some(thrown), .. }) => {
            let Thrown { text, stack_trace, exception } = thrown;
            let ran = stack_trace.is_some_and(|stack| !stack.call_frames.is_empty());
            let name = exception.as_ref().and_then(|exception| exception.class_name.as_deref());
            let syntax = !ran && name == Some("SyntaxError");
            let said = exception.and_then(|exception| exception.description.or(exception.value)).unwrap_or(text);
            if syntax {
                return Outcome::Syntax(said);
            }
            Outcome::Settled(Settled::Failed(wharf_webview::Failure::new(FailureKind::Exception, cut(said))))
        }
        Ok(Evaluated { result: Remote { value: Some(envelope), .. }, .. }) => {
            Outcome::Settled(Settled::Envelope(envelope))
        }
        Ok(Evaluated { result: Remote { kind, .. }, .. }) => {
            let message = format!("the page made something else of the script than a result ({kind})");
            Outcome::Settled(Settled::Failed(wharf_webview::Failure::new(FailureKind::Exception, message)))
        }
    }
}

/// As [`failed`]. A browser that is killed may say of its pages that they went
/// elsewhere, just before it is seen that it has ended. Where a page really did,
/// the core has been told so and waits for nothing here.
async fn lost(page: &Page, error: &CallError) -> Settled {
    let settled = failed(error);
    let navigated = matches!(&settled, Settled::Failed(failure) if failure.kind == FailureKind::Navigated);
    if navigated && tokio::time::timeout(DYING, page.browser.ended()).await.is_ok() {
        return failed(&CallError::Gone);
    }
    settled
}

/// What a script came to that the browser refused or gave up.
fn failed(error: &CallError) -> Settled {
    let failure = |kind, message: &str| Settled::Failed(wharf_webview::Failure::new(kind, message));
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
