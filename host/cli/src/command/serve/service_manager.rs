//! What systemd hears of a host that serves over HTTP, as sd_notify(3) says: that it serves, what it
//! does, that it ends, and that it answers.
//!
//! Knows nothing of units. Without a service manager that asks for it, nothing is said.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::{MissedTickBehavior, interval};
use wharf::Host;

/// How often it is looked whether the line about the host has changed.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The shortest time between two signs of life, whatever the unit asks for.
const SHORTEST: Duration = Duration::from_millis(10);

/// What requests and processes may take when a host has let go of its sessions, and some to spare.
const AFTER_DRAIN: Duration = Duration::from_secs(30);

/// Who started this process as a service.
#[derive(Debug, Clone)]
pub(super) struct ServiceManager {
    /// Whether it is told anything: an MCP client that starts `--stdio` may be a service itself.
    listens: bool,
    has_failed: Arc<AtomicBool>,
}

impl ServiceManager {
    /// Tells it of a host over HTTP alone.
    pub(super) fn of(serves_http: bool) -> Self {
        Self { listens: serves_http, has_failed: Arc::default() }
    }

    /// What the host does now, in a line for people.
    pub(super) fn status(&self, text: &str) {
        self.send(&[status(text)]);
    }

    /// The host serves: what comes after it may start.
    pub(super) fn ready(&self, text: &str) {
        self.send(&["READY=1".to_owned(), status(text)]);
    }

    /// The host takes its time to end. `drain` is how long it may take to let go of its sessions: the
    /// timeout of the unit is extended by that.
    pub(super) fn stopping(&self, drain: Option<Duration>) {
        self.send(&ending(drain));
    }

    /// Keeps the line about a host true and, where the unit has a watchdog, says again and again that
    /// the host answers.
    pub(super) async fn keep_informed(self, describe: impl Fn() -> String + Clone + Send + 'static) {
        if self.listens && is_asked_for() {
            keep(describe, watchdog(), |lines| self.send(&lines)).await;
        }
    }

    fn send(&self, lines: &[String]) {
        if !self.listens || lines.is_empty() {
            return;
        }
        if let Err(error) = send(&lines.join("\n"))
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(%error, "systemd cannot be told how this host is, by the socket in NOTIFY_SOCKET");
        }
    }
}

async fn keep(
    describe: impl Fn() -> String + Clone + Send + 'static,
    watchdog: Option<Duration>,
    tell: impl Fn(Vec<String>),
) {
    // Twice in the time of the watchdog, as its manual says.
    let every = watchdog.map_or(LOOK_EVERY, |time| (time / 2).clamp(SHORTEST, LOOK_EVERY));
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut said = String::new();
    loop {
        ticks.tick().await;
        let describe = describe.clone();
        // A task of its own, as each request is: it runs where a thread of the runtime takes up new
        // work, and ends where the list of plugins can be read.
        let Ok(now) = tokio::spawn(async move { describe() }).await else { continue };
        let mut lines = Vec::new();
        if watchdog.is_some() {
            lines.push("WATCHDOG=1".to_owned());
        }
        if now != said {
            lines.push(status(&now));
            said = now;
        }
        tell(lines);
    }
}

/// A host that serves, in a line.
pub(super) fn describe(host: &Host, url: &str) -> String {
    let counted = [
        (host.installed().len(), "plugins"),
        (host.compiling().len(), "being compiled"),
        (host.off().len(), "off"),
        (host.rejected().len(), "rejected"),
    ];
    let counted = counted.iter().enumerate().filter(|(place, (count, _))| *place == 0 || *count > 0);
    let counted: Vec<_> = counted.map(|(_, (count, what))| format!("{count} {what}")).collect();
    let readiness = if host.is_ready() { "" } else { "; takes no new session" };
    format!("Serves at {url}: {}{readiness}", counted.join(", "))
}

fn ending(drain: Option<Duration>) -> Vec<String> {
    let mut lines = vec!["STOPPING=1".to_owned()];
    match drain {
        None => lines.push(status("Ends when its requests are answered")),
        Some(drain) => {
            lines.push(format!("EXTEND_TIMEOUT_USEC={}", (drain + AFTER_DRAIN).as_micros()));
            lines.push(status(&format!("Drains: lets go of its sessions within {} s", drain.as_secs())));
        }
    }
    lines
}

fn status(text: &str) -> String {
    // A line of it is an assignment of its own.
    format!("STATUS={}", text.replace(char::is_control, " "))
}

#[cfg(target_os = "linux")]
fn is_asked_for() -> bool {
    std::env::var_os("NOTIFY_SOCKET").is_some()
}

#[cfg(target_os = "linux")]
fn send(lines: &str) -> std::io::Result<()> {
    sd_notify::notify(&[sd_notify::NotifyState::Custom(lines)])
}

/// How long a host may be silent, where somebody asks.
#[cfg(target_os = "linux")]
fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled().filter(|time| !time.is_zero())
}

#[cfg(not(target_os = "linux"))]
fn is_asked_for() -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn send(_: &str) -> std::io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn watchdog() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver};

    use parking_lot::Mutex;
    use tokio::runtime::{Builder, Runtime};

    use super::*;

    const WATCHDOG: Duration = Duration::from_millis(20);

    /// A runtime of one thread, on which a host is kept known that is described under a lock.
    fn kept(lock: &Arc<Mutex<String>>, watchdog: Option<Duration>) -> (Runtime, Receiver<Vec<String>>) {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build().expect("a runtime");
        let (sender, told) = mpsc::channel();
        let lock = Arc::clone(lock);
        let describe = move || lock.lock().clone();
        runtime.spawn(keep(describe, watchdog, move |lines| drop(sender.send(lines))));
        (runtime, told)
    }

    /// What is told, until nothing is for ten times as long as the watchdog waits.
    fn until_silence(told: &Receiver<Vec<String>>) -> usize {
        std::iter::from_fn(|| told.recv_timeout(WATCHDOG * 10).ok()).take(100).count()
    }

    #[test]
    fn a_host_that_does_not_answer_gives_no_sign_of_life() {
        let lock = Arc::new(Mutex::new("as it is".to_owned()));
        let (runtime, told) = kept(&lock, Some(WATCHDOG));
        assert_eq!(told.recv().expect("told"), ["WATCHDOG=1", "STATUS=as it is"]);
        assert_eq!(told.recv().expect("told"), ["WATCHDOG=1"], "what has not changed is said once");
        // What is asked for each request is held, and then the thread that requests run on.
        let held = lock.lock();
        assert!(until_silence(&told) < 100, "a host whose plugins cannot be listed is said to answer");
        drop(held);
        assert_eq!(told.recv().expect("told"), ["WATCHDOG=1"]);
        let (release, gate) = mpsc::channel::<()>();
        runtime.spawn(async move { gate.recv().is_ok() });
        assert!(until_silence(&told) < 100, "a host whose runtime stands still is said to answer");
        drop(release);
        assert_eq!(told.recv().expect("told"), ["WATCHDOG=1"]);
        "as it is now\nREADY=1".clone_into(&mut lock.lock());
        let changed = std::iter::from_fn(|| told.recv().ok()).find(|lines| lines.len() == 2);
        assert_eq!(changed.expect("told"), ["WATCHDOG=1", "STATUS=as it is now READY=1"]);
    }

    #[test]
    fn a_host_that_drains_asks_for_the_time_that_this_takes() {
        let lines = ending(Some(Duration::from_secs(300)));
        assert_eq!(lines[..2], ["STOPPING=1", "EXTEND_TIMEOUT_USEC=330000000"]);
        assert_eq!(ending(None), ["STOPPING=1", "STATUS=Ends when its requests are answered"]);
    }

    #[test]
    fn a_unit_without_a_watchdog_hears_of_changes_alone() {
        let (_runtime, told) = kept(&Arc::new(Mutex::new("as it is".to_owned())), None);
        assert_eq!(told.recv().expect("told"), ["STATUS=as it is"]);
        assert_eq!(until_silence(&told), 0);
    }
}
