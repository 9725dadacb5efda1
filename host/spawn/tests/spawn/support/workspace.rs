//! A workspace, and beside it what must stay out of reach of who works there.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::Path,
};

use tempfile::TempDir;
use wharf_spawn::{Bind, Child, Contained, Containment, ProcessLimit, Sandbox, SpawnRequest, Spawner};

use super::{output, output_and_whether_it_waited, shell};

/// Not root, and nobody in particular.
const ANOTHER_USER: u32 = 65534;

pub(crate) struct Place {
    pub(crate) spawner: Spawner,
    pub(crate) contained: Contained,
    pub(crate) user: Option<u32>,
    pub(crate) network: bool,
    /// The process whose program is told as `SIBLING`.
    pub(crate) sibling: u32,
    directory: TempDir,
}

impl Place {
    /// One for each way to contain and each kind of user that this machine has.
    /// That a machine without refuses is tested apart.
    pub(crate) async fn all() -> Vec<Self> {
        let mut places = Vec::new();
        for contained in [Contained::Bubblewrap, Contained::Landlock] {
            let spawner = Spawner::with(contained);
            let found = spawner.capabilities().await.expect("an answer");
            if let Err(why) = &found.containment {
                super::note(&format!("NOT TESTED: {contained:?} does not work here: {why}"));
                continue;
            }
            let users = if found.another_user { vec![None, Some(ANOTHER_USER)] } else { vec![None] };
            places.extend(users.into_iter().map(|user| Self::open(spawner.clone(), contained, user)));
        }
        places
    }

    /// Those where bubblewrap contains.
    pub(crate) async fn all_in_bubblewrap() -> Vec<Self> {
        let mut places = Self::all().await;
        places.retain(|place| place.contained == Contained::Bubblewrap);
        places
    }

    fn open(spawner: Spawner, contained: Contained, user: Option<u32>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let workspace = directory.path().join("workspace");
        fs::create_dir(&workspace).expect("a directory");
        fs::write(directory.path().join("secret"), "the secret").expect("a file");
        if let Some(user) = user {
            chown(&workspace, Some(user), Some(user)).expect("another owner");
            // In bubblewrap the way there may stay closed to that user, and it
            // is no permission of the file that stops who gets there.
            let mode = if contained == Contained::Landlock { 0o711 } else { 0o700 };
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
        let told =
            [("OUT", self.path("")), ("HOST", std::process::id().to_string()), ("SIBLING", self.sibling.to_string())];
        request.environment.extend(told.map(|(name, value)| (name.into(), value.into())));
        let sandbox = Sandbox { writable: vec![Bind::same(&workspace)], readable: vec![], network: self.network };
        let containment = Containment::Required(sandbox);
        SpawnRequest { working_directory: workspace, containment, user: self.user, ..request }
    }

    /// What a contained script writes; errors, too.
    pub(crate) async fn run(&self, script: &str) -> String {
        output(&self.spawner, self.request(&format!("exec 2>&1; {script}"))).await
    }

    /// What the same script writes when nothing contains it.
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

/// An attempt to escape. The script says `ESCAPED` where it gets through.
pub(crate) struct Attempt {
    pub(crate) what: &'static str,
    pub(crate) script: String,
    /// Whether the script is known to get through where nothing contains it.
    pub(crate) gets_through: bool,
}

pub(crate) fn attempt(what: &'static str, script: impl Into<String>) -> Attempt {
    Attempt { what, script: script.into(), gets_through: false }
}

/// An attempt that is tried without containment, too, to show that it is right.
pub(crate) fn proven(what: &'static str, script: impl Into<String>) -> Attempt {
    Attempt { gets_through: true, ..attempt(what, script) }
}

/// The same, where it takes root to get through.
pub(crate) fn proven_for_root(what: &'static str, script: impl Into<String>) -> Attempt {
    Attempt { gets_through: rustix::process::getuid().is_root(), ..attempt(what, script) }
}

impl Place {
    /// How far the limit on processes holds here; nothing where it does not.
    pub(crate) async fn process_limit(&self) -> Option<ProcessLimit> {
        let found = self.spawner.capabilities().await.expect("an answer");
        let limited = self.user.is_some() || !found.another_user || found.process_limit == ProcessLimit::Tree;
        limited.then_some(found.process_limit)
    }

    pub(crate) async fn withstands(&self, attempts: &[Attempt]) {
        self.run("true").await;
        let mut waited = 0;
        for Attempt { what, script, gets_through } in attempts {
            // In a sandbox made for it, and in one that was waiting.
            for spawner in [&self.spawner.clone().without_waiting(), &self.spawner] {
                let request = self.request(&format!("exec 2>&1; {script}\necho tried"));
                let (said, did_wait) = output_and_whether_it_waited(spawner, request).await;
                waited += usize::from(did_wait);
                assert!(said.ends_with("tried\n"), "{what}, {}: {said}", self.name());
                assert!(!said.contains("ESCAPED"), "{what}, {}: {said}", self.name());
            }
            if *gets_through {
                let said = self.run_free(script).await;
                assert!(said.contains("ESCAPED"), "{what} does nothing where nothing contains it: {said}");
            }
        }
        // Now and then a busy machine may be too late for one.
        let wait = if self.contained == Contained::Bubblewrap { attempts.len().div_ceil(2) } else { 0 };
        assert!((wait..=attempts.len()).contains(&waited), "{waited} waited, {}", self.name());
    }
}
