//! The result of a look at something.

use std::fmt::{self, Debug, Formatter};

/// The result of one look: what was waited for, or why it is not over yet.
pub trait Look {
    /// What the wait gives.
    type Found;
    /// What is shown where the wait is in vain.
    type Missing: Debug;

    /// What was found.
    ///
    /// # Errors
    /// Where it is not so yet.
    fn found(self) -> Result<Self::Found, Self::Missing>;
}

/// Nothing more is known than that it is not so yet.
pub struct NotYet;

impl Debug for NotYet {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("it is still not so")
    }
}

impl Look for bool {
    type Found = ();
    type Missing = NotYet;

    fn found(self) -> Result<(), NotYet> {
        if self { Ok(()) } else { Err(NotYet) }
    }
}

impl<T> Look for Option<T> {
    type Found = T;
    type Missing = NotYet;

    fn found(self) -> Result<T, NotYet> {
        self.ok_or(NotYet)
    }
}

impl<T, E: Debug> Look for Result<T, E> {
    type Found = T;
    type Missing = E;

    fn found(self) -> Self {
        self
    }
}
