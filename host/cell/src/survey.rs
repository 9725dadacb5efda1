//! What an operator asks of a cell: who reaches whom, how fast, and by which clock.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::time::Instant;
use wharf_core::{Digest, service::ProposedPlugin};

use crate::{
    CellTimes, HostRecord, Incarnation, PeerTls,
    peer::{self, Links, Looked},
    roster::Peer,
    wire::{CONSIDER, CONSIDER_PLUGIN, Sight},
};

/// Hosts that are surveyed: each looks at each other one.
const HOSTS: usize = 32;
/// Looks at once.
const AT_ONCE: usize = 16;
/// How long a look of one host at another one may take, with the way there.
const PATIENCE: Duration = Duration::from_secs(3);

/// What a look at a host found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// It answers.
    Alive,
    /// Nobody listens at its address, or another life of a host does.
    Ended,
    /// It cannot be told, and why, where that is known.
    Unclear(Option<String>),
}

/// What this machine sees of a host.
#[derive(Debug, Clone)]
pub struct HostLook {
    /// Its life.
    pub host: Incarnation,
    /// What the look found.
    pub found: Found,
    /// How long the host took to answer over a connection that it had made.
    pub took: Duration,
    /// By how much its clock is ahead of the one here, in whole seconds, where it said so.
    pub ahead_seconds: Option<i64>,
    /// Names the settings of all hosts that it has started with, where it said so.
    pub configured: Option<Digest>,
}

/// What one host sees of another one.
#[derive(Debug, Clone)]
pub struct Passage {
    /// Who looked.
    pub from: Incarnation,
    /// At whom.
    pub to: Incarnation,
    /// What the look found; `Unclear` also where the first host is not reached from here.
    pub found: Found,
}

/// What was found out of the hosts of a cell.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// What this machine sees of each.
    pub looks: Vec<HostLook>,
    /// What each sees of each other one.
    pub passages: Vec<Passage>,
}

/// Looks at the hosts that live, and has each look at each other one. At most the first 32 are
/// looked at. It takes a few seconds at most where hosts do not answer.
pub async fn survey(tls: &PeerTls, hosts: &[HostRecord]) -> Survey {
    let links = &Links::new(tls, PATIENCE, CellTimes::default().silence);
    let peers: Vec<_> = hosts.iter().filter_map(Peer::of).take(HOSTS).collect();
    let looks = stream::iter(&peers).map(|peer| look(links, peer)).buffered(AT_ONCE).collect().await;
    let pairs = peers.iter().flat_map(|from| peers.iter().filter(move |to| *to != from).map(move |to| (from, to)));
    let pairs: Vec<_> = pairs.collect();
    let passages = stream::iter(pairs).map(|(from, to)| passage(links, from, to)).buffered(AT_ONCE).collect().await;
    Survey { looks, passages }
}

/// What hosts are asked about before all of them have it.
#[derive(Debug, Clone, Copy)]
pub enum Question<'q> {
    /// The tables that all would be configured with.
    Tables(&'q str),
    /// A plugin that all would serve, and how long a host may take to compile it.
    Plugin(&'q ProposedPlugin, Duration),
}

impl Question<'_> {
    /// How it is put: the path, what is sent, and how long an answer may take.
    fn put(self) -> (&'static str, Bytes, Duration) {
        match self {
            Self::Tables(tables) => (CONSIDER, Bytes::copy_from_slice(tables.as_bytes()), PATIENCE),
            Self::Plugin(plugin, compiling) => {
                let plugin = serde_json::to_vec(plugin).unwrap_or_default();
                (CONSIDER_PLUGIN, plugin.into(), compiling + PATIENCE)
            }
        }
    }
}

/// What a host says of what all hosts would have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opinion {
    /// It could use it.
    Usable,
    /// It could not, and why.
    Refused(String),
    /// It is of a version that is not asked.
    Unasked,
}

/// What the hosts that live say of what all would have, each with its name. Hosts that are not
/// reached say nothing.
pub async fn opinions(tls: &PeerTls, hosts: &[HostRecord], question: Question<'_>) -> Vec<(String, Opinion)> {
    let links = &Links::new(tls, PATIENCE, CellTimes::default().silence);
    let (path, about, patience) = &question.put();
    let peers: Vec<_> = hosts.iter().filter_map(Peer::of).collect();
    let asking = stream::iter(&peers).map(async |peer| {
        let opinion = peer::consider(links, peer, path, about.clone(), *patience).await;
        opinion.map(|opinion| (peer.host.to_string(), opinion))
    });
    asking.buffered(AT_ONCE).filter_map(async |told| told).collect().await
}

async fn look(links: &Links, peer: &Peer) -> HostLook {
    let host = peer.incarnation;
    let asked = (Instant::now(), SystemTime::now());
    match peer::look_closely(links, peer, PATIENCE).await {
        Ok(Looked { sight, connecting, clock, configured }) => HostLook {
            host,
            found: sight.into(),
            took: asked.0.elapsed().saturating_sub(connecting),
            ahead_seconds: clock.map(|clock| ahead(clock, asked.1 + asked.0.elapsed())),
            configured,
        },
        Err(why) => HostLook {
            host,
            found: Found::Unclear(Some(why)),
            took: asked.0.elapsed(),
            ahead_seconds: None,
            configured: None,
        },
    }
}

async fn passage(links: &Links, from: &Peer, to: &Peer) -> Passage {
    let found = peer::probe_by(links, from, to, PATIENCE).await.into();
    Passage { from: from.incarnation, to: to.incarnation, found }
}

/// By how many whole seconds one clock is ahead of another one. A clock that is told in whole
/// seconds is up to one behind.
fn ahead(clock: SystemTime, here: SystemTime) -> i64 {
    let seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    match clock.duration_since(here) {
        Ok(ahead) => seconds(ahead),
        Err(behind) => -seconds(behind.duration()),
    }
}

impl From<Sight> for Found {
    fn from(sight: Sight) -> Self {
        match sight {
            Sight::Alive => Self::Alive,
            Sight::Ended => Self::Ended,
            Sight::Unclear => Self::Unclear(None),
        }
    }
}
