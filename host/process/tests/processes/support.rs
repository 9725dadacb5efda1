//! What the tests share: a registry with the real spawner and real children.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::{
    fs,
    path::Path,
    sync::{Arc, LazyLock},
    time::Duration,
};

use wharf_core::{Context, Grants, ProcessGrant};
use wharf_process::{
    ChildLimits, Containment, Owner, ProcessId, ProcessSettings, ProcessSnapshot, Processes, SpawnRequest, StreamName,
    WaitCondition, WaitEnd, output::OutputLimits,
};
use wharf_spawn::Spawner;
use wharf_test_support::{AMPLE, until_async};

/// The spawner of all tests of this binary.
pub(crate) fn spawner() -> Spawner {
    static SPAWNER: LazyLock<Spawner> = LazyLock::new(Spawner::new);
    SPAWNER.clone()
}

/// A registry of its own, whose processes end with the test.
pub(crate) struct TestRegistry {
    pub(crate) processes: Arc<Processes>,
    pub(crate) directory: tempfile::TempDir,
}

impl TestRegistry {
    pub(crate) async fn new() -> Self {
        Self::with(settings()).await
    }

    pub(crate) async fn with(settings: ProcessSettings) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (processes, lost) =
            Processes::open(&directory.path().join("processes"), spawner(), settings).expect("opened");
        assert!(lost.is_empty());
        Self { processes: Arc::new(processes), directory }
    }

    pub(crate) async fn shell(&self, command: &str) -> ProcessId {
        self.start(shell(command)).await
    }

    pub(crate) async fn start(&self, request: SpawnRequest) -> ProcessId {
        self.processes.spawn(&owner("one"), request, usize::MAX).await.expect("a process")
    }

    /// The last lines of its standard output.
    pub(crate) fn tail(&self, id: ProcessId) -> String {
        self.processes.tail(&owner("one"), id, StreamName::Stdout, 100, 10_000).expect("a tail").text()
    }

    /// Waits for the end.
    pub(crate) async fn exit(&self, id: ProcessId) -> ProcessSnapshot {
        let until = WaitCondition { exit: true, ..WaitCondition::default() };
        let waited = self.processes.wait(&owner("one"), id, &until, AMPLE).await.expect("a wait");
        assert_eq!(waited.reason, WaitEnd::Exit);
        waited.process
    }

    /// Looks at a process again and again until it is so.
    pub(crate) async fn until(&self, id: ProcessId, so: impl Fn(&ProcessSnapshot) -> bool) -> ProcessSnapshot {
        until_async("a process becomes so", async || {
            let snapshot = self.processes.snapshot(&owner("one"), id).await.expect("a process");
            if so(&snapshot) { Ok(snapshot) } else { Err(snapshot) }
        })
        .await
    }

    pub(crate) async fn close(self) {
        self.processes.shut_down(Duration::ZERO).await;
    }
}

pub(crate) fn settings() -> ProcessSettings {
    ProcessSettings {
        output: OutputLimits { kept_bytes: 64 << 20, total_bytes: 32 << 30 },
        ..ProcessSettings::default()
    }
}

pub(crate) fn owner(session: &str) -> Owner {
    owned("local", "workspace", session)
}

/// The owner that a grant makes.
pub(crate) fn owned(tenant: &str, plugin: &str, session: &str) -> Owner {
    let grants = Grants { process: Some(ProcessGrant::with_reason("a test")), ..Grants::default() };
    let context = Context::new(tenant.parse().expect("legal"), session.parse().expect("legal"));
    grants.process(&plugin.parse().expect("legal")).expect("granted").owner(&context)
}

pub(crate) fn shell(command: &str) -> SpawnRequest {
    SpawnRequest {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), command.into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: "/".into(),
        command: command.into(),
        input: false,
        lifetime: None,
        silence: None,
        limits: ChildLimits::default(),
        containment: Containment::None,
        user: None,
        stay: None,
    }
}

pub(crate) fn files_below(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).expect("a listing").map(|entry| entry.expect("an entry").path());
    entries.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}
