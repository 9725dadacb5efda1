//! How fast a flood passes through a session, its plain text and its screen,
//! beside the same flood read from a bare terminal.

use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use rustix::{
    fs::OFlags,
    pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt},
};
use tokio::runtime::Runtime;
use wharf_spawn::{ChildInput, ChildOutput, SpawnRequest, Spawner};
use wharf_terminal::{ChildLimits, Containment, HistoryLimits, PtyBackend, TerminalRequest, TerminalSession};

use crate::{
    flood::{Kind, LAST_LINE},
    median,
    request::request,
};

/// Far longer than anything here takes.
const AMPLE: Duration = Duration::from_secs(300);
/// What one bare read asks for; a terminal hands out less.
const CHUNK_BYTES: usize = 64 << 10;

/// One kind of flood.
#[derive(Debug)]
pub struct Throughput {
    /// Which.
    pub kind: Kind,
    /// Bytes a second that come out of the terminal, by a session.
    pub session: f64,
    /// The same, bare.
    pub bare: f64,
    /// Of each round, the session's rate to the bare one; the median.
    pub ratio: f64,
}

/// Measures each kind, both sides in turn.
///
/// # Errors
/// Where a program does not start, or something is not on the screen at last.
pub fn measure(kinds: &[Kind], bytes: usize, rounds: usize) -> Result<Vec<Throughput>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let spawner = Spawner::new();
    let directory = tempfile::tempdir()?;
    let mut all = Vec::new();
    for kind in kinds {
        let file = directory.path().join("flood");
        let text = kind.text(bytes);
        std::fs::write(&file, &text)?;
        // The terminal makes two bytes of each newline.
        let printed = text.len() + text.matches('\n').count();
        let (mut sessions, mut bares, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..=rounds {
            let session = by_session(&runtime, &spawner, PtyBackend::default(), &file, printed)?;
            let bare = by_itself(&runtime, &spawner, &file, printed)?;
            // The first one warms up.
            if round > 0 {
                #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
                let rate = |took: Duration| printed as f64 / took.as_secs_f64();
                sessions.push(rate(session));
                bares.push(rate(bare));
                ratios.push(bare.as_secs_f64() / session.as_secs_f64());
            }
        }
        all.push(Throughput { kind: *kind, session: median(sessions), bare: median(bares), ratio: median(ratios) });
    }
    Ok(all)
}

/// How long a session takes for all of a file, from its start until the screen
/// shows the end.
pub(crate) fn by_session(
    runtime: &Runtime,
    spawner: &Spawner,
    pty: PtyBackend,
    file: &Path,
    printed: usize,
) -> Result<Duration> {
    let (spawner, file) = (spawner.clone(), file.to_str().context("a path")?.to_owned());
    // A task of the runtime waits, as tasks that follow a session do.
    runtime.block_on(runtime.spawn(async move {
        let began = Instant::now();
        let request = TerminalRequest { pty, ..request("/bin/cat", &[&file], HistoryLimits::default()) };
        let session = TerminalSession::start(&spawner, request).await?;
        let mut progress = session.progress();
        let all = progress.wait_for(|progress| progress.raw_bytes >= printed as u64 || progress.finished);
        tokio::time::timeout(AMPLE, all).await??;
        let view = session.screen();
        let took = began.elapsed();
        ensure!(view.lines[0] == LAST_LINE, "the screen ends with {view:?}");
        ensure!(session.progress().borrow().raw_bytes == printed as u64, "some of it is missing");
        session.close(Duration::ZERO).await;
        Ok(took)
    }))?
}

fn by_itself(runtime: &Runtime, spawner: &Spawner, file: &Path, printed: usize) -> Result<Duration> {
    let began = Instant::now();
    let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    unlockpt(&host)?;
    let program = File::from(ioctl_tiocgptpeer(&host, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?);
    rustix::fs::fcntl_setfl(&host, OFlags::RDWR)?;
    let child = runtime.block_on(spawner.spawn(SpawnRequest {
        program: "/bin/cat".into(),
        arguments: vec![file.into()],
        environment: Vec::new(),
        working_directory: "/".into(),
        stdin: ChildInput::Terminal(program),
        stdout: ChildOutput::Terminal,
        stderr: ChildOutput::Terminal,
        descriptors: Vec::new(),
        limits: ChildLimits::default(),
        containment: Containment::None,
        user: None,
    }))?;
    let (mut host, mut chunk, mut read) = (File::from(host), vec![0; CHUNK_BYTES], 0);
    while read < printed {
        match host.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // So the system says that the program has closed it.
            Err(_) => break,
        }
    }
    let took = began.elapsed();
    ensure!(read == printed, "{read} bytes of {printed} came");
    runtime.block_on(child.wait_for_tree());
    Ok(took)
}
