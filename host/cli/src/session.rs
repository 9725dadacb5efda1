//! `--session`: the session of calls that name none.

use std::str::FromStr;

use anyhow::{Context as _, Result};
use wharf::SessionId;

/// The word for a session that nobody had before.
const NEW: &str = "new";

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
            Self::New => SessionId::generate().context("there is no randomness for a new session"),
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
        assert!(one != other && one.as_str().starts_with("session-"), "{one} {other}");
        let named: SessionChoice = "demo".parse().expect("legal");
        assert_eq!(named.id().expect("named").as_str(), "demo");
        assert!("a b".parse::<SessionChoice>().is_err());
    }
}
