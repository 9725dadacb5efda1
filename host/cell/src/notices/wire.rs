//! The form of a batch.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use wharf_core::{
    Context, PluginName, SessionId, TenantId,
    offer::MAX_URI_BYTES,
    service::{Audience, offer::Change},
};

use crate::Incarnation;

/// Bytes of a batch that is read. NATS carries a mebibyte.
pub(crate) const LARGEST_BATCH: usize = 1 << 20;

/// Changes that one host tells the others at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Batch {
    /// Who tells them.
    pub(crate) from: Incarnation,
    /// The first batch of a life is 1.
    pub(crate) number: u64,
    pub(crate) notices: Vec<WireNotice>,
}

/// What goes over a bus.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Published {
    Batch(Batch),
    /// What is installed has this revision, or a later one.
    Installed {
        installed: i64,
    },
}

/// What to publish on a bus when what is installed at all hosts has changed: they read it at once,
/// and not with their next beat.
#[must_use]
pub fn installed_notice(revision: i64) -> Bytes {
    serde_json::to_vec(&Published::Installed { installed: revision }).unwrap_or_default().into()
}

/// A change, as it goes from host to host.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WireNotice {
    Tools(WireAudience),
    Prompts(WireAudience),
    Resources(WireAudience),
    Missed(WireAudience),
    Resource { tenant: TenantId, session: SessionId, plugin: PluginName, uri: String },
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct WireAudience {
    tenant: Option<TenantId>,
    plugins: Option<Vec<PluginName>>,
}

impl WireAudience {
    fn of(audience: &Audience) -> Self {
        let Audience { tenant, plugins } = audience;
        Self { tenant: tenant.clone(), plugins: plugins.as_ref().map(|plugins| plugins.to_vec()) }
    }

    fn into_audience(self) -> Audience {
        Audience { tenant: self.tenant, plugins: self.plugins.map(Arc::from) }
    }
}

impl Batch {
    pub(crate) fn body(&self) -> Bytes {
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// Reads a batch. What this version does not know is no batch, so that something is missed.
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        match Published::read(body)? {
            Published::Batch(batch) => Some(batch),
            Published::Installed { .. } => None,
        }
    }
}

impl Published {
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        if body.len() > LARGEST_BATCH {
            return None;
        }
        let published = serde_json::from_slice(body).ok()?;
        let is_legal = |notice: &WireNotice| match notice {
            WireNotice::Resource { uri, .. } => uri.len() <= MAX_URI_BYTES,
            _ => true,
        };
        match &published {
            Self::Batch(batch) if !batch.notices.iter().all(is_legal) => None,
            _ => Some(published),
        }
    }
}

impl WireNotice {
    /// With the tenant whom it concerns alone; nothing where it concerns more than one.
    pub(super) fn of(change: &Change) -> Option<(TenantId, Self)> {
        let (audience, notice): (_, fn(WireAudience) -> Self) = match change {
            Change::Tools(audience) => (audience, Self::Tools),
            Change::Prompts(audience) => (audience, Self::Prompts),
            Change::Resources(audience) => (audience, Self::Resources),
            Change::Missed(audience) => (audience, Self::Missed),
            Change::Resource { context, uri, plugin } => {
                let Context { tenant, session, .. } = context;
                let (session, plugin, uri) = (session.clone(), plugin.clone(), uri.clone());
                return Some((tenant.clone(), Self::Resource { tenant: tenant.clone(), session, plugin, uri }));
            }
        };
        Some((audience.tenant.clone()?, notice(WireAudience::of(audience))))
    }

    /// That all of a tenant may have changed; of everybody where absent.
    pub(super) fn missed(tenant: Option<TenantId>) -> Self {
        Self::Missed(WireAudience { tenant, plugins: None })
    }

    /// What it takes of a batch, about.
    pub(super) fn bytes(&self) -> usize {
        const FRAME: usize = 128;
        match self {
            Self::Resource { tenant, session, plugin, uri } => {
                // A character of an address may take six in JSON.
                FRAME + tenant.as_str().len() + session.as_str().len() + plugin.as_str().len() + 6 * uri.len()
            }
            Self::Tools(audience) | Self::Prompts(audience) | Self::Resources(audience) | Self::Missed(audience) => {
                let plugins = audience.plugins.iter().flatten().map(|plugin| plugin.as_str().len() + 3);
                FRAME + audience.tenant.as_ref().map_or(0, |tenant| tenant.as_str().len()) + plugins.sum::<usize>()
            }
        }
    }

    pub(crate) fn into_change(self) -> Change {
        match self {
            Self::Tools(audience) => Change::Tools(audience.into_audience()),
            Self::Prompts(audience) => Change::Prompts(audience.into_audience()),
            Self::Resources(audience) => Change::Resources(audience.into_audience()),
            Self::Missed(audience) => Change::Missed(audience.into_audience()),
            Self::Resource { tenant, session, plugin, uri } => {
                Change::Resource { context: Context::new(tenant, session), uri, plugin }
            }
        }
    }
}
