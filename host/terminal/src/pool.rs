//! The terminals of a host, by owner and id.
//!
//! Owns who may see which terminal, how many there are, and how long. Files
//! that belong together: `entry` is one of them, `start` brings it up, `keep`
//! lives as long as it does, `sweep` closes what nobody uses and forgets what
//! ended long ago, `attach` is the operator's way in, `profile` and `leaving`
//! say what is known of programs and of what is typed to end them.

mod attach;
mod ending;
mod entry;
mod id;
mod info;
mod keep;
mod leaving;
mod lost;
mod metrics;
mod places;
mod profile;
mod settings;
mod standing;
mod start;
mod sweep;
mod telling;
mod tombstones;
mod watch;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{select, time::Instant};
use wharf_completion::{
    detection::{Decision, Parameters, Preset, words},
    stream::{BegunTurn, StreamId},
};
use wharf_core::{SessionId, TenantId, TerminalOwner};
use wharf_spawn::Spawner;

use self::{
    entry::{PooledTerminal, TerminalLife},
    keep::Common,
    lost::LostTerminal,
    profile::{ProfileChoice, ProgramProfile, ProgramProfiles},
};
use crate::{HistorySlice, SessionProgress, TerminalError, TerminalSize, TurnInput, TurnOptions, TurnState};

pub use attach::AttachedTerminal;
pub use id::TerminalId;
pub use info::{CloseReason, LaunchOutcome, ScreenSnapshot, Status, TerminalInfo, TurnOutput};
pub use metrics::{
    LIFE_BUCKETS_SECONDS, RESPONSE_BUCKETS_MILLISECONDS, TerminalFailureCounts, TerminalMetrics, TurnResponseTimes,
};
pub use profile::{InvalidProfile, ProfileProblem, ProfileSettings, check_profiles};
pub use settings::{LaunchRequest, Restart, TerminalPoolSettings};
pub use sweep::TerminalSweepReport;
pub use watch::{WatchEvent, WatchedTerminal};

/// The longest that a close leaves to a program to end by itself.
const LONGEST_GRACE: Duration = Duration::from_secs(60);

/// The terminals of a host.
///
/// They end with the host, however it ends, and when this is dropped; call
/// [`Terminals::close_all`] where there is time to wait for that.
#[derive(Debug)]
pub struct Terminals {
    common: Arc<Common>,
    profiles: ProgramProfiles,
    table: Arc<Mutex<TerminalTable>>,
}

/// What there is, and whether more may come.
#[derive(Debug, Default)]
struct TerminalTable {
    terminals: HashMap<TerminalId, Arc<PooledTerminal>>,
    /// Those that were lost with an earlier host.
    lost: HashMap<TerminalId, Arc<LostTerminal>>,
    /// Places that are taken by terminals which are being started.
    starting: HashMap<TerminalOwner, usize>,
    closed: bool,
}

impl TerminalTable {
    fn open(&self) -> impl Iterator<Item = &Arc<PooledTerminal>> {
        self.terminals.values().filter(|terminal| terminal.is_open())
    }
}

/// A lock that is held for a look, never across an await.
fn lock(table: &Mutex<TerminalTable>) -> MutexGuard<'_, TerminalTable> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Terminals {
    /// A pool without terminals.
    ///
    /// # Errors
    /// Where a profile has a prompt that cannot be used.
    pub fn open(spawner: Spawner, settings: TerminalPoolSettings) -> Result<Self, InvalidProfile> {
        let profiles = ProgramProfiles::new(&settings.profiles, settings.limits.input_characters)?;
        let (places, tombstones) = (places::of_open(&settings.limits), places::of_ended(&settings.limits));
        let (home, found) = settings.records.as_deref().and_then(lost::open).unzip();
        let counters = metrics::TerminalCounters::default();
        let common = Arc::new(Common { spawner, settings, counters, places, tombstones, home });
        let terminals = Self { common, profiles, table: Arc::default() };
        terminals.take_over(found.unwrap_or_default());
        Ok(terminals)
    }

    /// All terminals of an owner, in the order in which they were opened.
    #[must_use]
    pub fn list(&self, owner: &TerminalOwner) -> Vec<TerminalInfo> {
        let lost = self.lost_of(|of| of == owner).into_iter().map(|lost| lost.info());
        lost.chain(infos(self.all_of(|terminal| terminal.owner == *owner)).map(|(_, info)| info)).collect()
    }

    /// A terminal as it is now. This counts as no use of it.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`], also for what belongs to somebody else.
    pub fn info(&self, owner: &TerminalOwner, id: TerminalId) -> Result<TerminalInfo, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.info());
        }
        Ok(self.find(owner, id)?.info())
    }

    /// How turns of a terminal are judged: by the operator's profile or the
    /// preset of this name, or by that of its program, with the prompts that are
    /// known of it.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::Invalid`] for a name that is
    /// neither.
    pub fn turn_options(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        profile: Option<&str>,
    ) -> Result<TurnOptions, TerminalError> {
        let terminal = self.find(owner, id)?;
        Ok(match profile.map(|name| self.profiles.kind(name)).transpose()? {
            None => options(&terminal.profile, terminal.profile.preset),
            Some(ProfileChoice::Preset(preset)) => options(&terminal.profile, preset),
            Some(ProfileChoice::Profile(profile)) => options(&profile, profile.preset),
        })
    }

    /// Begins a turn: types its input, and follows the answer, whoever looks
    /// on. Without options it is judged by what is known of its program.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::Restarting`]; as for
    /// [`crate::TerminalSession::begin_turn`].
    pub async fn send(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        input: TurnInput<'_>,
        turn_options: Option<TurnOptions>,
    ) -> Result<TurnState, TerminalError> {
        Ok(self.send_and_tell(owner, id, input, turn_options).await?.0)
    }

    /// The same, and where the terminal's stream of events tells of it, if the
    /// terminal has one.
    ///
    /// # Errors
    /// As for [`Terminals::send`].
    pub async fn send_and_tell(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        input: TurnInput<'_>,
        turn_options: Option<TurnOptions>,
    ) -> Result<(TurnState, Option<(StreamId, BegunTurn)>), TerminalError> {
        let terminal = self.used(owner, id)?;
        let turn_options = turn_options.unwrap_or_else(|| options(&terminal.profile, terminal.profile.preset));
        let begun = async {
            takes_input(&terminal)?;
            if let Some(turn) = terminal.session.turn().map(|turn| turn.state()).filter(|turn| !turn.is_over()) {
                return Err(TerminalError::Busy { turn: turn.number });
            }
            let asked = terminal.expect(input);
            let begun = terminal.session.begin_turn(input, turn_options).await;
            // What was refused was not typed.
            if begun.is_err() {
                terminal.asked_to_end(asked);
            }
            begun
        };
        let turn = begun.await.map_err(|error| self.failed(terminal.explained(error)))?;
        terminal.keep_turn(turn.clone());
        let (state, began) = (turn.state(), Instant::now());
        let told = match &terminal.teller {
            // The stream has ended, as the terminal does now.
            Some(teller) => {
                let of = Arc::downgrade(&terminal);
                let because = move || of.upgrade()?.because();
                teller.begin(turn.clone(), because).await.ok().map(|begun| (teller.id(), begun))
            }
            None => None,
        };
        let (common, terminal) = (Arc::clone(&self.common), Arc::downgrade(&terminal));
        let mut changes = turn.changes();
        drop(turn);
        tokio::spawn(async move {
            // An error says that nobody knows of it any more.
            let Ok(over) = changes.wait_for(TurnState::is_over).await.map(|state| state.clone()) else { return };
            common.counters.answered(began.elapsed(), over.cancelled);
            let decision = Decision { verdict: over.decision.verdict.filter(|_| !over.cancelled), ..over.decision };
            common.counters.turns.count(&decision);
            let (reason, confidence) = words(&decision);
            tracing::info!(
                terminal = %id, turn = over.number, reason, confidence, messages = decision.messages,
                elapsed = ?decision.elapsed, adaptive = ?decision.adaptive, "a turn of a terminal is over"
            );
            if let Some(terminal) = terminal.upgrade() {
                terminal.note_directory();
                terminal.touch();
            }
        });
        Ok((state, told))
    }

    /// The next piece of a turn's text from a cursor on: see
    /// [`crate::Turn::next`]. Any number may follow, and come back.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::NoTurn`] where there is no
    /// such turn, or it is long over.
    pub async fn follow(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        turn: u64,
        from: u64,
        maximum_bytes: usize,
        patience: Duration,
    ) -> Result<TurnOutput, TerminalError> {
        let terminal = self.used(owner, id)?;
        let turn = terminal.turn(turn)?;
        let piece = turn.next(from, maximum_bytes, self.patience(patience)).await;
        Ok(TurnOutput { piece, turn: turn.state() })
    }

    /// Gives a turn up: see [`crate::Turn::cancel`].
    ///
    /// # Errors
    /// As for [`Terminals::follow`].
    pub fn cancel(&self, owner: &TerminalOwner, id: TerminalId, turn: u64) -> Result<(), TerminalError> {
        self.used(owner, id)?.turn(turn)?.cancel();
        Ok(())
    }

    /// Presses keys, one after the other; during a turn they belong to it.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::Restarting`]; as for
    /// [`crate::TerminalSession::press`].
    pub async fn press(&self, owner: &TerminalOwner, id: TerminalId, keys: &[&str]) -> Result<(), TerminalError> {
        let terminal = self.used(owner, id)?;
        let pressed = async {
            takes_input(&terminal)?;
            // Of what is typed in a turn, keys only add to it.
            if leaving::are_keys(keys) || !terminal.turn_runs() {
                terminal.expect(TurnInput::Keys(keys));
            }
            terminal.session.press(keys).await
        };
        pressed.await.map_err(|error| self.failed(terminal.explained(error)))
    }

    /// What a person would see, with at most so many lines of history.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub fn screen(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        history_lines: usize,
    ) -> Result<ScreenSnapshot, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.shown(history_lines));
        }
        let session = &self.used(owner, id)?.session;
        let history = if history_lines == 0 { Vec::new() } else { session.rows_above(history_lines) };
        Ok(ScreenSnapshot { view: session.screen(), history })
    }

    /// Text without control sequences, from a cursor on.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub fn read_text(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        from: u64,
        maximum_bytes: usize,
    ) -> Result<HistorySlice<String>, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.text(from, maximum_bytes));
        }
        Ok(self.used(owner, id)?.session.text(from, maximum_bytes))
    }

    /// Bytes as they came, from a cursor on.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub fn read_raw(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        from: u64,
        maximum_bytes: usize,
    ) -> Result<HistorySlice<Vec<u8>>, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.raw());
        }
        Ok(self.used(owner, id)?.session.raw(from, maximum_bytes))
    }

    /// Waits until there is text behind a cursor, or the terminal is closed, or
    /// `patience` is over.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub async fn wait(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        from: u64,
        patience: Duration,
    ) -> Result<TerminalInfo, TerminalError> {
        self.wait_for(owner, id, |progress| progress.text_bytes > from, patience).await
    }

    /// Waits until something of what came is so, or the terminal is closed, or
    /// `patience` is over.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub async fn wait_for(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        so: impl Fn(&SessionProgress) -> bool + Send,
        patience: Duration,
    ) -> Result<TerminalInfo, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.info());
        }
        let terminal = self.used(owner, id)?;
        let (mut progress, mut life) = (terminal.session.progress(), terminal.life.subscribe());
        let waiting = async {
            select! {
                // It goes on while the terminal is there, which is held here.
                _ = progress.wait_for(so) => {}
                _ = life.wait_for(|life| *life == TerminalLife::Ended) => {}
            }
        };
        drop(tokio::time::timeout(self.patience(patience), waiting).await);
        terminal.touch();
        Ok(terminal.info())
    }

    /// Changes the size. The program is told.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::Closed`]; or where the
    /// system refuses.
    pub fn resize(&self, owner: &TerminalOwner, id: TerminalId, size: TerminalSize) -> Result<(), TerminalError> {
        let terminal = self.used(owner, id)?;
        if *terminal.life.borrow() == TerminalLife::Ended {
            return Err(terminal.explained(TerminalError::Closed));
        }
        terminal.session.resize(size)
    }

    /// Closes a terminal: its program is asked to end, and killed once `grace`
    /// (a minute at most) is over, with whatever descends from it. What it
    /// printed stays to be read for a while. Once begun, it goes on though the
    /// future is dropped; closing again changes nothing.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub async fn close(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        grace: Duration,
    ) -> Result<TerminalInfo, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.info());
        }
        let terminal = self.find(owner, id)?;
        terminal.close(CloseReason::Owner, ending::owner(), grace.min(LONGEST_GRACE)).await;
        Ok(terminal.info())
    }

    /// What there is, and what it has come to so far.
    #[must_use]
    pub fn metrics(&self) -> TerminalMetrics {
        let (open, busy) = lock(&self.table)
            .open()
            .fold((0, 0), |(open, busy), terminal| (open + 1, busy + usize::from(terminal.turn_runs())));
        self.common.counters.now(open, busy)
    }

    /// How turns of terminals ended, by reason and confidence.
    #[must_use]
    pub fn turns_ended(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        self.common.counters.turns.totals()
    }

    /// The sessions that have an open terminal: their workspaces are in use.
    #[must_use]
    pub fn open_sessions(&self) -> Vec<(TenantId, SessionId)> {
        let table = lock(&self.table);
        let mut sessions: Vec<_> =
            table.open().map(|terminal| (terminal.owner.tenant.clone(), terminal.owner.session.clone())).collect();
        sessions.sort();
        sessions.dedup();
        sessions
    }

    /// The one way to a terminal: who does not own it cannot tell it from one
    /// that never was.
    fn find(&self, owner: &TerminalOwner, id: TerminalId) -> Result<Arc<PooledTerminal>, TerminalError> {
        let table = lock(&self.table);
        if let Some(found) = table.terminals.get(&id).filter(|terminal| terminal.owner == *owner) {
            return Ok(Arc::clone(found));
        }
        match table.lost.get(&id).filter(|lost| lost.record.owner == *owner) {
            Some(lost) => Err(TerminalError::Over { because: lost.because() }),
            None => Err(TerminalError::NotFound),
        }
    }

    /// A terminal that was lost with an earlier host.
    fn lost(&self, owner: &TerminalOwner, id: TerminalId) -> Option<Arc<LostTerminal>> {
        lock(&self.table).lost.get(&id).filter(|lost| lost.record.owner == *owner).cloned()
    }

    /// Those that were lost, in the order in which they were opened.
    fn lost_of(&self, counts: impl Fn(&TerminalOwner) -> bool) -> Vec<Arc<LostTerminal>> {
        let table = lock(&self.table);
        let mut lost: Vec<_> = table.lost.values().filter(|lost| counts(&lost.record.owner)).cloned().collect();
        lost.sort_by_key(|lost| (lost.info().started, lost.record.id));
        lost
    }

    /// The same for what its owner does with it.
    fn used(&self, owner: &TerminalOwner, id: TerminalId) -> Result<Arc<PooledTerminal>, TerminalError> {
        self.find(owner, id).inspect(|terminal| terminal.touch())
    }

    fn all_of(&self, so: impl Fn(&PooledTerminal) -> bool) -> Vec<Arc<PooledTerminal>> {
        lock(&self.table).terminals.values().filter(|terminal| so(terminal)).cloned().collect()
    }

    fn patience(&self, wanted: Duration) -> Duration {
        wanted.min(Duration::from_millis(self.common.settings.limits.wait_milliseconds))
    }

    fn failed(&self, error: TerminalError) -> TerminalError {
        self.common.counters.failed(error)
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        let mut table = lock(&self.table);
        table.closed = true;
        for terminal in table.terminals.values() {
            terminal.order_close(CloseReason::ShuttingDown, ending::shutting_down(), Duration::ZERO);
        }
    }
}

/// Sorted by when they were opened.
fn infos(mut terminals: Vec<Arc<PooledTerminal>>) -> impl Iterator<Item = (TerminalOwner, TerminalInfo)> {
    terminals.sort_by_key(|terminal| (terminal.began, terminal.id));
    terminals.into_iter().map(|terminal| (terminal.owner.clone(), terminal.info()))
}

fn options(profile: &ProgramProfile, preset: Preset) -> TurnOptions {
    // They were tried when the pool was opened.
    let parameters = profile.parameters(preset).unwrap_or_else(|_| Parameters::from(preset));
    TurnOptions { parameters }
}

fn takes_input(terminal: &PooledTerminal) -> Result<(), TerminalError> {
    match *terminal.life.borrow() {
        TerminalLife::Running => Ok(()),
        TerminalLife::Restarting => Err(TerminalError::Restarting),
        TerminalLife::Ended => Err(TerminalError::Closed),
    }
}
