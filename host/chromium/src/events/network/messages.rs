//! The parameters of Chromium's events of the network, as far as they matter here.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestWillBeSent {
    pub(super) request_id: String,
    pub(super) loader_id: String,
    pub(super) request: RequestHead,
    pub(super) timestamp: f64,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) frame_id: Option<String>,
    pub(super) redirect_response: Option<ResponseHead>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RequestHead {
    pub(super) url: String,
    pub(super) method: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResponseHead {
    pub(super) status: f64,
    pub(super) mime_type: String,
    #[serde(default)]
    pub(super) headers: ResponseHeaders,
}

/// The headers that matter: the proxy's mark on what it answered itself, and what
/// says how long a body is.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ResponseHeaders {
    #[serde(rename = "wharf-proxy-answer")]
    pub(super) proxy_answer: Option<String>,
    #[serde(rename = "content-length", alias = "Content-Length")]
    pub(super) length: Option<String>,
    #[serde(rename = "content-encoding", alias = "Content-Encoding")]
    pub(super) encoding: Option<String>,
}

impl ResponseHeaders {
    pub(super) fn expected(&self) -> Option<u64> {
        self.length.as_ref().filter(|_| self.encoding.is_none())?.parse().ok()
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResponseReceived {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) response: ResponseHead,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataReceived {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) data_length: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadingEnded {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) encoded_data_length: Option<f64>,
    pub(super) error_text: Option<String>,
    pub(super) error_message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebSocketCreated {
    pub(super) request_id: String,
    pub(super) url: String,
}
