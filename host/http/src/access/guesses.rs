//! Addresses that show wrong tokens: who guesses is locked out for a minute.
//!
//! A token of the operator's, and one that an authorization server issued and that held a moment ago, opens the host
//! all the same: nobody is locked out by another client of the same address. Knows no request.

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use wharf_core::{Code, Error};

use crate::{address_block::AddressBlock, failure::HttpFailure};

/// How long wrong tokens count together, and how long who shows too many is locked out at most.
const WINDOW: Duration = Duration::from_secs(60);
/// Addresses that are remembered; the one that began to guess first is forgotten for another.
const MOST_ADDRESSES: usize = 4_096;

/// The addresses that have shown wrong tokens within a minute.
pub(crate) struct TokenGuesses {
    most: u64,
    // A blocking lock: held for a look-up.
    addresses: Mutex<HashMap<AddressBlock, Guessing>>,
}

/// What one address has shown.
#[derive(Debug, Clone, Copy)]
struct Guessing {
    wrong: u64,
    began: Instant,
}

impl TokenGuesses {
    pub(crate) fn new(most: u64) -> Self {
        Self { most, addresses: Mutex::default() }
    }

    /// Whether a token of this address that nobody knows is looked at now.
    ///
    /// # Errors
    /// `limit`, with the time to wait, where the address is locked out.
    pub(crate) fn check(&self, address: Option<IpAddr>, now: Instant) -> Result<(), HttpFailure> {
        let Some(block) = address.and_then(AddressBlock::of) else { return Ok(()) };
        let addresses = self.addresses.lock();
        let found = addresses.get(&block).filter(|guessing| guessing.wrong >= self.most);
        let left = found.and_then(|guessing| WINDOW.checked_sub(now.saturating_duration_since(guessing.began)));
        let Some(left) = left.filter(|left| !left.is_zero()) else { return Ok(()) };
        let told = format!(
            "{} requests of this address had a token that opens nothing (limit `wrong_tokens_per_address`); no other \
             token of it is looked at for a minute",
            self.most
        );
        Err(HttpFailure::from(Error::retryable(Code::Limit, told)).after(left))
    }

    /// A token of this address opened nothing.
    pub(crate) fn count(&self, address: Option<IpAddr>, now: Instant) {
        let Some(block) = address.and_then(AddressBlock::of) else { return };
        let mut addresses = self.addresses.lock();
        if addresses.len() >= MOST_ADDRESSES && !addresses.contains_key(&block) {
            addresses.retain(|_, guessing| now.saturating_duration_since(guessing.began) < WINDOW);
            let first = addresses.iter().min_by_key(|(_, guessing)| guessing.began).map(|(block, _)| *block);
            if addresses.len() >= MOST_ADDRESSES
                && let Some(first) = first
            {
                addresses.remove(&first);
            }
        }
        let guessing = addresses.entry(block).or_insert(Guessing { wrong: 0, began: now });
        if now.saturating_duration_since(guessing.began) >= WINDOW {
            *guessing = Guessing { wrong: 0, began: now };
        }
        guessing.wrong += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().expect("an address"))
    }

    #[test]
    fn who_guesses_too_often_is_locked_out_until_the_minute_is_over_and_nobody_else_is() {
        let guesses = TokenGuesses::new(3);
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        for second in 0..3 {
            assert!(guesses.check(address("192.0.2.1"), at(second)).is_ok());
            guesses.count(address("192.0.2.1"), at(second));
        }
        let refused = guesses.check(address("192.0.2.1"), at(2)).expect_err("locked out");
        assert_eq!(refused.retry_seconds(), Some(58));
        for other in ["192.0.2.2", "127.0.0.1", "::1", "2001:db8::1"] {
            assert!(guesses.check(address(other), at(2)).is_ok(), "{other}");
        }
        assert!(guesses.check(None, at(2)).is_ok(), "a socket");
        assert!(guesses.check(address("192.0.2.1"), at(60)).is_ok());
        guesses.count(address("192.0.2.1"), at(60));
        assert!(guesses.check(address("192.0.2.1"), at(61)).is_ok(), "it counts from the beginning");
        for number in 0..3 {
            guesses.count(address(&format!("2001:db8::{number}")), at(70));
        }
        assert!(guesses.check(address("2001:db8::ffff"), at(71)).is_err(), "a /64 is one owner's");
        for _ in 0..10 {
            guesses.count(address("127.0.0.1"), at(71));
        }
        assert!(guesses.check(address("127.0.0.1"), at(71)).is_ok(), "all clients of a machine share it");
    }

    #[test]
    fn so_many_addresses_are_remembered_and_who_began_first_is_forgotten() {
        let guesses = TokenGuesses::new(1);
        let began = Instant::now();
        let numbered =
            |number: usize| Some(IpAddr::from([10, (number >> 16) as u8, (number >> 8) as u8, number as u8]));
        for number in 0..=MOST_ADDRESSES {
            guesses.count(numbered(number), began + Duration::from_millis(number as u64));
        }
        let now = began + Duration::from_secs(5);
        assert_eq!(guesses.addresses.lock().len(), MOST_ADDRESSES);
        assert!(guesses.check(numbered(0), now).is_ok());
        assert!(guesses.check(numbered(1), now).is_err() && guesses.check(numbered(MOST_ADDRESSES), now).is_err());
    }
}
