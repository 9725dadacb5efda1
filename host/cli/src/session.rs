//! `--session`: the session of calls that name none.

use std::str::FromStr;

use anyhow::{Context as _, Result};
use wharf::{SessionId, http::Token};

/// The word for a session that nobody had before.
const NEW: &str = "new";
/// Hexadecimal digits of a new id: nobody guesses 128 bits.
const DIGITS: usize = 32;

/// A session as it is chosen on the command line.
#[derive(Debug, Clone)]
pub(crate) enum SessionChoice {
    /// One of this process alone.
    New,
    /// The one of this name.
    Named(SessionId),
}

impl FromStr for SessionChoice {
    type Err = <SessionId as FromStr>::Err;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        if word == NEW { Ok(Self::New) } else { word.parse().map(Self::Named) }
    }
}

impl SessionChoice {
    /// Its id; of a new one another at each call.
    pub(crate) fn id(&self) -> Result<SessionId> {
        match self {
            Self::Named(id) => Ok(id.clone()),
            Self::New => {
                let random = Token::generate().context("there is no randomness for a new session")?;
                let digits = random.get(..DIGITS).unwrap_or(&random);
                format!("session-{digits}").parse().context("a new session has no legal id")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_session_is_another_one_each_time_and_a_named_one_stays() {
        let new: SessionChoice = "new".parse().expect("legal");
        let (one, other) = (new.id().expect("random"), new.id().expect("random"));
        assert!(one != other && one.as_str().len() == "session-".len() + DIGITS, "{one} {other}");
        let named: SessionChoice = "demo".parse().expect("legal");
        assert_eq!(named.id().expect("named").as_str(), "demo");
        assert!("a b".parse::<SessionChoice>().is_err());
    }
}
