//! The start of a worker's process, and its last words.

use std::{
    io,
    num::NonZero,
    sync::{Arc, atomic::AtomicUsize},
    thread::available_parallelism,
    time::Duration,
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tokio::{
    io::AsyncReadExt as _,
    sync::{Notify, OwnedSemaphorePermit},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use wharf_core::{Code, Error, HostLimits, text};
use wharf_spawn::{
    Child, ChildExit, ChildInput, ChildLimits, ChildOutput, Containment, Descriptor, SpawnRequest, Spawner, StdoutPipe,
    packet,
};

use super::{
    connection::WorkerConnection,
    frames::READY,
    incoming::IncomingFrames,
    looking::Looks,
    process::{FRAME_BYTES, OBEDIENCE, Worker},
    setup::{CODES, FRAMES, WORKER, WorkerSetup},
};

/// How long a worker may take to begin.
const START: Duration = Duration::from_secs(30);
/// What is kept of the last words of a worker.
const MAX_COMPLAINT_BYTES: u64 = 4 << 10;

impl Worker {
    /// Starts one. It has the place until it is gone.
    pub(super) async fn start(
        spawner: &Spawner,
        setup: &WorkerSetup,
        limits: &HostLimits,
        (ending, freed): (CancellationToken, Arc<Notify>),
        place: OwnedSemaphorePermit,
    ) -> Result<Arc<Self>, Error> {
        let failed = |why: String| Error::new(Code::Unavailable, format!("no process can be had for plugins: {why}"));
        let of_system = |error: io::Error| failed(error.to_string());
        let (own, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(|error| of_system(error.into()))?;
        let (codes, other_codes) = packet::pair().map_err(of_system)?;
        let setup = serde_json::to_string(setup).map_err(|error| failed(error.to_string()))?;
        let request = SpawnRequest {
            // This very program, even if its file has been replaced.
            program: "/proc/self/exe".into(),
            arguments: vec![WORKER.into(), setup.into()],
            environment: Vec::new(),
            working_directory: "/".into(),
            stdin: ChildInput::Null,
            stdout: ChildOutput::Null,
            stderr: ChildOutput::Pipe,
            descriptors: vec![
                Descriptor { number: FRAMES, file: other.into() },
                Descriptor { number: CODES, file: other_codes.into() },
            ],
            limits: ChildLimits {
                cpu_seconds: Some(limits.worker_cpu_seconds),
                // What the runtime reserves would count as memory of the process.
                memory_bytes: None,
                tree_memory_bytes: Some(limits.worker_memory_bytes),
                open_files: Some(256),
                processes: None,
                // It can open none; the memory of guests is a file to the system.
                file_size_bytes: Some(limits.worker_memory_bytes),
            },
            // It locks itself down before it reads anything.
            containment: Containment::None,
            user: None,
        };
        let mut child = spawner.spawn(request).await.map_err(|error| failed(Error::from(error).message))?;
        let connection = WorkerConnection::new(own).map_err(of_system)?;
        let most_bytes = Arc::new(AtomicUsize::new(FRAME_BYTES));
        let mut frames = IncomingFrames::over(&connection, Arc::clone(&most_bytes));
        let complaints = child.take_stderr();
        match timeout(START, frames.next()).await {
            Ok(Ok(Some(frame))) if *frame == [READY] => {}
            _ => return Err(failed(last_words(&child, complaints).await)),
        }
        let looks = Looks::on(available_parallelism().map_or(1, NonZero::get));
        let worker =
            Self::over((connection, frames), codes, child.pid(), most_bytes, looks, (ending, Arc::clone(&freed)));
        let last_words = async move { last_words(&child, complaints).await };
        let tending = Arc::clone(&worker).tend(limits.clone(), last_words);
        tokio::spawn(async move {
            tending.await;
            drop(place);
            freed.notify_waiters();
        });
        Ok(worker)
    }
}

/// How it ended, and what it said last.
async fn last_words(child: &Child, complaints: Option<StdoutPipe>) -> String {
    let exit = match timeout(OBEDIENCE, child.wait()).await {
        Ok(Ok(end)) => match end.exit {
            ChildExit::Exited { code } => format!("it exited with code {code}"),
            ChildExit::Signaled { signal } => format!("signal {signal} ended it"),
        },
        _ => return "it does not answer".to_owned(),
    };
    let mut said = Vec::new();
    if let Some(complaints) = complaints {
        let _ = timeout(OBEDIENCE, complaints.take(MAX_COMPLAINT_BYTES).read_to_end(&mut said)).await;
    }
    let said = text::visible(String::from_utf8_lossy(&said).trim().to_owned());
    if said.is_empty() { exit } else { format!("{exit}: {said}") }
}
