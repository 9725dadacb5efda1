//! The side of the host: answers clients that know its secret.
//!
//! Knows nothing of agents and of their channels.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::BufReader,
    sync::{Semaphore, mpsc},
    task::AbortHandle,
    time::timeout,
};
use wharf_core::{
    Code, Error,
    audit::{AuditOutcome, PeerClass, Refusal, RefusalSink, RefusedFor, Requester},
    service::operator::{OperatorAct, OperatorService as _},
    text::with_causes,
    tool::json_bytes,
};
use wharf_files::private_files;
use wharf_terminal::{AttachedTerminal, TerminalId, TerminalSize, ViewUpdate};
use zeroize::Zeroizing;

use super::{
    socket::{self, HOSTS, LocalListener, LocalStream, ReadHalf, SECRET, SOCKET, VERSION, WriteHalf, is_alive},
    wire::{self, Base64Bytes, ControlReply, ControlRequest, OpeningLine, TerminalOrder},
};
use crate::{
    PluginError,
    configuration::Configuration,
    host::{Host, WeakHost},
    paths, secret,
};

/// How the configuration is read again.
type RereadConfiguration = Arc<dyn Fn() -> Result<Configuration, String> + Send + Sync>;

/// How many clients may be connected at once.
const CONNECTIONS: usize = 16;
/// How long a client that connects may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long an attached client may take nothing of what is shown.
const STALL: Duration = Duration::from_secs(30);

/// The socket of a host; gone once this is dropped.
#[derive(Debug)]
pub struct ControlSocket {
    directory: PathBuf,
    task: AbortHandle,
}

impl ControlSocket {
    /// Opens the socket of a host, and removes what dead ones left.
    fn open(
        data: &Path,
        host: WeakHost,
        refusals: Arc<dyn RefusalSink>,
        reread: RereadConfiguration,
    ) -> io::Result<Self> {
        socket::check()?;
        let hosts = paths::absolute(data).map_err(io::Error::other)?.join(HOSTS);
        private_files::make_directory(&hosts)?;
        remove_dead(&hosts)?;
        let name = secret::random()?;
        let directory = hosts.join(&name[..16]);
        private_files::make_new_directory(&directory)?;
        let secret = secret::make(&directory.join(SECRET))?;
        fs::write(directory.join(VERSION), env!("CARGO_PKG_VERSION"))?;
        let listener = LocalListener::bind(&directory)?;
        let server = ControlServer { secret: Arc::new(secret), refusals, host, reread };
        let task = tokio::spawn(serve(listener, server)).abort_handle();
        Ok(Self { directory, task })
    }
}

impl Host {
    /// Lets the operator's commands (`wharf plugin`, `wharf terminals`, `wharf attach`)
    /// reach this host, as long as what is returned lives: over a local socket below
    /// its data directory, which nobody but the host's own user can reach.
    /// Nothing where the socket cannot be had, which is logged.
    ///
    /// A command that has changed `wharf.toml` or the plugins that were added says so;
    /// `reread` then brings the configuration as it is now, or why it is not usable.
    #[must_use]
    pub fn accept_commands<E>(
        &self,
        data: &Path,
        reread: impl Fn() -> Result<Configuration, E> + Send + Sync + 'static,
    ) -> Option<ControlSocket>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let reread = move || reread().map_err(|error| with_causes(&*error.into()));
        let control = ControlSocket::open(data, self.downgrade(), self.refusal_sink(), Arc::new(reread))
            .inspect_err(|error| tracing::warn!("commands such as `wharf plugin` cannot reach this host: {error}"))
            .ok()?;
        self.set_control_directory(&control.directory);
        // What was added after this host had looked and before it could be told.
        let host = self.clone();
        tokio::spawn(async move { host.look_at_added().await });
        Some(control)
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.task.abort();
        if let Err(error) = fs::remove_dir_all(&self.directory) {
            tracing::debug!("what this host had for commands cannot be removed: {error}");
        }
    }
}

/// A directory without a socket may be of a host that is starting.
fn remove_dead(hosts: &Path) -> io::Result<()> {
    for entry in fs::read_dir(hosts)? {
        let directory = entry?.path();
        if directory.join(SOCKET).exists() && !is_alive(&directory) {
            // Another host may be at it, too.
            let _ = fs::remove_dir_all(&directory);
        }
    }
    Ok(())
}

/// Answers the clients of one host.
#[derive(Clone)]
struct ControlServer {
    secret: Arc<Zeroizing<String>>,
    refusals: Arc<dyn RefusalSink>,
    host: WeakHost,
    reread: RereadConfiguration,
}

async fn serve(listener: LocalListener, server: ControlServer) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!("commands cannot reach this host for a moment: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let server = server.clone();
        tokio::spawn(async move {
            if let Err(error) = server.answer(stream).await {
                tracing::debug!("a command went away: {error}");
            }
            drop(place);
        });
    }
}

impl ControlServer {
    async fn answer(self, stream: LocalStream) -> io::Result<()> {
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::new(reader);
        let opening = timeout(PATIENCE, wire::read::<OpeningLine>(&mut reader)).await.map_err(io::Error::other)??;
        let Some(OpeningLine { secret: given, request }) = opening else { return Ok(()) };
        if !secret::same(&given, &self.secret) {
            // Its user can read the right one: somebody tries what was not given to them.
            self.refusals.refused(Refusal::of_stranger(RefusedFor::WrongSecret, PeerClass::Socket, None));
            return refuse(&mut writer, "the secret is another one").await;
        }
        let Some(host) = self.host.upgrade() else { return refuse(&mut writer, "the host ends").await };
        match request {
            ControlRequest::Operate { request, by } => {
                let reply = match host.operate(request, &by).await {
                    Ok(answer) => ControlReply::Operated { answer: within_a_line(answer) },
                    Err(Error { code, message, retryable }) => {
                        ControlReply::Failed { code: code.as_str().to_owned(), message, retryable }
                    }
                };
                wire::write(&mut writer, &reply).await
            }
            ControlRequest::Console => match host.console_link().transpose() {
                Ok(link) => wire::write(&mut writer, &ControlReply::Console { link }).await,
                Err(error) => refuse(&mut writer, &error.to_string()).await,
            },
            ControlRequest::Attach { id, read_only } => {
                let Some(terminals) = host.terminals() else {
                    return refuse(&mut writer, "this host has no terminals").await;
                };
                let attached = id.parse::<TerminalId>().and_then(|id| terminals.attach(id));
                if !read_only {
                    let act = OperatorAct { word: "attach-terminal", to: id, bytes: 0 };
                    let outcome = attached.as_ref().map_or(AuditOutcome::Failed(Code::NotFound), |_| AuditOutcome::Ok);
                    host.recorder().operated(&act, &Requester::default(), outcome, None, Duration::ZERO);
                }
                // A client that is attached for hours does not keep the host open.
                drop(host);
                match attached {
                    Ok(attached) => AttachedClient { attached, read_only }.run(reader, writer).await,
                    Err(error) => refuse(&mut writer, &wharf_core::Error::from(error).message).await,
                }
            }
            ControlRequest::Plugins => wire::write(&mut writer, &plugins(&host, false, None)).await,
            ControlRequest::Reload => match self.reload(&host).await {
                Ok(reply) => wire::write(&mut writer, &reply).await,
                Err(problem) => refuse(&mut writer, &problem).await,
            },
        }
    }

    /// A configuration that cannot be used does not keep plugins from being looked at
    /// again under the one before.
    async fn reload(&self, host: &Host) -> Result<ControlReply, String> {
        let reread = Arc::clone(&self.reread);
        let read = tokio::task::spawn_blocking(move || reread()).await.map_err(|error| error.to_string())?;
        let (changed, problem) = match read {
            Ok(configuration) => match host.reconfigure_plugins(configuration).await {
                Err(unusable @ PluginError::Unusable(_)) => (host.reload_plugins().await, Some(with_causes(&unusable))),
                reconfigured => (reconfigured, None),
            },
            Err(problem) => (host.reload_plugins().await, Some(problem)),
        };
        Ok(plugins(host, changed.map_err(|error| with_causes(&error))?, problem))
    }
}

/// A list as far as one line may have it: of entries that are in the order of their age, the newest.
fn within_a_line(answer: Value) -> Value {
    let Value::Array(entries) = answer else { return answer };
    let mut bytes = 0;
    let fits = |one: &Value| {
        bytes += json_bytes(one).saturating_add(1);
        bytes <= wire::MAX_LINE_BYTES / 2
    };
    let mut kept: Vec<_> = entries.into_iter().rev().take_while(fits).collect();
    kept.reverse();
    Value::Array(kept)
}

fn plugins(host: &Host, changed: bool, problem: Option<String>) -> ControlReply {
    let plugins = host.plugins().iter().filter_map(|plugin| serde_json::to_value(plugin).ok()).collect();
    ControlReply::Plugins { plugins, changed, problem }
}

async fn refuse(writer: &mut WriteHalf, message: &str) -> io::Result<()> {
    wire::write(writer, &ControlReply::Refused { message: message.to_owned() }).await
}

/// A client that is attached.
struct AttachedClient {
    attached: AttachedTerminal,
    read_only: bool,
}

/// What happens while a client is attached.
enum AttachmentEvent {
    Shown(Option<ViewUpdate>),
    Ordered(Option<TerminalOrder>),
}

impl AttachedClient {
    async fn run(mut self, reader: BufReader<ReadHalf>, mut writer: WriteHalf) -> io::Result<()> {
        let info = self.attached.info();
        let terminal = serde_json::json!({ "id": info.id.to_string(), "command": info.command });
        wire::write(&mut writer, &ControlReply::Attached { terminal }).await?;
        let mut orders = orders(reader);
        loop {
            let news = tokio::select! {
                shown = self.attached.next() => AttachmentEvent::Shown(shown),
                order = orders.recv() => AttachmentEvent::Ordered(order),
            };
            let reply = match news {
                AttachmentEvent::Shown(Some(update)) => self.shown(update),
                AttachmentEvent::Shown(None) => {
                    let message = "the terminal was closed".to_owned();
                    return wire::write(&mut writer, &ControlReply::Ended { message }).await;
                }
                AttachmentEvent::Ordered(Some(order)) => self.carry_out(order).await.err(),
                // It has detached.
                AttachmentEvent::Ordered(None) => return Ok(()),
            };
            if let Some(reply) = reply {
                // A client that takes nothing for so long has gone.
                timeout(STALL, wire::write(&mut writer, &reply)).await.map_err(io::Error::other)??;
            }
        }
    }

    fn shown(&self, update: ViewUpdate) -> Option<ControlReply> {
        let drawn = |size: TerminalSize, text: String| ControlReply::Screen {
            bytes: Base64Bytes(text.into_bytes()),
            columns: size.columns(),
            rows: size.rows(),
        };
        match update {
            ViewUpdate::Screen { size, text } => Some(drawn(size, text)),
            ViewUpdate::Text(text) => Some(ControlReply::Output { bytes: Base64Bytes(text.into_bytes()) }),
            // The program draws itself anew.
            ViewUpdate::Resized(size) => Some(ControlReply::Resized { columns: size.columns(), rows: size.rows() }),
            ViewUpdate::Typed(_) => None,
        }
    }

    async fn carry_out(&self, order: TerminalOrder) -> Result<(), ControlReply> {
        let refused = |message: String| ControlReply::Refused { message };
        if self.read_only {
            return Err(refused("this is a look only; attach without --read-only to type".to_owned()));
        }
        let done = match order {
            TerminalOrder::Type { bytes: Base64Bytes(bytes), force } => self.attached.write(bytes, force).await,
            TerminalOrder::Resize { columns, rows } => match TerminalSize::new(columns, rows) {
                Ok(size) => self.attached.resize(size),
                Err(error) => Err(error.into()),
            },
        };
        done.map_err(|error| refused(wharf_core::Error::from(error).message))
    }
}

/// What the other side asks for; nothing more once it has gone or speaks
/// nonsense. A task of its own reads, since half a line must not be lost.
fn orders(mut reader: BufReader<ReadHalf>) -> mpsc::Receiver<TerminalOrder> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Ok(Some(order)) = wire::read(&mut reader).await {
            if sender.send(order).await.is_err() {
                return;
            }
        }
    });
    receiver
}
