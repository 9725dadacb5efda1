//! What Chromium says of the network, as far as it matters here.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WillBeSent {
    pub(super) request_id: String,
    pub(super) loader_id: String,
    pub(super) request: Asked,
    pub(super) timestamp: f64,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) frame_id: Option<String>,
    pub(super) redirect_response: Option<Response>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    pub(super) url: String,
    pub(super) method: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    pub(super) status: f64,
    pub(super) mime_type: String,
    #[serde(default)]
    pub(super) headers: Headers,
}

/// The headers that matter: the proxy's mark on what it answered itself, and what
/// says how long a body is.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Headers {
    #[serde(rename = "wharf-proxy-answer")]
    pub(super) proxy_answer: Option<String>,
    #[serde(rename = "content-length", alias = "Content-Length")]
    pub(super) length: Option<String>,
    #[serde(rename = "content-encoding", alias = "Content-Encoding")]
    pub(super) encoding: Option<String>,
}

impl Headers {
    pub(super) fn expected(&self) -> Option<u64> {
        self.length.as_ref().filter(|_| self.encoding.is_none())?.parse().ok()
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Received {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) response: Response,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Data {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) data_length: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ended {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) encoded_data_length: Option<f64>,
    pub(super) error_text: Option<String>,
    pub(super) error_message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Socket {
    pub(super) request_id: String,
    pub(super) url: String,
}
