//! The workers of a host: which runs whose calls, and how many there are.

/// What has a worker of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkersBy {
    /// Each tenant.
    #[default]
    Tenant,
    /// Each plugin of each tenant.
    Plugin,
}

/// How plugins are isolated in processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsolationConfig {
    /// What has a worker of its own.
    pub by: WorkersBy,
    /// How many workers wait for the first call of a tenant.
    pub ahead: u64,
}

impl Default for IsolationConfig {
    fn default() -> Self {
        Self { by: WorkersBy::default(), ahead: 1 }
    }
}

#[cfg(target_os = "linux")]
mod workers {
    use std::{
        collections::HashMap,
        pin::pin,
        sync::{Arc, OnceLock},
        time::Duration,
    };

    use parking_lot::Mutex;
    use tokio::{
        runtime::Handle,
        sync::{Notify, OnceCell, OwnedSemaphorePermit, Semaphore},
        time::{Instant, timeout_at},
    };
    use tokio_util::sync::CancellationToken;
    use wharf_core::{Code, Error, HostLimits, PluginName, TenantId};
    use wharf_spawn::Spawner;

    use super::{IsolationConfig, WorkersBy};
    use crate::isolation::{
        process::{Worker, WorkerKey},
        setup::WorkerSetup,
    };

    /// How long a call waits for a worker where all have calls.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// A worker that is there, or that one call starts for all.
    type WorkerCell = Arc<OnceCell<Arc<Worker>>>;

    /// The workers of a host.
    pub(crate) struct WorkerPool {
        shared: Arc<SharedPool>,
    }

    struct SharedPool {
        config: IsolationConfig,
        limits: HostLimits,
        spawner: Spawner,
        places: Arc<Semaphore>,
        // Held for a look or an insertion.
        workers: Mutex<HashMap<WorkerKey, WorkerCell>>,
        ahead: Mutex<Vec<Arc<Worker>>>,
        /// Where workers are started ahead.
        runtime: OnceLock<(Handle, WorkerSetup)>,
        ending: CancellationToken,
        /// Told whenever a call in a worker ends, or a worker does.
        freed: Arc<Notify>,
    }

    impl Drop for WorkerPool {
        fn drop(&mut self) {
            self.shared.ending.cancel();
        }
    }

    impl WorkerPool {
        pub(crate) fn new(config: IsolationConfig, limits: HostLimits, spawner: Spawner) -> Self {
            let places = usize::try_from(limits.workers).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
            let shared = SharedPool {
                config,
                limits,
                spawner,
                places: Arc::new(Semaphore::new(places)),
                workers: Mutex::default(),
                ahead: Mutex::default(),
                runtime: OnceLock::new(),
                ending: CancellationToken::new(),
                freed: Arc::default(),
            };
            Self { shared: Arc::new(shared) }
        }

        /// How many workers there are.
        pub(crate) fn count(&self) -> u64 {
            self.shared.limits.workers.saturating_sub(self.shared.places.available_permits() as u64)
        }

        /// Starts workers ahead, on the runtime of the caller.
        pub(crate) fn start_ahead(&self, setup: &WorkerSetup) {
            if let Ok(runtime) = Handle::try_current() {
                self.shared.runtime.get_or_init(|| (runtime, setup.clone()));
                self.shared.refill();
            }
        }

        /// The worker for calls of a plugin by a tenant.
        pub(in crate::isolation) async fn worker(
            &self,
            tenant: &TenantId,
            plugin: &PluginName,
            setup: &WorkerSetup,
        ) -> Result<Arc<Worker>, Error> {
            let shared = &self.shared;
            let plugin = (shared.config.by == WorkersBy::Plugin).then(|| plugin.clone());
            let key = WorkerKey { tenant: tenant.clone(), plugin };
            loop {
                let cell = shared.when_freed(|| shared.cell(&key)).await?;
                let taken = async || shared.take(setup).await.inspect(|worker| worker.serve(key.clone()));
                let worker = cell.get_or_try_init(taken).await;
                let worker = worker.inspect_err(|_| shared.forget(&key, &cell))?;
                if worker.is_usable() {
                    return Ok(Arc::clone(worker));
                }
                worker.retire();
                shared.forget(&key, &cell);
            }
        }

        /// A worker that nobody else has, for one call on nobody's behalf.
        pub(crate) async fn alone(&self, setup: &WorkerSetup) -> Result<Arc<Worker>, Error> {
            self.shared.take(setup).await
        }
    }

    impl SharedPool {
        /// The worker of a key, or where it will be.
        fn cell(&self, key: &WorkerKey) -> Result<WorkerCell, Error> {
            let mut workers = self.workers.lock();
            if let Some(cell) = workers.get(key) {
                return Ok(Arc::clone(cell));
            }
            // Those that have ended count no more.
            workers.retain(|_, cell| cell.get().is_none_or(|worker| worker.is_usable()));
            let of_tenant = workers.keys().filter(|other| other.tenant == key.tenant).count() as u64;
            let most = self.limits.workers_per_tenant;
            if of_tenant >= most && !end_one_that_rests(&mut workers, |other| other.tenant == key.tenant) {
                return Err(full("workers_per_tenant", most));
            }
            Ok(Arc::clone(workers.entry(key.clone()).or_default()))
        }

        /// A place for a worker. One without a call is asked to make it.
        fn place(&self) -> Result<OwnedSemaphorePermit, Error> {
            Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
                end_one_that_rests(&mut self.workers.lock(), |_| true);
                full("workers", self.limits.workers)
            })
        }

        /// What there is room for now or in a moment: a call that has ended here may still end in its
        /// worker.
        async fn when_freed<T>(&self, attempt: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
            let until = Instant::now() + PATIENCE;
            loop {
                let mut freed = pin!(self.freed.notified());
                freed.as_mut().enable();
                match attempt() {
                    Ok(there) => return Ok(there),
                    Err(full) => timeout_at(until, freed).await.map_err(|_| full)?,
                }
            }
        }

        fn forget(&self, key: &WorkerKey, cell: &WorkerCell) {
            let mut workers = self.workers.lock();
            if workers.get(key).is_some_and(|present| Arc::ptr_eq(present, cell)) {
                workers.remove(key);
            }
        }

        /// A worker that was started ahead, or a new one.
        async fn take(self: &Arc<Self>, setup: &WorkerSetup) -> Result<Arc<Worker>, Error> {
            let ahead = loop {
                match self.ahead.lock().pop() {
                    Some(worker) if !worker.is_usable() => {}
                    other => break other,
                }
            };
            let taken = match ahead {
                Some(worker) => Ok(worker),
                None => self.start(setup).await,
            };
            self.refill();
            taken
        }

        async fn start(&self, setup: &WorkerSetup) -> Result<Arc<Worker>, Error> {
            let place = self.when_freed(|| self.place()).await?;
            self.start_in(place, setup).await
        }

        async fn start_in(&self, place: OwnedSemaphorePermit, setup: &WorkerSetup) -> Result<Arc<Worker>, Error> {
            let ends = (self.ending.child_token(), Arc::clone(&self.freed));
            Worker::start(&self.spawner, setup, &self.limits, ends, place).await
        }

        /// Starts as many ahead as there should be, as long as there is room for all.
        fn refill(self: &Arc<Self>) {
            let Some((runtime, setup)) = self.runtime.get() else { return };
            let (pool, setup) = (Arc::clone(self), setup.clone());
            runtime.spawn(async move {
                while (pool.ahead.lock().len() as u64) < pool.config.ahead && !pool.ending.is_cancelled() {
                    let Ok(place) = Arc::clone(&pool.places).try_acquire_owned() else { return };
                    match pool.start_in(place, &setup).await {
                        Ok(worker) => pool.ahead.lock().push(worker),
                        Err(error) => {
                            tracing::warn!("a process for plugins cannot be started ahead: {error}");
                            return;
                        }
                    }
                }
            });
        }
    }

    fn full(limit: &str, most: u64) -> Error {
        let told = format!(
            "all {most} processes for plugins have calls (limit `{limit}` under [host.limits]); try again later"
        );
        Error::retryable(Code::Limit, told)
    }

    /// Of the workers that may be ended, ends the one that has had no call for the longest time. It
    /// costs its tenant the start of another one.
    fn end_one_that_rests(workers: &mut HashMap<WorkerKey, WorkerCell>, may_end: impl Fn(&WorkerKey) -> bool) -> bool {
        let mut longest = None;
        for (key, cell) in workers.iter().filter(|(key, _)| may_end(key)) {
            let rested = cell.get().and_then(|worker| worker.rested());
            if rested > longest.as_ref().map(|(rested, _)| *rested) {
                longest = rested.map(|rested| (rested, key.clone()));
            }
        }
        let Some((_, key)) = longest else { return false };
        if let Some(worker) = workers.remove(&key).as_deref().and_then(OnceCell::get) {
            worker.retire();
        }
        true
    }
}

/// There are no workers.
#[cfg(not(target_os = "linux"))]
pub(crate) enum WorkerPool {}

#[cfg(target_os = "linux")]
pub(crate) use workers::WorkerPool;
