//! Makes the handles of a host, and knows them from those of other hosts.
//!
//! Owns how a handle names its host. Never knows which incarnations there are, nor what
//! is behind a handle.

use std::{
    io,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use uuid::Builder;

use super::Handle;

/// Makes the handles of one host. Clones are the same mint.
///
/// Where many hosts serve as one, each has an incarnation: a number that no other host
/// has, or had before it. Its handles begin with that number, so that any host can find
/// out whose they are. The default is a host that stands alone, whose handles name
/// nobody.
///
/// The number is no secret and proves nothing: everybody reads it in a handle, and can
/// write one that has it. What nobody guesses are the 90 random bits behind it. A host asks
/// the mint before it looks a handle up: what another host made, or an earlier incarnation of
/// this one, is gone for everybody from the moment at which the others took it for dead.
#[derive(Debug, Clone, Default)]
pub struct HandleMint {
    /// Zero where the host stands alone.
    incarnation: Arc<AtomicU32>,
}

impl HandleMint {
    /// The mint of a host that is one of many.
    #[must_use]
    pub fn of(incarnation: NonZeroU32) -> Self {
        let mint = Self::default();
        mint.change(incarnation);
        mint
    }

    /// Has this mint and its clones make the handles of another incarnation from now on.
    /// Handles that were made before stay as they are, and count as those of another
    /// host.
    pub fn change(&self, incarnation: NonZeroU32) {
        self.incarnation.store(incarnation.get(), Ordering::Relaxed);
    }

    /// A new handle that nobody can guess: as [`Handle::random`] makes them where the host
    /// stands alone, else a UUID of version 8 that begins with the incarnation.
    ///
    /// # Errors
    /// Where the system has no randomness to give.
    pub fn handle(&self) -> io::Result<Handle> {
        let Some(incarnation) = self.incarnation() else { return Handle::random() };
        let mut bytes = [0; 16];
        let (first, others) = bytes.split_at_mut(size_of::<u32>());
        first.copy_from_slice(&incarnation.get().to_be_bytes());
        getrandom::fill(others).map_err(io::Error::other)?;
        Ok(Handle(Builder::from_custom_bytes(bytes).into_uuid()))
    }

    /// Whether a handle names another host. Without an incarnation the mint knows no
    /// other host, and a handle that names no host may be anybody's: it is `false` then.
    #[must_use]
    pub fn is_of_another_host(&self, handle: &Handle) -> bool {
        match (self.incarnation(), handle.incarnation()) {
            (Some(own), Some(named)) => own != named,
            _ => false,
        }
    }

    /// The number that handles of this host begin with; nothing where the host stands alone.
    #[must_use]
    pub fn incarnation(&self) -> Option<NonZeroU32> {
        NonZeroU32::new(self.incarnation.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn number(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).expect("not zero")
    }

    fn made(mint: &HandleMint) -> Handle {
        mint.handle().expect("randomness")
    }

    fn written(text: &str) -> Handle {
        text.parse().expect("a handle")
    }

    #[test]
    fn a_host_alone_makes_random_handles_and_knows_no_other_host() {
        let alone = HandleMint::default();
        let handle = made(&alone);
        assert_eq!((handle.0.get_version(), handle.incarnation()), (Some(uuid::Version::Random), None));
        assert!(!alone.is_of_another_host(&handle));
        assert!(!alone.is_of_another_host(&made(&HandleMint::of(number(7)))));
    }

    #[test]
    fn handles_of_an_incarnation_begin_with_it_and_differ_in_all_other_bits() {
        let mint = HandleMint::of(number(0x00c0_ffee));
        let handles: HashSet<_> = (0..1_000).map(|_| made(&mint)).collect();
        assert_eq!(handles.len(), 1_000);
        let (mut ones, mut zeros) = (0_u128, 0_u128);
        for handle in &handles {
            let text = handle.to_string();
            assert!(text.starts_with("00c0ffee"), "{text}");
            assert_eq!(text.parse(), Ok(*handle));
            assert_eq!(handle.0.get_version(), Some(uuid::Version::Custom));
            assert_eq!(handle.0.get_variant(), uuid::Variant::RFC4122);
            assert_eq!(handle.incarnation(), Some(number(0x00c0_ffee)));
            (ones, zeros) = (ones | handle.0.as_u128(), zeros | !handle.0.as_u128());
        }
        assert_eq!((ones & zeros).count_ones(), 90, "random bits");
    }

    #[test]
    fn the_handle_of_another_host_is_known_by_its_first_bits_and_its_version() {
        let (one, two) = (HandleMint::of(number(1)), HandleMint::of(number(u32::MAX)));
        assert!(one.is_of_another_host(&made(&two)) && two.is_of_another_host(&made(&one)));
        assert!(!one.is_of_another_host(&made(&one)));
        for nobodys in [
            made(&HandleMint::default()),
            Handle::ordered().expect("randomness"),
            // No incarnation is zero.
            written("00000000000080008000000000000000"),
            // Another version, and another variant.
            written("00000002000070008000000000000000"),
            written("00000002000080000000000000000000"),
            written(&"0".repeat(32)),
            written(&"f".repeat(32)),
        ] {
            assert_eq!(nobodys.incarnation(), None, "{nobodys}");
            assert!(!one.is_of_another_host(&nobodys), "{nobodys}");
        }
        assert_eq!(written("00000002000080008000000000000000").incarnation(), Some(number(2)));
    }

    #[test]
    fn a_new_incarnation_holds_for_all_clones_and_makes_earlier_handles_those_of_another_host() {
        let mint = HandleMint::default();
        let clone = mint.clone();
        let alone = made(&clone);
        mint.change(number(5));
        let before = made(&clone);
        assert_eq!(before.incarnation(), Some(number(5)));
        mint.change(number(6));
        assert_eq!(made(&clone).incarnation(), Some(number(6)));
        assert!(clone.is_of_another_host(&before));
        assert!(!clone.is_of_another_host(&alone), "it names no host");
    }
}
