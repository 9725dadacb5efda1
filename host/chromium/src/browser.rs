//! One run of the browser: its start, its connection and its end.
//!
//! Knows no page, nor when a browser is needed.

mod output;

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::Path,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use serde::Deserialize;
use serde_json::json;
use tokio::{net::unix::pipe, sync::watch};
use wharf_spawn::{Child, ChildInput, ChildLimits, ChildOutput, Containment, Descriptor, SpawnRequest, Spawner};

use self::output::BrowserOutput;
use crate::{
    connection::{BrowserConnection, Call, EventListener},
    enclosure::ReachableFiles,
    error::ChromiumError,
    flags,
    profile::Profile,
    routes::Routes,
};

/// How long the browser may take to start on a busy machine.
const START: Duration = Duration::from_secs(60);
/// How often the browser is asked for a sign of life, and how many times as long the answer may
/// take: a page can flood the browser with messages.
const LOOK: Duration = Duration::from_secs(5);
const LOOKS: usize = 6;
/// How long it may take to end by itself.
const END: Duration = Duration::from_secs(3);
/// How long its processes may take to go once they are killed.
const GONE: Duration = Duration::from_secs(20);
/// How long a command may take that no page can delay.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// The longest message that is read: results of scripts, entries of logs.
const MESSAGE_BYTES: usize = 64 << 20;

/// A browser that runs.
#[derive(Debug)]
pub(crate) struct Browser {
    pub(crate) connection: Arc<BrowserConnection>,
    pub(crate) profile: Arc<Profile>,
    /// Leads its events to the pages.
    pub(crate) routes: Arc<Routes>,
    version: BrowserVersion,
    pid: u32,
    closes_files: bool,
    /// It is being killed, which explains all failures of its pages from now on.
    dying: AtomicBool,
    /// True once somebody asked it to end.
    stop: watch::Sender<bool>,
    /// Why it ended, once it has.
    ended: watch::Receiver<Option<Arc<str>>>,
}

/// The answer to `Browser.getVersion`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BrowserVersion {
    pub(crate) product: String,
    pub(crate) user_agent: String,
}

/// What a browser is started with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BrowserStart<'a> {
    pub(crate) program: &'a Path,
    pub(crate) temporary: &'a Path,
    pub(crate) user: Option<u32>,
    pub(crate) sandbox: bool,
    pub(crate) file_bytes: usize,
    /// Its memory, with all its pages.
    pub(crate) memory_bytes: u64,
    /// What keeps the files of the host out of its reach, where that is to be.
    pub(crate) files: Option<ReachableFiles<'a>>,
}

impl Browser {
    /// Starts one, and returns once it answers.
    pub(crate) async fn start(spawner: &Spawner, start: BrowserStart<'_>) -> Result<Arc<Self>, ChromiumError> {
        let (temporary, user) = (start.temporary.to_owned(), start.user);
        let profile = tokio::task::spawn_blocking(move || Profile::create(&temporary, user))
            .await
            .map_err(|error| ChromiumError::System { action: "make a profile", source: io::Error::other(error) })??;
        let profile = Arc::new(profile);
        let home = profile.profile();
        let pair = || io::pipe().map_err(ChromiumError::system("make a pipe"));
        let ((theirs, ours), (our_end, their_end)) = (pair()?, pair()?);
        let file = |end: OwnedFd| File::from(end);
        let request = SpawnRequest {
            program: start.program.to_owned(),
            arguments: flags::arguments(&home, start.sandbox),
            environment: flags::environment(&home),
            working_directory: home,
            stdin: ChildInput::Null,
            stdout: ChildOutput::Null,
            stderr: ChildOutput::Pipe,
            descriptors: vec![
                Descriptor { number: 3, file: file(theirs.into()) },
                Descriptor { number: 4, file: file(their_end.into()) },
            ],
            limits: ChildLimits {
                memory_bytes: Some(start.memory_bytes),
                tree_memory_bytes: Some(start.memory_bytes),
                ..ChildLimits::default()
            },
            // Its own sandbox keeps pages in; it needs namespaces to make that.
            containment: start.files.map_or(Containment::None, |files| files.containment(start.program, &profile)),
            user: start.user,
        };
        let mut child = spawner.spawn(request).await?;
        let output = child.take_stderr().map(BrowserOutput::follow);
        let writer = pipe::Sender::from_owned_fd(ours.into()).map_err(ChromiumError::system("use a pipe"))?;
        let reader = pipe::Receiver::from_owned_fd(our_end.into()).map_err(ChromiumError::system("use a pipe"))?;
        let routes = Arc::new(Routes::default());
        // A file travels as base64 inside of a message.
        let most_bytes = MESSAGE_BYTES.max(start.file_bytes / 3 * 4 + (1 << 20));
        let connection =
            BrowserConnection::new(writer, reader, most_bytes, Arc::clone(&routes) as Arc<dyn EventListener>);
        let connection = Arc::new(connection);
        routes.connect(&connection);
        let version =
            match tokio::time::timeout(START, connection.call(None, "Browser.getVersion", &json!({})).read()).await {
                Ok(Ok(version)) => version,
                Ok(Err(_)) => {
                    let _ = tokio::time::timeout(END, child.kill_tree(END)).await;
                    return Err(match output {
                        Some(output) => output.why_it_ended(END).await,
                        None => ChromiumError::Ended { said: String::new() },
                    });
                }
                Err(_) => return Err(ChromiumError::Silent),
            };
        connection.post(None, "Target.setDiscoverTargets", &json!({ "discover": true }));
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        connection.post(None, "Target.setAutoAttach", &attach);
        let (stop, stopping) = watch::channel(false);
        let (says_ended, ended) = watch::channel(None);
        let pid = child.pid();
        let browser = Arc::new(Self {
            connection,
            profile: Arc::clone(&profile),
            routes,
            version,
            pid,
            closes_files: start.files.is_some(),
            dying: AtomicBool::new(false),
            stop,
            ended,
        });
        let closed = browser.connection.closed();
        let known = Arc::downgrade(&browser);
        tokio::spawn(async move {
            let reason = follow(child, known, closed, stopping).await;
            let _ = tokio::task::spawn_blocking(move || profile.remove()).await;
            says_ended.send_replace(Some(reason.into()));
        });
        Ok(browser)
    }

    /// Its product and user agent.
    pub(crate) fn version(&self) -> &BrowserVersion {
        &self.version
    }

    /// Its process, or that of a script which started it.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether files of the host are out of its reach.
    pub(crate) fn closes_files(&self) -> bool {
        self.closes_files
    }

    /// Has it end; see [`Browser::ended`].
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until nothing of it is left, and says why.
    pub(crate) async fn ended(&self) -> Arc<str> {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => "the browser ended".into(),
        }
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Whether it is being killed, or has ended.
    pub(crate) fn is_dying(&self) -> bool {
        self.dying.load(SeqCst) || self.has_ended()
    }

    /// Whether it was asked to end.
    pub(crate) fn is_to_end(&self) -> bool {
        *self.stop.borrow()
    }
}

/// Follows a browser to its end: returns when nothing of it lives, and says why.
async fn follow(
    child: Child,
    browser: Weak<Browser>,
    closed: impl Future<Output = ()>,
    mut stopping: watch::Receiver<bool>,
) -> &'static str {
    let asked = tokio::select! {
        ended = child.wait() => {
            tracing::warn!(?ended, "the browser ended by itself");
            false
        }
        () = closed => {
            tracing::warn!("the browser closed its pipe");
            false
        }
        () = hangs(&browser) => {
            tracing::warn!("the browser does not answer any more");
            false
        }
        // Also when the last reference to the browser is dropped.
        _ = stopping.wait_for(|stop| *stop) => true,
    };
    if asked && let Some(browser) = browser.upgrade() {
        browser.connection.post(None, "Browser.close", &json!({}));
        drop(browser);
        let _ = tokio::time::timeout(END, child.wait()).await;
    } else if let Some(browser) = browser.upgrade() {
        browser.dying.store(true, SeqCst);
    }
    // Its pages end now, even if the system cannot end all its processes.
    match tokio::time::timeout(GONE, child.kill_tree(Duration::ZERO)).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!(%error, "how the browser ended is not known"),
        Err(_) => tracing::warn!("the browser was killed, and some process of it does not go"),
    }
    if asked { "the browser was stopped" } else { "the browser ended by itself; open another page" }
}

/// Returns when the browser process is stuck, which no page can cause.
async fn hangs(browser: &Weak<Browser>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(asked) =
            browser.upgrade().map(|browser| browser.connection.call(None, "Browser.getVersion", &json!({})))
        else {
            continue;
        };
        if late(asked).await {
            return;
        }
    }
}

/// Whether it is not answered in time. The time is counted in steps: a host that was suspended
/// finds its clock far ahead, and the browser had none of that time.
async fn late(mut asked: Call) -> bool {
    for _ in 0..LOOKS {
        if tokio::time::timeout(LOOK, &mut asked).await.is_ok() {
            return false;
        }
    }
    true
}
