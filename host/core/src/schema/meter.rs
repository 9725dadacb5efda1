//! How much a check may do, counted while it does it.
//!
//! A schema and the value that it is held against both come from strangers, and
//! neither of them tells by itself what both together cost. So nothing is
//! estimated: each rule that is looked at, each name that is looked up and each
//! byte that is compared takes steps, and a check that has none left ends.

/// Steps between two looks at whether the check is still wanted. A step takes some
/// tens of nanoseconds, so this is less than a millisecond.
const LOOK_STEPS: u64 = 8_192;

/// Bytes that are compared, hashed or counted in one step.
const BYTES_PER_STEP: usize = 32;

/// Why a check ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It had no steps left.
    Steps,
    /// Schema and value nest more deeply together than the stack allows.
    Depth,
    /// It was interrupted, since its caller has gone or its time is over.
    Interrupted,
}

/// What is left of the steps of one check.
pub struct Meter<'m> {
    steps: u64,
    left: u64,
    until_look: u64,
    interrupted: Option<&'m dyn Fn() -> bool>,
    explaining: Explaining,
    pub(super) max_frames: usize,
}

/// With what it is told what is wrong with a value that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Explaining {
    /// With more steps, so that something is told even where the check took all but one.
    More,
    /// With what the check has left, and whole or not at all.
    Rest,
}

/// Frames for a thread of the runtime, whose stack holds other things, too.
const FRAMES_ANYWHERE: usize = 48;

/// Frames for a stack of [`Meter::STACK_BYTES`].
const FRAMES_OF_OWN_STACK: usize = 1_500;

impl std::fmt::Debug for Meter<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Meter").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<'m> Meter<'m> {
    /// The stack that a check needs which may nest as deeply as it likes.
    pub const STACK_BYTES: usize = 16 << 20;

    /// So many steps, on whatever stack there is.
    #[must_use]
    pub fn new(steps: u64) -> Self {
        let explaining = Explaining::More;
        Self { steps, left: steps, until_look: LOOK_STEPS, interrupted: None, explaining, max_frames: FRAMES_ANYWHERE }
    }

    /// So many steps for a check and its explanation together, for one that is made again
    /// where it does not come to its end.
    #[must_use]
    pub fn in_all(steps: u64) -> Self {
        Self { explaining: Explaining::Rest, ..Self::new(steps) }
    }

    /// So many steps, on a thread with a stack of [`Meter::STACK_BYTES`], for as long
    /// as `interrupted` says no. It is asked every few hundred microseconds.
    #[must_use]
    pub fn on_own_stack(steps: u64, interrupted: &'m dyn Fn() -> bool) -> Self {
        Self { interrupted: Some(interrupted), max_frames: FRAMES_OF_OWN_STACK, ..Self::new(steps) }
    }

    /// Steps that are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// For telling what is wrong, which goes the same way once more and looks at some
    /// things twice.
    pub(super) fn for_explaining(&self) -> Meter<'m> {
        let spent = self.steps - self.left;
        let steps = match self.explaining {
            Explaining::More => self.left.max(spent.saturating_mul(2).saturating_add(2_000)),
            Explaining::Rest => self.left,
        };
        Meter { steps, left: steps, ..*self }
    }

    /// Whether an explanation that comes to no end is none.
    pub(super) fn explains_whole(&self) -> bool {
        self.explaining == Explaining::Rest
    }

    pub(super) fn spend(&mut self, steps: u64) -> Result<(), Stopped> {
        self.left = self.left.checked_sub(steps).ok_or(Stopped::Steps)?;
        match self.until_look.checked_sub(steps) {
            Some(until_look) => self.until_look = until_look,
            None => {
                self.until_look = LOOK_STEPS;
                if self.interrupted.is_some_and(|interrupted| interrupted()) {
                    return Err(Stopped::Interrupted);
                }
            }
        }
        Ok(())
    }

    /// For looking at so many bytes once.
    pub(super) fn spend_bytes(&mut self, bytes: usize) -> Result<(), Stopped> {
        self.spend(1 + (bytes / BYTES_PER_STEP) as u64)
    }

    /// For finding a name of so many bytes among so many names.
    pub(super) fn spend_lookup(&mut self, name_bytes: usize, among: usize) -> Result<(), Stopped> {
        let comparisons = u64::from(usize::BITS - among.leading_zeros()) / 2 + 1;
        self.spend(comparisons * (1 + (name_bytes / BYTES_PER_STEP) as u64))
    }
}
