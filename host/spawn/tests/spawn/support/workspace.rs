//! A contained workspace, and beside it a secret that must stay out of its reach.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::Path,
};

use tempfile::TempDir;
use wharf_spawn::{Bind, Child, Containment, ProcessLimitScope, Sandbox, SandboxMechanism, SpawnRequest, Spawner};

use super::{output, output_and_preparation, shell};

/// A user who is not root.
const ANOTHER_USER: u32 = 65534;

pub(crate) struct ContainedWorkspace {
    pub(crate) spawner: Spawner,
    pub(crate) contained: SandboxMechanism,
    pub(crate) user: Option<u32>,
    pub(crate) network: bool,
    /// The process id that scripts get as `SIBLING`.
    pub(crate) sibling: u32,
    directory: TempDir,
}

impl ContainedWorkspace {
    /// One for each mechanism and each kind of user that this machine has.
    /// Another test covers the refusal of machines without a mechanism.
    pub(crate) async fn all() -> Vec<Self> {
        Self::all_as(ANOTHER_USER).await
    }

    /// The same with a user that no other test has, since the system counts the processes of
    /// a user together.
    pub(crate) async fn all_alone() -> Vec<Self> {
        Self::all_as(100_000 + std::process::id()).await
    }

    async fn all_as(another_user: u32) -> Vec<Self> {
        let mut places = Vec::new();
        for contained in [SandboxMechanism::Namespaces, SandboxMechanism::Landlock] {
            let spawner = Spawner::with(contained);
            let found = spawner.capabilities().await.expect("an answer");
            if let Err(why) = &found.containment {
                super::note(&format!("NOT TESTED: {contained:?} does not work here: {why}"));
                continue;
            }
            let users = if found.another_user { vec![None, Some(another_user)] } else { vec![None] };
            // Each has its own spawner: sandboxes that wait are for all its children.
            places.extend(users.into_iter().map(|user| Self::open(Spawner::with(contained), contained, user)));
        }
        places
    }

    /// Those in namespaces.
    pub(crate) async fn all_in_namespaces() -> Vec<Self> {
        let mut places = Self::all().await;
        places.retain(|place| place.contained == SandboxMechanism::Namespaces);
        places
    }

    fn open(spawner: Spawner, contained: SandboxMechanism, user: Option<u32>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let workspace = directory.path().join("workspace");
        fs::create_dir(&workspace).expect("a directory");
        fs::write(directory.path().join("secret"), "the secret").expect("a file");
        if let Some(user) = user {
            chown(&workspace, Some(user), Some(user)).expect("another owner");
            // In namespaces the directory may stay closed to that user, and no
            // permission of the file protects the secret.
            let mode = if contained == SandboxMechanism::Landlock { 0o711 } else { 0o700 };
            fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode)).expect("a mode");
            fs::set_permissions(directory.path().join("secret"), fs::Permissions::from_mode(0o666)).expect("a mode");
        }
        Self { spawner, contained, user, network: false, sibling: 0, directory }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().expect("text").to_owned()
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn request(&self, script: &str) -> SpawnRequest {
        let workspace = self.directory.path().join("workspace");
        let mut request = shell(script);
        let variables =
            [("OUT", self.path("")), ("HOST", std::process::id().to_string()), ("SIBLING", self.sibling.to_string())];
        request.environment.extend(variables.map(|(name, value)| (name.into(), value.into())));
        let sandbox = Sandbox { writable: vec![Bind::same(&workspace)], readable: vec![], network: self.network };
        let containment = Containment::Required(sandbox);
        SpawnRequest { working_directory: workspace, containment, user: self.user, ..request }
    }

    /// The output of a contained script, with its errors.
    pub(crate) async fn run(&self, script: &str) -> String {
        output(&self.spawner, self.request(&format!("exec 2>&1; {script}"))).await
    }

    /// The output of the same script without containment.
    pub(crate) async fn run_free(&self, script: &str) -> String {
        let request = self.request(&format!("exec 2>&1; {script}"));
        output(&self.spawner, SpawnRequest { containment: Containment::None, user: None, ..request }).await
    }

    pub(crate) async fn start(&self, script: &str) -> Child {
        self.spawner.spawn(self.request(script)).await.expect("a child")
    }

    pub(crate) fn name(&self) -> String {
        format!("{:?} as {:?}", self.contained, self.user)
    }
}

/// An attempt to escape. The script prints `ESCAPED` where it gets through.
pub(crate) struct EscapeAttempt {
    pub(crate) what: &'static str,
    pub(crate) script: String,
    /// Whether the script is known to get through without containment.
    pub(crate) gets_through: bool,
}

pub(crate) fn attempt(what: &'static str, script: impl Into<String>) -> EscapeAttempt {
    EscapeAttempt { what, script: script.into(), gets_through: false }
}

/// An attempt that also runs without containment, to show that the script works.
pub(crate) fn proven(what: &'static str, script: impl Into<String>) -> EscapeAttempt {
    EscapeAttempt { gets_through: true, ..attempt(what, script) }
}

/// The same for an attempt that only root gets through with.
pub(crate) fn proven_for_root(what: &'static str, script: impl Into<String>) -> EscapeAttempt {
    EscapeAttempt { gets_through: rustix::process::getuid().is_root(), ..attempt(what, script) }
}

impl ContainedWorkspace {
    /// The scope of the limit on processes here; none where there is no limit.
    pub(crate) async fn process_limit(&self) -> Option<ProcessLimitScope> {
        let found = self.spawner.capabilities().await.expect("an answer");
        let limited = self.user.is_some() || !found.another_user || found.process_limit == ProcessLimitScope::Tree;
        limited.then_some(found.process_limit)
    }

    pub(crate) async fn withstands(&self, attempts: &[EscapeAttempt]) {
        self.run("true").await;
        let mut waited = 0;
        for EscapeAttempt { what, script, gets_through } in attempts {
            // In a sandbox made for it, and in a prepared one.
            for spawner in [&self.spawner.clone().without_prepared_sandboxes(), &self.spawner] {
                let request = self.request(&format!("exec 2>&1; {script}\necho tried"));
                let (said, did_wait) = output_and_preparation(spawner, request).await;
                waited += usize::from(did_wait);
                assert!(said.ends_with("tried\n"), "{what}, {}: {said}", self.name());
                assert!(!said.contains("ESCAPED"), "{what}, {}: {said}", self.name());
            }
            if *gets_through {
                let said = self.run_free(script).await;
                assert!(said.contains("ESCAPED"), "{what} does nothing where nothing contains it: {said}");
            }
        }
        // A busy machine may sometimes be too late to prepare one.
        let wait = if self.contained == SandboxMechanism::Namespaces { attempts.len().div_ceil(2) } else { 0 };
        assert!((wait..=attempts.len()).contains(&waited), "{waited} waited, {}", self.name());
    }
}
