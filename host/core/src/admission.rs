//! Which calls run now and which wait: ceilings by session, tenant and host, and a
//! queue that is fair by context.
//!
//! Free places go round the tenants that wait, and within a tenant round its
//! sessions, so that a session with a thousand waiting calls delays another
//! one by a single call. Every step takes constant time, however many calls wait.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Instant,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::{Code, Context, Error, HostLimits, SessionId, TenantId};

/// Admits calls up to the ceilings.
#[derive(Clone)]
pub struct Admission {
    queue: Arc<AdmissionQueue>,
}

/// What all clones of an [`Admission`], and all that it admits, share.
struct AdmissionQueue {
    limits: HostLimits,
    // A blocking lock: held for a few look-ups, never across an
    // await.
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    running: u64,
    waiting: u64,
    waiting_bytes: u64,
    tenants: HashMap<TenantId, Tenant>,
    /// Tenants that have a session in their ring and a free place of their own.
    ring: VecDeque<TenantId>,
}

#[derive(Default)]
struct Tenant {
    running: u64,
    waiting: u64,
    waiting_bytes: u64,
    in_ring: bool,
    sessions: HashMap<SessionId, Session>,
    /// Sessions that have a waiter and a free place of their own.
    ring: VecDeque<SessionId>,
}

#[derive(Default)]
struct Session {
    running: u64,
    in_ring: bool,
    waiters: VecDeque<Waiter>,
}

struct Waiter {
    turn: oneshot::Sender<Permit>,
    bytes: u64,
}

/// A place among the running calls, given back when dropped.
pub struct Permit {
    queue: Arc<AdmissionQueue>,
    tenant: TenantId,
    session: SessionId,
    armed: bool,
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.armed {
            let mut places = self.queue.lock();
            places.leave(&self.queue.limits, &self.tenant, &self.session);
            self.queue.dispatch(&mut places);
        }
    }
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Permit").field("session", &self.session).finish_non_exhaustive()
    }
}

impl Admission {
    /// Nothing runs yet.
    #[must_use]
    pub fn new(limits: HostLimits) -> Self {
        Self { queue: Arc::new(AdmissionQueue { limits, places: Mutex::default() }) }
    }

    /// How many calls run and how many wait.
    #[must_use]
    pub fn load(&self) -> (u64, u64) {
        let places = self.queue.lock();
        (places.running, places.waiting)
    }

    /// Waits for a place, at most until `until`. `bytes` is what the call holds
    /// while it waits. Dropping the future gives up the turn.
    ///
    /// # Errors
    /// `limit`, retryable, where too many calls wait already or the turn did
    /// not come in time.
    pub async fn admit(&self, context: &Context, bytes: u64, until: Instant) -> Result<Permit, Error> {
        let mut turn = match self.queue.enter(context, bytes)? {
            Admittance::Running(permit) => return Ok(permit),
            Admittance::Waiting(turn) => turn,
        };
        match tokio::time::timeout_at(until.into(), &mut turn.receiver).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(Error::retryable(
                Code::Limit,
                "too many calls are running, and this one's turn did not come in time (limit `wait_milliseconds`); try \
                 again later",
            )),
        }
    }
}

/// A call in the queue, which leaves it when this is dropped.
struct QueuedCall {
    queue: Arc<AdmissionQueue>,
    tenant: TenantId,
    session: SessionId,
    receiver: oneshot::Receiver<Permit>,
}

impl Drop for QueuedCall {
    fn drop(&mut self) {
        self.receiver.close();
        // A permit that came too late is given back before the lock is taken.
        drop(self.receiver.try_recv());
        self.queue.lock().forget_those_that_gave_up(&self.tenant, &self.session);
    }
}

/// How a call enters: it runs at once, or it waits for its turn.
enum Admittance {
    Running(Permit),
    Waiting(QueuedCall),
}

impl AdmissionQueue {
    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock()
    }

    fn enter(self: &Arc<Self>, context: &Context, bytes: u64) -> Result<Admittance, Error> {
        let limits = &self.limits;
        let mut guard = self.lock();
        let places = &mut *guard;
        let tenant = places.tenants.entry(context.tenant.clone()).or_default();
        let session = tenant.sessions.entry(context.session.clone()).or_default();
        if session.waiters.is_empty()
            && session.running < limits.calls_in_flight_per_session
            && tenant.running < limits.calls_in_flight_per_tenant
            && places.running < limits.calls_in_flight
        {
            session.running += 1;
            tenant.running += 1;
            places.running += 1;
            return Ok(Admittance::Running(self.permit(context.tenant.clone(), context.session.clone())));
        }
        if let Some(limit) = places.full(limits, context, bytes) {
            places.tidy(&context.tenant, &context.session);
            return Err(Error::retryable(
                Code::Limit,
                format!("too many calls wait already (limit `{limit}`); try again when some have been answered"),
            ));
        }
        let (turn, receiver) = oneshot::channel();
        places.wait(context, Waiter { turn, bytes });
        places.enrol(limits, &context.tenant, &context.session);
        self.dispatch(places);
        let (queue, tenant, session) = (Arc::clone(self), context.tenant.clone(), context.session.clone());
        Ok(Admittance::Waiting(QueuedCall { queue, tenant, session, receiver }))
    }

    fn permit(self: &Arc<Self>, tenant: TenantId, session: SessionId) -> Permit {
        Permit { queue: Arc::clone(self), tenant, session, armed: true }
    }

    /// Gives free places to the calls that are next.
    fn dispatch(self: &Arc<Self>, places: &mut Places) {
        while places.running < self.limits.calls_in_flight {
            let Some((tenant, session, waiter)) = places.next(&self.limits) else { return };
            if let Err(mut refused) = waiter.turn.send(self.permit(tenant, session)) {
                // The caller gave up. Its permit must not take the lock again.
                refused.armed = false;
                places.leave(&self.limits, &refused.tenant, &refused.session);
            }
        }
    }
}

impl Places {
    /// The limit that keeps another call of this size from waiting.
    fn full(&self, limits: &HostLimits, context: &Context, bytes: u64) -> Option<&'static str> {
        let (calls, held) =
            self.tenants.get(&context.tenant).map_or((0, 0), |tenant| (tenant.waiting, tenant.waiting_bytes));
        let reached = [
            ("calls_waiting_per_session", self.waiters(context) >= limits.calls_waiting_per_session),
            ("calls_waiting_per_tenant", calls >= limits.calls_waiting_per_tenant),
            ("calls_waiting", self.waiting >= limits.calls_waiting),
            ("waiting_bytes_per_tenant", held.saturating_add(bytes) > limits.waiting_bytes_per_tenant),
            ("waiting_bytes", self.waiting_bytes.saturating_add(bytes) > limits.waiting_bytes),
        ];
        reached.into_iter().find(|(_, reached)| *reached).map(|(limit, _)| limit)
    }

    fn waiters(&self, context: &Context) -> u64 {
        let session = self.tenants.get(&context.tenant).and_then(|tenant| tenant.sessions.get(&context.session));
        session.map_or(0, |session| session.waiters.len() as u64)
    }

    /// Puts a call into the queue.
    fn wait(&mut self, context: &Context, waiter: Waiter) {
        self.waiting += 1;
        self.waiting_bytes += waiter.bytes;
        let tenant = self.tenants.entry(context.tenant.clone()).or_default();
        tenant.waiting += 1;
        tenant.waiting_bytes += waiter.bytes;
        tenant.sessions.entry(context.session.clone()).or_default().waiters.push_back(waiter);
    }

    /// Puts a session, and its tenant, into the rings where they belong there.
    fn enrol(&mut self, limits: &HostLimits, tenant_id: &TenantId, session_id: &SessionId) {
        let Some(tenant) = self.tenants.get_mut(tenant_id) else { return };
        if let Some(session) = tenant.sessions.get_mut(session_id)
            && !session.in_ring
            && !session.waiters.is_empty()
            && session.running < limits.calls_in_flight_per_session
        {
            session.in_ring = true;
            tenant.ring.push_back(session_id.clone());
        }
        if !tenant.in_ring && !tenant.ring.is_empty() && tenant.running < limits.calls_in_flight_per_tenant {
            tenant.in_ring = true;
            self.ring.push_back(tenant_id.clone());
        }
    }

    /// Takes the next waiter, already counted as running.
    fn next(&mut self, limits: &HostLimits) -> Option<(TenantId, SessionId, Waiter)> {
        loop {
            let tenant_id = self.ring.pop_front()?;
            let tenant = self.tenants.get_mut(&tenant_id)?;
            tenant.in_ring = false;
            let Some(session_id) = tenant.ring.pop_front() else { continue };
            let Some(session) = tenant.sessions.get_mut(&session_id) else { continue };
            session.in_ring = false;
            let waiter = session.waiters.pop_front();
            if let Some(waiter) = &waiter {
                session.running += 1;
                tenant.running += 1;
                tenant.waiting -= 1;
                tenant.waiting_bytes -= waiter.bytes;
                self.running += 1;
                self.waiting -= 1;
                self.waiting_bytes -= waiter.bytes;
            }
            self.enrol(limits, &tenant_id, &session_id);
            match waiter {
                Some(waiter) => return Some((tenant_id, session_id, waiter)),
                None => self.tidy(&tenant_id, &session_id),
            }
        }
    }

    /// A running call ended.
    fn leave(&mut self, limits: &HostLimits, tenant_id: &TenantId, session_id: &SessionId) {
        self.running -= 1;
        if let Some(tenant) = self.tenants.get_mut(tenant_id) {
            tenant.running -= 1;
            if let Some(session) = tenant.sessions.get_mut(session_id) {
                session.running -= 1;
            }
        }
        self.enrol(limits, tenant_id, session_id);
        self.tidy(tenant_id, session_id);
    }

    /// Forgets contexts in which nothing runs or waits, so that invented
    /// sessions leave nothing behind.
    fn tidy(&mut self, tenant_id: &TenantId, session_id: &SessionId) {
        let Some(tenant) = self.tenants.get_mut(tenant_id) else { return };
        if let Some(session) = tenant.sessions.get(session_id)
            && session.running == 0
            && session.waiters.is_empty()
            && !session.in_ring
        {
            tenant.sessions.remove(session_id);
        }
        if tenant.sessions.is_empty() && tenant.running == 0 && !tenant.in_ring {
            self.tenants.remove(tenant_id);
        }
    }

    /// Removes the waiters of a session whose callers have gone.
    fn forget_those_that_gave_up(&mut self, tenant_id: &TenantId, session_id: &SessionId) {
        let Some(tenant) = self.tenants.get_mut(tenant_id) else { return };
        let Some(session) = tenant.sessions.get_mut(session_id) else { return };
        session.waiters.retain(|waiter| {
            let waits = !waiter.turn.is_closed();
            if !waits {
                tenant.waiting -= 1;
                tenant.waiting_bytes -= waiter.bytes;
                self.waiting -= 1;
                self.waiting_bytes -= waiter.bytes;
            }
            waits
        });
        self.tidy(tenant_id, session_id);
    }
}

#[cfg(test)]
mod tests;
