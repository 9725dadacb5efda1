//! What to answer to a request that the protocol crate made no sense of.
//!
//! It takes a known method with unknown parameters for an unknown method; a client is
//! told here which of the two it was. Lists are not here: their one parameter is read
//! or ignored.

use rmcp::{
    ErrorData,
    model::{ErrorCode, ServerCapabilities},
};
use wharf_core::text;

/// What clients of the newer era have no more.
const REMOVED: [&str; 4] = ["initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// The error for a request of `method`, on a host that has these capabilities, to a
/// client of the newer era or the older one.
pub(crate) fn answer(method: &str, has: &ServerCapabilities, modern: bool) -> ErrorData {
    let rule = match method {
        removed if modern && REMOVED.contains(&removed) => {
            return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, removed.to_owned(), None);
        }
        "initialize" => "`protocolVersion`, `capabilities` and `clientInfo`",
        "tools/call" => {
            "`name`, the name of a tool, and may have `arguments` and `inputResponses`, which are objects, \
             and `requestState`, a text"
        }
        "logging/setLevel" => {
            "`level`: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`"
        }
        "prompts/get" if has.prompts.is_some() => {
            "`name`, the name of a prompt, and may have `arguments` and `inputResponses`, which are objects, \
             and `requestState`, a text"
        }
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" if has.resources.is_some() => {
            "`uri`, the address of a resource"
        }
        "completion/complete" if has.completions.is_some() => {
            "`ref`, which is {\"type\": \"ref/prompt\", \"name\": …} or {\"type\": \"ref/resource\", \"uri\": …}, and \
             `argument`, which is {\"name\": …, \"value\": …}; `context.arguments`, where there are any, are texts by name"
        }
        "subscriptions/listen" => {
            "`notifications`, an object that may have `toolsListChanged`, `promptsListChanged` and \
             `resourcesListChanged`, each true or false, and `resourceSubscriptions`, a list of addresses"
        }
        _ => return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text::line(method, 100), None),
    };
    ErrorData::invalid_params(format!("the `params` of this request are malformed: {method} needs {rule}"), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_offered_can_be_malformed() {
        let bare = ServerCapabilities::default();
        assert_eq!(answer("tools/call", &bare, true).code, ErrorCode::INVALID_PARAMS);
        for method in ["prompts/get", "resources/read", "completion/complete", "no/such"] {
            assert_eq!(answer(method, &bare, false).code, ErrorCode::METHOD_NOT_FOUND, "{method}");
        }
        for method in REMOVED {
            assert_eq!(answer(method, &bare, true).code, ErrorCode::METHOD_NOT_FOUND, "{method}");
        }
        assert_eq!(answer("logging/setLevel", &bare, false).code, ErrorCode::INVALID_PARAMS);
        let prompting = ServerCapabilities::builder().enable_prompts().build();
        assert!(answer("prompts/get", &prompting, false).message.contains("`name`"));
        assert!(answer(&"x\u{1b}".repeat(1_000), &bare, true).message.len() < 200);
    }
}
