//! What a front end says of itself and of its tools, measured and checked as
//! that of the embedding app is.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use wharf_contract::tools::{ANNOTATIONS, TITLE};
use wharf_core::{
    Code, Error, HostLimits, SchemaBudget,
    service::front_end::{ConnectFrontEnd, FrontEndTool},
    text,
    tool::json_bytes,
};

use super::{action::FrontEndAction, connection::Connection};
use crate::app::{AppTool, Registered};

const MAX_NAME_BYTES: usize = 32;

/// Whether so much may be said, before any of it is compiled.
pub(super) fn check_size(wanted: &ConnectFrontEnd, limits: &HostLimits) -> Result<(), Error> {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let name = &wanted.name;
    if !(1..=MAX_NAME_BYTES).contains(&name.len()) || !name.bytes().all(legal) {
        let shown = text::line(name, 64);
        return Err(invalid(format!(
            "a front end cannot be called {shown:?}: `name` is 1 to {MAX_NAME_BYTES} characters of [a-z0-9-]"
        )));
    }
    if wanted.tools.is_empty() {
        return Err(invalid("a front end without tools serves nothing; send at least one in `tools`"));
    }
    if wanted.tools.len() as u64 > limits.front_end_tools {
        return Err(Error::new(
            Code::Limit,
            format!(
                "{} tools are more than {} (limit `front_end_tools`); connect fewer",
                wanted.tools.len(),
                limits.front_end_tools
            ),
        ));
    }
    let bytes = json_bytes(&wanted.tools);
    if bytes > limits.front_end_bytes {
        return Err(Error::new(
            Code::Limit,
            format!("the tools have {bytes} bytes, more than {} (limit `front_end_bytes`)", limits.front_end_bytes),
        ));
    }
    Ok(())
}

/// A tool that can be called.
pub(super) fn check(
    tool: FrontEndTool,
    connection: &Arc<Connection>,
    budget: &mut SchemaBudget,
) -> Result<Registered, Error> {
    let FrontEndTool { name, description, title, input_schema, output_schema, annotations, timeout_ms } = tool;
    if timeout_ms == Some(0) {
        return Err(invalid(format!("tool `{}`: `timeout_ms` is at least 1", text::line(&name, 64))));
    }
    let declared = timeout_ms.map(Duration::from_millis);
    let action = FrontEndAction { connection: Arc::clone(connection), tool: name.clone() };
    let mut meta = Map::new();
    meta.extend(title.map(|title| (TITLE.to_owned(), Value::String(text::visible(title)))));
    meta.extend(annotations.map(|annotations| (ANNOTATIONS.to_owned(), Value::Object(annotations))));
    let mut checked =
        AppTool::with_action(name, description, Value::Object(input_schema), Arc::new(action)).with_meta(meta);
    if let Some(schema) = output_schema {
        checked = checked.with_output_schema(Value::Object(schema));
    }
    if let Some(declared) = declared {
        checked = checked.with_time_limit(declared);
    }
    checked.check(budget).map_err(|error| invalid(error.to_string()))
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::Invalid, message.into())
}
