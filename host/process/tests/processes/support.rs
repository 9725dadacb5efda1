//! A plain launcher, with no more containment than a test needs to leave
//! nothing behind: whoever carries a child's mark in its environment belongs
//! to its tree.

use std::{
    env, fs, io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use rustix::process::{Pid, Signal as SystemSignal, kill_process, kill_process_group};
use tokio::{process::Command, sync::watch};
use wharf_process::{
    Child, ChildExit, Launch, LaunchError, LaunchRequest, Owner, ProcessId, Processes, Settings, Signal, SpawnRequest,
    output::OutputLimits,
};

const MARK: &str = "WHARF_TEST_TREE";
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Long enough for any machine; no test waits for it to pass.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct PlainLauncher;

#[derive(Debug)]
struct PlainChild {
    pid: u32,
    mark: String,
    ended: watch::Receiver<Option<ChildExit>>,
}

#[async_trait]
impl Launch for PlainLauncher {
    async fn launch(&self, request: LaunchRequest) -> Result<Arc<dyn Child>, LaunchError> {
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(&request.program);
        command.args(request.arguments).env_clear().envs(request.environment).env(MARK, &mark);
        command.current_dir(request.directory).process_group(0);
        command.stdin(request.stdin.map_or_else(std::process::Stdio::null, Into::into));
        command.stdout(request.stdout).stderr(request.stderr);
        let spawned = command.spawn();
        // It holds copies of the child's pipes.
        drop(command);
        let mut child = spawned.map_err(|source| LaunchError::Failed { program: request.program, source })?;
        let pid = child.id().expect("it runs");
        let (end, ended) = watch::channel(None);
        tokio::spawn(async move {
            use std::os::unix::process::ExitStatusExt as _;
            let status = child.wait().await.expect("its end");
            let code = status.code().map(ChildExit::Exited);
            end.send_replace(code.or_else(|| status.signal().map(ChildExit::Signaled)));
        });
        Ok(Arc::new(PlainChild { pid, mark, ended }))
    }
}

impl PlainChild {
    fn tree(&self) -> Vec<Pid> {
        living_with(&self.mark)
    }
}

/// A test that fails leaves nothing behind either.
impl Drop for PlainChild {
    fn drop(&mut self) {
        for pid in self.tree() {
            kill_process(pid, SystemSignal::KILL).ok();
        }
    }
}

#[async_trait]
impl Child for PlainChild {
    fn pid(&self) -> u32 {
        self.pid
    }

    async fn wait(&self) -> ChildExit {
        let mut ended = self.ended.clone();
        let exit = *ended.wait_for(Option::is_some).await.expect("it is waited for");
        exit.expect("it ended")
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        let signal = match signal {
            Signal::Hangup => SystemSignal::HUP,
            Signal::Interrupt => SystemSignal::INT,
            Signal::Quit => SystemSignal::QUIT,
            Signal::Terminate => SystemSignal::TERM,
            Signal::Kill => SystemSignal::KILL,
            Signal::User1 => SystemSignal::USR1,
            Signal::User2 => SystemSignal::USR2,
            Signal::Continue => SystemSignal::CONT,
        };
        Ok(kill_process_group(system(self.pid), signal)?)
    }

    async fn kill_tree(&self) {
        loop {
            let left = self.tree();
            if left.is_empty() {
                return;
            }
            for pid in left {
                // It may have ended meanwhile.
                kill_process(pid, SystemSignal::KILL).ok();
            }
            tokio::task::yield_now().await;
        }
    }

    fn descendants(&self) -> usize {
        self.tree().iter().filter(|pid| **pid != system(self.pid)).count()
    }
}

pub(crate) fn system(pid: u32) -> Pid {
    i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id")
}

/// Who lives with this mark. Zombies have no environment any more.
fn living_with(mark: &str) -> Vec<Pid> {
    let wanted = format!("{MARK}={mark}");
    let pids = fs::read_dir("/proc").expect("a listing").filter_map(|entry| {
        let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()).then_some(pid)
    });
    pids.filter_map(Pid::from_raw).collect()
}

/// A room of its own, whose processes end with the test.
pub(crate) struct Room {
    pub(crate) processes: Arc<Processes>,
    pub(crate) directory: tempfile::TempDir,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self::with(settings())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (processes, lost) =
            Processes::open(&directory.path().join("processes"), Arc::new(PlainLauncher), settings).expect("a room");
        assert!(lost.is_empty());
        Self { processes: Arc::new(processes), directory }
    }

    pub(crate) async fn shell(&self, command: &str) -> ProcessId {
        self.start(shell(command)).await
    }

    pub(crate) async fn start(&self, request: SpawnRequest) -> ProcessId {
        self.processes.spawn(&owner("one"), request).await.expect("a process")
    }

    pub(crate) async fn close(self) {
        self.processes.shut_down(Duration::ZERO).await;
    }
}

pub(crate) fn settings() -> Settings {
    Settings { output: OutputLimits { kept_bytes: 64 << 20, total_bytes: 32 << 30 }, ..Settings::default() }
}

pub(crate) fn owner(session: &str) -> Owner {
    Owner {
        tenant: "local".parse().expect("legal"),
        plugin: "workspace".parse().expect("legal"),
        session: session.parse().expect("legal"),
    }
}

pub(crate) fn shell(command: &str) -> SpawnRequest {
    SpawnRequest {
        program: "sh".into(),
        arguments: vec!["-c".into(), command.into()],
        environment: vec![("PATH".into(), env::var_os("PATH").expect("a path"))],
        directory: "/".into(),
        command: command.into(),
        input: false,
        lifetime: None,
        silence: None,
    }
}

pub(crate) fn lives(pid: u32) -> bool {
    // A zombie has been killed, too.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z')))
}

pub(crate) fn files_below(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).expect("a listing").map(|entry| entry.expect("an entry").path());
    entries.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}
