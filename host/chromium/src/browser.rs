//! One run of the browser: started, spoken to, ended, and what becomes of its pages
//! when it ends by itself.
//!
//! Knows nothing of when one is needed.

use std::{
    collections::VecDeque,
    fs::File,
    io,
    os::fd::OwnedFd,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use serde::Deserialize;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    net::unix::pipe,
    sync::watch,
    task::JoinHandle,
};
use wharf_spawn::{Child, Containment, Descriptor, Input, Limits, Output, SpawnRequest, Spawner};

use super::{
    ChromiumError,
    connection::{CallError, Connection, Listener},
    flags,
    page::Page,
    profile::Profile,
    routes::Routes,
};

/// How long the browser may take to start, on a machine that does much else.
const START: Duration = Duration::from_secs(60);
/// How often it is asked whether it is there, and how long it may take to say so: a
/// page can have the browser drown in what it says.
const LOOK: Duration = Duration::from_secs(5);
const HANGS: Duration = Duration::from_secs(30);
/// How long it may take to end by itself.
const END: Duration = Duration::from_secs(3);
/// How long its processes may take to go once they are killed.
const GONE: Duration = Duration::from_secs(20);
/// How long a command may take that no page has a hand in.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The longest message that is taken: scripts' results and what pages log.
const MESSAGE_BYTES: usize = 64 << 20;
/// Lines and bytes of what it wrote that are kept for an error.
const LINES: usize = 20;
const LINE_BYTES: u64 = 1_000;

/// A browser that runs.
#[derive(Debug)]
pub(super) struct Browser {
    pub(super) connection: Connection,
    pub(super) profile: Arc<Profile>,
    routes: Arc<Routes>,
    about: About,
    pid: u32,
    /// It is being killed: whatever its pages say now is because of that.
    dying: AtomicBool,
    /// Says what was asked for: that it ends.
    stop: watch::Sender<bool>,
    /// Why it ended, once it has.
    ended: watch::Receiver<Option<Arc<str>>>,
}

/// What a browser says of itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct About {
    pub(super) product: String,
    pub(super) user_agent: String,
}

/// How it is started.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) program: &'a Path,
    pub(super) temporary: &'a Path,
    pub(super) user: Option<u32>,
    pub(super) sandbox: bool,
    pub(super) file_bytes: usize,
}

impl Browser {
    /// Starts one, and returns once it answers.
    pub(super) async fn start(spawner: &Spawner, start: Start<'_>) -> Result<Arc<Self>, ChromiumError> {
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
            stdin: Input::Null,
            stdout: Output::Null,
            stderr: Output::Pipe,
            descriptors: vec![
                Descriptor { number: 3, file: file(theirs.into()) },
                Descriptor { number: 4, file: file(their_end.into()) },
            ],
            limits: Limits::default(),
            // Its own sandbox keeps pages in; it needs namespaces to make that.
            containment: Containment::None,
            user: start.user,
        };
        let mut child = spawner.spawn(request).await?;
        let said = Arc::new(Mutex::new(VecDeque::new()));
        let listening = child.take_stderr().map(|errors| tokio::spawn(listen(errors, Arc::clone(&said))));
        let writer = pipe::Sender::from_owned_fd(ours.into()).map_err(ChromiumError::system("use a pipe"))?;
        let reader = pipe::Receiver::from_owned_fd(our_end.into()).map_err(ChromiumError::system("use a pipe"))?;
        let routes = Arc::new(Routes::default());
        // In base64, and what stands around it.
        let most_bytes = MESSAGE_BYTES.max(start.file_bytes / 3 * 4 + (1 << 20));
        let connection = Connection::new(writer, reader, most_bytes, Arc::clone(&routes) as Arc<dyn Listener>);
        let about =
            match tokio::time::timeout(START, connection.call(None, "Browser.getVersion", &json!({})).read()).await {
                Ok(Ok(about)) => about,
                Ok(Err(_)) => return Err(why_it_ended(&child, listening, &said).await),
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
            about,
            pid,
            dying: AtomicBool::new(false),
            stop,
            ended,
        });
        browser.routes.pages().browser = Some(Arc::downgrade(&browser));
        let closed = browser.connection.closed();
        let known = Arc::downgrade(&browser);
        tokio::spawn(async move {
            let reason = follow(child, known, closed, stopping).await;
            let _ = tokio::task::spawn_blocking(move || profile.remove()).await;
            says_ended.send_replace(Some(reason.into()));
        });
        Ok(browser)
    }

    /// What it says of itself.
    pub(super) fn about(&self) -> &About {
        &self.about
    }

    /// Its process, or that of a script which started it.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Has it end; see [`Browser::ended`].
    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until nothing of it is left, and says why.
    pub(super) async fn ended(&self) -> Arc<str> {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => "the browser ended".into(),
        }
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Whether it is being killed, or has ended.
    pub(super) fn is_dying(&self) -> bool {
        self.dying.load(SeqCst) || self.has_ended()
    }

    /// Whether it was asked to end.
    pub(super) fn is_to_end(&self) -> bool {
        *self.stop.borrow()
    }

    /// Has a page hear what happens in its context.
    pub(super) fn add_context(&self, context: &str, page: &Arc<Page>) {
        self.routes.pages().contexts.insert(context.to_owned(), Arc::downgrade(page));
    }

    /// Has a page hear what happens in a session.
    pub(super) fn add_session(&self, session: &str, page: &Arc<Page>) {
        self.routes.pages().sessions.insert(session.to_owned(), Arc::downgrade(page));
    }

    /// Forgets a session that is gone.
    pub(super) fn forget_session(&self, session: &str) {
        self.routes.pages().sessions.remove(session);
        self.connection.forget(session);
    }

    /// Forgets the context of a page and all its sessions.
    pub(super) fn forget_page(&self, page: &Arc<Page>) {
        let is_it = |other: &Weak<Page>| std::ptr::eq(other.as_ptr(), Arc::as_ptr(page));
        let mut pages = self.routes.pages();
        pages.contexts.retain(|_, other| !is_it(other));
        let gone = pages.sessions.extract_if(|_, other| is_it(other)).collect::<Vec<_>>();
        drop(pages);
        for (session, _) in gone {
            self.connection.forget(&session);
        }
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
        // Also where nobody knows it any more.
        _ = stopping.wait_for(|stop| *stop) => true,
    };
    if asked && let Some(browser) = browser.upgrade() {
        browser.connection.post(None, "Browser.close", &json!({}));
        drop(browser);
        let _ = tokio::time::timeout(END, child.wait()).await;
    } else if let Some(browser) = browser.upgrade() {
        browser.dying.store(true, SeqCst);
    }
    // Its pages are over, whether the system lets go of all its processes or not.
    match tokio::time::timeout(GONE, child.kill_tree(Duration::ZERO)).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!(%error, "how the browser ended is not known"),
        Err(_) => tracing::warn!("the browser was killed, and some process of it does not go"),
    }
    if asked { "the browser was stopped" } else { "the browser ended by itself; open another page" }
}

/// Returns when the browser itself, in which no page has a hand, is stuck.
async fn hangs(browser: &Weak<Browser>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(asked) =
            browser.upgrade().map(|browser| browser.connection.call(None, "Browser.getVersion", &json!({})))
        else {
            continue;
        };
        if let Err(CallError::Late) = asked.done_within(HANGS).await {
            return;
        }
    }
}

/// Keeps the last that the browser wrote.
async fn listen(errors: impl tokio::io::AsyncRead + Unpin, said: Arc<Mutex<VecDeque<String>>>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut errors).take(LINE_BYTES).read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let text = wharf_core::text::line(&String::from_utf8_lossy(&line), 300);
        tracing::debug!(text, "the browser says");
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() == LINES {
            said.pop_front();
        }
        said.push_back(text);
    }
}

async fn why_it_ended(
    child: &Child,
    listening: Option<JoinHandle<()>>,
    said: &Mutex<VecDeque<String>>,
) -> ChromiumError {
    let _ = tokio::time::timeout(END, child.kill_tree(END)).await;
    if let Some(listening) = listening {
        let _ = tokio::time::timeout(END, listening).await;
    }
    let said: Vec<_> = said.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
    why_by_what_it_said(&said)
}

/// What Chromium writes where the system refuses its sandbox. Other lines name the
/// sandbox, too: of a browser that was killed, or found no room, while it made one.
const REFUSED: [&str; 6] = [
    "no usable sandbox",
    "failed to move to new namespace",
    "suid sandbox helper binary",
    "without --no-sandbox is not supported",
    "zygote_host_impl_linux.cc",
    "credentials.cc",
];
/// What the system says where it has no room at the moment.
const NO_ROOM: [&str; 3] = ["resource temporarily unavailable", "cannot allocate memory", "too many open files"];

fn why_by_what_it_said(said: &[String]) -> ChromiumError {
    let lower: Vec<_> = said.iter().map(|line| line.to_lowercase()).collect();
    let is_busy = lower.iter().any(|line| NO_ROOM.iter().any(|sign| line.contains(sign)));
    let of_the_sandbox = lower.iter().position(|line| REFUSED.iter().any(|sign| line.contains(sign)));
    match of_the_sandbox.filter(|_| !is_busy).and_then(|place| said.get(place)) {
        Some(line) => ChromiumError::Sandbox { reason: line.clone() },
        None => ChromiumError::Ended { said: said.join("; ") },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_of_the_sandbox(said: &[&str]) -> bool {
        let said: Vec<_> = said.iter().map(|line| (*line).to_owned()).collect();
        matches!(why_by_what_it_said(&said), ChromiumError::Sandbox { .. })
    }

    #[test]
    fn a_browser_that_ended_for_another_reason_is_not_told_to_lack_its_sandbox() {
        for refused in [
            "[1:1:FATAL:content/browser/zygote_host/zygote_host_impl_linux.cc:128] No usable sandbox! If you are running on Ubuntu 23.10+",
            "Failed to move to new namespace: PID namespaces supported, Network namespace supported, but failed: errno = Operation not permitted",
            "[1:1:FATAL:zygote_host_impl_linux.cc(207)] Check failed: . : Operation not permitted (1)",
            "[1:1:ERROR:zygote_host_impl_linux.cc(101)] Running as root without --no-sandbox is not supported.",
            "[2:2:FATAL:credentials.cc(131)] Check failed: . : Permission denied (13)",
        ] {
            assert!(is_of_the_sandbox(&["[1:1:ERROR:dbus] no bus", refused]), "{refused}");
        }
        for busy in [
            &[][..],
            &[
                "[1:1:WARNING:sandbox_linux.cc(436)] InitializeSandbox() called with multiple threads in process gpu-process.",
            ],
            &[
                "[1:1:ERROR:gpu_process_host.cc(981)] GPU process launch failed: error_code=1002",
                "the sandbox IPC channel closed",
            ],
            &["[1:1:FATAL:zygote_host_impl_linux.cc(207)] Check failed: . : Resource temporarily unavailable (11)"],
            &["[1:1:FATAL:zygote_host_impl_linux.cc(207)] Check failed: .", "fork: Cannot allocate memory"],
        ] {
            assert!(!is_of_the_sandbox(busy), "{busy:?}");
        }
    }
}
