//! Calls that wait until a person allows them, and what was allowed for the rest of a session.
//!
//! Knows neither which calls those are nor how people are asked. An agent has no way here: its
//! calls wait, and hear of nobody else's.

pub(crate) mod by_client;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{oneshot, watch};
pub use wharf_core::service::operator::ApprovalAnswer;
use wharf_core::{
    AssistantId, Code, Context, Digest, Error, HostLimits, PluginName, Quota, SessionId, Share, TenantId, ThreadId,
    quota::Bounds, service::Caller,
};

/// What of the arguments is shown: the beginning of longer ones.
const MOST_SHOWN: usize = 64 << 10;
/// What of a tenant is remembered as allowed for a session. Past it, what was allowed first is asked
/// anew.
const MOST_REMEMBERED: usize = 1_024;

/// A call that waits for a person.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct WaitingCall {
    /// Names it, for [`Approvals::answer`].
    pub id: String,
    /// The name of the tool that clients see.
    pub tool: String,
    /// The plugin whose tool it is; `app` for those of the app and of front ends.
    pub plugin: PluginName,
    /// What the component is; absent for tools of the app and of front ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// On whose behalf.
    pub tenant: TenantId,
    /// In which session.
    pub session: SessionId,
    /// By which assistant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant: Option<AssistantId>,
    /// In which thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// The program that calls, as it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Arc<str>>,
    /// The beginning of its arguments, as JSON text: at most 64 KiB.
    pub arguments: String,
    /// How many bytes the whole text has.
    pub argument_bytes: u64,
    /// Milliseconds that it has waited.
    pub waited_milliseconds: u64,
    /// Milliseconds after which it is refused.
    pub left_milliseconds: u64,
}

/// What came of waiting, for the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approval {
    Allowed,
    AllowedForSession,
    AllowedByRule,
    AllowedByClient,
    Refused,
    RefusedByClient,
    TimedOut,
    Withdrawn,
}

impl Approval {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::AllowedForSession => "allowed-for-session",
            Self::AllowedByRule => "allowed-by-rule",
            Self::AllowedByClient => "allowed-by-client",
            Self::Refused => "refused",
            Self::RefusedByClient => "refused-by-client",
            Self::TimedOut => "timed-out",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// What a call asks for.
pub(crate) struct AskedCall<'a> {
    pub(crate) tool: &'a str,
    pub(crate) plugin: PluginName,
    pub(crate) digest: Option<Digest>,
    pub(crate) caller: &'a Caller,
    pub(crate) arguments: &'a str,
    pub(crate) wait: Duration,
}

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
    began: Instant,
    until: Instant,
    answer: oneshot::Sender<(ApprovalAnswer, Approval)>,
    _place: Share,
}

#[derive(Debug, PartialEq, Eq)]
struct Remembered {
    session: SessionId,
    tool: String,
    digest: Option<Digest>,
}

impl Remembered {
    fn of(call: &WaitingCall) -> Self {
        Self { session: call.session.clone(), tool: call.tool.clone(), digest: call.digest }
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
                self.remember(Remembered::of(&waiting.call), &waiting.call.tenant);
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
        let Context { tenant, session, .. } = &asked.caller.context;
        let one = Remembered { session: session.clone(), tool: asked.tool.to_owned(), digest: asked.digest };
        self.remember(one, tenant);
    }

    /// Whether the tool may run in this session, since a person has said so before.
    pub(crate) fn is_remembered(&self, asked: &AskedCall<'_>) -> bool {
        let Context { tenant, session, .. } = &asked.caller.context;
        let remembered = self.inner.remembered.lock();
        remembered.get(tenant).is_some_and(|of_tenant| {
            of_tenant
                .iter()
                .any(|known| known.session == *session && known.tool == asked.tool && known.digest == asked.digest)
        })
    }

    /// Waits until a person says that a call may run. `told` hears that it waits, and what came
    /// of it, also where nobody waits for the call any more.
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
            events.waits("a person has to allow this call");
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
                let told = format!(
                    "nobody allowed this call within {} seconds (`wait_seconds` under [approvals]), so it has not run; ask \
                     the person to look at `wharf approvals`, and call again then",
                    asked.wait.as_secs()
                );
                return Err(Error::new(Code::Denied, told));
            }
        };
        entry.ended(outcome);
        match answer {
            ApprovalAnswer::Once | ApprovalAnswer::Session => Ok(()),
            ApprovalAnswer::Refuse(why) if why.is_empty() => {
                Err(Error::new(Code::Denied, "a person has refused this call, and it has not run"))
            }
            ApprovalAnswer::Refuse(why) => {
                Err(Error::new(Code::Denied, format!("a person has refused this call, and it has not run: {why}")))
            }
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
            waited_milliseconds: 0,
            left_milliseconds: 0,
        };
        waiting.insert(id, Waiting { call, began: now, until: now + asked.wait, answer: sender, _place: place });
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
