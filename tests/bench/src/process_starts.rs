//! Starts of child processes, from the request to the first byte of output, beside a bare
//! posix spawn of the same program: as an agent makes them, the first of a session, and
//! without a pause.

use std::{
    io::Read as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use tokio::{io::AsyncReadExt as _, runtime::Runtime};
use wharf_process::{ChildLimits, Containment};
use wharf_spawn::{Bind, Child, ChildInput, ChildOutput, Sandbox, SandboxMechanism, SpawnRequest, Spawner};
use wharf_test_support::blocking;

use crate::{
    Setting,
    engine::runtime,
    report::{Report, median},
};

/// Between two commands: an agent takes far longer to think of the next.
const PAUSE: Duration = Duration::from_millis(50);

/// Keys of contained starts; they are left out where namespaces do not work.
const CONTAINED: [&str; 3] = ["process_spawn_contained", "process_spawn_cold", "process_spawn_row"];

pub(crate) const KEYS: [&str; 4] = ["process_spawn", CONTAINED[0], CONTAINED[1], CONTAINED[2]];

/// What starts children as the host does.
struct Starter {
    runtime: Runtime,
    spawner: Spawner,
    /// As the host does where it is root: a user of its own.
    user: Option<u32>,
    workspaces: tempfile::TempDir,
}

impl Starter {
    /// The sandbox of a session that has just come.
    fn session(&self, name: &str) -> Result<Containment> {
        let place = self.workspaces.path().join(name);
        std::fs::create_dir(&place)?;
        if let Some(user) = self.user {
            std::os::unix::fs::chown(&place, Some(user), Some(user))?;
        }
        let bind = Bind { source: place, target: "/workspace".into() };
        Ok(Containment::Required(Sandbox { writable: vec![bind], readable: Vec::new(), network: false }))
    }

    /// Seconds to the first byte.
    fn start(&self, containment: &Containment) -> Result<f64> {
        let user = if matches!(containment, Containment::None) { None } else { self.user };
        let began = Instant::now();
        let child = self.runtime.block_on(ours_to_first_byte(&self.spawner, containment.clone(), user))?;
        let took = began.elapsed().as_secs_f64();
        self.runtime.block_on(child.wait_for_tree());
        Ok(took)
    }
}

pub(crate) fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let (runtime, spawner) = (runtime(2)?, Spawner::new());
    let capabilities = runtime.block_on(spawner.capabilities())?;
    let user = capabilities.another_user.then_some(1_900_000_000);
    let starter = Starter { runtime, spawner, user, workspaces: tempfile::tempdir()? };
    paused(setting, report, "process_spawn", &starter, &Containment::None)?;
    if capabilities.containment != Ok(SandboxMechanism::Namespaces) {
        eprintln!("{} are left out: namespaces do not work here", CONTAINED.join(", "));
        return Ok(());
    }
    let session = starter.session("session")?;
    let first_of_all = starter.start(&session)?;
    let bare = paused(setting, report, CONTAINED[0], &starter, &session)?;
    cold(setting, report, &starter, first_of_all)?;
    row(setting, report, &starter, &session, bare)
}

fn let_pass() {
    blocking::let_time_pass(PAUSE, "what the last one left is cleared away");
}

/// Both sides in turns, with a pause before each. The bare spawn's time.
fn paused(
    setting: &Setting,
    report: &mut Report,
    key: &str,
    starter: &Starter,
    containment: &Containment,
) -> Result<f64> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    starter.start(containment)?;
    for _ in 0..setting.calls(200) {
        let_pass();
        ours.push(starter.start(containment)?);
        let_pass();
        theirs.push(bare_to_first_byte()?);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    report.note(key, ours / theirs, &format!("{:.2} ms, bare {:.2} ms", ours * 1e3, theirs * 1e3));
    Ok(theirs)
}

/// One command in each of many new sessions of a host that has run commands before.
fn cold(setting: &Setting, report: &mut Report, starter: &Starter, first_of_all: f64) -> Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 0..setting.calls(100) {
        let session = starter.session(&format!("cold-{number}"))?;
        let_pass();
        ours.push(starter.start(&session)?);
        let_pass();
        theirs.push(bare_to_first_byte()?);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let absolute = format!(
        "{:.2} ms, bare {:.2} ms; the first contained one of the host {:.2} ms",
        ours * 1e3,
        theirs * 1e3,
        first_of_all * 1e3
    );
    report.note(CONTAINED[1], ours / theirs, &absolute);
    Ok(())
}

/// Many in a row on each side: nothing rests, neither the host nor the bare spawn.
fn row(
    setting: &Setting,
    report: &mut Report,
    starter: &Starter,
    session: &Containment,
    bare_paused: f64,
) -> Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..setting.rounds(4) {
        for _ in 0..setting.calls(50) {
            ours.push(starter.start(session)?);
        }
        for _ in 0..setting.calls(50) {
            theirs.push(bare_to_first_byte()?);
        }
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let absolute = format!(
        "{:.2} ms, bare {:.2} ms; a bare one after a pause {:.2} ms, to which the ratio is {:.2}",
        ours * 1e3,
        theirs * 1e3,
        bare_paused * 1e3,
        ours / bare_paused
    );
    report.note(CONTAINED[2], ours / theirs, &absolute);
    Ok(())
}

async fn ours_to_first_byte(spawner: &Spawner, containment: Containment, user: Option<u32>) -> Result<Child> {
    let request = SpawnRequest {
        program: "/bin/echo".into(),
        arguments: vec!["started".into()],
        environment: Vec::new(),
        working_directory: "/".into(),
        stdin: ChildInput::Null,
        stdout: ChildOutput::Pipe,
        stderr: ChildOutput::Null,
        descriptors: Vec::new(),
        limits: ChildLimits::default(),
        containment,
        user,
    };
    let mut child = spawner.spawn(request).await?;
    let mut byte = [0];
    child.take_stdout().context("a pipe")?.read_exact(&mut byte).await?;
    Ok(child)
}

fn bare_to_first_byte() -> Result<f64> {
    let began = Instant::now();
    let mut child =
        Command::new("/bin/echo").arg("started").env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut byte = [0];
    child.stdout.take().context("a pipe")?.read_exact(&mut byte)?;
    let took = began.elapsed().as_secs_f64();
    child.wait()?;
    Ok(took)
}
