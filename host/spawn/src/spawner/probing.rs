//! Probes this machine at the first contained request, keeps the result where
//! namespaces work, and probes again after a while where they do not.
//!
//! A machine that was busy during a probe, or whose operator mends it,
//! is then not refused for the rest of the host's life.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::Spawner;
use crate::{
    Capabilities, MissingAbility, SandboxMechanism, SpawnError, landlock,
    probe::{self, ContainmentTrial, TrialOutcome},
    supervisor,
};

/// Longest time of one trial.
const PROBE_TIME: Duration = Duration::from_secs(10);
/// Pause after the first failed probe; each further failure doubles it...
const FIRST_AGAIN: Duration = Duration::from_secs(1);
/// ...up to this.
const LAST_AGAIN: Duration = Duration::from_secs(300);
/// Probes that a sandbox of namespaces may leave unanswered before it counts as broken.
const MOST_UNANSWERED: u32 = 3;

/// The probed capabilities of one spawner and its clones.
#[derive(Debug, Default)]
pub(super) struct CapabilityCache {
    // Held for a look-up.
    known: Mutex<Option<ProbedCapabilities>>,
    /// Held during a probe, so that other requests wait for it, or use the
    /// last result.
    probing: tokio::sync::Mutex<()>,
    warned: AtomicBool,
}

#[derive(Debug, Clone)]
struct ProbedCapabilities {
    capabilities: Arc<Capabilities>,
    /// When the next probe is due; none for a final result.
    again: Option<Instant>,
    /// Failed probes in a row.
    failures: u32,
    /// Those of them that did not answer in time.
    unanswered: u32,
}

impl ProbedCapabilities {
    fn is_due(&self) -> bool {
        self.again.is_some_and(|again| again <= Instant::now())
    }
}

/// Why a mechanism does not work.
struct ContainmentFailure {
    why: String,
    timed_out: bool,
    /// Whether the system does not allow it.
    forbidden: bool,
}

impl CapabilityCache {
    fn known(&self) -> MutexGuard<'_, Option<ProbedCapabilities>> {
        self.known.lock()
    }

    fn now(&self) -> Option<ProbedCapabilities> {
        self.known().clone()
    }

    /// Keeps other requests from probing at the same time.
    fn postpone(&self) {
        if let Some(known) = &mut *self.known() {
            known.again = Some(Instant::now() + LAST_AGAIN);
        }
    }
}

impl Spawner {
    /// The capabilities of this machine. The first call probes them, which takes
    /// some milliseconds; concurrent calls wait for the same answer. Where namespaces
    /// do not work, a later call probes again: after a second at first, and every
    /// five minutes in the end. Calls during such a probe get the
    /// last answer.
    ///
    /// # Errors
    /// [`SpawnError::Supervisor`] where this program cannot run itself again,
    /// [`SpawnError::NullDevice`] without that device.
    pub async fn capabilities(&self) -> Result<Arc<Capabilities>, SpawnError> {
        match self.capabilities.now() {
            Some(known) if !known.is_due() => Ok(known.capabilities),
            // The mechanism that works stays in use during the probe.
            Some(known) if known.capabilities.containment.is_ok() => {
                self.capabilities.postpone();
                let spawner = self.clone();
                tokio::spawn(async move {
                    let _turn = spawner.capabilities.probing.lock().await;
                    if let Err(error) = spawner.learn().await {
                        tracing::debug!(%error, "what contains children was not tried again");
                    }
                });
                Ok(known.capabilities)
            }
            Some(known) => match self.capabilities.probing.try_lock() {
                Ok(_turn) => self.learn().await,
                Err(_) => Ok(known.capabilities),
            },
            None => {
                let _turn = self.capabilities.probing.lock().await;
                match self.capabilities.now() {
                    Some(known) => Ok(known.capabilities),
                    None => self.learn().await,
                }
            }
        }
    }

    /// Probes this machine and keeps the result.
    async fn learn(&self) -> Result<Arc<Capabilities>, SpawnError> {
        let before = self.capabilities.now();
        let contains = before.as_ref().is_some_and(|known| known.capabilities.containment.is_ok());
        let (failures, unanswered) = before.map_or((0, 0), |known| (known.failures, known.unanswered));
        // A busy machine is no reason to contain less than before.
        let patient = !contains && unanswered < MOST_UNANSWERED;
        let (capabilities, timed_out, again) = self.probe(patient).await?;
        let capabilities = Arc::new(capabilities);
        self.warn(&capabilities, again);
        let wait = FIRST_AGAIN.saturating_mul(2_u32.saturating_pow(failures)).min(LAST_AGAIN);
        *self.capabilities.known() = Some(ProbedCapabilities {
            capabilities: Arc::clone(&capabilities),
            again: again.then(|| Instant::now() + wait),
            failures: if again { failures.saturating_add(1) } else { 0 },
            unanswered: if timed_out { unanswered.saturating_add(1) } else { 0 },
        });
        Ok(capabilities)
    }

    /// Warns once, in capitals, that an installed mechanism does not work.
    fn warn(&self, capabilities: &Capabilities, again: bool) {
        let warned = &self.capabilities.warned;
        for warning in &capabilities.warnings {
            if !warned.load(Relaxed) {
                tracing::warn!("children are contained in part: {warning}");
            }
        }
        let failed = capabilities.namespaces.as_ref().err().filter(|_| again);
        match (&capabilities.containment, failed) {
            (Ok(_), None) if capabilities.warnings.is_empty() => {
                if warned.swap(false, Relaxed) {
                    tracing::info!("children are contained again");
                }
            }
            (Ok(_), None) => warned.store(true, Relaxed),
            (Ok(SandboxMechanism::Landlock), Some(why)) if !warned.swap(true, Relaxed) => tracing::warn!(
                %why,
                "LANDLOCK CONTAINS CHILDREN, WHICH HIDES LESS: namespaces do not work; `required = \"namespaces\"` \
                 under [process] refuses them instead; see `wharf doctor`"
            ),
            (Err(missing), _) if !warned.swap(true, Relaxed) => {
                tracing::warn!(
                    %missing,
                    "CHILDREN CANNOT BE CONTAINED: those that have to be are refused; see `wharf doctor`"
                );
            }
            (Ok(_), Some(_)) | (Err(_), _) => {}
        }
    }

    /// The capabilities, whether a sandbox of namespaces did not answer, and whether to probe
    /// again. A patient probe lets Landlock not replace one that
    /// did not answer.
    async fn probe(&self, patient: bool) -> Result<(Capabilities, bool, bool), SpawnError> {
        supervisor::null().map_err(SpawnError::NullDevice)?;
        // Without a root, trials would fail for another reason than this machine's.
        self.root(None).await?;
        let allowed = |mechanism| self.only_mechanism.is_none_or(|only| only == mechanism);
        let (mut warnings, mut timed_out, mut settled) = (Vec::new(), false, false);
        let namespaces = if allowed(SandboxMechanism::Namespaces) {
            self.try_to_contain(SandboxMechanism::Namespaces, &mut warnings).await.map_err(|failed| {
                (timed_out, settled) = (failed.timed_out, failed.forbidden);
                MissingAbility(format!("a sandbox of namespaces {}", failed.why))
            })
        } else {
            settled = true;
            Err(MissingAbility("namespaces were not asked for".into()))
        };
        let waits = timed_out && patient;
        let containment = match &namespaces {
            Ok(()) => Ok(SandboxMechanism::Namespaces),
            Err(missing) if self.namespaces_required => Err(MissingAbility(format!(
                "{missing}, and the operator requires it (`required = \"namespaces\"` under [process])"
            ))),
            Err(missing) if waits || !allowed(SandboxMechanism::Landlock) => Err(missing.clone()),
            Err(missing) => match landlock::offered() {
                Ok(()) => match self.try_to_contain(SandboxMechanism::Landlock, &mut warnings).await {
                    Ok(()) => Ok(SandboxMechanism::Landlock),
                    Err(ContainmentFailure { why, .. }) => {
                        settled = false;
                        Err(MissingAbility(format!("{missing}; Landlock {why}")))
                    }
                },
                Err(also) => Err(MissingAbility(format!("{missing}; {also}"))),
            },
        };
        let again = containment.is_err() || (!settled && namespaces.is_err());
        let found = probe::capabilities(containment, namespaces);
        let capabilities = Capabilities { namespaces_required: self.namespaces_required, settled, warnings, ..found };
        Ok((capabilities, timed_out, again))
    }

    /// Tries whether this mechanism really runs a program here, as every user that children
    /// may be, and in a workspace such as sessions have.
    async fn try_to_contain(
        &self,
        mechanism: SandboxMechanism,
        warnings: &mut Vec<String>,
    ) -> Result<(), ContainmentFailure> {
        let failed = |why: String| ContainmentFailure { why, timed_out: false, forbidden: false };
        let made = match &self.probe_workspaces {
            Some(workspaces) => {
                let workspaces = workspaces.clone();
                let made = tokio::task::spawn_blocking(move || (workspaces.0)()).await.map_err(std::io::Error::other);
                Some(
                    made.flatten()
                        .map_err(|error| failed(format!("was not tried: no workspace can be made: {error}")))?,
                )
            }
            None => None,
        };
        let within = made.as_ref().map(|made| ContainmentTrial::within(&made.workspace, mechanism));
        for trial in ContainmentTrial::plain().chain(within) {
            let workspace = trial.workspace().cloned();
            let ended = async { self.start(trial.request, Some(mechanism), false).await?.wait().await };
            match tokio::time::timeout(PROBE_TIME, ended).await {
                Ok(Ok(end)) => match ContainmentTrial::outcome(workspace.as_ref(), mechanism, end.exit) {
                    TrialOutcome::Passed => {}
                    TrialOutcome::Partial(warning) => warnings.push(warning),
                    TrialOutcome::Failed(why) => return Err(failed(why)),
                },
                Ok(Err(error)) => {
                    let forbidden = matches!(error, SpawnError::Sandbox { forbidden: true, .. });
                    let why = format!("does not work here: {}", wharf_core::text::with_causes(&error));
                    return Err(ContainmentFailure { why, timed_out: false, forbidden });
                }
                Err(_) => {
                    let why = format!("does not answer within {} s", PROBE_TIME.as_secs());
                    return Err(ContainmentFailure { why, timed_out: true, forbidden: false });
                }
            }
        }
        Ok(())
    }
}
