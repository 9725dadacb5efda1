//! A tool that sends an HTTP request, which the operator granted by method, origin and path.

use wharf_sdk::{Call, Reply, ToolError, http::Request, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fetch {
    /// What to fetch, such as `https://example.com/`.
    #[schemars(length(min = 1, max = 2_000))]
    url: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Fetched {
    /// The status that the server answered with.
    status: u16,
    /// How many bytes it sent.
    bytes: usize,
}

/// Fetches an address and tells its status and size.
#[tool(title = "Fetch", read_only)]
pub(crate) fn fetch(call: &Call, input: Fetch) -> Result<Reply<Fetched>, ToolError> {
    let response = call.http().send(&Request::get(&input.url))?;
    let fetched = Fetched { status: response.status, bytes: response.body.len() };
    Ok(Reply::new(format!("{} answered {} with {} bytes.", input.url, fetched.status, fetched.bytes), fetched))
}
