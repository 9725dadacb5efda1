//! The side of the client: finds hosts that run on a data directory, lists their
//! terminals, attaches to one, tells of plugins that have changed.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use tokio::{io::BufReader, sync::mpsc};
use wharf_core::{
    Code, Error,
    audit::Requester,
    service::operator::{OperatorList, OperatorRequest},
};
use wharf_files::regular_file;

use super::{
    socket::{HOSTS, LocalStream, ReadHalf, SECRET, SOCKET, VERSION, WriteHalf, is_alive},
    wire::{self, Base64Bytes, ControlReply, ControlRequest, OpeningLine, TerminalOrder},
};
use crate::secret;

/// Frames that wait for an attached client; then the host waits.
const FRAMES: usize = 64;

/// Bytes that are read of a version.
const LONGEST_VERSION: u64 = 64;

/// How long a host may take to load what has changed.
const PATIENCE: Duration = Duration::from_secs(180);

/// Why a running host did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// It cannot be reached, or went away.
    #[error("the host cannot be reached")]
    Unreachable(#[from] io::Error),
    /// It refused.
    #[error("{0}")]
    Refused(String),
    /// It did not do that.
    #[error("{}", .0.message)]
    Failed(Error),
    /// It does not answer.
    #[error("the host has not answered for {} seconds; it may still do what it was asked", PATIENCE.as_secs())]
    Silent,
    /// It said something else than was asked for.
    #[error("the host answers in another way: it may be of another version than this command")]
    Unexpected,
}

/// A host that runs.
#[derive(Debug)]
pub struct RunningHost {
    directory: PathBuf,
}

/// The hosts that run on a data directory and can be asked. What hosts that
/// were killed left behind is passed over.
///
/// # Errors
/// Where the directory cannot be read.
pub fn running_hosts(data: &Path) -> io::Result<Vec<RunningHost>> {
    let entries = match fs::read_dir(data.join(HOSTS)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut hosts = Vec::new();
    for entry in entries {
        let directory = entry?.path();
        if directory.join(SOCKET).exists() && is_alive(&directory) {
            hosts.push(RunningHost { directory });
        }
    }
    hosts.sort_by(|one, other| one.directory.cmp(&other.directory));
    Ok(hosts)
}

/// The plugins of a running host.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServedPlugins {
    /// Each plugin, as [`PluginStatus`](crate::PluginStatus) is in JSON.
    pub plugins: Vec<Value>,
    /// Whether the request has changed anything.
    pub changed: bool,
    /// Why the host goes by the configuration before, where it does.
    pub problem: Option<String>,
}

impl RunningHost {
    /// Its plugins, and what became of each.
    ///
    /// # Errors
    /// See [`ControlError`].
    pub async fn plugins(&self) -> Result<ServedPlugins, ControlError> {
        self.served(ControlRequest::Plugins).await
    }

    /// Says that `wharf.toml`, the plugins that were added or their files have changed,
    /// and waits until that has taken effect.
    ///
    /// # Errors
    /// See [`ControlError`].
    pub async fn reload(&self) -> Result<ServedPlugins, ControlError> {
        self.served(ControlRequest::Reload).await
    }

    async fn served(&self, request: ControlRequest) -> Result<ServedPlugins, ControlError> {
        let asking = async {
            match self.reply(request).await? {
                ControlReply::Plugins { plugins, changed, problem } => Ok(ServedPlugins { plugins, changed, problem }),
                _ => Err(ControlError::Unexpected),
            }
        };
        tokio::time::timeout(PATIENCE, asking).await.map_err(|_| ControlError::Silent)?
    }

    /// Does what an operator asks, as [`OperatorService::operate`](crate::service::OperatorService::operate) has it. Of
    /// a list that is too long, the last entries.
    ///
    /// # Errors
    /// [`ControlError::Failed`] with what the host says; otherwise see [`ControlError`].
    pub async fn operate(&self, request: OperatorRequest, by: &Requester) -> Result<Value, ControlError> {
        match self.reply(ControlRequest::Operate { request, by: by.clone() }).await? {
            ControlReply::Operated { answer } => Ok(answer),
            ControlReply::Failed { code, message, retryable } => {
                Err(ControlError::Failed(Error { code: Code::from_guest(&code), message, retryable }))
            }
            _ => Err(ControlError::Unexpected),
        }
    }

    /// A list of what it has, each entry a JSON object.
    ///
    /// # Errors
    /// See [`ControlError`].
    pub async fn list(&self, of: OperatorList) -> Result<Vec<Value>, ControlError> {
        match self.operate(OperatorRequest::List { of }, &Requester::default()).await? {
            Value::Array(entries) => Ok(entries),
            _ => Err(ControlError::Unexpected),
        }
    }

    /// The version of this library that it has; nothing where it does not say.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        let version = regular_file::read(&self.directory.join(VERSION), LONGEST_VERSION).ok()?;
        let version = String::from_utf8(version).ok()?;
        Some(wharf_core::text::line(version.trim(), 64)).filter(|version| !version.is_empty())
    }

    /// What tells it from others on its data directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// An address of its console that signs in once, within five minutes; nothing where it serves none.
    ///
    /// # Errors
    /// See [`ControlError`].
    pub async fn console_link(&self) -> Result<Option<String>, ControlError> {
        match self.reply(ControlRequest::Console).await? {
            ControlReply::Console { link } => Ok(link),
            _ => Err(ControlError::Unexpected),
        }
    }

    /// Attaches to a terminal.
    ///
    /// # Errors
    /// [`ControlError::Refused`] where it has no such terminal; otherwise see
    /// [`ControlError`].
    pub async fn attach(&self, id: &str, read_only: bool) -> Result<TerminalAttachment, ControlError> {
        let (mut reader, writer) = self.ask(ControlRequest::Attach { id: id.to_owned(), read_only }).await?;
        let ControlReply::Attached { terminal } = first_reply(&mut reader).await? else {
            return Err(ControlError::Unexpected);
        };
        let (sender, frames) = mpsc::channel(FRAMES);
        tokio::spawn(async move {
            while let Ok(Some(reply)) = wire::read::<ControlReply>(&mut reader).await {
                if sender.send(reply).await.is_err() {
                    return;
                }
            }
        });
        Ok(TerminalAttachment { terminal, frames, writer })
    }

    /// The one reply to a request.
    async fn reply(&self, request: ControlRequest) -> Result<ControlReply, ControlError> {
        let (mut reader, _writer) = self.ask(request).await?;
        first_reply(&mut reader).await
    }

    async fn ask(&self, request: ControlRequest) -> Result<(BufReader<ReadHalf>, WriteHalf), ControlError> {
        let secret = secret::read(&self.directory.join(SECRET))?;
        let (reader, mut writer) = LocalStream::connect(&self.directory).await?.into_split();
        wire::write(&mut writer, &OpeningLine { secret, request }).await?;
        Ok((BufReader::new(reader), writer))
    }
}

async fn first_reply(reader: &mut BufReader<ReadHalf>) -> Result<ControlReply, ControlError> {
    match wire::read(reader).await? {
        Some(ControlReply::Refused { message }) => Err(ControlError::Refused(message)),
        Some(reply) => Ok(reply),
        None => Err(ControlError::Unexpected),
    }
}

/// A terminal as it is now and as it goes on. Dropping it detaches.
#[derive(Debug)]
pub struct TerminalAttachment {
    /// What the terminal is: a JSON object.
    pub terminal: Value,
    frames: mpsc::Receiver<ControlReply>,
    writer: WriteHalf,
}

/// What an attached client receives from a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalFrame {
    /// The whole screen, drawn from nothing: at first, and where this reader was too slow for what came.
    Screen {
        /// What draws it.
        bytes: Vec<u8>,
        /// How wide it is.
        columns: u16,
        /// How high it is.
        rows: u16,
    },
    /// What the program printed then.
    Output(Vec<u8>),
    /// The terminal has another size now.
    Resized {
        /// How wide it is.
        columns: u16,
        /// How high it is.
        rows: u16,
    },
    /// What was asked for was refused, in words.
    Refused(String),
    /// There will be nothing more, in words.
    Ended(String),
}

impl TerminalAttachment {
    /// The next frame; nothing where the host has gone. May be given up and
    /// asked for again without loss.
    ///
    /// # Errors
    /// [`ControlError::Unexpected`].
    pub async fn next(&mut self) -> Result<Option<TerminalFrame>, ControlError> {
        Ok(match self.frames.recv().await {
            Some(ControlReply::Screen { bytes: Base64Bytes(bytes), columns, rows }) => {
                Some(TerminalFrame::Screen { bytes, columns, rows })
            }
            Some(ControlReply::Output { bytes: Base64Bytes(bytes) }) => Some(TerminalFrame::Output(bytes)),
            Some(ControlReply::Resized { columns, rows }) => Some(TerminalFrame::Resized { columns, rows }),
            Some(ControlReply::Refused { message }) => Some(TerminalFrame::Refused(message)),
            Some(ControlReply::Ended { message }) => Some(TerminalFrame::Ended(message)),
            Some(
                ControlReply::Operated { .. }
                | ControlReply::Failed { .. }
                | ControlReply::Console { .. }
                | ControlReply::Attached { .. }
                | ControlReply::Plugins { .. },
            ) => {
                return Err(ControlError::Unexpected);
            }
            None => None,
        })
    }

    /// Types bytes as they are. While a turn of the terminal runs that is
    /// refused, unless it is forced: what is typed is taken for a part of it.
    ///
    /// # Errors
    /// [`ControlError::Unreachable`]; what the host refuses comes as a frame.
    pub async fn type_bytes(&mut self, bytes: Vec<u8>, force: bool) -> Result<(), ControlError> {
        Ok(wire::write(&mut self.writer, &TerminalOrder::Type { bytes: Base64Bytes(bytes), force }).await?)
    }

    /// Changes the size of the terminal, for everybody.
    ///
    /// # Errors
    /// As for [`TerminalAttachment::type_bytes`].
    pub async fn resize(&mut self, columns: u16, rows: u16) -> Result<(), ControlError> {
        Ok(wire::write(&mut self.writer, &TerminalOrder::Resize { columns, rows }).await?)
    }
}
