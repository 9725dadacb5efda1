//! The wrapper of scripts, kept by the browser for each context: parsing it takes
//! longer than most scripts run.
//!
//! The page cannot reach what is kept. Knows nothing of what the wrapper does.

use std::{collections::HashMap, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};
use wharf_webview::script_wrapper;

use super::Page;

/// What is kept for contexts at most.
const MOST: usize = 1_000;
/// Apart from what goes with a script that failed.
const GROUP: &str = "wharf-wrapper";

/// The wrappers by session and context.
#[derive(Debug, Default)]
pub(super) struct Wrappers(HashMap<(String, i64), Option<String>>);

impl Wrappers {
    fn get(&self, session: &str, context: i64) -> Option<&str> {
        self.0.get(&(session.to_owned(), context))?.as_deref()
    }

    /// Whether it is to be made; nobody else is told so.
    fn begin(&mut self, session: &str, context: i64) -> bool {
        let key = (session.to_owned(), context);
        let is_new = self.0.len() < MOST && !self.0.contains_key(&key);
        if is_new {
            self.0.insert(key, None);
        }
        is_new
    }

    fn made(&mut self, session: &str, context: i64, object: String) {
        // Unless the context has gone meanwhile.
        if let Some(wrapper) = self.0.get_mut(&(session.to_owned(), context)) {
            *wrapper = Some(object);
        }
    }

    pub(super) fn forget(&mut self, session: &str, context: i64) {
        self.0.remove(&(session.to_owned(), context));
    }

    pub(super) fn forget_session(&mut self, session: &str) {
        self.0.retain(|(other, _), _| other != session);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// How a source is run by the wrapper that its context has already: the parameters of
/// `Runtime.callFunctionOn`. What `this` is stays as it was.
pub(super) fn call(wrappers: &Wrappers, session: &str, context: i64, source: &str) -> Option<Value> {
    let wrapped = source.strip_prefix(script_wrapper())?;
    let wrapper = wrappers.get(session, context)?;
    Some(json!({
        "functionDeclaration": format!("function () {{ return arguments[0]{wrapped} }}"),
        "arguments": [{ "objectId": wrapper }],
        "executionContextId": context,
    }))
}

/// Whether the browser says that the context, or what was kept for it, was not there:
/// nothing has run.
pub(super) fn was_absent(said: &str) -> bool {
    [
        "Cannot find context with specified id",
        "Could not find object with given id",
        "should belong to the same JavaScript",
    ]
    .iter()
    .any(|known| said.contains(known))
}

#[derive(Deserialize)]
struct Made {
    result: Object,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    object_id: Option<String>,
}

/// Has the browser keep the wrapper for a context, for the scripts that come next.
pub(super) fn keep(page: &Arc<Page>, session: &str, context: i64) {
    if !page.state().wrappers.begin(session, context) {
        return;
    }
    let wanted = json!({ "expression": script_wrapper(), "contextId": context, "objectGroup": GROUP });
    let call = page.call(session, "Runtime.evaluate", &wanted);
    let (page, session) = (Arc::clone(page), session.to_owned());
    tokio::spawn(async move {
        // Without it, scripts bring their own.
        if let Ok(Made { result: Object { object_id: Some(object) } }) = call.read().await {
            page.state().wrappers.made(&session, context, object);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wrapped_by_it_is_sent_to_a_wrapper_that_is_there() {
        let mut wrappers = Wrappers::default();
        let source = format!("{}(async () => {{return (\n1\n)\n}}, {{}})", script_wrapper());
        assert!(call(&wrappers, "s", 1, &source).is_none(), "none was made");
        assert!(wrappers.begin("s", 1) && !wrappers.begin("s", 1));
        assert!(call(&wrappers, "s", 1, &source).is_none(), "it is not there yet");
        wrappers.made("s", 1, "object".to_owned());
        let called = call(&wrappers, "s", 1, &source).expect("by the wrapper");
        assert_eq!(
            called["functionDeclaration"],
            "function () { return arguments[0](async () => {return (\n1\n)\n}, {}) }"
        );
        assert!(call(&wrappers, "s", 1, "1 + 1").is_none() && call(&wrappers, "t", 1, &source).is_none());
        wrappers.forget("s", 1);
        wrappers.made("s", 1, "late".to_owned());
        assert!(call(&wrappers, "s", 1, &source).is_none(), "its context has gone");
    }
}
