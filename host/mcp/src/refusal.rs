//! Errors of the services as errors of the protocol: what methods answer that have no
//! result for a failure, as tools have.

use rmcp::{ErrorData, model::ErrorCode};
use serde_json::{Map, Value, json};
use wharf_core::{Code, Error, text::visible};

use crate::answer::ERROR_KEY;

/// The error, with its code for programs.
pub(crate) fn refusal(error: Error) -> ErrorData {
    let code = match error.code {
        Code::Invalid | Code::NotFound => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let detail = json!({"code": error.code.as_str(), "retryable": error.retryable});
    let data = Value::Object(Map::from_iter([(ERROR_KEY.to_owned(), detail)]));
    ErrorData::new(code, visible(error.message), Some(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_got_wrong_is_told_apart_from_what_went_wrong() {
        let invalid = refusal(Error::new(Code::Invalid, "no such argument"));
        assert_eq!((invalid.code, invalid.message.as_ref()), (ErrorCode::INVALID_PARAMS, "no such argument"));
        let busy = refusal(Error::retryable(Code::Limit, "too many"));
        assert_eq!(busy.code, ErrorCode::INTERNAL_ERROR);
        assert_eq!(busy.data, Some(json!({"dev.wharf/error": {"code": "limit", "retryable": true}})));
    }
}
