//! Telling clients that something has changed: those of the older era unasked, or where
//! they watch a resource, those of the newer where they have subscribed.
//!
//! Owns which list of tools the client was shown last, and which changes it hears of.
//! Knows no tool, prompt or resource.

mod notice;
mod watched;

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard};
use rmcp::{
    ErrorData, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::{Peer, SubscriptionContext},
};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Context, TenantId, ToolDefinition,
    service::{AllowedPlugins, Viewer, offer::Change},
};

use crate::served::{Offered, Served};
use notice::{ChangeNotice, ChangeSource};
use watched::{MAX_URI_BYTES, MAX_WATCHED, WatchedResources, same_conversation};

/// Subscriptions at once: a client needs one.
const MAX_SUBSCRIPTIONS: usize = 16;

/// The changes that one connection hears of.
pub(crate) struct ChangeNotifier {
    /// What was listed last counts as seen; nothing where lists never change.
    // Blocking locks: held for a copy or a comparison.
    tools: Option<Mutex<watch::Receiver<u64>>>,
    /// The list that the client was shown last, where it may use some plugins alone: changes
    /// of the others are none to it.
    shown: Mutex<Option<Arc<[ToolDefinition]>>>,
    /// What was announced to a client of the older era, and what has changed since.
    opened: Mutex<Option<AnnouncedOffers>>,
    announces: AtomicBool,
    /// What a client of the newer era hears of from before it is told that it has subscribed.
    subscribing: Mutex<VecDeque<broadcast::Receiver<Change>>>,
    subscriptions: AtomicUsize,
    watching: WatchedResources,
    /// Whose connection it is, and which plugins it may use.
    tenant: TenantId,
    plugins: Option<AllowedPlugins>,
    over: CancellationToken,
}

struct AnnouncedOffers {
    offered: Offered,
    since: Option<broadcast::Receiver<Change>>,
}

impl ChangeNotifier {
    /// `over` fires when the connection ends.
    pub(crate) fn new(served: &Served, tenant: TenantId, over: CancellationToken) -> Self {
        Self {
            tools: served.tools.changes(&tenant).map(Mutex::new),
            shown: Mutex::new(None),
            opened: Mutex::new(None),
            announces: AtomicBool::new(false),
            subscribing: Mutex::default(),
            subscriptions: AtomicUsize::new(0),
            watching: WatchedResources::default(),
            tenant,
            plugins: served.plugins.clone(),
            over,
        }
    }

    /// Whether the list of tools ever changes.
    pub(crate) fn of_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// What a client of the older era watches.
    pub(crate) fn watching(&self) -> &WatchedResources {
        &self.watching
    }

    /// The tools, for a client that is shown them now.
    pub(crate) fn list(&self, served: &Served) -> Arc<[ToolDefinition]> {
        // Before they are read: what changes meanwhile is told.
        if let Some(changes) = &self.tools {
            lock(changes).borrow_and_update();
        }
        let tools = served.tools.tools(self.viewer());
        if self.plugins.is_some() {
            *lock(&self.shown) = Some(Arc::clone(&tools));
        }
        tools
    }

    fn viewer(&self) -> Viewer<'_> {
        Viewer { tenant: &self.tenant, plugins: self.plugins.as_ref() }
    }

    /// The changes of the list of tools after what the client was shown last.
    fn unseen(&self) -> Option<watch::Receiver<u64>> {
        Some(lock(self.tools.as_ref()?).clone())
    }

    /// A client of the older era is about to be told what there is.
    pub(crate) fn opening(&self, served: &Served, offered: Offered) {
        let since = served.offers.as_ref().map(|offers| offers.changes());
        *lock(&self.opened) = Some(AnnouncedOffers { offered, since });
    }

    /// Tells a client of the older era of every change, until the connection
    /// ends. Does so once, however often it is asked to.
    pub(crate) async fn announce(&self, served: &Served, peer: &Peer<RoleServer>) {
        let Some(opened) = lock(&self.opened).take() else { return };
        if self.announces.swap(true, Ordering::Relaxed) {
            return;
        }
        let source = ChangeSource { tools: self.unseen(), offers: opened.since };
        let listener =
            ConnectionListener { peer, offered: opened.offered, watching: &self.watching, tools: self.of_tools() };
        tokio::select! {
            () = self.follow(served, source, &listener) => {}
            () = self.over.cancelled() => {}
        }
    }

    /// The part of `requested` that can be served. A subscriber that is told so hears of
    /// every change from now on.
    pub(crate) fn accept(&self, served: &Served, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        if self.tools.is_none() && served.offers.is_none() {
            return None;
        }
        if let Some(offers) = &served.offers {
            let mut subscribing = lock(&self.subscribing);
            subscribing.push_back(offers.changes());
            // Of those that never came to listen.
            let excess = subscribing.len().saturating_sub(MAX_SUBSCRIPTIONS);
            subscribing.drain(..excess);
        }
        // The protocol crate takes out what the capabilities do not name.
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| uri.len() <= MAX_URI_BYTES);
            uris.truncate(MAX_WATCHED);
        }
        Some(accepted)
    }

    /// Serves one subscription of this conversation until its client cancels it or the
    /// connection ends.
    pub(crate) async fn serve(
        &self,
        served: &Served,
        subscription: SubscriptionContext,
        context: Context,
    ) -> Result<(), ErrorData> {
        let since = lock(&self.subscribing).pop_front();
        let offers = since.or_else(|| served.offers.as_ref().map(|offers| offers.changes()));
        let _permit = SubscriptionPermit::take(&self.subscriptions)?;
        let accepted = subscription.accepted();
        let source =
            ChangeSource { tools: self.unseen().filter(|_| accepted.tools_list_changed == Some(true)), offers };
        let listener = SubscriptionListener { subscription: &subscription, context };
        tokio::select! {
            () = self.follow(served, source, &listener) => {}
            () = subscription.cancelled() => {}
            () = self.over.cancelled() => {}
        }
        Ok(())
    }

    /// Tells what there is to tell. A client that takes nothing holds up no other: its source
    /// lags, and it is told then that everything has changed.
    async fn follow(&self, served: &Served, mut source: ChangeSource, listener: &impl ChangeListener) {
        // A client that was shown no list yet has nothing to compare with but the present one.
        let mut shown = lock(&self.shown).clone().or_else(|| self.limited(served));
        loop {
            let topics = match source.next().await {
                ChangeNotice::Tools if self.is_shown(served, &mut shown) => continue,
                ChangeNotice::Tools => vec![ChangeTopic::Tools],
                ChangeNotice::Missed => everything(listener),
                ChangeNotice::Offer(change) => self.heard(change, listener),
            };
            for topic in topics {
                if let Err(error) = listener.tell(topic).await {
                    tracing::debug!(%error, "a change could not be told");
                    // The end of the connection ends this, too.
                    return std::future::pending().await;
                }
            }
        }
    }

    /// Whether the tools that this client may use are those that it was shown last.
    fn is_shown(&self, served: &Served, shown: &mut Option<Arc<[ToolDefinition]>>) -> bool {
        let Some(now) = self.limited(served) else { return false };
        let before = shown.replace(Arc::clone(&now));
        // It may have listed them since this was told last.
        before.is_some_and(|before| before == now) && lock(&self.shown).as_ref().is_none_or(|listed| *listed == now)
    }

    /// The tools of a client that may use some plugins alone.
    fn limited(&self, served: &Served) -> Option<Arc<[ToolDefinition]>> {
        self.plugins.is_some().then(|| served.tools.tools(self.viewer()))
    }

    /// What of a change concerns this listener.
    fn heard(&self, change: Change, listener: &impl ChangeListener) -> Vec<ChangeTopic> {
        let viewer = self.viewer();
        let (hears, topic) = match change {
            Change::Tools(audience) => (listener.of_tools() && audience.includes(viewer), ChangeTopic::Tools),
            Change::Prompts(audience) => (listener.of_prompts() && audience.includes(viewer), ChangeTopic::Prompts),
            Change::Resources(audience) => {
                (listener.of_resources() && audience.includes(viewer), ChangeTopic::Resources)
            }
            Change::Missed(audience) if audience.includes(viewer) => return everything(listener),
            Change::Missed(_) => return Vec::new(),
            Change::Resource { context, uri, plugin } => {
                (viewer.allows(plugin.as_str()) && listener.watches(&context, &uri), ChangeTopic::Resource(uri))
            }
        };
        hears.then_some(topic).into_iter().collect()
    }
}

/// All that a listener may be told.
fn everything(listener: &impl ChangeListener) -> Vec<ChangeTopic> {
    let lists = [
        listener.of_tools().then_some(ChangeTopic::Tools),
        listener.of_prompts().then_some(ChangeTopic::Prompts),
        listener.of_resources().then_some(ChangeTopic::Resources),
    ];
    lists.into_iter().flatten().chain(listener.watched().into_iter().map(ChangeTopic::Resource)).collect()
}

/// Something that a client is told.
enum ChangeTopic {
    Tools,
    Prompts,
    Resources,
    Resource(String),
}

/// A listener to changes.
trait ChangeListener {
    fn of_tools(&self) -> bool;
    fn of_prompts(&self) -> bool;
    fn of_resources(&self) -> bool;
    fn watches(&self, context: &Context, uri: &str) -> bool;
    fn watched(&self) -> Vec<String>;
    fn tell(&self, topic: ChangeTopic) -> impl Future<Output = Result<(), String>> + Send;
}

/// A client of the older era.
struct ConnectionListener<'c> {
    peer: &'c Peer<RoleServer>,
    offered: Offered,
    watching: &'c WatchedResources,
    tools: bool,
}

impl ChangeListener for ConnectionListener<'_> {
    fn of_tools(&self) -> bool {
        self.tools
    }

    fn of_prompts(&self) -> bool {
        self.offered.prompts
    }

    fn of_resources(&self) -> bool {
        self.offered.resources
    }

    fn watches(&self, context: &Context, uri: &str) -> bool {
        self.watching.has(context, uri)
    }

    fn watched(&self) -> Vec<String> {
        self.watching.uris()
    }

    async fn tell(&self, topic: ChangeTopic) -> Result<(), String> {
        let told = match topic {
            ChangeTopic::Tools => self.peer.notify_tool_list_changed().await,
            ChangeTopic::Prompts => self.peer.notify_prompt_list_changed().await,
            ChangeTopic::Resources => self.peer.notify_resource_list_changed().await,
            ChangeTopic::Resource(uri) => {
                self.peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
            }
        };
        told.map_err(|error| error.to_string())
    }
}

/// One subscription of the newer era.
struct SubscriptionListener<'s> {
    subscription: &'s SubscriptionContext,
    context: Context,
}

impl ChangeListener for SubscriptionListener<'_> {
    fn of_tools(&self) -> bool {
        self.subscription.accepted().tools_list_changed == Some(true)
    }

    fn of_prompts(&self) -> bool {
        self.subscription.accepted().prompts_list_changed == Some(true)
    }

    fn of_resources(&self) -> bool {
        self.subscription.accepted().resources_list_changed == Some(true)
    }

    fn watches(&self, context: &Context, uri: &str) -> bool {
        let watched = self.subscription.accepted().resource_subscriptions.as_deref().unwrap_or_default();
        same_conversation(context, &self.context) && watched.iter().any(|watched| watched == uri)
    }

    fn watched(&self) -> Vec<String> {
        self.subscription.accepted().resource_subscriptions.clone().unwrap_or_default()
    }

    async fn tell(&self, topic: ChangeTopic) -> Result<(), String> {
        let sink = self.subscription.sink();
        let told = match topic {
            ChangeTopic::Tools => sink.notify_tool_list_changed().await,
            ChangeTopic::Prompts => sink.notify_prompt_list_changed().await,
            ChangeTopic::Resources => sink.notify_resource_list_changed().await,
            ChangeTopic::Resource(uri) => sink.notify_resource_updated(uri).await,
        };
        told.map_err(|error| error.to_string())
    }
}

/// One of the subscriptions that a connection may have.
struct SubscriptionPermit<'p>(&'p AtomicUsize);

impl<'p> SubscriptionPermit<'p> {
    fn take(taken: &'p AtomicUsize) -> Result<Self, ErrorData> {
        let permit = Self(taken);
        if taken.fetch_add(1, Ordering::Relaxed) < MAX_SUBSCRIPTIONS {
            return Ok(permit);
        }
        let told = format!("this connection has {MAX_SUBSCRIPTIONS} subscriptions; cancel one of them first");
        Err(ErrorData::invalid_request(told, None))
    }
}

impl Drop for SubscriptionPermit<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}
