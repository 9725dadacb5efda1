//! What is known of this machine: tried when it is first asked for, kept where
//! bubblewrap contains, and tried again after a while where it does not.
//!
//! A machine that was busy when it was tried, or on which somebody mends what was
//! missing, is not refused for the rest of the host's life.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::Spawner;
use crate::{Capabilities, Contained, SpawnError, landlock, probe, probe::Shown, probe::Trial, sandbox, supervisor};

/// How long one trial may take.
const PROBE_TIME: Duration = Duration::from_secs(10);
/// How soon a probe that failed is tried again; each further time takes twice as
/// long...
const FIRST_AGAIN: Duration = Duration::from_secs(1);
/// ...up to this.
const LAST_AGAIN: Duration = Duration::from_secs(300);
/// How often bubblewrap may not answer before it counts as what does not work.
const MOST_UNANSWERED: u32 = 3;

/// The knowledge of one spawner and its clones.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    // Held for a look-up.
    known: Mutex<Option<Known>>,
    /// Held while something is tried, so that others wait for that, or go by
    /// what is known.
    probing: tokio::sync::Mutex<()>,
    warned: AtomicBool,
}

#[derive(Debug, Clone)]
struct Known {
    capabilities: Arc<Capabilities>,
    /// When it is tried again, if it is.
    again: Option<Instant>,
    /// Probes in a row that did not end well.
    failures: u32,
    /// How many of these were not answered in time.
    unanswered: u32,
}

impl Known {
    fn is_due(&self) -> bool {
        self.again.is_some_and(|again| again <= Instant::now())
    }
}

/// Why something does not contain.
struct Failed {
    why: String,
    silent: bool,
}

impl Knowledge {
    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Option<Known> {
        self.known().clone()
    }

    /// Nobody else tries what is being tried.
    fn postpone(&self) {
        if let Some(known) = &mut *self.known() {
            known.again = Some(Instant::now() + LAST_AGAIN);
        }
    }
}

impl Spawner {
    /// What this machine can do. The first who asks has it tried, which takes
    /// some milliseconds; all others wait for the same answer. Where bubblewrap
    /// does not contain, it is tried again a second later at first, and every
    /// five minutes at last, when somebody asks: whoever asks meanwhile gets the
    /// answer before.
    ///
    /// # Errors
    /// [`SpawnError::Supervisor`] where this program cannot run itself again,
    /// [`SpawnError::NullDevice`] without that device.
    pub async fn capabilities(&self) -> Result<Arc<Capabilities>, SpawnError> {
        match self.knowledge.now() {
            Some(known) if !known.is_due() => Ok(known.capabilities),
            // What contains now goes on meanwhile.
            Some(known) if known.capabilities.containment.is_ok() => {
                self.knowledge.postpone();
                let spawner = self.clone();
                tokio::spawn(async move {
                    let _turn = spawner.knowledge.probing.lock().await;
                    if let Err(error) = spawner.learn().await {
                        tracing::debug!(%error, "what contains children was not tried again");
                    }
                });
                Ok(known.capabilities)
            }
            Some(known) => match self.knowledge.probing.try_lock() {
                Ok(_turn) => self.learn().await,
                Err(_) => Ok(known.capabilities),
            },
            None => {
                let _turn = self.knowledge.probing.lock().await;
                match self.knowledge.now() {
                    Some(known) => Ok(known.capabilities),
                    None => self.learn().await,
                }
            }
        }
    }

    /// Tries it, and keeps what that has shown.
    async fn learn(&self) -> Result<Arc<Capabilities>, SpawnError> {
        let before = self.knowledge.now();
        let contains = before.as_ref().is_some_and(|known| known.capabilities.containment.is_ok());
        let (failures, unanswered) = before.map_or((0, 0), |known| (known.failures, known.unanswered));
        // A machine that is busy is no reason to contain less than before.
        let patient = !contains && unanswered < MOST_UNANSWERED;
        let (capabilities, silent, again) = self.probe(patient).await?;
        let capabilities = Arc::new(capabilities);
        self.warn(&capabilities, again);
        let wait = FIRST_AGAIN.saturating_mul(2_u32.saturating_pow(failures)).min(LAST_AGAIN);
        *self.knowledge.known() = Some(Known {
            capabilities: Arc::clone(&capabilities),
            again: again.then(|| Instant::now() + wait),
            failures: if again { failures.saturating_add(1) } else { 0 },
            unanswered: if silent { unanswered.saturating_add(1) } else { 0 },
        });
        Ok(capabilities)
    }

    /// Says loudly, once, that what is there does not work.
    fn warn(&self, capabilities: &Capabilities, again: bool) {
        let warned = &self.knowledge.warned;
        for warning in &capabilities.warnings {
            if !warned.load(Relaxed) {
                tracing::warn!("children are contained in part: {warning}");
            }
        }
        let failed = capabilities.bubblewrap.as_ref().err().filter(|_| again);
        match (&capabilities.containment, failed) {
            (Ok(_), None) if capabilities.warnings.is_empty() => {
                if warned.swap(false, Relaxed) {
                    tracing::info!("children are contained again");
                }
            }
            (Ok(_), None) => warned.store(true, Relaxed),
            (Ok(Contained::Landlock), Some(why)) if !warned.swap(true, Relaxed) => tracing::warn!(
                why,
                "LANDLOCK CONTAINS CHILDREN, WHICH HIDES LESS: bubblewrap does not work; `required = \"bubblewrap\"` \
                 under [process] refuses them instead; see `wharf doctor`"
            ),
            (Err(missing), _) if !warned.swap(true, Relaxed) => {
                tracing::warn!(
                    missing,
                    "CHILDREN CANNOT BE CONTAINED: those that have to be are refused; see `wharf doctor`"
                );
            }
            (Ok(_), Some(_)) | (Err(_), _) => {}
        }
    }

    /// What holds here, whether bubblewrap did not answer, and whether it is to
    /// be tried again. Where this is patient, nothing less takes the place of what
    /// did not answer.
    async fn probe(&self, patient: bool) -> Result<(Capabilities, bool, bool), SpawnError> {
        supervisor::null().map_err(SpawnError::NullDevice)?;
        // A program that cannot run itself again can say nothing of this
        // machine.
        self.root(None).await?;
        let wanted = |contained| self.forced.is_none_or(|forced| forced == contained);
        let (mut warnings, mut silent, mut settled) = (Vec::new(), false, true);
        let mut bubblewrap_is_there = false;
        let bubblewrap = match sandbox::find() {
            _ if !wanted(Contained::Bubblewrap) => Err("it was not asked for".into()),
            None => Err("bubblewrap (the program `bwrap`) is not installed".into()),
            Some(_) => {
                bubblewrap_is_there = true;
                self.try_to_contain(Contained::Bubblewrap, &mut warnings).await.map_err(|failed| {
                    silent = failed.silent;
                    format!("bubblewrap is installed and {}", failed.why)
                })
            }
        };
        let waits = silent && patient;
        let containment = match &bubblewrap {
            Ok(()) => Ok(Contained::Bubblewrap),
            Err(missing) if self.bubblewrap_required => {
                settled = !bubblewrap_is_there;
                Err(format!("{missing}, and the operator requires it (`required = \"bubblewrap\"` under [process])"))
            }
            Err(missing) if waits || !wanted(Contained::Landlock) => {
                settled = !bubblewrap_is_there;
                Err(missing.clone())
            }
            Err(missing) => match landlock::offered() {
                Ok(()) => match self.try_to_contain(Contained::Landlock, &mut warnings).await {
                    Ok(()) => Ok(Contained::Landlock),
                    Err(Failed { why, .. }) => {
                        settled = false;
                        Err(format!("{missing}; Landlock {why}"))
                    }
                },
                Err(also) => {
                    settled = !bubblewrap_is_there;
                    Err(format!("{missing}; {also}"))
                }
            },
        };
        let again = containment.is_err() || (bubblewrap_is_there && bubblewrap.is_err());
        let found = probe::capabilities(containment, bubblewrap);
        let bubblewrap_required = self.bubblewrap_required;
        Ok((Capabilities { bubblewrap_is_there, bubblewrap_required, settled, warnings, ..found }, silent, again))
    }

    /// Whether this really runs a program here, as every user that it is to, and
    /// in a place such as sessions have; if not, why.
    async fn try_to_contain(&self, contained: Contained, warnings: &mut Vec<String>) -> Result<(), Failed> {
        let loud = |why: String| Failed { why, silent: false };
        let made = match &self.places {
            Some(places) => {
                let places = places.clone();
                let made = tokio::task::spawn_blocking(move || (places.0)()).await.map_err(std::io::Error::other);
                Some(
                    made.flatten()
                        .map_err(|error| loud(format!("was not tried: no workspace can be made: {error}")))?,
                )
            }
            None => None,
        };
        let trials = Trial::plain().chain(made.as_ref().map(|made| Trial::within(&made.place, contained)));
        for trial in trials {
            let place = trial.place().cloned();
            let ended = async { self.start(trial.request, Some(contained), false).await?.wait().await };
            match tokio::time::timeout(PROBE_TIME, ended).await {
                Ok(Ok(ended)) => match Trial::shown(place.as_ref(), contained, ended.exit) {
                    Shown::Well => {}
                    Shown::InPart(warning) => warnings.push(warning),
                    Shown::Broken(why) => return Err(loud(why)),
                },
                Ok(Err(error)) => {
                    let error = wharf_core::text::with_causes(&error);
                    return Err(loud(format!("does not work here: {error}")));
                }
                Err(_) => {
                    let why = format!("does not answer within {} s", PROBE_TIME.as_secs());
                    return Err(Failed { why, silent: true });
                }
            }
        }
        Ok(())
    }
}
