//! Where the list of what must not run is had from, and the copy of it that outlives a start without a network.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use wharf_core::text::with_causes;
use wharf_files::{private_files, regular_file};
use wharf_sources::{FetchError, PluginSource, RegistryLogins};
use wharf_trust::{SignedArtifact, TrustPolicy, Untrusted};

use super::{DeniedThings, DenyList, InvalidDenyList, LIST_BYTES};
use crate::{
    configuration::{DenyFailure, DenySettings, TrustSettings},
    file_stamp::{FileStamp, SignedFileStamp},
    vetting::FoundSignatures,
};

/// How long a host waits after a fetch that failed.
const RETRY: Duration = Duration::from_secs(60);

/// How many signers that nobody knows are named in the log.
const MOST_TOLD: usize = 5;

/// The copy, below the directory of plugins.
pub(crate) const COPY: &str = "denied.json";

/// Why no newer list can be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DenyListUnavailable {
    /// It cannot be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// Nobody signed it who may.
    #[error("the list of what must not run from {from} does not count: {why}")]
    Signature {
        /// From where.
        from: String,
        /// What is wrong with its signatures, or that there is none.
        why: Untrusted,
    },
    /// It is no list.
    #[error("{from} cannot be used")]
    Invalid {
        /// From where.
        from: String,
        /// Why.
        #[source]
        source: InvalidDenyList,
    },
    /// An older one than is known: somebody holds the newer one back.
    #[error("{from} has the list {found}, and {known} is known: an older list takes no newer one's place")]
    Older {
        /// From where.
        from: String,
        /// Its sequence.
        found: u64,
        /// That of the one that is known.
        known: u64,
    },
    /// It cannot be kept.
    #[error("the list of what must not run cannot be kept in {path}")]
    Copy {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// A list that was verified, and when that was.
#[derive(Debug, Clone)]
struct KeptList {
    things: Arc<DeniedThings>,
    /// Seconds since 1970.
    fetched: u64,
    /// Where it came from: that of another place says nothing of this one.
    from: String,
}

/// The copy as it is written.
#[derive(Serialize, Deserialize)]
struct WrittenCopy {
    fetched: u64,
    from: String,
    list: String,
}

/// What the operator sees of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DenyListStatus {
    /// Where it comes from.
    pub source: String,
    /// Its sequence, where one was ever had.
    pub sequence: Option<u64>,
    /// How many things it names.
    pub denied: usize,
    /// Seconds since it was had.
    pub age_seconds: Option<u64>,
    /// Signers on it that no line of `[plugins] trust` knows: nothing is refused for them.
    pub unknown_signers: Vec<String>,
}

/// Keeps the list for one host, or for one command.
#[derive(Debug)]
pub struct DenyKeeper {
    copy: Option<PathBuf>,
    // Never held while something is fetched.
    kept: Mutex<Keeping>,
}

#[derive(Debug, Default)]
struct Keeping {
    last: Option<KeptList>,
    /// The copy as it was when it was read last.
    copy: Option<FileStamp>,
    /// The file of the list as it was when it was fetched last.
    file: Option<SignedFileStamp>,
    tried: Option<Instant>,
    /// What the host goes by: others on its data directory may have had a newer list since.
    taken: Option<DenyList>,
    /// Whether it was told that no list can be had, which is told once.
    is_told: bool,
    /// Signers that were told to be unknown, which is told once, too.
    told_unknown: Vec<String>,
}

impl DenyKeeper {
    /// Keeps it below this data directory; in memory alone where there is none.
    #[must_use]
    pub fn of(data: Option<&Path>) -> Self {
        Self { copy: data.map(|data| data.join("plugins").join(COPY)), kept: Mutex::default() }
    }

    /// What holds now. Fetches only where nothing is known that is young enough, or the file of the list is
    /// another one. Blocks.
    #[must_use]
    pub fn current(&self, settings: Option<&DenySettings>) -> DenyList {
        let Some(settings) = settings else { return DenyList::default() };
        let is_usable = self.known(settings).is_some_and(|kept| kept.age() <= settings.maximum_age);
        let problem = match is_usable && !self.is_other_file(settings) {
            true => None,
            false => self.refresh(settings).err().map(|error| with_causes(&error)),
        };
        if let Some(problem) = problem.as_ref().filter(|_| !is_usable && settings.fails == DenyFailure::Open) {
            tracing::warn!("there is no fresh list of what must not run (`[plugins.deny]`): {problem}");
        }
        self.held(settings, problem)
    }

    /// The same for a host that loads all its plugins by it; see [`DenyKeeper::look`].
    pub(crate) fn take(&self, trust: &TrustSettings) -> DenyList {
        let list = self.current(trust.deny.as_ref());
        let unknown: Vec<_> = list.unknown_signers(&trust.policy).iter().map(ToString::to_string).collect();
        let mut kept = self.kept.lock();
        kept.taken = Some(list.clone());
        if kept.told_unknown != unknown {
            kept.told_unknown.clone_from(&unknown);
            if !unknown.is_empty() {
                let named: Vec<_> = unknown.iter().take(MOST_TOLD).map(String::as_str).collect();
                tracing::warn!(
                    signers = unknown.len(),
                    "the list of what must not run names signers that no line of `[plugins] trust` knows, so nothing \
                     is refused for them: {}",
                    named.join(", ")
                );
            }
        }
        list
    }

    /// What holds by what is known.
    fn held(&self, settings: &DenySettings, problem: Option<String>) -> DenyList {
        match self.known(settings) {
            Some(kept) if kept.age() <= settings.maximum_age => DenyList::known(kept.things),
            _ if settings.fails == DenyFailure::Closed => {
                DenyList::missing(problem.unwrap_or_else(|| "the last one is too old".to_owned()))
            }
            known => DenyList::known(known.map(|kept| kept.things).unwrap_or_default()),
        }
    }

    fn is_other_file(&self, settings: &DenySettings) -> bool {
        file_of(settings).is_some_and(|file| SignedFileStamp::at(file) != self.kept.lock().file)
    }

    /// Fetches the list anew. Whether it is another one now. Blocks, some minutes at most.
    ///
    /// # Errors
    /// See [`DenyListUnavailable`]; the one before holds then.
    pub fn refresh(&self, settings: &DenySettings) -> Result<bool, DenyListUnavailable> {
        {
            let mut kept = self.kept.lock();
            (kept.tried, kept.file) = (Some(Instant::now()), file_of(settings).and_then(SignedFileStamp::at));
        }
        let from = settings.source.to_string();
        let logins = RegistryLogins::of_docker();
        let (bytes, manifest) = settings.source.fetch_deny_list(LIST_BYTES, &logins)?;
        if !settings.policy.trusts_nobody() {
            let fetched = settings.source.signatures(manifest.as_deref(), &logins)?;
            let found = FoundSignatures::from(fetched);
            let manifest = found.manifest.as_ref().map(|manifest| manifest.as_bytes());
            let artifact = SignedArtifact { component: &bytes, manifest };
            let verified = settings.policy.verify(artifact, &found.signatures);
            verified.map_err(|why| DenyListUnavailable::Signature { from: from.clone(), why })?;
        }
        let things = DeniedThings::read(&bytes);
        let things = things.map_err(|source| DenyListUnavailable::Invalid { from: from.clone(), source })?;
        let known = self.known(settings);
        if let Some(known) = known.as_ref().filter(|known| known.things.sequence > things.sequence) {
            let (found, known) = (things.sequence, known.things.sequence);
            return Err(DenyListUnavailable::Older { from, found, known });
        }
        let is_other = known.as_ref().is_none_or(|known| *known.things != things);
        // A file is looked at again and again.
        if is_other || known.is_none_or(|known| known.age() >= RETRY) {
            let list = String::from_utf8_lossy(&bytes).into_owned();
            let written = WrittenCopy { fetched: now(), from, list };
            self.keep(&written)?;
            let WrittenCopy { fetched, from, .. } = written;
            self.kept.lock().last = Some(KeptList { things: Arc::new(things), fetched, from });
        }
        Ok(is_other)
    }

    /// Fetches the list anew where that is due. Whether another one holds than the host went by so far, also
    /// where another host or a command fetched it. Blocks.
    pub(crate) fn look(&self, settings: &DenySettings) -> bool {
        if self.is_due(settings) {
            let refreshed = self.refresh(settings);
            let was_told = std::mem::replace(&mut self.kept.lock().is_told, refreshed.is_err());
            if let (Err(error), false) = (refreshed, was_told) {
                let told = with_causes(&error);
                tracing::warn!("the list of what must not run (`[plugins.deny]`) stays as it is: {told}");
            }
        }
        let held = self.held(settings, None);
        let before = self.kept.lock().taken.replace(held.clone());
        !before.is_some_and(|before| before.is_like(&held))
    }

    fn is_due(&self, settings: &DenySettings) -> bool {
        let is_fresh = self.known(settings).is_some_and(|known| known.age() < settings.refresh);
        let was_tried = self.kept.lock().tried.is_some_and(|tried| tried.elapsed() < RETRY);
        self.is_other_file(settings) || !(is_fresh || was_tried)
    }

    /// What is known of the list; `policy` is that of plugins.
    #[must_use]
    pub fn status(&self, settings: &DenySettings, policy: &TrustPolicy) -> DenyListStatus {
        let known = self.known(settings);
        let list = known.as_ref().map(|known| DenyList::known(Arc::clone(&known.things))).unwrap_or_default();
        DenyListStatus {
            source: settings.source.to_string(),
            sequence: known.as_ref().map(|known| known.things.sequence),
            denied: known.as_ref().map(|known| known.things.len()).unwrap_or_default(),
            age_seconds: known.map(|known| known.age().as_secs()),
            unknown_signers: list.unknown_signers(policy).iter().map(ToString::to_string).collect(),
        }
    }

    /// The last list from this place: another command may have had a newer one.
    fn known(&self, settings: &DenySettings) -> Option<KeptList> {
        let from = settings.source.to_string();
        let mut kept = self.kept.lock();
        let stamp = self.copy.as_deref().and_then(FileStamp::at);
        if std::mem::replace(&mut kept.copy, stamp) != stamp
            && let Some(copy) = self.copy.as_deref().and_then(read_copy)
            && kept.last.as_ref().is_none_or(|last| last.from != from || last.order() < copy.order())
        {
            kept.last = Some(copy);
        }
        kept.last.clone().filter(|last| last.from == from)
    }

    fn keep(&self, written: &WrittenCopy) -> Result<(), DenyListUnavailable> {
        let Some(path) = &self.copy else { return Ok(()) };
        let failed = |source| DenyListUnavailable::Copy { path: path.clone(), source };
        let directory = path.parent().unwrap_or(Path::new(""));
        private_files::make_directory(directory).map_err(failed)?;
        let text = serde_json::to_vec(written).map_err(|error| failed(error.into()))?;
        private_files::replace(path, &text).map_err(failed)
    }
}

impl KeptList {
    /// Of two from one place, the later one is greater. Two may be of one second.
    fn order(&self) -> (u64, u64) {
        (self.things.sequence, self.fetched)
    }

    fn age(&self) -> Duration {
        Duration::from_secs(now().saturating_sub(self.fetched))
    }
}

/// The file of the list, where it is in one.
fn file_of(settings: &DenySettings) -> Option<&Path> {
    match &settings.source {
        PluginSource::File(file) => Some(file),
        PluginSource::Address(_) | PluginSource::Registry(_) => None,
    }
}

/// A copy that cannot be read is none: the list is fetched anew then.
fn read_copy(path: &Path) -> Option<KeptList> {
    let bytes = regular_file::read(path, 2 * LIST_BYTES).ok()?;
    let WrittenCopy { fetched, from, list } = serde_json::from_slice(&bytes).ok()?;
    let things = DeniedThings::read(list.as_bytes()).ok()?;
    Some(KeptList { things: Arc::new(things), fetched, from })
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}
