//! Is a host dead? One witness never says so alone.
//!
//! A host whose address refuses connections, or where another life listens, has ended as far as
//! this one can see. Where three hosts live, another one has to see the same. Where only the two
//! live, the database is the second witness: the beat must have stood still. A host that is
//! silent is not dead; its beat alone decides that.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use parking_lot::Mutex;
use tokio::{sync::Mutex as AsyncMutex, time::Instant};

use crate::{
    CellTimes, Incarnation, Members, StoreUnavailable,
    peer::{self, Links},
    roster::{Known, Peer, Roster},
    wire::Sight,
};

/// How long a look at a host may take. A host that is silent counts as unavailable within a second.
const LOOK: Duration = Duration::from_millis(300);
/// The same by a witness. Only those are waited for who are asked about a host that has ended as
/// far as this one can see; on a busy machine their answers take a while.
const WITNESS: Duration = Duration::from_secs(2);
/// Hosts that are asked to look, all at once. The first that can tell decides.
const WITNESSES: usize = 3;

/// What came of a suspicion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The host has been declared dead.
    Dead,
    /// It lives, or nobody can tell yet.
    NotDead,
}

/// What came of judging a host, or of declaring it dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judgement {
    Dead,
    /// Another beat has arrived since the one that was seen.
    Beaten,
    /// None of the witnesses could tell.
    Unclear,
    Unproven,
}

/// Finds out whether hosts are dead.
pub(crate) struct Suspicion {
    members: Arc<dyn Members>,
    roster: Arc<Roster>,
    links: Arc<Links>,
    times: CellTimes,
    // When each was last looked at: calls that fail together share a look.
    looking: Mutex<HashMap<Incarnation, Arc<AsyncMutex<Option<Instant>>>>>,
    looking_at_silent: AsyncMutex<()>,
    reading: AsyncMutex<()>,
}

impl Suspicion {
    pub(crate) fn new(members: Arc<dyn Members>, roster: Arc<Roster>, links: Arc<Links>, times: CellTimes) -> Self {
        Self {
            members,
            roster,
            links,
            times,
            looking: Mutex::default(),
            looking_at_silent: AsyncMutex::default(),
            reading: AsyncMutex::default(),
        }
    }

    /// Reads the members anew.
    pub(crate) async fn refresh(&self) -> Result<(), StoreUnavailable> {
        let sent = Instant::now();
        let records = self.members.list().await?;
        self.roster.read(&records, sent);
        let roster = &self.roster;
        self.links.retain(|incarnation| matches!(roster.find(incarnation), Known::Alive(_)));
        self.looking.lock().retain(|incarnation, _| matches!(roster.find(*incarnation), Known::Alive(_)));
        Ok(())
    }

    /// What is known of a life, which may have begun since the last reading. Callers who ask at
    /// once share a reading, so that names which nobody has cost the database little.
    pub(crate) async fn find(&self, incarnation: Incarnation) -> Result<Known, StoreUnavailable> {
        let asked = Instant::now();
        let known = self.roster.find(incarnation);
        if known != Known::Unknown {
            return Ok(known);
        }
        let _turn = self.reading.lock().await;
        if self.roster.read_since().is_none_or(|read| read < asked) {
            self.refresh().await?;
        }
        Ok(self.roster.find(incarnation))
    }

    /// Looks at a host that did not take up a call, or broke one off. `own` is the life of this
    /// host.
    pub(crate) async fn of(&self, suspect: &Peer, own: Incarnation) -> Verdict {
        let asked = Instant::now();
        let turn = Arc::clone(self.looking.lock().entry(suspect.incarnation).or_default());
        let mut looked = turn.lock().await;
        // The call that looked before may have found out.
        match self.roster.find(suspect.incarnation) {
            Known::Alive(_) => {}
            Known::Dead(_) | Known::Unknown => return Verdict::Dead,
        }
        if looked.is_some_and(|began| began >= asked) {
            return Verdict::NotDead;
        }
        *looked = Some(Instant::now());
        // The last beat of a killed host may still be on its way into the database, and a witness
        // may not have reached the database or the host just then.
        for _ in 0..2 {
            let sight = peer::look(&self.links, suspect, LOOK).await;
            tracing::debug!(host = %suspect.host, ?sight, "a host that is suspected was looked at");
            if sight != Sight::Ended {
                break;
            }
            match self.judge(suspect, own).await {
                Ok(Judgement::Dead) => return Verdict::Dead,
                Ok(Judgement::Beaten | Judgement::Unclear) => {}
                Ok(Judgement::Unproven) => break,
                Err(error) => {
                    undeclared(suspect, &error);
                    break;
                }
            }
        }
        Verdict::NotDead
    }

    /// Judges a host that has ended as far as this one can see.
    async fn judge(&self, suspect: &Peer, own: Incarnation) -> Result<Judgement, StoreUnavailable> {
        let witnesses = || {
            let mut others = self.roster.others(own);
            others.retain(|peer| peer.incarnation != suspect.incarnation);
            others
        };
        let before = witnesses();
        // The list as of now: the host may have left in order, or be dead already. The witnesses
        // look meanwhile.
        let (read, witnessed) = tokio::join!(self.refresh(), self.witnessed(&before, suspect));
        read?;
        if !matches!(self.roster.find(suspect.incarnation), Known::Alive(_)) {
            return Ok(Judgement::Dead);
        }
        let now = witnesses();
        // Hosts that have joined since the last reading.
        let joined: Vec<_> = now.iter().filter(|peer| !before.contains(peer)).cloned().collect();
        let witnessed = match witnessed {
            Sight::Unclear => self.witnessed(&joined, suspect).await,
            told => told,
        };
        match witnessed {
            Sight::Ended => {}
            Sight::Alive => return Ok(Judgement::Unproven),
            Sight::Unclear if !now.is_empty() => return Ok(Judgement::Unclear),
            Sight::Unclear => {
                let still = self.roster.beat(suspect.incarnation).map(|(_, still)| still);
                if still.is_none_or(|still| still < self.times.dead_without_witness) {
                    return Ok(Judgement::Unproven);
                }
            }
        }
        self.declare(suspect, "nobody listens at its address").await
    }

    /// What other hosts see there.
    async fn witnessed(&self, witnesses: &[Peer], suspect: &Peer) -> Sight {
        let ask = |witness| async move { (witness, peer::probe_by(&self.links, witness, suspect, WITNESS).await) };
        let mut asked: FuturesUnordered<_> = witnesses.iter().take(WITNESSES).map(ask).collect();
        while let Some((witness, sight)) = asked.next().await {
            tracing::debug!(host = %suspect.host, witness = %witness.host, ?sight, "another host looked");
            if sight != Sight::Unclear {
                return sight;
            }
        }
        Sight::Unclear
    }

    /// Declares those dead whose beat has stood still for long enough.
    pub(crate) async fn declare_silent(&self, own: Incarnation) {
        for peer in self.silent(self.times.dead, own) {
            if let Err(error) = self.declare(&peer, "its beat has stood still").await {
                undeclared(&peer, &error);
            }
        }
    }

    /// Looks at those whose beat has stood still for a while, where it does not yet. A look takes
    /// its time, so nothing that has to be in time waits for this.
    pub(crate) async fn look_at_silent(&self, own: Incarnation) {
        let Ok(_turn) = self.looking_at_silent.try_lock() else { return };
        for peer in self.silent(self.times.dead_without_witness, own) {
            self.of(&peer, own).await;
        }
    }

    fn silent(&self, for_at_least: Duration, own: Incarnation) -> Vec<Peer> {
        let mut others = self.roster.others(own);
        let still = self.roster.still(for_at_least);
        others.retain(|peer| still.contains(&peer.incarnation));
        others
    }

    async fn declare(&self, suspect: &Peer, why: &str) -> Result<Judgement, StoreUnavailable> {
        let Peer { incarnation, host, .. } = suspect;
        let Some((beat, _)) = self.roster.beat(*incarnation) else { return Ok(Judgement::Unproven) };
        if !self.members.declare_dead(*incarnation, beat).await? {
            return Ok(Judgement::Beaten);
        }
        // Callers wait for this, so the list is not read a second time.
        self.roster.bury(*incarnation);
        tracing::warn!(target: "wharf::cell", %host, %incarnation, why, "a host of the cell was declared dead");
        Ok(Judgement::Dead)
    }
}

/// The database does not take a death now.
fn undeclared(suspect: &Peer, error: &StoreUnavailable) {
    let error = wharf_core::text::with_causes(error);
    tracing::warn!(host = %suspect.host, error, "a host cannot be declared dead now");
}
