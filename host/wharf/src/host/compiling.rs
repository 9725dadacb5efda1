//! Components that are compiled while the host serves, and calls that wait for them.
//!
//! Compiling holds no lock and no host. What it brings takes its place by the same way as any
//! other change of plugins, and by what is configured, added and switched off then: a plugin
//! that was taken away meanwhile does not come back, and one that was changed is looked at anew.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{Semaphore, watch},
    task::spawn_blocking,
    time::{sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Code, Error, PluginName,
    audit::AuditOutcome,
    service::{Caller, Preparing},
    text::with_causes,
};
use wharf_engine::{Component, Engine};

use super::{Host, WeakHost};
use crate::{folder::SETTLE, installed::Compiling, loading::CompiledPlugin};

/// Components that are compiled side by side: each takes the memory of a compiler, and as many
/// threads as the machine has.
const AT_ONCE: usize = 2;

/// What is being compiled for a host, and its end.
#[derive(Default)]
pub(super) struct Compilations {
    stop: CancellationToken,
    /// How many plugins are compiled or wait for that.
    unfinished: watch::Sender<usize>,
    /// For those that are compiled because another host asks.
    #[cfg(feature = "postgres")]
    proposed: Places,
}

/// As many as are compiled side by side.
struct Places(Arc<Semaphore>);

impl Default for Places {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Compilations {
    /// Ends the children that compile, and waits so long for them.
    pub(super) async fn end(&self, patience: Duration) {
        self.stop.cancel();
        let mut unfinished = self.unfinished.subscribe();
        // The host ends whether they do or not; what is left is killed with it.
        let _ = timeout(patience, unfinished.wait_for(|count| *count == 0)).await;
    }

    /// A component that is compiled because another host asks: the places for it, what stops it, and
    /// its count.
    #[cfg(feature = "postgres")]
    pub(super) fn propose(&self) -> (Arc<Semaphore>, CancellationToken, Unfinished) {
        (Arc::clone(&self.proposed.0), self.stop.child_token(), self.begin())
    }

    fn begin(&self) -> Unfinished {
        self.unfinished.send_modify(|count| *count += 1);
        Unfinished(self.unfinished.clone())
    }
}

impl Drop for Compilations {
    /// Nobody is left to have what is compiled.
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// One plugin that is counted as unfinished.
pub(super) struct Unfinished(watch::Sender<usize>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl Host {
    /// Begins to compile all plugins that are listed as such. Returns at once.
    pub(super) fn compile_what_is_listed(&self) {
        let Places(places) = Places::default();
        for name in self.compiling() {
            let job = Compilation {
                host: self.downgrade(),
                engine: self.shared.engine.clone(),
                name,
                places: Arc::clone(&places),
                stop: self.shared.compilations.stop.clone(),
            };
            let unfinished = self.shared.compilations.begin();
            tokio::spawn(async move {
                job.run().await;
                drop(unfinished);
            });
        }
    }

    /// The component of a plugin that is still listed as being compiled; nothing of it where it
    /// cannot be read.
    async fn uncompiled(&self, name: &PluginName) -> Option<Option<Component>> {
        // A change of plugins that began before decides first.
        let _reloading = self.shared.sources.reloading.lock().await;
        self.registry().plugins().compiling(name)?;
        let (shared, name) = (Arc::clone(&self.shared), name.clone());
        spawn_blocking(move || shared.sources.component(&shared.engine, &name)).await.ok()
    }

    /// Puts what was compiled in its place. False where it is to be compiled again, since the
    /// component has changed meanwhile.
    async fn take_compiled(&self, name: &PluginName, compiled: Option<CompiledPlugin>) -> bool {
        let _reloading = self.shared.sources.reloading.lock().await;
        if self.registry().plugins().compiling(name).is_none() {
            // Somebody has taken it away or put another one in its place.
            return true;
        }
        let (shared, wanted) = (Arc::clone(&self.shared), name.clone());
        let loading = spawn_blocking(move || {
            let present = Self { shared: Arc::clone(&shared) }.registry();
            shared.sources.load_compiled(&shared.engine, present.plugins(), &wanted, compiled.as_ref())
        });
        // The runtime ends, and the host with it.
        let Ok(found) = loading.await else { return true };
        let is_over = found.compiling.is_empty();
        let changed = self.change_plugins(|plugins| {
            // An app waits for no reload.
            plugins.compiling(name).ok_or(())?;
            plugins.forget(name);
            plugins.take(found);
            Ok::<_, ()>(())
        });
        is_over || changed.is_err()
    }

    /// What a call of this name waits for.
    pub(super) fn wait_for_compiled(&self, caller: &Arc<Caller>, name: &str) -> Option<Preparing> {
        self.awaited(caller, name)?;
        let (host, caller, name) = (self.clone(), Arc::clone(caller), name.to_owned());
        Some(Box::pin(async move {
            let waited = host.compiled(&caller, || host.awaited(&caller, &name)).await;
            if let Err(error) = &waited {
                // Nobody looks it up any more, so this is its one line of audit.
                host.shared.recorder.begin(&caller, &name, None).ended(AuditOutcome::Failed(error.code));
            }
            waited
        }))
    }

    fn awaited(&self, caller: &Caller, name: &str) -> Option<Compiling> {
        let awaited = self.registry().awaited(caller.viewer(), name)?.clone();
        self.seen(caller.viewer(), name).is_none().then_some(awaited)
    }

    /// Waits as long as a plugin is awaited, and tells the caller once of each.
    pub(super) async fn compiled(&self, caller: &Caller, awaited: impl Fn() -> Option<Compiling>) -> Result<(), Error> {
        let mut changes = self.shared.changed.subscribe();
        let began = Instant::now();
        let mut told = None;
        // Looked at after it was subscribed to: no change is missed.
        while let Some(Compiling { name: plugin, patience, .. }) = awaited() {
            if let Some(events) = caller.events.as_ref().filter(|_| told.as_ref() != Some(&plugin)) {
                events.waits(&format!("the plugin {plugin} is being compiled"));
            }
            tokio::select! {
                biased;
                () = caller.cancel.cancelled() => return Err(Error::new(Code::Cancelled, "the call was cancelled")),
                () = self.shared.compilations.stop.cancelled() => {
                    return Err(Error::retryable(Code::Unavailable, "the host ends"));
                }
                _ = changes.changed() => {}
                () = sleep_until((began + patience).into()) => return Err(late(&plugin, patience)),
            }
            told = Some(plugin);
        }
        Ok(())
    }
}

fn late(plugin: &PluginName, patience: Duration) -> Error {
    let waited = patience.as_millis();
    let told = format!(
        "the plugin {plugin} is still being compiled after {waited} ms (limit `wall_time_milliseconds`); ask \
         again later"
    );
    Error::retryable(Code::Timeout, told)
}

/// One plugin that is compiled, until it has become something.
struct Compilation {
    host: WeakHost,
    engine: Engine,
    name: PluginName,
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

impl Compilation {
    async fn run(self) {
        loop {
            let place = tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                place = self.places.acquire() => place,
            };
            // Held for moments only, so that a host without another owner ends.
            let component = match self.host.upgrade() {
                Some(host) => host.uncompiled(&self.name).await,
                None => return,
            };
            let Some(component) = component else { return };
            let compiled = match component {
                Some(component) => Some(self.compiled(component).await),
                None => None,
            };
            drop(place);
            if self.stop.is_cancelled() {
                return;
            }
            let Some(host) = self.host.upgrade() else { return };
            if host.take_compiled(&self.name, compiled).await {
                return;
            }
            drop(host);
            // Somebody may still write it.
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = sleep(SETTLE) => {}
            }
        }
    }

    async fn compiled(&self, component: Component) -> CompiledPlugin {
        let (began, digest) = (Instant::now(), component.digest());
        let (engine, name, stop) = (self.engine.clone(), self.name.clone(), self.stop.clone());
        let compiling = spawn_blocking(move || {
            let plugin = engine.load_unless(name, component, &stop)?;
            plugin.prepare().map(|()| plugin)
        });
        let outcome = match compiling.await {
            Ok(outcome) => outcome.map_err(|error| with_causes(&error)),
            Err(_) => Err("compiling it was interrupted".to_owned()),
        };
        CompiledPlugin { digest, outcome, took: began.elapsed() }
    }
}
