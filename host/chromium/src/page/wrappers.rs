//! Which contexts of the browser keep the wrapper of scripts: parsing it takes longer
//! than most scripts run.
//!
//! The page cannot reach the kept function. Knows nothing of what the wrapper does.

use std::collections::HashMap;

use serde_json::{Value, json};
use wharf_webview::script_wrapper;

/// How many contexts keep one.
const MOST: usize = 1_000;

/// The kept functions by session and context; none while one is being made.
#[derive(Debug, Default)]
pub(crate) struct KeptWrappers(HashMap<(String, i64), Option<String>>);

impl KeptWrappers {
    fn get(&self, session: &str, context: i64) -> Option<&str> {
        self.0.get(&(session.to_owned(), context))?.as_deref()
    }

    /// Whether the caller is to make the wrapper: true once for each context.
    pub(crate) fn begin(&mut self, session: &str, context: i64) -> bool {
        let key = (session.to_owned(), context);
        let is_new = self.0.len() < MOST && !self.0.contains_key(&key);
        if is_new {
            self.0.insert(key, None);
        }
        is_new
    }

    pub(crate) fn made(&mut self, session: &str, context: i64, object: String) {
        // Unless the context has gone meanwhile.
        if let Some(wrapper) = self.0.get_mut(&(session.to_owned(), context)) {
            *wrapper = Some(object);
        }
    }

    pub(crate) fn forget(&mut self, session: &str, context: i64) {
        self.0.remove(&(session.to_owned(), context));
    }

    pub(crate) fn forget_session(&mut self, session: &str) {
        self.0.retain(|(other, _), _| other != session);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The parameters of `Runtime.callFunctionOn` that run a source by the wrapper of its
/// context, where that keeps one. `this` is as it would be without.
pub(crate) fn call(wrappers: &KeptWrappers, session: &str, context: i64, source: &str) -> Option<Value> {
    let wrapped = source.strip_prefix(script_wrapper())?;
    let wrapper = wrappers.get(session, context)?;
    Some(json!({
        "functionDeclaration": format!("function () {{ return arguments[0]{wrapped} }}"),
        "arguments": [{ "objectId": wrapper }],
        "executionContextId": context,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wrapped_by_it_is_sent_to_a_wrapper_that_is_there() {
        let mut wrappers = KeptWrappers::default();
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
