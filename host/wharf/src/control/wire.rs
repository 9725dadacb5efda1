//! What is said over the socket: JSON objects, one a line, both ways.
//!
//! Knows nothing of sockets and of terminals.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use wharf_core::{audit::Requester, service::operator::OperatorRequest};
use zeroize::Zeroizing;

/// Bytes of a line.
pub(super) const MAX_LINE_BYTES: u64 = 4 << 20;

/// The first line: the secret of the client, and what it asks for.
#[derive(Serialize, Deserialize)]
pub(super) struct OpeningLine {
    #[serde(with = "secret_text")]
    pub(super) secret: Zeroizing<String>,
    pub(super) request: ControlRequest,
}

/// A secret as JSON has it.
mod secret_text {
    use super::{Deserialize as _, Deserializer, Serializer, Zeroizing};

    pub(super) fn serialize<S: Serializer>(secret: &Zeroizing<String>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Zeroizing<String>, D::Error> {
        String::deserialize(deserializer).map(Zeroizing::new)
    }
}

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum ControlRequest {
    /// What an operator asks; answered by [`ControlReply::Operated`] or [`ControlReply::Failed`].
    Operate {
        request: OperatorRequest,
        /// Nothing where a command of the host's own user asks.
        #[serde(default)]
        by: Requester,
    },
    /// A link to the console; answered by [`ControlReply::Console`].
    Console,
    /// One terminal, live: answered by [`ControlReply::Attached`], then a
    /// [`ControlReply::Screen`], then what comes.
    Attach { id: String, read_only: bool },
    /// All plugins, and what became of each: answered by [`ControlReply::Plugins`].
    Plugins,
    /// What plugins come from has changed: answered by [`ControlReply::Plugins`] once it has
    /// taken effect.
    Reload,
}

/// What the host says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum ControlReply {
    Operated {
        answer: serde_json::Value,
    },
    /// Why that was not done.
    Failed {
        code: String,
        message: String,
        retryable: bool,
    },
    /// Nothing where the host serves no console.
    Console {
        link: Option<String>,
    },
    Attached {
        terminal: serde_json::Value,
    },
    Plugins {
        plugins: Vec<serde_json::Value>,
        /// Whether this request has changed anything.
        changed: bool,
        /// Why the configuration is still the one before, where it is.
        problem: Option<String>,
    },
    /// Bytes that draw the screen from nothing.
    Screen {
        bytes: Base64Bytes,
        columns: u16,
        rows: u16,
    },
    /// What the program printed.
    Output {
        bytes: Base64Bytes,
    },
    /// The terminal has another size now.
    Resized {
        columns: u16,
        rows: u16,
    },
    /// Something was refused; the connection goes on unless it had not begun.
    Refused {
        message: String,
    },
    /// The program has ended, and so does this.
    Ended {
        message: String,
    },
}

/// What an attached client wants.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum TerminalOrder {
    /// While a turn runs, only what is forced is typed.
    Type {
        bytes: Base64Bytes,
        force: bool,
    },
    Resize {
        columns: u16,
        rows: u16,
    },
}

/// Bytes, as base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base64Bytes(pub(super) Vec<u8>);

impl Serialize for Base64Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        STANDARD.decode(text.as_bytes()).map(Self).map_err(D::Error::custom)
    }
}

/// Reads a line; nothing at the end.
pub(super) async fn read<T: for<'de> Deserialize<'de>>(
    reader: &mut (impl AsyncBufRead + Unpin),
) -> std::io::Result<Option<T>> {
    let mut line = String::new();
    let count = reader.take(MAX_LINE_BYTES).read_line(&mut line).await?;
    if count == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}

/// Writes a line.
pub(super) async fn write(writer: &mut (impl AsyncWrite + Unpin), message: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    writer.write_all(&line).await
}
