//! Which members and items of a value some rule has looked at, for those rules that
//! speak of the others.

use super::meter::{Meter, Stopped};

/// Of one value.
#[derive(Debug, Default)]
pub(super) struct Evaluated {
    pub(super) members: Places,
    pub(super) items: Places,
}

/// Places in a list, a bit for each: what is kept of a value stays far smaller than it.
#[derive(Debug, Default)]
pub(super) struct Places {
    bits: Vec<u64>,
    all: bool,
}

impl Evaluated {
    /// Adds what another rule has looked at.
    pub(super) fn add(&mut self, other: &Self, meter: &mut Meter) -> Result<(), Stopped> {
        self.members.add(&other.members, meter)?;
        self.items.add(&other.items, meter)
    }
}

impl Places {
    pub(super) fn add_all(&mut self) {
        self.all = true;
    }

    pub(super) fn insert(&mut self, at: usize) {
        if self.all {
            return;
        }
        if self.bits.len() <= at / 64 {
            self.bits.resize(at / 64 + 1, 0);
        }
        self.bits[at / 64] |= 1 << (at % 64);
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.all || self.bits.get(at / 64).is_some_and(|bits| bits & (1 << (at % 64)) != 0)
    }

    fn add(&mut self, other: &Self, meter: &mut Meter) -> Result<(), Stopped> {
        meter.spend(1 + (other.bits.len() / 8) as u64)?;
        self.all |= other.all;
        if self.bits.len() < other.bits.len() {
            self.bits.resize(other.bits.len(), 0);
        }
        self.bits.iter_mut().zip(&other.bits).for_each(|(own, other)| *own |= other);
        Ok(())
    }
}
