//! Members, homes, plugins, sessions and front ends in memory, for tests: what the database does, in
//! one process.

mod front_ends;

use std::{
    collections::{BTreeMap, HashMap},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use front_ends::FrontEndRows;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;
use wharf_core::{Digest, service::ShelvedSession};

use crate::{
    Beat, Claim, Claimant, FilesHere, FilesUse, Homes, HostRecord, HostReport, Incarnation, JoinRefused, Members,
    NewMember, PluginShelf, ProtocolSessions, SessionKey, SessionName, ShelvedSet, StoreUnavailable,
};

/// Members, homes, plugins, sessions and front ends in memory. It can be told not to answer.
#[derive(Debug, Default)]
pub struct MemoryCell {
    state: Mutex<State>,
    is_down: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    cell: Option<String>,
    revision: i64,
    hosts: BTreeMap<Incarnation, Host>,
    homes: HashMap<SessionKey, Home>,
    installed: ShelvedSet,
    sessions: HashMap<SessionName, (ShelvedSession, Incarnation)>,
    components: HashMap<Digest, Vec<u8>>,
    front_ends: FrontEndRows,
}

#[derive(Debug)]
struct Host {
    member: NewMember,
    beat: i64,
    beaten: Instant,
    is_draining: bool,
    dead_at: Option<Instant>,
    report: HostReport,
}

#[derive(Debug)]
struct Home {
    by: Option<Incarnation>,
    epoch: i64,
    /// Names the files that the last home had, where it kept some of the session.
    files: Option<String>,
    files_are_lost: bool,
}

/// The store was told not to answer.
#[derive(Debug, thiserror::Error)]
#[error("it was told not to")]
struct Down;

impl MemoryCell {
    /// Has it answer, or not.
    pub fn answer(&self, answers: bool) {
        self.is_down.store(!answers, Ordering::SeqCst);
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, StoreUnavailable> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(StoreUnavailable(Box::new(Down)));
        }
        Ok(self.state.lock())
    }
}

impl State {
    fn lives(&self, incarnation: Incarnation) -> bool {
        self.hosts.get(&incarnation).is_some_and(|host| host.dead_at.is_none())
    }

    /// The host that has these files and takes sessions.
    fn keeper(&self, files: &str) -> Option<Incarnation> {
        let takes = |host: &Host| host.dead_at.is_none() && !host.is_draining && host.member.files == files;
        self.hosts.iter().find(|(_, host)| takes(host)).map(|(incarnation, _)| *incarnation)
    }

    /// How long ago a home died; for ever where nobody knows it any more.
    fn dead_for(&self, incarnation: Incarnation) -> Option<Duration> {
        match self.hosts.get(&incarnation) {
            Some(Host { dead_at: Some(at), .. }) => Some(at.elapsed()),
            Some(_) => None,
            None => Some(Duration::MAX),
        }
    }
}

#[async_trait]
impl Members for MemoryCell {
    async fn join(&self, member: &NewMember) -> Result<Result<(), JoinRefused>, StoreUnavailable> {
        let mut state = self.state()?;
        let found = state.cell.get_or_insert_with(|| member.cell.clone()).clone();
        if found != member.cell {
            return Ok(Err(JoinRefused::OtherCell { found, cell: member.cell.clone() }));
        }
        if state.hosts.contains_key(&member.incarnation) {
            return Ok(Err(JoinRefused::Taken));
        }
        let mut ended = Vec::new();
        for (life, host) in state.hosts.iter_mut().filter(|(_, host)| host.member.address == member.address) {
            host.dead_at.get_or_insert_with(Instant::now);
            ended.push(*life);
        }
        ended.into_iter().for_each(|life| state.front_ends.ended(life));
        let host = Host {
            member: member.clone(),
            beat: 0,
            beaten: Instant::now(),
            is_draining: false,
            dead_at: None,
            report: HostReport::default(),
        };
        state.hosts.insert(member.incarnation, host);
        state.revision += 1;
        Ok(Ok(()))
    }

    async fn beat(&self, incarnation: Incarnation, report: HostReport) -> Result<Beat, StoreUnavailable> {
        let mut state = self.state()?;
        let (revision, plugins) = (state.revision, state.installed.revision);
        let front_ends = state.front_ends.change;
        let Some(host) = state.hosts.get_mut(&incarnation).filter(|host| host.dead_at.is_none()) else {
            return Ok(Beat::Dead);
        };
        host.beat += 1;
        (host.beaten, host.report) = (Instant::now(), report);
        host.is_draining |= report.is_ending;
        Ok(Beat::Alive { revision, plugins, front_ends, is_draining: host.is_draining })
    }

    async fn list(&self) -> Result<Vec<HostRecord>, StoreUnavailable> {
        let state = self.state()?;
        let record = |(incarnation, host): (&Incarnation, &Host)| HostRecord {
            incarnation: *incarnation,
            host: host.member.host.clone(),
            address: host.member.address.clone(),
            version: host.member.version.clone(),
            beat: host.beat,
            silent_milliseconds: i64::try_from(host.beaten.elapsed().as_millis()).unwrap_or(i64::MAX),
            is_draining: host.is_draining,
            is_dead: host.dead_at.is_some(),
            report: host.report,
        };
        Ok(state.hosts.iter().map(record).collect())
    }

    async fn declare_dead(&self, incarnation: Incarnation, beat: i64) -> Result<bool, StoreUnavailable> {
        let mut state = self.state()?;
        let Some(host) = state.hosts.get_mut(&incarnation) else { return Ok(true) };
        if host.dead_at.is_none() && host.beat == beat {
            host.dead_at = Some(Instant::now());
            state.revision += 1;
            state.front_ends.ended(incarnation);
            return Ok(true);
        }
        Ok(host.dead_at.is_some())
    }

    async fn drain(&self, host: &str, is_draining: bool) -> Result<bool, StoreUnavailable> {
        let mut state = self.state()?;
        let mut is_known = false;
        for found in state.hosts.values_mut().filter(|found| found.member.host == host && found.dead_at.is_none()) {
            (found.is_draining, is_known) = (is_draining, true);
        }
        state.revision += 1;
        Ok(is_known)
    }

    async fn leave(&self, incarnation: Incarnation) -> Result<(), StoreUnavailable> {
        let mut state = self.state()?;
        state.hosts.remove(&incarnation);
        state.front_ends.ended(incarnation);
        state.homes.retain(|_, home| {
            if home.by == Some(incarnation) {
                home.by = None;
            }
            home.by.is_some() || home.files.is_some() || home.files_are_lost
        });
        state.revision += 1;
        Ok(())
    }
}

#[async_trait]
impl Homes for MemoryCell {
    async fn claim(&self, session: &SessionKey, claimant: Claimant<'_>) -> Result<Claim, StoreUnavailable> {
        let mut state = self.state()?;
        let Claimant { incarnation, files, patience } = claimant;
        if !state.lives(incarnation) {
            return Ok(Claim::ClaimantDead);
        }
        let by = state.homes.get(session).and_then(|home| home.by);
        if let Some(by) = by.filter(|by| *by != incarnation) {
            match state.dead_for(by) {
                None => return Ok(Claim::Held { by }),
                Some(dead) if dead < patience => return Ok(Claim::Dying { wait: patience - dead }),
                Some(_) => {}
            }
        }
        let fresh = || Home { by: None, epoch: 0, files: None, files_are_lost: false };
        if by != Some(incarnation)
            && let Some(kept) = state.homes.get(session).and_then(|home| home.files.as_deref())
            && let Some(keeper) = state.keeper(kept).filter(|_| kept != files)
        {
            return Ok(Claim::FilesAt { by: keeper });
        }
        let home = state.homes.entry(session.clone()).or_insert_with(fresh);
        if home.by != Some(incarnation) && home.files.as_deref().is_some_and(|kept| kept != files) {
            (home.files, home.files_are_lost) = (None, true);
        }
        home.by = Some(incarnation);
        home.epoch += 1;
        Ok(Claim::Mine { epoch: home.epoch })
    }

    async fn use_files(
        &self,
        session: &SessionKey,
        incarnation: Incarnation,
        here: FilesHere,
    ) -> Result<FilesUse, StoreUnavailable> {
        let mut state = self.state()?;
        let files = state.hosts.get(&incarnation).map(|host| host.member.files.clone());
        let home = state.homes.get_mut(session).filter(|home| home.by == Some(incarnation));
        let (Some(home), Some(files)) = (home, files) else { return Ok(FilesUse::NotHome) };
        if home.files_are_lost && here == FilesHere::AsTheyWere {
            return Ok(FilesUse::Lost);
        }
        (home.files, home.files_are_lost) = (Some(files), false);
        Ok(FilesUse::Kept)
    }

    async fn release(&self, tenures: &[(SessionKey, i64)], incarnation: Incarnation) -> Result<(), StoreUnavailable> {
        let mut state = self.state()?;
        for (session, epoch) in tenures {
            let is_held = |home: &&mut Home| home.by == Some(incarnation) && home.epoch == *epoch;
            let Some(home) = state.homes.get_mut(session).filter(is_held) else { continue };
            home.by = None;
            if home.files.is_none() && !home.files_are_lost {
                state.homes.remove(session);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl PluginShelf for MemoryCell {
    async fn installed(&self) -> Result<ShelvedSet, StoreUnavailable> {
        Ok(self.state()?.installed.clone())
    }

    async fn install(&self, expected: i64, text: &str, named: &[Digest]) -> Result<bool, StoreUnavailable> {
        let mut state = self.state()?;
        if state.installed.revision != expected || !named.iter().all(|digest| state.components.contains_key(digest)) {
            return Ok(false);
        }
        state.installed = ShelvedSet { revision: expected + 1, text: text.to_owned() };
        Ok(true)
    }

    async fn keep_component(&self, digest: &Digest, component: &[u8]) -> Result<(), StoreUnavailable> {
        self.state()?.components.insert(*digest, component.to_vec());
        Ok(())
    }

    async fn component(&self, digest: &Digest, limit: u64) -> Result<Option<Vec<u8>>, StoreUnavailable> {
        let found = self.state()?.components.get(digest).cloned();
        Ok(found.filter(|component| component.len() as u64 <= limit))
    }
}

#[async_trait]
impl ProtocolSessions for MemoryCell {
    async fn begin(
        &self,
        name: &SessionName,
        session: &ShelvedSession,
        host: Incarnation,
    ) -> Result<(), StoreUnavailable> {
        self.state()?.sessions.entry(*name).or_insert((session.clone(), host));
        Ok(())
    }

    async fn adopt(&self, name: &SessionName, host: Incarnation) -> Result<Option<Incarnation>, StoreUnavailable> {
        let mut state = self.state()?;
        let Some((_, by)) = state.sessions.get(name).filter(|_| state.lives(host)) else { return Ok(None) };
        if state.lives(*by) {
            return Ok(Some(*by));
        }
        if let Some((_, by)) = state.sessions.get_mut(name) {
            *by = host;
        }
        Ok(Some(host))
    }

    async fn read(&self, name: &SessionName, host: Incarnation) -> Result<Option<ShelvedSession>, StoreUnavailable> {
        let state = self.state()?;
        Ok(state.sessions.get(name).filter(|(_, by)| *by == host).map(|(session, _)| session.clone()))
    }

    async fn set(&self, name: &SessionName, settings: &str, host: Incarnation) -> Result<(), StoreUnavailable> {
        if let Some((session, by)) = self.state()?.sessions.get_mut(name)
            && *by == host
        {
            settings.clone_into(&mut session.settings);
        }
        Ok(())
    }

    async fn end(&self, name: &SessionName, host: Incarnation) -> Result<bool, StoreUnavailable> {
        let mut state = self.state()?;
        let is_held = state.sessions.get(name).is_some_and(|(_, by)| *by == host);
        if is_held {
            state.sessions.remove(name);
        }
        Ok(is_held)
    }
}
