//! Calls that wait until a person allows them or what they ask for, and what was allowed for the rest
//! of a session.
//!
//! Knows neither which those are nor how people are asked. An agent has no way here: its
//! calls wait, and hear of nobody else's.

mod asked;
pub(crate) mod by_client;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
pub use wharf_core::service::operator::ApprovalAnswer;
use wharf_core::{Code, Context, Digest, Error, HostLimits, Quota, SessionId, Share, TenantId, quota::Bounds};

use asked::MOST_SHOWN;
pub use asked::WaitingCall;
pub(crate) use asked::{Approval, AskedCall, WantedAct};

/// What of a tenant is remembered as allowed for a session. Past it, what was allowed first is asked
/// anew.
const MOST_REMEMBERED: usize = 1_024;

/// The calls of one host that wait for a person. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Approvals {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    places: Arc<Quota>,
    // Held for a look-up.
    waiting: Mutex<BTreeMap<u32, Waiting>>,
    remembered: Mutex<HashMap<TenantId, VecDeque<Remembered>>>,
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct Waiting {
    call: WaitingCall,
    remembers: Remembered,
    began: Instant,
    until: Instant,
    answer: oneshot::Sender<(ApprovalAnswer, Approval)>,
    _place: Share,
}

/// What a person has allowed for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Remembered {
    session: SessionId,
    digest: Option<Digest>,
    what: RememberedKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RememberedKind {
    /// Calls of a tool.
    Tool(String),
    /// A command or an origin, for whichever tool of the component.
    Act(Digest),
}

impl Remembered {
    fn of(asked: &AskedCall<'_>) -> Self {
        let what = match asked.act {
            Some(act) => RememberedKind::Act(act.digest()),
            None => RememberedKind::Tool(asked.tool.to_owned()),
        };
        Self { session: asked.caller.context.session.clone(), digest: asked.digest, what }
    }
}

impl Approvals {
    pub(crate) fn new(limits: &HostLimits) -> Self {
        let places = Quota::new(Bounds {
            resource: "places of calls that wait for a person",
            section: "[host.limits]",
            session: Some(("waiting_approvals_per_session", limits.waiting_approvals_per_session)),
            tenant: ("waiting_approvals_per_tenant", limits.waiting_approvals_per_tenant),
            host: ("waiting_approvals", limits.waiting_approvals),
        });
        let inner = Inner {
            places,
            waiting: Mutex::default(),
            remembered: Mutex::default(),
            changed: watch::Sender::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// All that wait now, those that began first before others.
    #[must_use]
    pub fn waiting(&self) -> Vec<WaitingCall> {
        let now = Instant::now();
        let mut all: Vec<_> = self.inner.waiting.lock().values().map(|waiting| waiting.shown(now)).collect();
        all.sort_by_key(|call| std::cmp::Reverse(call.waited_milliseconds));
        all
    }

    /// Tells of each change of what waits.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<()> {
        self.inner.changed.subscribe()
    }

    /// Answers one. What it was; nothing where none of this id waits any more.
    pub fn answer(&self, id: &str, answer: ApprovalAnswer) -> Option<WaitingCall> {
        let id = u32::from_str_radix(id, 16).ok().filter(|_| id.len() == ID_DIGITS)?;
        let waiting = self.inner.waiting.lock().remove(&id)?;
        let outcome = match &answer {
            ApprovalAnswer::Once => Approval::Allowed,
            ApprovalAnswer::Session => {
                self.remember(waiting.remembers.clone(), &waiting.call.tenant);
                Approval::AllowedForSession
            }
            ApprovalAnswer::Refuse(_) => Approval::Refused,
        };
        let call = waiting.shown(Instant::now());
        self.end(waiting, answer, outcome).then_some(call)
    }

    /// Lets those run that no rule asks for any more.
    pub(crate) fn reconsider(&self, asks: impl Fn(&WaitingCall) -> bool) {
        let freed: Vec<_> = {
            let mut waiting = self.inner.waiting.lock();
            let ids: Vec<_> = waiting.iter().filter(|(_, one)| !asks(&one.call)).map(|(id, _)| *id).collect();
            ids.into_iter().filter_map(|id| waiting.remove(&id)).collect()
        };
        for one in freed {
            self.end(one, ApprovalAnswer::Once, Approval::AllowedByRule);
        }
    }

    fn end(&self, waiting: Waiting, answer: ApprovalAnswer, outcome: Approval) -> bool {
        let Waiting { answer: sender, _place: place, .. } = waiting;
        let heard = sender.send((answer, outcome)).is_ok();
        drop(place);
        self.inner.changed.send_replace(());
        heard
    }

    fn remember(&self, one: Remembered, tenant: &TenantId) {
        let mut remembered = self.inner.remembered.lock();
        let of_tenant = remembered.entry(tenant.clone()).or_default();
        of_tenant.retain(|known| *known != one);
        if of_tenant.len() >= MOST_REMEMBERED {
            of_tenant.pop_front();
        }
        of_tenant.push_back(one);
    }

    /// Lets further calls of the tool run in this session.
    pub(crate) fn allow_for_session(&self, asked: &AskedCall<'_>) {
        self.remember(Remembered::of(asked), &asked.caller.context.tenant);
    }

    /// Whether the tool may run in this session, or do what it asks for, since a person has said so
    /// before.
    pub(crate) fn is_remembered(&self, asked: &AskedCall<'_>) -> bool {
        let one = Remembered::of(asked);
        let remembered = self.inner.remembered.lock();
        remembered.get(&asked.caller.context.tenant).is_some_and(|of_tenant| of_tenant.contains(&one))
    }

    /// Waits until a person says that a call may run, or do what it asks for. `told` hears that it
    /// waits, and what came of it, also where nobody waits for the call any more.
    ///
    /// # Errors
    /// `denied` where a person refuses it, or says nothing in time; `limit` where too many wait;
    /// `cancelled`.
    pub(crate) async fn wait(&self, asked: AskedCall<'_>, told: impl Fn(Option<Approval>)) -> Result<(), Error> {
        if self.is_remembered(&asked) {
            return Ok(());
        }
        let Context { tenant, session, .. } = &asked.caller.context;
        let place = self.inner.places.take(tenant, session, 1)?;
        told(None);
        let mut entry = self.enter(&asked, place, &told);
        if let Some(events) = &asked.caller.events {
            events.waits(asked.waits());
        }
        let answered = tokio::select! {
            biased;
            answered = &mut entry.answer => Some(answered),
            () = asked.caller.cancel.cancelled() => return Err(Error::new(Code::Cancelled, "the call was cancelled")),
            // Somebody who was quicker has been told that the call runs.
            () = tokio::time::sleep(asked.wait) => match entry.take_out() {
                true => None,
                false => Some((&mut entry.answer).await),
            },
        };
        let (answer, outcome) = match answered {
            Some(Ok(answered)) => answered,
            Some(Err(_)) => return Err(Error::retryable(Code::Unavailable, "the host ends")),
            None => {
                entry.ended(Approval::TimedOut);
                return Err(Error::new(Code::Denied, asked.timed_out()));
            }
        };
        entry.ended(outcome);
        match answer {
            ApprovalAnswer::Once | ApprovalAnswer::Session => Ok(()),
            ApprovalAnswer::Refuse(why) => Err(Error::new(Code::Denied, asked.refused(&why))),
        }
    }

    fn enter<'t, T: Fn(Option<Approval>)>(&self, asked: &AskedCall<'_>, place: Share, told: &'t T) -> Entry<'t, T> {
        let (sender, answer) = oneshot::channel();
        let now = Instant::now();
        let mut waiting = self.inner.waiting.lock();
        // Random, so that hosts on one data directory have others.
        let id = loop {
            let id = fastrand::u32(..);
            if !waiting.contains_key(&id) {
                break id;
            }
        };
        let Context { tenant, session, assistant, thread } = asked.caller.context.clone();
        let call = WaitingCall {
            id: format!("{id:08x}"),
            tool: asked.tool.to_owned(),
            plugin: asked.plugin.clone(),
            digest: asked.digest,
            tenant,
            session,
            assistant,
            thread,
            client: asked.caller.client.clone(),
            arguments: wharf_core::text::cut(asked.arguments, MOST_SHOWN).to_owned(),
            argument_bytes: asked.arguments.len() as u64,
            wants: asked.act.map(WantedAct::words),
            rule: asked.act.and_then(WantedAct::rule),
            waited_milliseconds: 0,
            left_milliseconds: 0,
        };
        let (remembers, until) = (Remembered::of(asked), now + asked.wait);
        waiting.insert(id, Waiting { call, remembers, began: now, until, answer: sender, _place: place });
        drop(waiting);
        self.inner.changed.send_replace(());
        Entry { approvals: self.clone(), id, answer, told, is_over: false }
    }
}

/// Digits of an id.
const ID_DIGITS: usize = 8;

impl Waiting {
    fn shown(&self, now: Instant) -> WaitingCall {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        WaitingCall {
            waited_milliseconds: milliseconds(now.saturating_duration_since(self.began)),
            left_milliseconds: milliseconds(self.until.saturating_duration_since(now)),
            ..self.call.clone()
        }
    }
}

/// A call among those that wait, as long as it does.
struct Entry<'t, T: Fn(Option<Approval>)> {
    approvals: Approvals,
    id: u32,
    answer: oneshot::Receiver<(ApprovalAnswer, Approval)>,
    told: &'t T,
    is_over: bool,
}

impl<T: Fn(Option<Approval>)> Entry<'_, T> {
    /// Whether it was still among those that wait.
    fn take_out(&self) -> bool {
        let left = self.approvals.inner.waiting.lock().remove(&self.id);
        if left.is_some() {
            self.approvals.inner.changed.send_replace(());
        }
        left.is_some()
    }

    fn ended(&mut self, outcome: Approval) {
        self.is_over = true;
        (self.told)(Some(outcome));
    }
}

impl<T: Fn(Option<Approval>)> Drop for Entry<'_, T> {
    /// Nobody waits for the call any more, or it has been answered.
    fn drop(&mut self) {
        self.take_out();
        if !self.is_over {
            (self.told)(Some(Approval::Withdrawn));
        }
    }
}

#[cfg(test)]
mod tests;
