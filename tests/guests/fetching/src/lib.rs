//! One tool that sends a request and follows where it leads, by the SDK: what an
//! ordinary plugin does with HTTP.

use wharf_sdk::http::Request;
use wharf_sdk::{Call, Text, ToolError, tool};

/// Answers that lead on, one after the other.
const REDIRECTS: usize = 5;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fetch {
    /// Where it is.
    url: String,
    /// What to send there; without it, what is there is got.
    body: Option<String>,
}

/// Gets what is at an address, or sends something there, and says what came back.
#[tool(title = "Fetch")]
fn fetch(call: &Call, input: Fetch) -> Result<Text, ToolError> {
    let mut request = match input.body {
        Some(body) => Request::new("POST", input.url).body(body),
        None => Request::get(input.url),
    };
    for _ in 0..REDIRECTS {
        let response = call.http().send(&request)?;
        match response.header("location") {
            Some(elsewhere) if (300..400).contains(&response.status) => request = Request::get(elsewhere),
            _ => return Ok(Text(format!("{} {}", response.status, response.text()?))),
        }
    }
    Err(ToolError::unavailable("it leads from one address to another without end"))
}

wharf_sdk::plugin!(fetch);
wharf_sdk::reasons!(http = "follows what it is told to follow");
