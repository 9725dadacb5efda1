//! What programs ask of their terminal.
//!
//! Owns which questions there are. Never knows their answers.

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalQuery {
    /// DA1: what it can do.
    PrimaryAttributes,
    /// DA2: which version it is.
    SecondaryAttributes,
    /// DA3: which unit it is.
    TertiaryAttributes,
    /// DSR 5: whether it works.
    Status,
    /// DSR 6: where the cursor is.
    Cursor {
        /// In the private form.
        extended: bool,
    },
    /// DECRQM of a private mode.
    PrivateMode(u16),
    /// DECRQM of another mode.
    Mode(u16),
    /// XTVERSION: its name.
    Version,
    /// Which keys it reports in the way of kitty.
    Keyboard,
    /// How many rows and columns it has.
    Size,
    /// OSC 10 to 12: foreground, background, cursor.
    Colour {
        /// Which of them.
        number: u8,
        /// The answer ends as the question did, here with BEL.
        bell: bool,
    },
    /// DECRQSS: how something is set.
    Setting,
    /// XTGETTCAP: an entry of its description.
    Capability,
}
