//! The way to a child: checks the request, looks after the root of the
//! supervisors, and hands each child over to one.
//!
//! Never forks itself: the host has threads, and between fork and the program
//! nothing of it may run.

use std::{
    ffi::OsString,
    fs::File,
    io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, ffi::OsStringExt as _},
    },
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{MemfdFlags, memfd_create},
    pipe::{PipeFlags, pipe_with},
};

use crate::{
    Capabilities, Child, Containment, Input, Output, Sandbox, SpawnError, SpawnRequest,
    child::Pipes,
    packet::{self, Packet},
    sandbox, supervisor,
    wire::{Charge, Launch, Order, Report},
};

/// How long the root may take to say that it runs, in seconds. Much more than
/// it needs, on a machine that does much else.
const PATIENCE_SECONDS: i64 = 10;
/// How long the probe of the sandbox may take.
const PROBE_TIME: Duration = Duration::from_secs(10);

/// Starts children, each below a supervisor of its own. Clones share one root.
///
/// Children that live when the last clone is dropped live on: each ends with
/// its own [`Child`].
#[derive(Debug, Clone)]
pub struct Spawner {
    // Held while one packet is sent, never across an await.
    root: Arc<Mutex<Root>>,
    capabilities: Arc<Capabilities>,
}

/// The process that forks the supervisors.
#[derive(Debug)]
struct Root {
    control: OwnedFd,
    process: Option<std::process::Child>,
}

impl Spawner {
    /// Starts the root and finds out what this machine can do, which takes some
    /// milliseconds.
    ///
    /// # Errors
    /// [`SpawnError::Supervisor`] where this program cannot run itself again.
    pub async fn open() -> Result<Self, SpawnError> {
        let root = tokio::task::spawn_blocking(Root::start).await.map_err(io::Error::other);
        let root = root.and_then(|root| root).map_err(SpawnError::Supervisor)?;
        let mut spawner =
            Self { root: Arc::new(Mutex::new(root)), capabilities: Arc::new(Capabilities::of_the_system()) };
        let works = spawner.sandbox_works().await;
        let mut found = (*spawner.capabilities).clone();
        found.bubblewrap = works;
        spawner.capabilities = Arc::new(found);
        Ok(spawner)
    }

    /// What this machine can do.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Starts a child. Dropping the future ends what it has started.
    ///
    /// # Errors
    /// As [`SpawnError`] says; then nothing of the child is left.
    pub async fn spawn(&self, request: SpawnRequest) -> Result<Child, SpawnError> {
        if let (Containment::Required(_), Err(missing)) = (&request.containment, &self.capabilities.bubblewrap) {
            return Err(SpawnError::Uncontainable { missing: missing.clone() });
        }
        self.start(request).await
    }

    async fn start(&self, request: SpawnRequest) -> Result<Child, SpawnError> {
        request.check()?;
        let charge = match &request.containment {
            Containment::None => Charge::Supervise,
            Containment::Required(sandbox) => match sandbox::find() {
                Some(bubblewrap) => Charge::Contain { command: sandbox::command(&bubblewrap, sandbox) },
                None => return Err(SpawnError::Uncontainable { missing: "bubblewrap is not there any more".into() }),
            },
        };
        let launch = launch_of(&request)?;
        let (pipes, stdin, stdout, stderr) = streams(&request)?;
        let (host, other) = packet::pair().map_err(SpawnError::system("make a socket"))?;
        packet::send(&host, &Order::Launch, &[launch.as_fd(), stdin.as_fd(), stdout.as_fd(), stderr.as_fd()])
            .map_err(SpawnError::system("send a child's streams"))?;
        self.charge(&charge, &other)?;
        drop((other, stdin, stdout, stderr));
        let contained = matches!(request.containment, Containment::Required(_));
        let paths = (request.program, request.working_directory);
        // The caller's files are closed by now.
        drop((request.stdout, request.stderr));
        Child::begin(host, pipes, paths, contained).await
    }

    /// Hands a child's socket to the root; starts another root where this one
    /// was killed.
    fn charge(&self, charge: &Charge, child: &OwnedFd) -> Result<(), SpawnError> {
        let mut root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        let Err(error) = packet::send(&root.control, charge, &[child.as_fd()]) else { return Ok(()) };
        if error.kind() == io::ErrorKind::InvalidInput {
            return Err(SpawnError::System { action: "describe the sandbox in one packet", source: error });
        }
        tracing::warn!(%error, "the root of the supervisors is gone; starting another");
        *root = Root::start().map_err(SpawnError::Supervisor)?;
        packet::send(&root.control, charge, &[child.as_fd()]).map_err(SpawnError::Supervisor)
    }

    /// Whether a sandbox really runs a program here; if not, why.
    async fn sandbox_works(&self) -> Result<(), String> {
        if sandbox::find().is_none() {
            return Err("bubblewrap (the program `bwrap`) is not installed".into());
        }
        let request = SpawnRequest {
            program: "/bin/true".into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            working_directory: "/".into(),
            stdin: Input::Null,
            stdout: Output::Null,
            stderr: Output::Null,
            limits: crate::Limits::default(),
            containment: Containment::Required(Sandbox::default()),
        };
        let ended = async { self.start(request).await?.wait().await };
        match tokio::time::timeout(PROBE_TIME, ended).await {
            Ok(Ok(ended)) if ended.exit == crate::Exit::Exited { code: 0 } => Ok(()),
            Ok(Ok(_)) => Err("a program in bubblewrap does not end as it does outside".into()),
            Ok(Err(error)) => Err(format!("bubblewrap is installed and does not work here: {error}")),
            Err(_) => Err("bubblewrap is installed and does not answer".into()),
        }
    }
}

/// The launch in a file of memory.
fn launch_of(request: &SpawnRequest) -> Result<OwnedFd, SpawnError> {
    let program = request.program.as_os_str().as_bytes().to_vec();
    let arguments = request.arguments.iter().map(|argument| argument.as_bytes().to_vec());
    let variable = |(name, value): &(OsString, OsString)| {
        let mut text = name.clone().into_vec();
        text.push(b'=');
        text.extend(value.as_bytes());
        text
    };
    let launch = Launch {
        arguments: [program.clone()].into_iter().chain(arguments).collect(),
        program,
        environment: request.environment.iter().map(variable).collect(),
        working_directory: request.working_directory.as_os_str().as_bytes().to_vec(),
        limits: request.limits,
    };
    let bytes = postcard::to_stdvec(&launch).map_err(io::Error::other);
    let bytes = bytes.map_err(SpawnError::system("describe a child"))?;
    let file =
        memfd_create("wharf-launch", MemfdFlags::CLOEXEC).map_err(SpawnError::system("make a file of memory"))?;
    let mut file = File::from(file);
    io::Write::write_all(&mut file, &bytes).map_err(SpawnError::system("describe a child"))?;
    Ok(file.into())
}

type Streams = (Pipes, OwnedFd, OwnedFd, OwnedFd);

/// The host's ends of the streams, and the child's.
fn streams(request: &SpawnRequest) -> Result<Streams, SpawnError> {
    let mut pipes = Pipes::default();
    let null = || supervisor::null().map_err(SpawnError::system("open the null device"));
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(SpawnError::system("make a pipe"));
    let stdin = match request.stdin {
        Input::Null => null()?,
        Input::Pipe => {
            let (reader, writer) = pipe()?;
            pipes.stdin = Some(writer);
            reader
        }
    };
    let output = |wanted: &Output, kept: &mut Option<OwnedFd>| match wanted {
        Output::Null => null(),
        Output::File(file) => {
            file.try_clone().map(OwnedFd::from).map_err(SpawnError::system("share a file with a child"))
        }
        Output::Pipe => {
            let (reader, writer) = pipe()?;
            *kept = Some(reader);
            Ok(writer)
        }
    };
    let stdout = output(&request.stdout, &mut pipes.stdout)?;
    let stderr = output(&request.stderr, &mut pipes.stderr)?;
    Ok((pipes, stdin, stdout, stderr))
}

impl Root {
    /// Runs this program again, as the root, and waits until it says so. A
    /// program that does not hold this library would not.
    fn start() -> io::Result<Self> {
        let (control, other) = packet::pair()?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(supervisor::ROOT).env_clear().current_dir("/").stdin(Stdio::from(other));
        if let Some(libraries) = std::env::var_os("LD_LIBRARY_PATH") {
            // The program itself may need it; its children do not get it.
            command.env("LD_LIBRARY_PATH", libraries);
        }
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        // The command holds the other end, whose closing says that it failed.
        drop(command);
        let mut root = Self { control, process: Some(process) };
        let patience = Timespec { tv_sec: PATIENCE_SECONDS, tv_nsec: 0 };
        let answered = poll(&mut [PollFd::new(&root.control, PollFlags::IN)], Some(&patience))?;
        if answered == 1
            && let Some(Packet { message: Report::Started, .. }) = packet::receive(&root.control)?
        {
            return Ok(root);
        }
        if let Some(process) = &mut root.process {
            let _ = process.kill();
        }
        Err(io::Error::other("this program, run again, is no supervisor: it may have been loaded as a library"))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Both);
        let Some(mut process) = self.process.take() else { return };
        // It ends after the last child, which may be long after; somebody has
        // to ask for it then.
        let reaper = std::thread::Builder::new().name("wharf-root".into());
        if let Err(error) = reaper.spawn(move || process.wait()) {
            tracing::warn!(%error, "nobody asks for the root of the supervisors when it ends");
        }
    }
}
