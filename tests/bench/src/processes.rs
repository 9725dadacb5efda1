//! Child processes beside what a shell does: output beside `cat > file`, a tail beside `tail`, a poll beside the same
//! questions without counting.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use tokio::runtime::Runtime;
use wharf::{Context, Grants, ProcessGrant, TenantId};
use wharf_process::{
    ChildLimits, Containment, Owner, ProcessId, ProcessSettings, Processes, SpawnRequest, StreamName, WaitCondition,
    output::OutputLimits,
};
use wharf_spawn::Spawner;

use crate::{
    Setting,
    engine::runtime,
    report::{Report, median},
};

const MIB: usize = 1 << 20;
/// What one read takes.
const CHUNK: usize = MIB;
/// Far longer than anything here takes.
const AMPLE: Duration = Duration::from_secs(300);

struct Fixture {
    runtime: Runtime,
    processes: Arc<Processes>,
    owner: Owner,
    directory: tempfile::TempDir,
}

impl Fixture {
    fn open() -> Result<Self> {
        let (runtime, directory) = (runtime(2)?, tempfile::tempdir()?);
        let settings = ProcessSettings {
            output: OutputLimits { kept_bytes: 4 << 30, total_bytes: 64 << 30 },
            ended_per_session: 1_000_000,
            ..ProcessSettings::default()
        };
        let (processes, _) = {
            let _entered = runtime.enter();
            Processes::open(&directory.path().join("processes"), Spawner::new(), settings)?
        };
        let grants = Grants { process: Some(ProcessGrant::with_reason("a benchmark")), ..Grants::default() };
        let context = Context::new(TenantId::local(), "bench".parse()?);
        let owner = grants.process(&"bench".parse()?).map_err(anyhow::Error::msg)?.owner(&context);
        Ok(Self { runtime, processes: Arc::new(processes), owner, directory })
    }

    async fn shell(&self, text: &str) -> Result<ProcessId> {
        let request = SpawnRequest {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), text.into()],
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: "/".into(),
            command: text.to_owned(),
            input: false,
            lifetime: None,
            silence: None,
            limits: ChildLimits::default(),
            containment: Containment::None,
            user: None,
            stay: None,
        };
        Ok(self.processes.spawn(&self.owner, request, usize::MAX).await?)
    }

    async fn end(&self, id: ProcessId) -> Result<()> {
        let exit = WaitCondition { exit: true, ..WaitCondition::default() };
        self.processes.wait(&self.owner, id, &exit, AMPLE).await?;
        Ok(())
    }
}

/// A child's output to a file and read by cursor, beside `cat > file` and the
/// file read.
pub(crate) fn output(setting: &Setting, report: &mut Report) -> Result<()> {
    let fixture = Fixture::open()?;
    let bytes = setting.calls(256) * MIB;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..setting.calls(70).min(7) {
        let print = format!("head -c {bytes} /dev/zero");
        let began = Instant::now();
        fixture.runtime.block_on(async {
            let id = fixture.shell(&print).await?;
            let (mut cursor, until) = (0, Instant::now() + AMPLE);
            while cursor < bytes as u64 {
                let piece = fixture.processes.read(&fixture.owner, id, StreamName::Stdout, cursor, CHUNK)?;
                if piece.bytes.is_empty() {
                    let output =
                        WaitCondition { output: Some((StreamName::Stdout, cursor)), ..WaitCondition::default() };
                    fixture.processes.wait(&fixture.owner, id, &output, AMPLE).await?;
                }
                cursor = piece.next();
                ensure!(Instant::now() < until, "the output does not come");
            }
            fixture.end(id).await
        })?;
        ours.push(began.elapsed().as_secs_f64());

        let file = fixture.directory.path().join("theirs");
        let began = Instant::now();
        let status = Command::new("sh").arg("-c").arg(format!("{print} | cat > \"$0\"")).arg(&file).status()?;
        ensure!(status.success(), "cat failed");
        read_all(&file)?;
        theirs.push(began.elapsed().as_secs_f64());
        std::fs::remove_file(&file)?;
    }
    let (ours, theirs) = (median(ours), median(theirs));
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let rate = |seconds: f64| bytes as f64 / MIB as f64 / seconds;
    let absolute = format!("{:.0} MiB/s, cat {:.0} MiB/s", rate(ours), rate(theirs));
    report.note("process_output", theirs / ours, &absolute);
    Ok(())
}

fn read_all(file: &Path) -> Result<()> {
    let (mut file, mut chunk) = (std::fs::File::open(file)?, vec![0; CHUNK]);
    while file.read(&mut chunk)? > 0 {}
    Ok(())
}

/// The last 100 lines of a gigabyte, and what counting a poll costs.
pub(crate) fn questions(setting: &Setting, report: &mut Report) -> Result<()> {
    let fixture = Fixture::open()?;
    let bytes = setting.calls(1_000) * MIB;
    // Lines of 80 bytes, and it goes on running.
    let line = "x".repeat(79);
    let id = fixture.runtime.block_on(async {
        let id = fixture.shell(&format!("yes {line} | head -c {bytes}; echo done >&2; sleep 1000")).await?;
        let done = WaitCondition { output: Some((StreamName::Stderr, 0)), ..WaitCondition::default() };
        fixture.processes.wait(&fixture.owner, id, &done, AMPLE).await?;
        let stdout = |bytes| WaitCondition { output: Some((StreamName::Stdout, bytes)), ..WaitCondition::default() };
        fixture.processes.wait(&fixture.owner, id, &stdout(bytes as u64 - 1), AMPLE).await?;
        anyhow::Ok(id)
    })?;
    let file = output_file(fixture.directory.path(), bytes as u64)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..setting.calls(100) {
        let began = Instant::now();
        let tail = fixture.processes.tail(&fixture.owner, id, StreamName::Stdout, 100, MIB)?;
        ours.push(began.elapsed().as_secs_f64());
        ensure!(tail.bytes.len() == 8_000, "{} bytes are no 100 lines", tail.bytes.len());
        let began = Instant::now();
        let tail = Command::new("tail").args(["-n", "100"]).arg(&file).output()?;
        theirs.push(began.elapsed().as_secs_f64());
        ensure!(tail.stdout.len() == 8_000, "tail printed {} bytes", tail.stdout.len());
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let absolute = format!("{:.0} us, `tail` {:.0} us", ours * 1e6, theirs * 1e6);
    report.note("process_tail", ours / theirs, &absolute);

    let (mut counted, mut uncounted) = (Vec::new(), Vec::new());
    fixture.runtime.block_on(async {
        for _ in 0..setting.calls(50) {
            let began = Instant::now();
            for _ in 0..100 {
                fixture.processes.poll(&fixture.owner, id, 20, 16 << 10).await?;
            }
            counted.push(began.elapsed().as_secs_f64() / 100.0);
            let began = Instant::now();
            for _ in 0..100 {
                fixture.processes.snapshot(&fixture.owner, id).await?;
                for stream in [StreamName::Stdout, StreamName::Stderr] {
                    fixture.processes.tail(&fixture.owner, id, stream, 20, 16 << 10)?;
                }
            }
            uncounted.push(began.elapsed().as_secs_f64() / 100.0);
        }
        fixture.processes.shut_down(Duration::ZERO).await;
        anyhow::Ok(())
    })?;
    let (counted, uncounted) = (median(counted), median(uncounted));
    let absolute = format!("{:.1} us, without counting {:.1} us", counted * 1e6, uncounted * 1e6);
    report.note("process_poll", counted / uncounted, &absolute);
    Ok(())
}

/// The file that holds so much.
fn output_file(directory: &Path, bytes: u64) -> Result<PathBuf> {
    let mut next = vec![directory.to_owned()];
    while let Some(directory) = next.pop() {
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                next.push(entry.path());
            } else if entry.metadata()?.len() == bytes {
                return Ok(entry.path());
            }
        }
    }
    bail!("no file holds the output")
}
